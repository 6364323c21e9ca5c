"""Statistics: quantiles, weighted means, covariance."""

from typing import Any

import numpy as np

from pullback.api.arrays.axes import Axis, axes_of, kept, masked, no_out
from pullback.api.arrays.contractions import matmul, on_diagonal
from pullback.api.arrays.reductions import any, mean, sum
from pullback.api.arrays.ufuncs import divide, multiply, subtract
from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import ArgumentError, ShapeError
from pullback.ops.complex import conj, real
from pullback.ops.convert import convert
from pullback.ops.elementwise import add, ceil, div, floor, mul, sub
from pullback.ops.joining import concatenate
from pullback.ops.logic import bitwise_not, le, max, min, ne, select_n
from pullback.ops.powers import sqrt
from pullback.ops.promote import as_operand, promote_dtypes, promote_inexact
from pullback.ops.shape import (
    broadcast_in_dim,
    expand_dims,
    full,
    moveaxis,
    reshape,
    transpose,
)
from pullback.ops.slicing import index_in_dim
from pullback.ops.sort import sort, take_along

METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


# ---- quantiles ----


def _last(name: str, x, axis: Axis):
    """`x` with the reduced axes merged into the last one, and which they were."""
    aval = aval_of(x)
    axes = axes_of(name, axis, aval.ndim)
    others = [i for i in range(aval.ndim) if i not in axes]
    count = aval.size // max_one([aval.shape[i] for i in others])
    merged = reshape(
        transpose(x, (*others, *axes)), [*(aval.shape[i] for i in others), count]
    )
    return merged, axes


def max_one(sizes) -> int:
    """The product of sizes, at least 1."""
    product = 1
    for n in sizes:
        product *= n
    return product or 1


def _weighted(method: str, low, high, weight):
    match method:
        case "lower":
            return low
        case "higher":
            return high
        case "midpoint":
            return mul(add(low, high), np.asarray(0.5, aval_of(low).dtype))
        case "nearest":
            half = full(aval_of(weight), 0.5)
            return select_n(le(weight, half), high, low)
    one = full(aval_of(weight), 1)
    return add(mul(low, sub(one, weight)), mul(high, weight))


def _quantile(name: str, a, q, axis, method: str, keepdims: bool, skip: bool):
    if method not in METHODS:
        raise ArgumentError(
            f"{name} with method={method!r}", rule=f"the method is one of {METHODS}"
        )
    x, q = promote_inexact(as_operand(name, a), as_operand(name, q))
    aval, q_shape = aval_of(x), aval_of(q).shape
    if dtypes.is_complex(aval.dtype):
        raise ArgumentError(f"{name} of complex numbers", rule="they have no order")
    if len(q_shape) > 1:
        raise ArgumentError(
            f"{name}: q has shape {q_shape}", rule="q is a number or a vector"
        )
    x, axes = _last(name, convert(x, aval.dtype), axis)
    q = reshape(convert(q, aval.dtype), (aval_of(q).size,))
    out = _along_last(x, q, method, skip)
    if not q_shape:
        out = reshape(out, aval_of(out).shape[:-1])
        return kept(out, aval.shape, axes, keepdims)
    out = moveaxis(out, aval_of(out).ndim - 1, 0)
    return expand_dims(out, [i + 1 for i in axes]) if keepdims else out


def _along_last(x, q, method: str, skip: bool):
    """`[..., n]` and `[k]` to `[..., k]`."""
    aval = aval_of(x)
    last, n = aval.ndim - 1, aval.shape[-1]
    nan = ne(x, x)
    shape = (*aval.shape[:-1], aval_of(q).size)
    q = broadcast_in_dim(q, shape, (last,))
    if skip:
        count = sum(bitwise_not(nan), last, aval.dtype)
        top = sub(count, np.asarray(1, aval.dtype))
        top = broadcast_in_dim(top, shape, range(last))
    else:
        lost = broadcast_in_dim(any(nan, last), aval.shape, range(last))
        x = select_n(lost, x, full(aval, np.nan))
        top = full(aval_of(q), n - 1)
    x = sort(x, last)
    index = mul(q, top)
    zero = full(aval_of(index), 0)
    low = max(zero, min(floor(index), top))
    high = max(zero, min(ceil(index), top))
    values = [take_along(x, convert(i, dtypes.int32), last) for i in (low, high)]
    return _weighted(method, *values, sub(index, floor(index)))


def quantile(
    a,
    q,
    axis: Axis = None,
    out=None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
):
    """The values below which fractions `q` of the elements lie.

    Args:
      a: real numbers.
      q: fractions in [0, 1], a number or a vector.
      axis: an axis, several, or None for all.
      method: between two elements: "linear", "lower", "higher", "midpoint", "nearest".
      keepdims: keep the axes with size 1.

    Returns:
      The axes of `q`, then those of `a` that are left; NaN where an element is.

    Raises:
      ArgumentError: an unknown method, complex numbers, a bad axis.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.quantile(pnp.array([1.0, 2.0, 4.0]), 0.5).item()
      2.0

    Source: Hyndman and Fan, Sample quantiles in statistical packages, definition 7.
    """
    del overwrite_input
    no_out("quantile", out)
    return _quantile("quantile", a, q, axis, method, keepdims, False)


def nanquantile(
    a,
    q,
    axis: Axis = None,
    out=None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
):
    """`quantile` of the elements that are not NaN."""
    del overwrite_input
    no_out("nanquantile", out)
    return _quantile("nanquantile", a, q, axis, method, keepdims, True)


def percentile(
    a,
    q,
    axis: Axis = None,
    out=None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
):
    """`quantile` with `q` in percent."""
    del overwrite_input
    no_out("percentile", out)
    q = divide(q, 100.0)
    return _quantile("percentile", a, q, axis, method, keepdims, False)


