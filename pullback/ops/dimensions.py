"""What gather and scatter share: dimension numbers, modes, checks, and positions.

Indices are an integer array `i[*b, k]`: at each place of `b`, a vector of k starting
positions of one window into the operand.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.errors import ArgumentError, DtypeError, ShapeError


@dataclass(frozen=True, slots=True)
class GatherDimensionNumbers:
    """How a gather reads its operand.

    `offset_dims`: axes of the result that run within a window. `collapsed_slice_dims`:
    axes of the operand of window size 1 that the result lacks. `start_index_map[j]`:
    the axis of the operand that entry j of an index vector counts along.
    `operand_batching_dims` and `start_indices_batching_dims`: axes of the operand and
    of the indices that go along with each other.
    """

    offset_dims: Sequence[int]
    collapsed_slice_dims: Sequence[int]
    start_index_map: Sequence[int]
    operand_batching_dims: Sequence[int] = ()
    start_indices_batching_dims: Sequence[int] = ()

    def __post_init__(self):
        _as_tuples(self)


@dataclass(frozen=True, slots=True)
class ScatterDimensionNumbers:
    """How a scatter writes to its operand: the fields of a gather, from the other side.

    `update_window_dims`: axes of the updates that run within a window.
    `inserted_window_dims`: axes of the operand of window size 1 that updates lack.
    """

    update_window_dims: Sequence[int]
    inserted_window_dims: Sequence[int]
    scatter_dims_to_operand_dims: Sequence[int]
    operand_batching_dims: Sequence[int] = ()
    scatter_indices_batching_dims: Sequence[int] = ()

    def __post_init__(self):
        _as_tuples(self)


def _as_tuples(numbers) -> None:
    for name in numbers.__slots__:
        object.__setattr__(numbers, name, tuple(map(int, getattr(numbers, name))))


def as_scatter(g: GatherDimensionNumbers) -> ScatterDimensionNumbers:
    """The numbers of the scatter that writes what the gather reads."""
    return ScatterDimensionNumbers(
        g.offset_dims,
        g.collapsed_slice_dims,
        g.start_index_map,
        g.operand_batching_dims,
        g.start_indices_batching_dims,
    )


def as_gather(s: ScatterDimensionNumbers) -> GatherDimensionNumbers:
    """The numbers of the gather that reads what the scatter writes."""
    return GatherDimensionNumbers(
        s.update_window_dims,
        s.inserted_window_dims,
        s.scatter_dims_to_operand_dims,
        s.operand_batching_dims,
        s.scatter_indices_batching_dims,
    )


class GatherScatterMode(enum.Enum):
    """What happens to a window that does not lie inside the operand.

    `CLIP`: it is moved inside. `FILL_OR_DROP`: it reads a fill value, and its update is
    dropped. `PROMISE_IN_BOUNDS`: the program promises that there is none.
    """

    CLIP = 1
    FILL_OR_DROP = 2
    PROMISE_IN_BOUNDS = 3

    @staticmethod
    def from_any(mode: "str | GatherScatterMode | None") -> "GatherScatterMode":
        """The mode that a name means; None means `FILL_OR_DROP`.

        Raises:
          ArgumentError: there is no mode of that name.
        """
        if isinstance(mode, GatherScatterMode):
            return mode
        if mode not in _MODES:
            raise ArgumentError(
                f"unknown indexing mode {mode!r}",
                rule="a mode is 'clip', 'fill', 'drop' or 'promise_in_bounds'",
            )
        return _MODES[mode]


CLIP = GatherScatterMode.CLIP
FILL_OR_DROP = GatherScatterMode.FILL_OR_DROP
PROMISE_IN_BOUNDS = GatherScatterMode.PROMISE_IN_BOUNDS
_MODES = {
    None: FILL_OR_DROP,
    "clip": CLIP,
    "fill": FILL_OR_DROP,
    "drop": FILL_OR_DROP,
    "promise_in_bounds": PROMISE_IN_BOUNDS,
}


def default_fill(dtype) -> Any:
    """What reads outside give: NaN, the least int, the greatest uint, True."""
    if dtypes.is_inexact(dtype):
        return float("nan")
    if dtypes.is_bool(dtype):
        return True
    if isinstance(dtype, dtypes.ExtendedDType):
        return (1 << 64) - 1
    info = np.iinfo(dtype)
    return int(info.max if info.kind == "u" else info.min)


def window_axes(ndim: int, g: GatherDimensionNumbers) -> list[int]:
    """Axes of the operand that the result keeps, in order."""
    gone = {*g.collapsed_slice_dims, *g.operand_batching_dims}
    return [i for i in range(ndim) if i not in gone]


def gather_shape(name: str, x, indices, g: GatherDimensionNumbers, sizes):
    """The shape of a gather's result, its operands checked.

    Raises:
      DtypeError: the indices are not integers.
      ShapeError: numbers and shapes do not fit.
    """
    if not dtypes.is_integer(indices.dtype):
        raise DtypeError(
            f"{name} of {x.short()} at {indices.short()}",
            rule="indices are integers",
            fix="convert them with astype(int)",
        )
    kept = window_axes(x.ndim, g)
    fits = (
        indices.ndim > 0
        and len(sizes) == x.ndim
        and len(g.start_index_map) == indices.shape[-1]
        and len(kept) == len(g.offset_dims)
        and all(0 <= k <= n for k, n in zip(sizes, x.shape, strict=True))
        and all(sizes[i] <= 1 for i in range(x.ndim) if i not in kept)
        and _batching_fits(x, indices, g)
    )
    ndim = indices.ndim - 1 + len(kept)
    if not fits or not all(0 <= d < ndim for d in g.offset_dims):
        raise ShapeError(
            f"{name} of {x.short()} at {indices.short()} with {g} and window {sizes}",
            rule="the last axis of the indices counts along `start_index_map`, windows "
            "fit into the operand, and the other axes are collapsed or batched",
        )
    batch, window = iter(indices.shape[:-1]), iter(sizes[i] for i in kept)
    return tuple(next(window if d in g.offset_dims else batch) for d in range(ndim))


def _batching_fits(x, indices, g: GatherDimensionNumbers) -> bool:
    pairs = zip(g.operand_batching_dims, g.start_indices_batching_dims, strict=True)
    return all(x.shape[i] == indices.shape[j] for i, j in pairs)


def moved_numbers(g: GatherDimensionNumbers, **changes) -> GatherDimensionNumbers:
    """The numbers after a batch axis was put in front of what `changes` names.

    `x`, `indices`, `out`: True where operand, indices and result have one.
    """
    x, indices, out = (changes.get(k, False) for k in ("x", "indices", "out"))
    return replace(
        g,
        offset_dims=_shifted(g.offset_dims, out),
        collapsed_slice_dims=_shifted(g.collapsed_slice_dims, x),
        start_index_map=_shifted(g.start_index_map, x),
        operand_batching_dims=_shifted(g.operand_batching_dims, x),
        start_indices_batching_dims=_shifted(g.start_indices_batching_dims, indices),
    )


def _shifted(dims: Sequence[int], by: bool) -> tuple[int, ...]:
    return tuple(d + by for d in dims)


def with_offset(g: GatherDimensionNumbers) -> GatherDimensionNumbers:
    """The numbers with axis 0 of the result running within a window."""
    return replace(g, offset_dims=(0, *g.offset_dims))


def with_batching(g: GatherDimensionNumbers) -> GatherDimensionNumbers:
    """The numbers with axis 0 of operand and indices going along with each other."""
    return replace(
        g,
        operand_batching_dims=(0, *g.operand_batching_dims),
        start_indices_batching_dims=(0, *g.start_indices_batching_dims),
    )


# ---- the meaning in NumPy ----


def limits(shape, sizes, g: GatherDimensionNumbers) -> np.ndarray:
    """The last position in bounds of each entry of an index vector."""
    return np.array([shape[i] - sizes[i] for i in g.start_index_map], np.int64)


def positions(shape, indices: np.ndarray, g: GatherDimensionNumbers, sizes, clip: bool):
    """Where each element of the result stands in the operand.

    Returns one integer array for each axis of the operand, which broadcast to
    `[*b, *window]`, and which of `b` lie inside, `bool[*b]`.
    """
    starts = _wide(indices)
    last = limits(shape, sizes, g)
    inside = np.all((starts >= 0) & (starts <= last), axis=-1)
    starts = (
        np.clip(starts, 0, last) if clip else np.where(inside[..., None], starts, 0)
    )
    kept = window_axes(len(shape), g)
    batch_ndim = indices.ndim - 1
    ndim = batch_ndim + len(kept)
    at: list[Any] = [np.zeros((), np.int64)] * len(shape)
    for i, j in zip(
        g.operand_batching_dims, g.start_indices_batching_dims, strict=True
    ):
        at[i] = _along(np.arange(shape[i]), j, ndim)
    for k, i in enumerate(g.start_index_map):
        at[i] = starts[..., k].reshape(inside.shape + (1,) * len(kept))
    for k, i in enumerate(kept):
        at[i] = at[i] + _along(np.arange(sizes[i]), batch_ndim + k, ndim)
    return at, inside


def _wide(indices: np.ndarray) -> np.ndarray:
    if indices.dtype == np.uint64:
        return np.minimum(indices, np.uint64(2**63 - 1)).astype(np.int64)
    return indices.astype(np.int64)


def _along(line: np.ndarray, axis: int, ndim: int) -> np.ndarray:
    sizes = [1] * ndim
    sizes[axis] = line.size
    return line.reshape(sizes)


def front_order(ndim: int, offset_dims: Sequence[int]) -> list[int]:
    """The permutation of a result's axes that puts those of the window last."""
    return [d for d in range(ndim) if d not in offset_dims] + list(offset_dims)
