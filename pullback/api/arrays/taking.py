"""Reading along an axis, as methods of arrays: take, diagonal."""

from typing import Any

import numpy as np

from pullback.api.arrays.creation import asarray
from pullback.api.arrays.shape_functions import as_array, axis_of, ravel
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, DtypeError, DtypeValueError
from pullback.core.trace import Tracer
from pullback.core.value import Array
from pullback.ops import shape as ops
from pullback.ops.convert import convert
from pullback.ops.dimensions import (
    PROMISE_IN_BOUNDS,
    GatherDimensionNumbers,
    GatherScatterMode,
    default_fill,
)
from pullback.ops.elementwise import add, rem
from pullback.ops.index import gather
from pullback.ops.logic import lt, select_n
from pullback.ops.normalize import normalize
from pullback.ops.pick_group import position
from pullback.ops.pick_read import read
from pullback.ops.promote import broadcast_shapes, broadcast_to
from pullback.ops.slicing import slice_in_dim


def take(
    a,
    indices,
    axis=None,
    out=None,
    mode: str | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
):
    """What an axis of `a` holds at `indices`.

    Args:
      indices: integers of any shape.
      axis: which axis (None: of the flattened array).
      mode: what positions outside give: `"fill"` (None), `"clip"`, where negative ones
        are outside too, or `"wrap"`.
      fill_value: what `"fill"` gives (None: NaN, the least integer).

    Raises:
      DtypeValueError: the indices are not integers.
    """
    if out is not None:
        raise ArgumentError("take: out is given", rule="arrays are immutable")
    x = as_array("take", a)
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of("take", axis, x.ndim)
    index = _integers("take", indices)
    if mode == "wrap":
        index = wrapped(index, x.shape[axis])
    fills = mode is None or mode == "fill"
    if not fills and mode not in ("clip", "wrap", "promise_in_bounds"):
        raise ArgumentError(f"take: mode {mode!r}", rule="fill, clip, wrap")
    pick = normalize(
        (slice(None),) * axis + (index,), x.shape, clips=not fills, wraps=mode != "clip"
    )
    if fills and fill_value is None:
        fill_value = default_fill(x.dtype)
    hints = (indices_are_sorted, unique_indices)
    return read(x, pick, fill_value=fill_value, hints=hints)


def _integers(name: str, indices: Any):
    """Indices as a NumPy array, or as the traced array that they are."""
    if not isinstance(indices, Tracer):
        indices = np.asarray(indices)
        if not indices.size and indices.dtype == np.float64:
            indices = indices.astype(np.int64)
    if not dtypes.is_integer(indices.dtype):
        raise DtypeValueError(
            f"{name}: indices of dtype {indices.dtype}", rule="indices are integers"
        )
    return indices


def wrapped(index, n: int):
    """Positions modulo the size of the axis."""
    if not isinstance(index, Tracer):
        index = np.asarray(index)
        wide = np.uint64 if index.dtype == np.uint64 else np.int64
        return np.mod(index.astype(wide), wide(n)).astype(np.int64)
    index = position(index, n, wraps=False)
    kind = index.dtype.type
    left = rem(index, kind(n))
    return select_n(lt(left, kind(0)), left, add(left, kind(n)))


def along_axis(name: str, arr, indices, axis, mode):
    """Operand, index vectors, dimension numbers and mode for indices along an axis."""
    x = arr
    index = indices if isinstance(indices, Array) else asarray(indices)
    if not dtypes.is_integer(index.dtype):
        raise DtypeError(
            f"{name} indices must be of integer type, got {aval_of(index).short()}"
        )
    if index.ndim != x.ndim:
        raise ArgumentError(
            f"{name}: indices and arr must have the same number of dimensions; "
            f"{index.ndim} vs. {x.ndim}"
        )
    n = x.shape[axis]
    if mode == "wrap":
        index, mode = wrapped(index, n), PROMISE_IN_BOUNDS
    index = position(index, n, wraps=True)
    mode = GatherScatterMode.from_any(mode)
    shape = list(
        broadcast_shapes(name, [_without(x.shape, axis), _without(index.shape, axis)])
    )
    x_shape = (*shape[:axis], n, *shape[axis:])
    index_shape = (*shape[:axis], index.shape[axis], *shape[axis:])
    index = broadcast_to(index, index_shape)
    vectors = ops.reshape(index, (*index_shape, 1))
    others = tuple(i for i in range(x.ndim) if i != axis)
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    return x_shape, vectors, numbers, mode


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


def take_along_axis(arr, indices, axis=-1, mode=None, fill_value=None):
    """For each place of `indices`, what `arr` holds at that position along an axis.

    Args:
      arr: `t[*b, n, *c]`
      indices: integers `i[*b, m, *c]`, axes broadcast but the one that is indexed.
      axis: which axis (None: of the flattened array).
      mode: `"fill"` (None) or `"clip"`.

    Raises:
      DtypeError: the indices are not integers.
      ArgumentError: the numbers of axes differ.
    """
    x = as_array("take_along_axis", arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of("take_along_axis", axis, x.ndim)
    shape, vectors, numbers, mode = along_axis(
        "take_along_axis", x, indices, axis, mode
    )
    return gather(
        broadcast_to(x, shape),
        vectors,
        numbers,
        tuple(min(1, n) for n in shape),
        mode=mode,
        fill_value=fill_value,
    )


def diagonal(a, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """The diagonals of `a` over two axes, along a new last axis.

    Raises:
      ArgumentError: there are fewer than two axes.
    """
    x = as_array("diagonal", a)
    if x.ndim < 2:
        raise ArgumentError("diagonal requires an array of at least two dimensions.")
    i, j = axis_of("diagonal", axis1, x.ndim), axis_of("diagonal", axis2, x.ndim)
    if i == j:
        raise ArgumentError("diagonal: axis1 and axis2 are the same axis")
    rest = [d for d in range(x.ndim) if d not in (i, j)]
    x = ops.transpose(x, (*rest, i, j))
    rows, columns = x.shape[-2:]
    size = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    top, left = max(-offset, 0), max(offset, 0)
    axis = x.ndim - 2
    if not size:
        return ops.zeros(x.aval.update(shape=(*x.shape[:-2], 0)))
    x = slice_in_dim(x, top, top + size, 1, axis)
    x = slice_in_dim(x, left, left + size, 1, axis + 1)
    eye = np.eye(size, dtype=bool)
    mask = ops.broadcast_in_dim(eye, x.shape, (axis, axis + 1))
    kept = select_n(mask, ops.zeros(aval_of(x)), x)
    if dtypes.is_bool(x.dtype):
        summed = ops.reduce_sum(convert(kept, np.dtype(np.int32)), (axis + 1,))
        return convert(summed, x.dtype)
    return ops.reduce_sum(kept, (axis + 1,))


METHODS = {"take": take, "diagonal": diagonal}
