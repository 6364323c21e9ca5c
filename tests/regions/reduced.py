"""The functions under test with a monoid, the same as loops, and comparisons."""

import numpy as np

import pullback.numpy as pnp
from pullback import lax
from tests.regions.monoids import (
    MONOIDS,
    loop_fold,
    loop_scan,
    loop_windows,
    plain,
)

STEP = 1e-5
WINDOW = ((4,), (1,), ((2, 1),), (1,), (1,))
FUNCTIONS = ["reduce", "window", "scan"]
SMOOTH = [name for name in MONOIDS if name not in ("top2",)]
INIT = ["add", "mul", "affine", "matrix", "quaternion", "scaled"]


def close(got, want, tol=1.0):
    got = np.asarray(got, np.float64)
    np.testing.assert_allclose(got, want, rtol=1e-6 * tol, atol=1e-7 * tol)


def traced(name, function, n=9):
    """`run(xs, init, c)` in Pullback, and the same as loops."""
    monoid = MONOIDS[name]

    def run(xs, init, c):
        def f(p, q):
            return tuple(monoid.f(pnp, c, p, q))

        xs = tuple(map(pnp.asarray, xs))
        if function == "reduce":
            return lax.reduce(xs, tuple(init), f, (0,))
        if function == "window":
            dims, strides, pads, base, inner = WINDOW
            return lax.reduce_window(
                xs, tuple(init), f, dims, strides, pads, base, inner
            )
        return lax.associative_scan(f, xs, reverse=function == "reverse")

    def loop(xs, init, c):
        f = plain(monoid, c)
        if function == "reduce":
            return loop_fold(f, xs, tuple(init))
        if function == "window":
            return loop_windows(f, xs, tuple(init), *WINDOW)
        return loop_scan(f, xs, function == "reverse")

    xs = monoid.make(np.random.default_rng(0), (n,))
    return run, loop, xs, monoid.init


def weighed(outs):
    """A scalar that depends on all inexact results."""
    total = 0.0
    for i, y in enumerate(outs):
        if np.issubdtype(np.dtype(y.dtype), np.inexact):
            size = int(np.prod(np.shape(y)))
            w = np.cos(np.arange(size) + i).reshape(np.shape(y))
            total = total + (y * w).sum()
    return total


def live(xs):
    """Which operands are inexact."""
    return [i for i, x in enumerate(xs) if np.asarray(x).dtype.kind == "f"]


def slope(f, x, t):
    return (f(x + STEP * t) - f(x - STEP * t)) / (2 * STEP)


def put(xs, i, x):
    return (*xs[:i], x, *xs[i + 1 :])
