"""Sorting and running sums, which are methods of arrays."""

from typing import Any

from pullback.api.arrays.axes import no_out, one_axis
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError
from pullback.ops.convert import convert
from pullback.ops.cumulative import cumprod_p, cumsum_p
from pullback.ops.iota import broadcasted_iota
from pullback.ops.joining import concatenate
from pullback.ops.promote import as_operand
from pullback.ops.shape import full, reshape
from pullback.ops.slicing import rev
from pullback.ops.sort import sort_p


def flat_or_axis(name: str, x, axis: int | None) -> tuple[Any, int]:
    """`x` and the axis to work along; for None, `x` in one axis."""
    aval = aval_of(x)
    if axis is None:
        return reshape(x, (aval.size,)), 0
    return x, one_axis(name, axis, aval.ndim)


# ---- running sums and products ----


def running_dtype(name: str, dtype, requested):
    """The dtype of a running sum: booleans count as integers."""
    if requested is not None:
        return dtypes.named(requested, name)
    return dtypes.default_int() if dtypes.is_bool(dtype) else dtype


def _running(prim, a, axis, dtype):
    x, axis = flat_or_axis(prim.name, as_operand(prim.name, a), axis)
    x = convert(x, running_dtype(prim.name, aval_of(x).dtype, dtype))
    return prim.bind(x, axis=axis, reverse=False)


def cumsum(a, axis: int | None = None, dtype=None, out=None):
    """Running sum along `axis`, or of all elements in row-major order.

    Args:
      a: any number type; booleans count as integers.
      axis: an axis, or None.
      dtype: the dtype to sum in and to return (None: that of `a`).

    Raises:
      ArgumentError: `axis` is out of bounds.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.cumsum(pnp.array([1, 2, 3])).tolist()
      [1, 3, 6]
    """
    no_out("cumsum", out)
    return _running(cumsum_p, a, axis, dtype)


def cumprod(a, axis: int | None = None, dtype=None, out=None):
    """Running product along `axis`; arguments as for `cumsum`."""
    no_out("cumprod", out)
    return _running(cumprod_p, a, axis, dtype)


def _cumulative(name: str, running, x, axis, include_initial: bool, first: int, dtype):
    x = as_operand(name, x)
    aval = aval_of(x)
    if axis is None and aval.ndim != 1:
        raise ArgumentError(
            f"{name} of {aval.short()} without an axis",
            rule="axis may be left out only for arrays of one axis",
        )
    axis = one_axis(name, 0 if axis is None else axis, aval.ndim)
    out = running(x, axis, dtype)
    if not include_initial:
        return out
    shape = (*aval.shape[:axis], 1, *aval.shape[axis + 1 :])
    return concatenate([full(aval_of(out).update(shape=shape), first), out], axis)


def cumulative_sum(
    x, /, *, axis: int | None = None, dtype=None, include_initial: bool = False
):
    """Running sum along an axis, perhaps with a 0 in front.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.cumulative_sum(pnp.array([1, 2]), include_initial=True).tolist()
      [0, 1, 3]
    """
    return _cumulative("cumulative_sum", cumsum, x, axis, include_initial, 0, dtype)


def cumulative_prod(
    x, /, *, axis: int | None = None, dtype=None, include_initial: bool = False
):
    """Running product along an axis, perhaps with a 1 in front."""
    return _cumulative("cumulative_prod", cumprod, x, axis, include_initial, 1, dtype)


# ---- sorting ----


def _check(name: str, kind, order, stable) -> bool:
    if order is not None:
        raise ArgumentError(
            f"{name} with order={order!r}", rule="arrays here have no fields"
        )
    if kind not in (None, "quicksort", "mergesort", "heapsort", "stable"):
        raise ArgumentError(
            f"{name} with kind={kind!r}",
            rule="one of quicksort, mergesort, heapsort, stable",
        )
    return bool(stable) or kind in ("stable", "mergesort")


def _sorted(operands, axis: int, stable: bool, num_keys: int = 1) -> list[Any]:
    return sort_p.bind(*operands, dimension=axis, is_stable=stable, num_keys=num_keys)


def sort(
    a,
    axis: int | None = -1,
    *,
    kind=None,
    order=None,
    stable: bool = True,
    descending: bool = False,
):
    """Elements in order along `axis`; NaN counts as largest.

    Args:
      a: any type; complex numbers compare by real, then imaginary part.
      axis: an axis, or None for all elements in one axis.
      kind: accepted as in NumPy; "stable" and "mergesort" are stable.
      stable: whether equal elements keep their order.
      descending: largest first.

    Raises:
      ArgumentError: `axis` is out of bounds; `order` is given.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.sort(pnp.array([3, 1, 2])).tolist()
      [1, 2, 3]

    Source: StableHLO `sort`.
    """
    stable = _check("sort", kind, order, stable)
    x, axis = flat_or_axis("sort", as_operand("sort", a), axis)
    (out,) = _sorted([x], axis, stable)
    return rev(out, (axis,)) if descending else out


def argsort(
    a,
    axis: int | None = -1,
    *,
    kind=None,
    order=None,
    stable: bool = True,
    descending: bool = False,
    dtype=None,
):
    """Positions that put `a` in order along `axis`; arguments as for `sort`.

    `dtype`: that of the positions, an integer type.
    """
    stable = _check("argsort", kind, order, stable)
    x, axis = flat_or_axis("argsort", as_operand("argsort", a), axis)
    own = dtypes.default_int() if dtype is None else dtype
    places = broadcasted_iota(own, aval_of(x).shape, axis)
    if not descending:
        return _sorted([x, places], axis, stable)[1]
    backwards = [rev(v, (axis,)) for v in (x, places)]
    return rev(_sorted(backwards, axis, stable)[1], (axis,))


METHODS = {"argsort": argsort, "cumprod": cumprod, "cumsum": cumsum, "sort": sort}