def nanpercentile(
    a,
    q,
    axis: Axis = None,
    out=None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
):
    """`nanquantile` with `q` in percent."""
    del overwrite_input
    no_out("nanpercentile", out)
    q = divide(q, 100.0)
    return _quantile("nanpercentile", a, q, axis, method, keepdims, True)


def median(
    a, axis: Axis = None, out=None, overwrite_input: bool = False, keepdims=False
):
    """The middle element over `axis`, or the mean of the middle two."""
    del overwrite_input
    no_out("median", out)
    return _quantile("median", a, 0.5, axis, "midpoint", keepdims, False)


def nanmedian(
    a, axis: Axis = None, out=None, overwrite_input: bool = False, keepdims=False
):
    """`median` of the elements that are not NaN."""
    del overwrite_input
    no_out("nanmedian", out)
    return _quantile("nanmedian", a, 0.5, axis, "midpoint", keepdims, True)


# ---- weighted means ----


def average(
    a,
    axis: Axis = None,
    weights: Any = None,
    returned: bool = False,
    keepdims: bool = False,
):
    """Mean over `axis`, each element with its weight.

    Args:
      a: any number type.
      axis: an axis, several, or None for all.
      weights: of the shape of `a`, or a vector along the one axis; None: all one.
      returned: also return the sum of the weights.
      keepdims: keep the axes with size 1.

    Raises:
      ShapeError: weights of another shape.
    """
    x = as_operand("average", a)
    aval = aval_of(x)
    axes = axes_of("average", axis, aval.ndim)
    if weights is None:
        out = mean(x, axis, None, None, keepdims)
        total = full(aval_of(out), aval.size / max_one(aval_of(out).shape))
        return (out, total) if returned else out
    w = _weights(as_operand("average", weights), aval, axes)
    x, w = promote_inexact(x, w)
    total = sum(w, axes, None, None, keepdims)
    out = divide(sum(multiply(x, w), axes, None, None, keepdims), total)
    return (out, total) if returned else out


def _weights(w, x: ShapedArray, axes: tuple[int, ...]):
    shape = aval_of(w).shape
    if shape == x.shape:
        return w
    if len(shape) != 1 or len(axes) != 1 or shape[0] != x.shape[axes[0]]:
        raise ShapeError(
            f"average of {x.short()} over axes {axes} with weights of shape {shape}",
            rule="weights have the shape of the array, or are a vector along one axis",
        )
    return broadcast_in_dim(w, x.shape, axes)


# ---- covariance ----


def cov(
    m,
    y=None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights=None,
    aweights=None,
):
    """Covariance of variables, from observations.

    Args:
      m: `[variables, observations]`, or `[observations]` of one variable.
      y: further variables.
      rowvar: whether rows are variables; else columns are.
      bias: divide by the number of observations instead of one less.
      ddof: overrides `bias`: what is subtracted from that number.
      fweights: `int[observations]`: how often each was observed.
      aweights: `[observations]`: how much each counts.

    Returns:
      `[variables, variables]`, or a scalar for one variable.

    Raises:
      ShapeError: more than two axes; weights that do not fit.
    """
    x = _variables(m, rowvar)
    if y is not None:
        x, other = promote_dtypes(x, _variables(y, rowvar))
        x = concatenate([x, other], 0)
    count = aval_of(x).shape[1]
    w = _observation_weights(fweights, aweights, count, aval_of(x).dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    center, total = average(x, 1, w, True)
    total = index_in_dim(total, 0, 0, False) if w is not None else count
    if w is None or aweights is None or not ddof:
        divisor = subtract(total, ddof)
    else:
        squares = sum(multiply(w, as_operand("cov", aweights)))
        divisor = subtract(total, divide(multiply(ddof, squares), total))
    x = sub(x, broadcast_in_dim(center, aval_of(x).shape, (0,)))
    right = transpose(x if w is None else multiply(x, reshape(w, (1, count))), (1, 0))
    if dtypes.is_complex(aval_of(x).dtype):
        right = conj(right)
    out = divide(matmul(x, right), convert(divisor, dtypes.to_real(aval_of(x).dtype)))
    return reshape(out, ()) if aval_of(out).size == 1 else out


def _variables(m, rowvar: bool):
    (x,) = promote_inexact(as_operand("cov", m))
    aval = aval_of(x)
    if aval.ndim > 2:
        raise ShapeError(f"cov of {aval.short()}", rule="it has at most two axes")
    x = convert(x, aval.dtype)
    if aval.ndim < 2:
        return reshape(x, (1, aval.size))
    return x if rowvar or aval.shape[0] == 1 else transpose(x, (1, 0))


def _observation_weights(fweights, aweights, count: int, dtype):
    found = None
    for w in (fweights, aweights):
        if w is None:
            continue
        w = convert(as_operand("cov", w), dtypes.to_real(dtype))
        if aval_of(w).shape != (count,):
            raise ShapeError(
                f"cov of {count} observations with weights {aval_of(w).short()}",
                rule="there is one weight for each observation",
            )
        found = w if found is None else mul(found, w)
    return found


def corrcoef(x, y=None, rowvar: bool = True):
    """Correlation of variables: covariance divided by both standard deviations."""
    c = cov(x, y, rowvar)
    aval = aval_of(c)
    if not aval.ndim:
        return div(c, c)
    n = aval.shape[0]
    variances = sum(masked(c, on_diagonal(aval.shape, 0, 1), 0), 1)
    spread = sqrt(real(variances) if dtypes.is_complex(aval.dtype) else variances)
    rows, columns = (broadcast_in_dim(spread, (n, n), (i,)) for i in (0, 1))
    return divide(divide(c, rows), columns)
