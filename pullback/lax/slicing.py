"""Windows at computed positions, as functions of the user: negative starts wrap."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import DtypeError, ShapeError
from pullback.ops.convert import convert
from pullback.ops.dynamic import put_window, window
from pullback.ops.pick_group import position
from pullback.ops.shape import canonical_axis, expand_dims, squeeze

INT32 = np.dtype(np.int32)
INT64 = np.dtype(np.int64)


def dynamic_slice(operand, start_indices: Sequence[Any], slice_sizes: Sequence[int]):
    """The window of `operand` of the given sizes at starts that may be traced.

    Args:
      operand: `t[*s]`
      start_indices: one integer scalar an axis, or an array of them. Negative ones
        count from the end; a window that would reach outside is moved inside.
      slice_sizes: static sizes, one an axis.

    Raises:
      ShapeError: the numbers of starts, sizes and axes differ.
      DtypeError: a start is not an integer.

    Example:
      >>> from pullback import lax, numpy as pnp
      >>> lax.dynamic_slice(pnp.arange(5), (3,), (3,)).tolist()
      [2, 3, 4]

    Source: StableHLO `dynamic_slice`.
    """
    sizes = tuple(map(int, slice_sizes))
    return window(operand, _starts("dynamic_slice", operand, start_indices), sizes)


def dynamic_update_slice(operand, update, start_indices: Sequence[Any]):
    """`operand` with the window at `start_indices` replaced by `update`.

    Starts as in `dynamic_slice`.

    Source: StableHLO `dynamic_update_slice`.
    """
    starts = _starts("dynamic_update_slice", operand, start_indices)
    return put_window(operand, update, starts)


def _starts(name: str, operand, given) -> list[Any]:
    shape = aval_of(operand).shape
    if hasattr(given, "shape") and getattr(given, "ndim", 0) == 1:
        given = [given[i] for i in range(given.shape[0])]
    elif not isinstance(given, Sequence):
        given = [given]
    if len(given) != len(shape):
        raise ShapeError(
            f"{name} of {aval_of(operand).short()} with {len(given)} starts",
            rule="there is one start an axis",
        )
    starts = [_start(name, s, n) for s, n in zip(given, shape, strict=True)]
    wide = any(s.dtype == INT64 for s in starts)
    return [convert(s, INT64) if wide and hasattr(s, "aval") else s for s in starts]


def _start(name: str, s: Any, n: int) -> Any:
    if not dtypes.is_integer(aval_of(s).dtype):
        raise DtypeError(
            f"{name} at a start of type {aval_of(s).short()}",
            rule="starts are integers",
        )
    if hasattr(s, "aval"):
        return position(s, n, wraps=True)
    s = int(s)
    return np.int32(s + n if s < 0 else s)


def _starts_along(operand, index: Any, axis: int) -> list[Any]:
    starts: list[Any] = [0] * aval_of(operand).ndim
    starts[axis] = index
    return starts


def dynamic_slice_in_dim(operand, start_index, slice_size: int, axis: int = 0):
    """A window of one axis at a start that may be traced."""
    shape = aval_of(operand).shape
    axis = canonical_axis(axis, len(shape))
    sizes = [slice_size if i == axis else n for i, n in enumerate(shape)]
    return dynamic_slice(operand, _starts_along(operand, start_index, axis), sizes)


def dynamic_index_in_dim(operand, index, axis: int = 0, keepdims: bool = True):
    """One element of an axis at a position that may be traced."""
    axis = canonical_axis(axis, aval_of(operand).ndim)
    out = dynamic_slice_in_dim(operand, index, 1, axis)
    return out if keepdims else squeeze(out, (axis,))


def dynamic_update_slice_in_dim(operand, update, start_index, axis: int):
    """`operand` with a window of one axis replaced by `update`."""
    axis = canonical_axis(axis, aval_of(operand).ndim)
    return dynamic_update_slice(
        operand, update, _starts_along(operand, start_index, axis)
    )


def dynamic_update_index_in_dim(operand, update, index, axis: int):
    """`operand` with one element of an axis replaced by `update`."""
    axis = canonical_axis(axis, aval_of(operand).ndim)
    if aval_of(update).ndim != aval_of(operand).ndim:
        update = expand_dims(update, (axis,))
    return dynamic_update_slice_in_dim(operand, update, index, axis)
