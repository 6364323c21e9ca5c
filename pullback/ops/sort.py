"""Sorting family: arrays put in order along one axis, and the largest elements."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Region
from pullback.core.errors import ArgumentError, InternalError, ShapeError
from pullback.core.primitive import Primitive
from pullback.ops.dimensions import GatherDimensionNumbers
from pullback.ops.index import gather
from pullback.ops.iota import broadcasted_iota
from pullback.ops.nary import REAL, check_kind, quiet
from pullback.ops.shape import canonical_axis, expand_dims, moveaxis
from pullback.ops.slicing import batched_front, slice_in_dim


def sort(operand, dimension: int = -1, is_stable: bool = True, num_keys: int = 1):
    """Sort along one axis, smallest first; NaN comes last, and 0.0 equals -0.0.

    Args:
      operand: an array, or several of one shape, which are moved together.
      dimension: the axis.
      is_stable: whether equal elements keep their order.
      num_keys: how many of the operands are compared, the first before the second.

    Returns:
      The sorted array, or a tuple of them.

    Raises:
      ArgumentError: `num_keys` or `dimension` is out of range.
      ShapeError: operands of different shapes.

    Source: StableHLO `sort`.
    """
    several = isinstance(operand, tuple | list)
    operands = tuple(operand) if several else (operand,)
    if not 1 <= num_keys <= len(operands):
        raise ArgumentError(
            f"sort of {len(operands)} operands with num_keys={num_keys}",
            rule="at least one operand is a key, and no more than there are",
        )
    axis = canonical_axis(dimension, aval_of(operands[0]).ndim)
    outs = sort_p.bind(
        *operands, dimension=axis, is_stable=bool(is_stable), num_keys=int(num_keys)
    )
    return tuple(outs) if several else outs[0]


def sort_key_val(keys, values, dimension: int = -1, is_stable: bool = True):
    """Keys in order along an axis, and the values moved with them.

    Args:
      keys: `t[*s]`
      values: `u[*s]`
      dimension: the axis.
      is_stable: whether values of equal keys keep their order.

    Returns:
      The pair of both.

    Example:
      >>> import pullback.numpy as pnp
      >>> from pullback import lax
      >>> lax.sort_key_val(pnp.array([2, 1]), pnp.array([7, 8]))[1].tolist()
      [8, 7]
    """
    return sort((keys, values), dimension, is_stable, num_keys=1)


def top_k(operand, k: int, *, axis: int = -1) -> list[Any]:
    """The `k` largest elements along an axis, largest first, and their positions.

    Args:
      operand: any real type; NaN counts as largest.
      k: how many.
      axis: where to look.

    Returns:
      `[values, positions]`, with `k` elements along `axis`; positions are int32.

    Raises:
      ArgumentError: `k` is negative or more than there are.

    Source: CHLO `top_k`.
    """
    ndim = aval_of(operand).ndim
    if not ndim:
        raise ArgumentError("top_k of a scalar", rule="the operand has an axis")
    return top_k_p.bind(operand, axis=canonical_axis(axis, ndim), k=int(k))


def take_along(x, places, axis: int):
    """Elements of `x` at positions along `axis`, the other axes side by side.

    `places`: `i[...]` of the rank of `x`, all positions in range.
    """
    aval = aval_of(x)
    if not aval.size:
        return slice_in_dim(x, 0, aval_of(places).shape[axis], axis=axis)
    others = tuple(i for i in range(aval.ndim) if i != axis)
    numbers = GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
    )
    ones = (1,) * aval.ndim
    index = expand_dims(places, (aval.ndim,))
    return gather(x, index, numbers, ones, mode="promise_in_bounds")


def _not_linear(cts, operands, **params):
    raise InternalError("the order of elements is not linear in them")


# ---- sort ----


def _sort_abstract(*xs, dimension, is_stable, num_keys):
    first = xs[0]
    if any(x.shape != first.shape for x in xs):
        got = ", ".join(x.short() for x in xs)
        raise ShapeError(f"sort of {got}", rule="operands have one shape")
    canonical_axis(dimension, first.ndim)
    return list(xs)


def _order_keys(x) -> list[np.ndarray]:
    """Arrays that NumPy sorts as XLA sorts `x`, the least important first."""
    if dtypes.is_complex(x.dtype):
        return [x.imag + 0.0, np.isnan(x.imag), x.real + 0.0, np.isnan(x.real)]
    if dtypes.is_float(x.dtype):
        x = x.astype(np.promote_types(x.dtype, np.float32))
        return [np.where(np.isnan(x), 0, x) + 0.0, np.isnan(x)]
    return [x.astype(np.int32) if x.dtype.kind == "V" else x]


def _sort_reference(*xs, dimension, is_stable, num_keys):
    keys = [key for x in reversed(xs[:num_keys]) for key in _order_keys(x)]
    order = np.lexsort(keys, axis=dimension)
    return [np.take_along_axis(x, order, dimension) for x in xs]


def _before(b, x, y, dtype, direction: str = "LT"):
    """Whether scalar `x` comes before `y`: NaN after all else."""
    if dtypes.is_complex(dtype):
        real = dtypes.to_real(dtype)
        p, q = b.real(x), b.real(y)
        second = _before(b, b.imag(x), b.imag(y), real)
        return b.select(_same(b, p, q, real), second, _before(b, p, q, real))
    less = b.compare(x, y, direction)
    if not dtypes.is_float(dtype):
        return less
    only_y = b.and_(b.compare(x, x, "EQ"), b.compare(y, y, "NE"))
    return b.or_(less, only_y)


def _same(b, x, y, dtype):
    equal = b.compare(x, y, "EQ")
    if not dtypes.is_inexact(dtype):
        return equal
    return b.or_(equal, b.and_(b.compare(x, x, "NE"), b.compare(y, y, "NE")))


def _comparator(keys: Sequence[ShapedArray]) -> Callable:
    def before(b, *scalars):
        result = None
        for i in reversed(range(len(keys))):
            x, y, dtype = scalars[2 * i], scalars[2 * i + 1], keys[i].dtype
            first = _before(b, x, y, dtype)
            if result is not None:
                first = b.select(_same(b, x, y, dtype), result, first)
            result = first
        return result

    return before


def _sort_lower(b, outs, *xs, dimension, is_stable, num_keys):
    return b.sort(xs, dimension, _comparator(outs[:num_keys]), is_stable)


def _sort_jvp(primals, tangents, *, dimension, is_stable, num_keys):
    """One sort with the positions along, which say where the tangents go."""
    shape = aval_of(primals[0]).shape
    places = broadcasted_iota(np.int32, shape, dimension)
    *outs, places = sort_p.bind(
        *primals, places, dimension=dimension, is_stable=is_stable, num_keys=num_keys
    )
    ts = [None if t is None else take_along(t, places, dimension) for t in tangents]
    return outs, ts


def _sort_batch(n, xs, ds, *, dimension, **params):
    xs = [batched_front(x, d, n) for x, d in zip(xs, ds, strict=True)]
    return sort_p.bind(*xs, dimension=dimension + 1, **params), [0] * len(xs)


sort_p = Primitive(
    "sort",
    abstract=_sort_abstract,
    reference=quiet(_sort_reference),
    lower=_sort_lower,
    derivative=Region(jvp=_sort_jvp, transpose=_not_linear),
    batch=_sort_batch,
    multiple_results=True,
)


# ---- top_k ----


def _top_k_abstract(x, *, axis, k):
    check_kind("top_k", x.dtype, REAL)
    if not 0 <= k <= x.shape[axis]:
        raise ArgumentError(
            f"top_k of {x.short()} along axis {axis} with k={k}",
            rule=f"k lies in [0, {x.shape[axis]}], the size of the axis",
        )
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return [ShapedArray(shape, x.dtype, x.weak_type), ShapedArray(shape, dtypes.int32)]


def _total_order(x) -> np.ndarray:
    """Integers in the order of floats: -0.0 below 0.0, NaN at the ends by sign."""
    wide = x.astype(np.promote_types(x.dtype, np.float32))
    bits = wide.view(np.int32 if wide.dtype.itemsize == 4 else np.int64)
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _top_k_reference(x, *, axis, k):
    if dtypes.is_float(x.dtype):
        key = _total_order(x)
    else:
        key = x.astype(np.uint64 if x.dtype.kind == "u" else np.int64)
    order = np.argsort(~key, axis=axis, kind="stable")
    places = np.take(order, range(k), axis=axis)
    return [np.take_along_axis(x, places, axis), places.astype(np.int32)]


def _top_k_lower(b, outs, x, *, axis, k):
    aval = b.avals_in[0]
    last = aval.ndim - 1
    if axis == last:
        return list(b.top_k(x, k))
    to_last = [i for i in range(aval.ndim) if i != axis] + [axis]
    back = list(np.argsort(to_last))
    moved = aval.update(shape=tuple(aval.shape[i] for i in to_last))
    found = b.top_k(b.transpose(moved, x, to_last), k)
    return [b.transpose(out, y, back) for out, y in zip(outs, found, strict=True)]


def _top_k_jvp(primals, tangents, *, axis, k):
    values, places = top_k_p.bind(*primals, axis=axis, k=k)
    (t,) = tangents
    return [values, places], [None if t is None else take_along(t, places, axis), None]


def _top_k_batch(n, xs, ds, *, axis, k):
    x = moveaxis(xs[0], ds[0], 0) if ds[0] else xs[0]
    return top_k_p.bind(x, axis=axis + 1, k=k), [0, 0]


top_k_p = Primitive(
    "top_k",
    abstract=_top_k_abstract,
    reference=quiet(_top_k_reference),
    lower=_top_k_lower,
    derivative=Region(jvp=_top_k_jvp, transpose=_not_linear),
    batch=_top_k_batch,
    multiple_results=True,
)
