"""Reductions that are methods of arrays: sums, means, extrema, positions.

Results are never weakly typed. Sums and products of half precision are computed in
float32 and those of narrow integers in the default width, as in JAX.
"""

from collections.abc import Callable

import numpy as np

from pullback.api.arrays.axes import (
    Axis,
    axes_of,
    counted,
    kept,
    masked,
    no_out,
    one_axis,
)
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError
from pullback.core.primitive import REGISTRY
from pullback.ops.convert import convert
from pullback.ops.elementwise import add, div, mul
from pullback.ops.promote import as_operand, promote_dtypes
from pullback.ops.reduce import (
    argmax_p,
    argmin_p,
    highest,
    lowest,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    widened,
)
from pullback.ops.shape import reduce_sum, reduce_sum_p, reshape

_SUMMED_AS_THEY_ARE = frozenset(
    (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)
)

# ---- sums and products ----


def _result_dtype(name: str, dtype, requested, promote_integers: bool):
    """The dtype of a sum of elements of type `dtype`."""
    if requested is not None:
        return dtypes.named(requested, name)
    if dtypes.is_bool(dtype):
        return dtypes.default_int()
    if promote_integers and dtypes.is_integer(dtype):
        wide = dtypes.default_int()
        if dtype.itemsize < wide.itemsize:
            return dtypes.canonicalize(np.uint64) if dtype.kind == "u" else wide
    return dtype


def _accumulate(
    name: str,
    bind: Callable,
    combine: Callable,
    neutral: int,
    a,
    axis: Axis,
    dtype,
    keepdims: bool,
    initial,
    where,
    promote_integers: bool,
):
    x = as_operand(name, a)
    aval = aval_of(x)
    axes = axes_of(name, axis, aval.ndim)
    result = _result_dtype(name, aval.dtype, dtype, promote_integers)
    x = masked(convert(x, widened(result)), where, neutral)
    out = bind(x, axes)
    if initial is not None:
        out = combine(convert(initial, widened(result)), out)
    return kept(convert(out, result), aval.shape, axes, keepdims)


def sum(
    a,
    axis: Axis = None,
    dtype=None,
    out=None,
    keepdims: bool = False,
    initial=None,
    where=None,
    promote_integers: bool = True,
):
    """Sum of elements over `axis`, all of them for None.

    Args:
      a: any number type; booleans count as integers.
      axis: an axis, several, or None.
      dtype: the dtype of the result; by default that of `a`, narrow integers widened.
      keepdims: keep summed axes with size 1.
      initial: a number added to the sum.
      where: `bool[...]`, broadcast to `a`: which elements count.
      promote_integers: whether narrow integers are summed in the default width.

    Raises:
      ArgumentError: an axis is out of bounds or named twice.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.sum(pnp.arange(4)).item()
      6

    Source: StableHLO `reduce`.
    """
    if (
        axis is None
        and not (keepdims or dtype or initial is not None or out is not None)
        and where is None
    ):
        aval = getattr(a, "aval", None)
        if aval is not None and aval.dtype in _SUMMED_AS_THEY_ARE and aval.ndim:
            return reduce_sum_p.bind(a, axes=tuple(range(aval.ndim)))
    no_out("sum", out)
    return _accumulate(
        *("sum", reduce_sum, add, 0),
        *(a, axis, dtype, keepdims, initial, where, promote_integers),
    )


def prod(
    a,
    axis: Axis = None,
    dtype=None,
    out=None,
    keepdims: bool = False,
    initial=None,
    where=None,
    promote_integers: bool = True,
):
    """Product of elements over `axis`; arguments as for `sum`.

    The derivative is right where elements are zero.
    """
    no_out("prod", out)
    return _accumulate(
        *("prod", reduce_prod, mul, 1),
        *(a, axis, dtype, keepdims, initial, where, promote_integers),
    )


# ---- means ----


def mean(
    a, axis: Axis = None, dtype=None, out=None, keepdims: bool = False, *, where=None
):
    """Arithmetic mean over `axis`; integers give floats.

    Args:
      a: any number type.
      axis: an axis, several, or None for all.
      dtype: the dtype to compute in and return.
      keepdims: keep the axes with size 1.
      where: `bool[...]`, broadcast to `a`: which elements count.

    Returns:
      The mean; NaN where no element counts.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.mean(pnp.array([1.0, 3.0])).item()
      2.0
    """
    no_out("mean", out)
    x = as_operand("mean", a)
    aval = aval_of(x)
    axes = axes_of("mean", axis, aval.ndim)
    result = (
        dtypes.to_inexact(aval.dtype) if dtype is None else dtypes.named(dtype, "mean")
    )
    wide = widened(result)
    divisor = counted(where, aval.shape, axes, wide)
    total = div(reduce_sum(masked(convert(x, wide), where, 0), axes), divisor)
    return kept(convert(total, result), aval.shape, axes, keepdims)


# ---- extrema ----


