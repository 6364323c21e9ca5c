"""Monoids to reduce with, written once for NumPy and for Pullback, and plain loops.

A monoid is a combiner `f(N, c, acc, x)` on tuples of scalars: N is the namespace, c a
number that it closes over. `grad`: in which components it is smooth.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np


@dataclass(frozen=True)
class Monoid:
    f: Callable
    init: tuple
    make: Callable
    smooth: bool = True
    closes: bool = False
    finite: bool = True  # whether derivatives at the identity are finite


def _reals(k, lo=0.5, hi=1.5):
    def make(random, shape):
        return tuple(random.uniform(lo, hi, shape) for _ in range(k))

    return make


def _matmul(N, c, p, q):
    a, b, d, e = p
    w, x, y, z = q
    return a * w + b * y, a * x + b * z, d * w + e * y, d * x + e * z


def _quaternion(N, c, p, q):
    a, b, d, e = p
    w, x, y, z = q
    return (
        a * w - b * x - d * y - e * z,
        a * x + b * w + d * z - e * y,
        a * y - b * z + d * w + e * x,
        a * z + b * y - d * x + e * w,
    )


def _welford(N, c, p, q):
    n, mean, m2 = p
    k, other, o2 = q
    total = n + k
    apart = other - mean
    safe = N.where(total == 0, 1.0, total)
    return total, mean + apart * k / safe, m2 + o2 + apart * apart * n * k / safe


def _argmax(N, c, p, q):
    (v, i), (w, j) = p, q
    keep = (v > w) | ((v == w) & (i <= j))
    return N.where(keep, v, w), N.where(keep, i, j)


def _first_last(N, c, p, q):
    (a, b, has), (d, e, more) = p, q
    return N.where(has, a, d), N.where(more, e, b), has | more


def _top2(N, c, p, q):
    (a, b), (d, e) = p, q
    low = N.minimum(a, d)
    return N.maximum(a, d), N.maximum(low, N.maximum(b, e))


def _lse_pair(N, c, p, q):
    (m, s), (k, t) = p, q
    top = N.maximum(m, k)
    return top, s * N.exp(m - top) + t * N.exp(k - top)


def _pairs(random, shape):
    index = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(np.int32)
    return random.normal(size=shape), index


def _texts(random, shape):
    (x,) = _reals(1)(random, shape)
    return x, x + 1.0, np.ones(shape, bool)


def _counted(random, shape):
    return np.ones(shape), random.normal(size=shape), np.zeros(shape)


def _two(random, shape):
    x = random.normal(size=shape)
    return x, x - random.uniform(0.1, 1.0, shape)


INT_MAX = np.iinfo(np.int32).max

MONOIDS = {
    "add": Monoid(lambda N, c, p, q: (p[0] + q[0],), (0.0,), _reals(1)),
    "mul": Monoid(lambda N, c, p, q: (p[0] * q[0],), (1.0,), _reals(1)),
    "max": Monoid(lambda N, c, p, q: (N.maximum(p[0], q[0]),), (-np.inf,), _reals(1)),
    "min": Monoid(lambda N, c, p, q: (N.minimum(p[0], q[0]),), (np.inf,), _reals(1)),
    "logaddexp": Monoid(
        lambda N, c, p, q: (N.logaddexp(p[0], q[0]),), (-np.inf,), _reals(1)
    ),
    "affine": Monoid(
        lambda N, c, p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (1.0, 0.0), _reals(2)
    ),
    "matrix": Monoid(_matmul, (1.0, 0.0, 0.0, 1.0), _reals(4, -0.7, 0.7)),
    "quaternion": Monoid(_quaternion, (1.0, 0.0, 0.0, 0.0), _reals(4, -0.7, 0.7)),
    "welford": Monoid(_welford, (0.0, 0.0, 0.0), _counted),
    "argmax": Monoid(_argmax, (-np.inf, INT_MAX), _pairs),
    "first_last": Monoid(_first_last, (0.0, 0.0, False), _texts),
    "top2": Monoid(_top2, (-np.inf, -np.inf), _two),
    "lse_pair": Monoid(_lse_pair, (-1e3, 0.0), _reals(2)),
    "tempered": Monoid(
        lambda N, c, p, q: (c * N.logaddexp(p[0] / c, q[0] / c),),
        (-1e3,),
        _reals(1),
        closes=True,
    ),
    "scaled": Monoid(
        lambda N, c, p, q: (c * p[0] * q[0],), (1 / 1.25,), _reals(1), closes=True
    ),
}
C = 1.25
GEOMETRIES = {
    "valid": (10, 4, 1, (0, 0), 1, 1),
    "same": (10, 5, 1, (2, 2), 1, 1),
    "strided": (13, 4, 2, (1, 0), 1, 1),
    "coprime": (13, 5, 3, (0, 2), 1, 1),
    "disjoint": (13, 3, 4, (0, 0), 1, 1),
    "dilated": (13, 3, 2, (1, 1), 1, 2),
    "spread": (6, 4, 1, (2, 1), 2, 1),
    "cropped": (12, 4, 1, (-2, -1), 1, 1),
    "long": (40, 19, 1, (3, 0), 1, 1),
    "whole": (9, 9, 1, (0, 0), 1, 1),
    "one": (5, 1, 2, (0, 0), 1, 1),
    "empty": (3, 5, 1, (0, 0), 1, 1),
}


def plain(monoid: Monoid, c=C) -> Callable:
    return lambda p, q: tuple(monoid.f(np, c, p, q))


def padded(xs, init, padding, base):
    """Operands of any rank dilated and padded with the identity."""
    outs = []
    for x, e in zip(xs, init, strict=True):
        for axis, ((low, high), d) in enumerate(zip(padding, base, strict=True)):
            rows = np.moveaxis(x, axis, 0)
            n = (len(rows) - 1) * d + 1 if len(rows) else 0
            wide = np.full((n, *rows.shape[1:]), e, x.dtype)
            wide[::d] = rows
            before = np.full((max(low, 0), *rows.shape[1:]), e, x.dtype)
            after = np.full((max(high, 0), *rows.shape[1:]), e, x.dtype)
            wide = wide[max(-low, 0) : n - max(-high, 0)]
            x = np.moveaxis(np.concatenate([before, wide, after]), 0, axis)
        outs.append(x)
    return outs


def loop_windows(f, xs, init, dims, strides, padding, base, inner):
    xs = padded(xs, init, padding, base)
    counts = [
        max(0, (n - (k - 1) * d - 1) // s + 1) if n >= (k - 1) * d + 1 else 0
        for n, k, s, d in zip(xs[0].shape, dims, strides, inner, strict=True)
    ]
    outs = [np.zeros(counts, x.dtype) for x in xs]
    for place in product(*map(range, counts)):
        acc = init
        for at in product(*map(range, dims)):
            i = tuple(
                p * s + k * d
                for p, s, k, d in zip(place, strides, at, inner, strict=True)
            )
            acc = f(acc, tuple(x[i] for x in xs))
        for out, a in zip(outs, acc, strict=True):
            out[place] = a
    return outs


def loop_fold(f, xs, init):
    acc = init
    for row in zip(*(x.ravel() for x in xs), strict=True):
        acc = f(acc, row)
    return acc


def loop_scan(f, xs: Sequence[np.ndarray], reverse=False):
    xs = [x[::-1] if reverse else x for x in xs]
    acc = tuple(x[0] for x in xs)
    rows = [acc]
    for i in range(1, len(xs[0])):
        acc = f(acc, tuple(x[i] for x in xs))
        rows.append(acc)
    outs = [
        np.stack([np.asarray(v) for v in column]) for column in zip(*rows, strict=True)
    ]
    return [y[::-1] if reverse else y for y in outs]
