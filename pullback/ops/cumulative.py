"""Cumulative family: running sums, products, extrema, log-sum-exps along one axis."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Derivative, Linear, Smooth
from pullback.core.primitive import Primitive
from pullback.ops.elementwise import add, add_any, mul
from pullback.ops.joining import concatenate
from pullback.ops.logic import eq, max, min, select_n
from pullback.ops.nary import NUMERIC, REAL, check_kind, quiet
from pullback.ops.reduce import highest, lowest, widened
from pullback.ops.shape import canonical_axis, full
from pullback.ops.slicing import pad, rev, slice_in_dim
from pullback.ops.transcendental import exp_share, logaddexp

Combine = Callable[[list[Any], list[Any]], list[Any]]


def cumsum(operand, axis: int = 0, reverse: bool = False):
    """Running sum along `axis`, from the end if `reverse`."""
    return _bind(cumsum_p, operand, axis, reverse)


def cumprod(operand, axis: int = 0, reverse: bool = False):
    """Running product along `axis`; its derivative is right at zeros, too."""
    return _bind(cumprod_p, operand, axis, reverse)


def cummax(operand, axis: int = 0, reverse: bool = False):
    """Running maximum along `axis`; NaN stays."""
    return _bind(cummax_p, operand, axis, reverse)


def cummin(operand, axis: int = 0, reverse: bool = False):
    """Running minimum along `axis`; NaN stays."""
    return _bind(cummin_p, operand, axis, reverse)


def cumlogsumexp(operand, axis: int = 0, reverse: bool = False):
    """Running `log(sum(exp(x)))` along `axis`, without overflow."""
    return _bind(cumlogsumexp_p, operand, axis, reverse)


def _bind(prim: Primitive, x, axis: int, reverse: bool):
    axis = canonical_axis(axis, aval_of(x).ndim)
    return prim.bind(x, axis=axis, reverse=bool(reverse))


# ---- running combinations of several arrays at once ----


def running(combine: Combine, xs: Sequence[Any], axis: int) -> list[Any]:
    """`xs` combined from the start to each place of `axis`, in logarithmic depth.

    `combine(earlier, later)` is associative and works on slices of all arrays. Pairs
    are combined, the half as long problem is solved, and the places in between filled.
    """
    xs = list(xs)
    n = aval_of(xs[0]).shape[axis]
    if n < 2:
        return xs

    def part(values, start, limit, stride=1):
        return [slice_in_dim(x, start, limit, stride, axis) for x in values]

    odd = running(combine, combine(part(xs, 0, n - 1, 2), part(xs, 1, n, 2)), axis)
    even = part(xs, 0, 1)
    if n > 2:
        before = odd if n % 2 else part(odd, 0, n // 2 - 1)
        later = combine(before, part(xs, 2, n, 2))
        even = [concatenate(pair, axis) for pair in zip(even, later, strict=True)]
    return [_interleaved(e, o, n, axis) for e, o in zip(even, odd, strict=True)]


def _interleaved(even, odd, n: int, axis: int):
    aval = aval_of(even)
    zero = np.zeros((), aval.dtype)
    config = [(0, 0, 0)] * aval.ndim
    config[axis] = (0, 1 - n % 2, 1)
    even = pad(even, zero, config)
    config[axis] = (1, n % 2, 1)
    return add(even, pad(odd, zero, config))


def _running_tangent(pair: Callable) -> Callable:
    """The tangent rule of a running combination.

    `pair(x0, x1) -> (out, w0, w1)`: two elements combined, and the derivatives of the
    result; None stands for one.
    """

    def combine(earlier, later):
        out, w0, w1 = pair(earlier[0], later[0])
        return [out, add_any(mul(earlier[1], w0), mul(later[1], w1))]

    def tangent(t, out, x, *, axis, reverse):
        if reverse:
            x, t = rev(x, (axis,)), rev(t, (axis,))
        result = running(combine, [x, t], axis)[1]
        return rev(result, (axis,)) if reverse else result

    return tangent


def _prod_pair(x0, x1):
    return mul(x0, x1), x1, x0


def _extreme_pair(function: Callable) -> Callable:
    def pair(x0, x1):
        out = function(x0, x1)
        tie = eq(x0, x1)
        aval = aval_of(out)
        half, one, none = (full(aval, v) for v in (0.5, 1, 0))
        w0 = select_n(tie, select_n(eq(x0, out), none, one), half)
        w1 = select_n(tie, select_n(eq(x1, out), none, one), half)
        return out, w0, w1

    return pair


def _logaddexp_pair(x0, x1):
    return logaddexp(x0, x1), exp_share(x0, x1), exp_share(x1, x0)


# ---- rules ----


def _cumulative(
    name: str,
    *,
    accepts: Sequence[str],
    ufunc: np.ufunc,
    start: Callable,
    body: Callable,
    derivative: Derivative,
) -> Primitive:
    def abstract(x, *, axis, reverse):
        check_kind(name, x.dtype, accepts)
        canonical_axis(axis, x.ndim)
        return x

    def reference(x, *, axis, reverse):
        wide = x.astype(widened(x.dtype))
        wide = np.flip(wide, axis) if reverse else wide
        out = ufunc.accumulate(wide, axis=axis, dtype=wide.dtype)
        return np.flip(out, axis) if reverse else out

    def lower(b, out, x, *, axis, reverse):
        dtype = widened(out.dtype)
        init = b.constant(np.asarray(start(dtype)), ShapedArray((), dtype))
        wide = out.update(dtype=dtype)
        x = x if wide is out else b.convert(wide, x)
        n, ones = out.shape[axis], [1] * out.ndim
        window, padding = list(ones), [(0, 0)] * out.ndim
        window[axis] = n
        padding[axis] = (0, n - 1) if reverse else (n - 1, 0)
        if not out.size:
            return x if wide is out else b.convert(out, x)
        y = b.reduce_window(
            [wide],
            [x],
            [init],
            body(dtype),
            window_dimensions=window,
            window_strides=ones,
            base_dilations=ones,
            window_dilations=ones,
            padding=padding,
        )[0]
        return y if wide is out else b.convert(out, y)

    def batch(n, xs, ds, *, axis, reverse):
        axis = axis if axis < ds[0] else axis + 1
        return prim.bind(xs[0], axis=axis, reverse=reverse), ds[0]

    prim = Primitive(
        name,
        abstract=abstract,
        reference=quiet(reference),
        lower=lower,
        derivative=derivative,
        batch=batch,
    )
    return prim


def _sum_transpose(ct, x, *, axis, reverse):
    return cumsum(ct, axis, not reverse)


cumsum_p = _cumulative(
    "cumsum",
    accepts=NUMERIC,
    ufunc=np.add,
    start=lambda dtype: 0,
    body=lambda dtype: "add",
    derivative=Linear((_sum_transpose,)),
)

cumprod_p = _cumulative(
    "cumprod",
    accepts=NUMERIC,
    ufunc=np.multiply,
    start=lambda dtype: 1,
    body=lambda dtype: "multiply",
    derivative=Smooth((_running_tangent(_prod_pair),)),
)

cummax_p = _cumulative(
    "cummax",
    accepts=REAL,
    ufunc=np.maximum,
    start=lowest,
    body=lambda dtype: "maximum",
    derivative=Smooth((_running_tangent(_extreme_pair(max)),)),
)

cummin_p = _cumulative(
    "cummin",
    accepts=REAL,
    ufunc=np.minimum,
    start=highest,
    body=lambda dtype: "minimum",
    derivative=Smooth((_running_tangent(_extreme_pair(min)),)),
)


def _logaddexp_body(dtype) -> Callable:
    def body(b, x, y):
        high, low = b.maximum(x, y), b.minimum(x, y)
        zero = b.constant(0, ShapedArray((), dtype))
        same = b.compare(x, y, "EQ")
        apart = b.select(same, zero, b.subtract(low, high))
        return b.add(high, b.log_plus_one(b.exponential(apart)))

    return body


cumlogsumexp_p = _cumulative(
    "cumlogsumexp",
    accepts=("float",),
    ufunc=np.logaddexp,
    start=lowest,
    body=_logaddexp_body,
    derivative=Smooth((_running_tangent(_logaddexp_pair),)),
)
