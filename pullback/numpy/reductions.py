"""Reductions that skip NaN, and counts."""

from collections.abc import Callable

import numpy as np

from pullback.api.arrays.axes import (
    Axis,
    axes_of,
    counted,
    kept,
    masked,
    no_out,
)
from pullback.api.arrays.reductions import all, argmax, argmin, max, min, prod, sum
from pullback.api.arrays.sorting import cumprod, cumsum
from pullback.api.arrays.spread import std as plain_std, var as plain_var
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.ops.convert import convert
from pullback.ops.elementwise import div
from pullback.ops.logic import bitwise_and, eq, ne, select_n
from pullback.ops.promote import as_operand, broadcast_to
from pullback.ops.reduce import highest, lowest
from pullback.ops.shape import full


def _numbers(x, where):
    """The mask of elements that are not NaN; `where` itself for types without NaN."""
    aval = aval_of(x)
    if not dtypes.is_inexact(aval.dtype):
        return where
    mask = eq(x, x)  # false for NaN alone
    if where is None:
        return mask
    shape = np.broadcast_shapes(aval.shape, aval_of(where).shape)
    where = convert(broadcast_to(where, shape), dtypes.bool_)
    return bitwise_and(broadcast_to(mask, shape), where)


def count_nonzero(a, axis: Axis = None, keepdims: bool = False):
    """How many elements over `axis` are not zero."""
    x = convert(as_operand("count_nonzero", a), dtypes.bool_)
    return sum(x, axis, dtypes.default_int(), None, keepdims)


def nansum(
    a,
    axis: Axis = None,
    dtype=None,
    out=None,
    keepdims: bool = False,
    initial=None,
    where=None,
):
    """Sum over `axis` of the elements that are not NaN; arguments as for `sum`."""
    x = as_operand("nansum", a)
    return sum(x, axis, dtype, out, keepdims, initial, _numbers(x, where))


def nanprod(
    a,
    axis: Axis = None,
    dtype=None,
    out=None,
    keepdims: bool = False,
    initial=None,
    where=None,
):
    """Product over `axis` of the elements that are not NaN; arguments as for `prod`."""
    x = as_operand("nanprod", a)
    return prod(x, axis, dtype, out, keepdims, initial, _numbers(x, where))


def _nan_extremum(reduce: Callable, neutral: Callable, x, axis, keepdims, *rest):
    aval = aval_of(x)
    if not dtypes.is_inexact(aval.dtype):
        return reduce(x, axis, None, keepdims, *rest)
    nan = ne(x, x)
    filled = masked(x, _numbers(x, None), neutral(aval.dtype))
    out = reduce(filled, axis, None, keepdims, *rest)
    lost = all(nan, axis, None, keepdims)
    if rest[0] is not None:
        return out
    return select_n(lost, out, full(aval_of(out), np.nan))


def nanmax(
    a, axis: Axis = None, out=None, keepdims: bool = False, initial=None, where=None
):
    """Largest element over `axis` that is not NaN; NaN if all are."""
    no_out("nanmax", out)
    x = as_operand("nanmax", a)
    return _nan_extremum(max, lowest, x, axis, keepdims, initial, where)


def nanmin(
    a, axis: Axis = None, out=None, keepdims: bool = False, initial=None, where=None
):
    """Smallest element over `axis` that is not NaN; NaN if all are."""
    no_out("nanmin", out)
    x = as_operand("nanmin", a)
    return _nan_extremum(min, highest, x, axis, keepdims, initial, where)


def _nan_position(find: Callable, neutral: Callable, x, axis, keepdims):
    aval = aval_of(x)
    if not dtypes.is_inexact(aval.dtype):
        return find(x, axis, None, keepdims)
    filled = masked(x, _numbers(x, None), neutral(aval.dtype))
    out = find(filled, axis, None, keepdims)
    lost = all(ne(x, x), axis, None, bool(keepdims))
    return select_n(lost, out, full(aval_of(out), -1))


def nanargmax(a, axis: int | None = None, out=None, keepdims: bool | None = None):
    """Position of the largest element that is not NaN; -1 if all are NaN."""
    no_out("nanargmax", out)
    x = as_operand("nanargmax", a)
    return _nan_position(argmax, lowest, x, axis, keepdims)


def nanargmin(a, axis: int | None = None, out=None, keepdims: bool | None = None):
    """Position of the smallest element that is not NaN; -1 if all are NaN."""
    no_out("nanargmin", out)
    x = as_operand("nanargmin", a)
    return _nan_position(argmin, highest, x, axis, keepdims)


def nanmean(
    a, axis: Axis = None, dtype=None, out=None, keepdims: bool = False, *, where=None
):
    """Mean over `axis` of the elements that are not NaN; NaN if there is none."""
    no_out("nanmean", out)
    x = as_operand("nanmean", a)
    aval = aval_of(x)
    own = dtypes.to_inexact(aval.dtype) if dtype is None else dtypes.named(dtype)
    axes = axes_of("nanmean", axis, aval.ndim)
    numbers = _numbers(x, where)
    total = sum(x, axis, own, None, False, None, numbers)
    count = convert(counted(numbers, aval.shape, axes, np.dtype(np.float32)), own)
    return kept(div(total, count), aval.shape, axes, keepdims)


def nanvar(
    a,
    axis: Axis = None,
    dtype=None,
    out=None,
    ddof: float = 0,
    keepdims: bool = False,
    where=None,
    mean=None,
):
    """Variance over `axis` of the elements that are not NaN; arguments as for `var`."""
    x = as_operand("nanvar", a)
    where = _numbers(x, where)
    return plain_var(x, axis, dtype, out, ddof, keepdims, where=where, mean=mean)


def nanstd(
    a,
    axis: Axis = None,
    dtype=None,
    out=None,
    ddof: float = 0,
    keepdims: bool = False,
    where=None,
    mean=None,
):
    """Standard deviation over `axis` of the elements that are not NaN."""
    x = as_operand("nanstd", a)
    where = _numbers(x, where)
    return plain_std(x, axis, dtype, out, ddof, keepdims, where=where, mean=mean)


def nancumsum(a, axis: int | None = None, dtype=None, out=None):
    """Running sum along `axis` with NaN as zero."""
    x = as_operand("nancumsum", a)
    return cumsum(masked(x, _numbers(x, None), 0), axis, dtype, out)


def nancumprod(a, axis: int | None = None, dtype=None, out=None):
    """Running product along `axis` with NaN as one."""
    x = as_operand("nancumprod", a)
    return cumprod(masked(x, _numbers(x, None), 1), axis, dtype, out)
