"""Variance, standard deviation and range, which are methods of arrays."""

from typing import Any

import numpy as np

from pullback.api.arrays.axes import Axis, axes_of, counted, kept, masked, no_out
from pullback.api.arrays.reductions import max, min
from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import ArgumentError
from pullback.ops.complex import conj, real
from pullback.ops.convert import convert
from pullback.ops.elementwise import div, mul, sub
from pullback.ops.logic import gt, select_n
from pullback.ops.powers import sqrt, square
from pullback.ops.promote import as_operand, broadcast_to
from pullback.ops.promotion import promote_types
from pullback.ops.reduce import widened
from pullback.ops.shape import broadcast_in_dim, full, reduce_sum


def _variance_dtypes(dtype, requested) -> tuple[Any, Any]:
    """The dtypes to compute in and to return."""
    if requested is None:
        own = dtypes.to_inexact(dtype)
        return widened(own), dtypes.to_real(own)
    result = dtypes.named(requested, "var")
    if dtypes.is_complex(dtype) and not dtypes.is_complex(result):
        raise ArgumentError(
            f"var of {dtype.name} with dtype={result.name}",
            rule="complex numbers are not computed with in a real dtype",
            fix="leave dtype out: the result is real anyway",
        )
    return widened(dtypes.to_inexact(promote_types(dtype, result))), result


def _squares(x, axes, where, center):
    """Squared distances from the mean over `axes`, or from `center`."""
    aval = aval_of(x)
    if center is None:
        count = counted(where, aval.shape, axes, dtypes.to_real(aval.dtype))
        if dtypes.is_complex(aval.dtype):
            count = convert(count, aval.dtype)
        center = div(reduce_sum(masked(x, where, 0), axes), count)
        others = [i for i in range(aval.ndim) if i not in axes]
        center = broadcast_in_dim(center, aval.shape, others)
    else:
        center = broadcast_to(convert(center, aval.dtype), aval.shape)
    away = sub(x, center)
    if dtypes.is_complex(aval.dtype):
        return real(mul(away, conj(away)))
    return square(away)


def _normalized(total, count, ddof):
    """`total / (count - ddof)`, NaN where the divisor is not positive."""
    aval = aval_of(total)
    if isinstance(count, np.ndarray) and isinstance(ddof, int | float):
        divisor = np.asarray(count - ddof, aval.dtype)
        return div(total, divisor if divisor > 0 else np.asarray(np.nan, aval.dtype))
    divisor = sub(count, convert(ddof, aval.dtype))
    shape = ShapedArray(aval_of(divisor).shape, aval.dtype)
    positive = gt(divisor, full(shape, 0))
    return div(total, select_n(positive, full(shape, np.nan), divisor))


def var(
    a,
    axis: Axis = None,
    dtype=None,
    out=None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where=None,
    mean=None,
    correction: float | None = None,
):
    """Variance over `axis`: the mean of squared distances from the mean.

    Args:
      a: any number type; complex numbers give a real variance.
      axis: an axis, several, or None for all.
      dtype: the dtype to compute in and return.
      ddof: what is subtracted from the number of elements before dividing.
      keepdims: keep the axes with size 1.
      where: `bool[...]`, broadcast to `a`: which elements count.
      mean: the mean, with kept axes, if it is known.
      correction: another name for `ddof`.

    Returns:
      The variance; NaN where the divisor is not positive.

    Raises:
      ArgumentError: both `ddof` and `correction` are given; a bad axis.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.var(pnp.array([1.0, 3.0])).item()
      1.0
    """
    no_out("var", out)
    ddof = _one_ddof("var", ddof, correction)
    return _variance("var", a, axis, dtype, ddof, keepdims, where, mean)


def _one_ddof(name: str, ddof, correction):
    if correction is None:
        return ddof
    if not isinstance(ddof, int) or ddof != 0:
        raise ArgumentError(
            f"{name} with ddof={ddof} and correction={correction}",
            rule="the two mean the same; give one of them",
        )
    return correction


def _variance(name: str, a, axis, dtype, ddof, keepdims, where, mean):
    x = as_operand(name, a)
    aval = aval_of(x)
    axes = axes_of(name, axis, aval.ndim)
    computed, result = _variance_dtypes(aval.dtype, dtype)
    squares = _squares(convert(x, computed), axes, where, mean)
    total = reduce_sum(masked(squares, where, 0), axes)
    count = counted(where, aval.shape, axes, aval_of(total).dtype)
    variance = _normalized(total, count, ddof)
    return kept(convert(variance, result), aval.shape, axes, keepdims)


def std(
    a,
    axis: Axis = None,
    dtype=None,
    out=None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where=None,
    mean=None,
    correction: float | None = None,
):
    """Standard deviation over `axis`, the root of `var`; arguments as for it."""
    no_out("std", out)
    ddof = _one_ddof("std", ddof, correction)
    return sqrt(_variance("std", a, axis, dtype, ddof, keepdims, where, mean))


def ptp(a, axis: Axis = None, out=None, keepdims: bool = False):
    """Range over `axis`: the largest element minus the smallest."""
    no_out("ptp", out)
    return sub(max(a, axis, None, keepdims), min(a, axis, None, keepdims))


METHODS = {"ptp": ptp, "std": std, "var": var}