def _extremum(name: str, bind: Callable, neutral: Callable, a, axis, keepdims, **rest):
    x = as_operand(name, a)
    aval = aval_of(x)
    axes = axes_of(name, axis, aval.ndim)
    initial, where = rest["initial"], rest["where"]
    if initial is None:
        _needs_identity(name, aval, axes, where)
    out = bind(masked(convert(x, aval.dtype), where, neutral(aval.dtype)), axes)
    if initial is not None:
        both = promote_dtypes(initial, out)
        out = convert(REGISTRY[name].bind(*both), aval_of(both[0]).dtype)
    return kept(out, aval.shape, axes, keepdims)


def _needs_identity(name: str, aval, axes, where) -> None:
    if where is not None:
        raise ArgumentError(
            f"{name} of {aval.short()} with a where mask and no initial value",
            rule=f"reduction operation {name} does not have an identity, and a mask "
            "may exclude every element",
            fix="give initial=",
        )
    if 0 in [aval.shape[i] for i in axes]:
        raise ArgumentError(
            f"{name} of {aval.short()}",
            rule=f"zero-size array to reduction operation {name} which has no identity",
            fix="give initial=, or reduce axes that have elements",
        )


def max(
    a, axis: Axis = None, out=None, keepdims: bool = False, initial=None, where=None
):
    """Largest element over `axis`; NaN if there is one.

    Args:
      a: any type; complex numbers compare by real, then imaginary part.
      axis: an axis, several, or None for all.
      keepdims: keep the axes with size 1.
      initial: a lower bound of the result, needed for empty axes and with `where`.
      where: `bool[...]`, broadcast to `a`: which elements count.

    Raises:
      ArgumentError: an empty axis, or a mask, without `initial`; a bad axis.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.max(pnp.array([1, 3, 2])).item()
      3
    """
    no_out("max", out)
    rest = {"initial": initial, "where": where}
    return _extremum("max", reduce_max, lowest, a, axis, keepdims, **rest)


def min(
    a, axis: Axis = None, out=None, keepdims: bool = False, initial=None, where=None
):
    """Smallest element over `axis`; NaN if there is one. Arguments as for `max`."""
    no_out("min", out)
    rest = {"initial": initial, "where": where}
    return _extremum("min", reduce_min, highest, a, axis, keepdims, **rest)


amax, amin = max, min


# ---- logic ----


def _logic(name: str, bind: Callable, neutral: bool, a, axis, keepdims, where):
    x = convert(as_operand(name, a), dtypes.bool_)
    aval = aval_of(x)
    axes = axes_of(name, axis, aval.ndim)
    return kept(bind(masked(x, where, neutral), axes), aval.shape, axes, keepdims)


def all(a, axis: Axis = None, out=None, keepdims: bool = False, *, where=None):
    """Whether all elements over `axis` are true (not zero)."""
    no_out("all", out)
    return _logic("all", reduce_and, True, a, axis, keepdims, where)


def any(a, axis: Axis = None, out=None, keepdims: bool = False, *, where=None):
    """Whether any element over `axis` is true (not zero)."""
    no_out("any", out)
    return _logic("any", reduce_or, False, a, axis, keepdims, where)


# ---- positions ----


def _position(prim, a, axis, keepdims):
    x = as_operand(prim.name, a)
    aval = aval_of(x)
    if aval.size == 0 and (axis is None or aval.shape[axis] == 0):
        raise ArgumentError(
            f"{prim.name} of {aval.short()}",
            rule=f"attempt to get {prim.name} of an empty sequence",
        )
    if axis is None:
        x, axes = reshape(x, (aval.size,)), tuple(range(aval.ndim))
        place = 0
    else:
        place = one_axis(prim.name, axis, aval.ndim)
        axes = (place,)
    out = prim.bind(x, axes=(place,), index_dtype=dtypes.default_int())
    return kept(out, aval.shape, axes, keepdims)


def argmax(a, axis: int | None = None, out=None, keepdims: bool | None = None):
    """Position of the first largest element; of the first NaN, if there is one.

    Args:
      a: any type.
      axis: the axis to search, or None for the array read in row-major order.
      keepdims: keep the searched axes with size 1.

    Raises:
      ArgumentError: nothing to search; `axis` out of bounds.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.argmax(pnp.array([1, 3, 3])).item()
      1
    """
    no_out("argmax", out)
    return _position(argmax_p, a, axis, bool(keepdims))


def argmin(a, axis: int | None = None, out=None, keepdims: bool | None = None):
    """Position of the first smallest element; of the first NaN, if there is one.

    Arguments as for `argmax`.
    """
    no_out("argmin", out)
    return _position(argmin_p, a, axis, bool(keepdims))


METHODS = {
    "all": all,
    "any": any,
    "argmax": argmax,
    "argmin": argmin,
    "max": max,
    "mean": mean,
    "min": min,
    "prod": prod,
    "sum": sum,
}
