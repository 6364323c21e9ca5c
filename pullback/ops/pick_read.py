"""Reading what a normalized index takes: slices where it can be, one gather else."""

from typing import Any

import numpy as np

from pullback.core.aval import ShapedArray, aval_of
from pullback.ops.convert import convert
from pullback.ops.dimensions import (
    CLIP,
    FILL_OR_DROP,
    PROMISE_IN_BOUNDS,
    GatherDimensionNumbers,
    GatherScatterMode,
)
from pullback.ops.dynamic import window
from pullback.ops.elementwise import add
from pullback.ops.index import gather
from pullback.ops.joining import concatenate
from pullback.ops.logic import lt, min as minimum, select_n
from pullback.ops.pick import Dyn, Label, Lookup, Pick, Point, Run, pieces
from pullback.ops.shape import (
    broadcast_in_dim,
    full,
    reshape,
    squeeze,
    transpose,
)
from pullback.ops.slicing import rev, slice

INT32 = np.dtype(np.int32)
INT64 = np.dtype(np.int64)


def read(x, pick: Pick, *, fill_value: Any = None, hints=(False, False)):
    """What `pick` takes of `x`.

    `fill_value`: what positions outside give when the pick does not clip. `hints`:
    whether the caller promises sorted and unique traced indices.
    """
    aval = aval_of(x)
    if pick.empty:
        return full(ShapedArray(pick.out_shape, aval.dtype), 0)
    if pick.shape != aval.shape:
        x = reshape(x, pick.shape)
    parts = pieces(pick)
    if parts is not None:
        return concatenate([read(x, part.pick) for part in parts], parts[0].axis)
    x, labels = loosened(taken(x, pick), pick)
    if pick.lookups():
        vectors, mode, hints = index_vectors(pick, hints)
        sizes, numbers, labels = gather_plan(aval_of(x).shape, labels, pick)
        x = gather(
            x,
            vectors,
            numbers,
            sizes,
            indices_are_sorted=hints[0],
            unique_indices=hints[1],
            mode=mode,
            fill_value=fill_value,
        )
    return arranged(x, labels, pick)


# ---- traced positions ----


def position(value, n: int, wraps: bool):
    """A traced position as int32 (int64 if it was), counted from the front.

    Widened before the size is added, and never turned negative by narrowing.
    """
    dtype = value.dtype
    unsigned = not np.iinfo(dtype).min
    if unsigned and dtype.itemsize >= 4:
        value = minimum(value, np.asarray(np.iinfo(INT32).max, dtype))
    if dtype != INT64 or value.aval.weak_type:
        value = convert(value, INT64 if dtype == INT64 else INT32)
    if unsigned or not wraps:
        return value
    kind = value.dtype.type
    return select_n(lt(value, kind(0)), value, add(value, kind(n)))


def starts_of(pick: Pick) -> list[Any]:
    """The start of each axis, integer scalars of one dtype."""
    starts = [
        _start(t, n, pick.wraps) for t, n in zip(pick.axes, pick.shape, strict=True)
    ]
    wide = any(not isinstance(s, int) and s.dtype == INT64 for s in starts)
    dtype = INT64 if wide else INT32
    return [dtype.type(s) if isinstance(s, int) else convert(s, dtype) for s in starts]


def _start(t: Any, n: int, wraps: bool) -> Any:
    if type(t) is Lookup:
        return 0
    return position(t.start, n, wraps) if type(t) is Dyn else t.start


def boxes(pick: Pick) -> list[int]:
    """How many positions each axis spans."""
    return [
        n if type(t) is Lookup else t.box
        for t, n in zip(pick.axes, pick.shape, strict=True)
    ]


# ---- the region: a box of every axis, then strides and directions ----


def taken(x, pick: Pick):
    """The region of `x` that holds what is read, all axes kept."""
    if pick.is_dynamic():
        x = window(x, starts_of(pick), boxes(pick))
        return _ordered(_strided(x, pick, [0] * len(pick.axes)), pick)
    starts = [0 if type(t) is Lookup else t.start for t in pick.axes]
    return _ordered(_strided(x, pick, starts), pick)


def _strided(x, pick: Pick, starts: list[int]):
    limits = [s + k for s, k in zip(starts, boxes(pick), strict=True)]
    steps = [1 if type(t) is Lookup else t.step for t in pick.axes]
    plain = not any(starts) and max(steps, default=1) == 1
    if plain and tuple(limits) == aval_of(x).shape:
        return x
    return slice(x, starts, limits, steps)


def _ordered(x, pick: Pick):
    return rev(x, backwards(pick))


def backwards(pick: Pick) -> list[int]:
    """The axes that are read backwards."""
    return [a for a, t in enumerate(pick.axes) if type(t) is Run and t.backwards]


def _is_point(t: Any) -> bool:
    return type(t) is Point or (type(t) is Dyn and t.point)


def loosened(x, pick: Pick) -> tuple[Any, list[Label]]:
    """The region with points dropped and split runs split; and what its axes are."""
    labels: list[Label] = []
    shape: list[int] = []
    split = False
    for a, (t, n) in enumerate(zip(pick.axes, pick.shape, strict=True)):
        if type(t) is Lookup:
            labels.append(("lookup", a))
            shape.append(n)
        elif not _is_point(t):
            split = split or len(pick.parts[a]) != 1
            labels += [("axis", a, p) for p in range(len(pick.parts[a]))]
            shape += pick.parts[a]
    points = [a for a, t in enumerate(pick.axes) if _is_point(t)]
    if split:
        return reshape(x, shape), labels
    return (squeeze(x, points) if points else x), labels


# ---- the group ----


def gather_plan(shape, labels: list[Label], pick: Pick):
    """Window sizes, dimension numbers and result axes of the gather of a group."""
    looked = [i for i, x in enumerate(labels) if x[0] == "lookup"]
    window_labels = [x for x in labels if x[0] != "lookup"]
    group = [("group", s) for s in range(len(pick.group))]
    at = _group_position(pick, window_labels)
    out = [*window_labels[:at], *group, *window_labels[at:]]
    offsets = [i for i, x in enumerate(out) if x[0] != "group"]
    sizes = [1 if i in looked else n for i, n in enumerate(shape)]
    numbers = GatherDimensionNumbers(tuple(offsets), tuple(looked), tuple(looked))
    return sizes, numbers, out


def _group_position(pick: Pick, window_labels: list[Label]) -> int:
    """How many axes of the window stand before the group, if they can stay there."""
    order = [x for x in pick.labels if x[0] != "new"]
    first = next((i for i, x in enumerate(order) if x[0] == "group"), 0)
    return first if order[:first] == window_labels[:first] else 0


def index_vectors(pick: Pick, hints: tuple[bool, bool]):
    """The index vectors of the group, the mode they need, and what is known of them."""
    looked = [(pick.axes[a], pick.shape[a]) for a in pick.lookups()]
    inside = all(t.inside for t, _ in looked)
    mode: GatherScatterMode = CLIP if pick.clips else FILL_OR_DROP
    if all(not hasattr(t.array, "aval") for t, _ in looked):
        arrays = [np.broadcast_to(t.array, pick.group) for t, _ in looked]
        dtype = INT64 if any(n > np.iinfo(INT32).max for _, n in looked) else INT32
        edge = np.iinfo(dtype)
        vectors = np.clip(np.stack(arrays, -1), edge.min, edge.max).astype(dtype)
        facts = _facts(arrays, [n for _, n in looked]) if inside else hints
        return vectors, PROMISE_IN_BOUNDS if inside else mode, facts
    columns = [_column(t, n, pick) for t, n in looked]
    wide = any(c.dtype == INT64 for c in columns)
    columns = [convert(c, INT64) if wide else c for c in columns]
    return concatenate(columns, len(pick.group)), mode, hints


def _column(t: Lookup, n: int, pick: Pick):
    shape = (*pick.group, 1)
    if not hasattr(t.array, "aval"):
        line = np.clip(t.array, -1, np.iinfo(INT32).max).astype(INT32)
        return np.broadcast_to(line[..., None], shape)
    value = position(t.array, n, pick.wraps)
    if aval_of(value).shape != t.sizes:
        value = reshape(value, t.sizes)
    kept = [i for i, k in enumerate(t.sizes) if k == pick.group[i]]
    if len(kept) < len(t.sizes):
        value = reshape(value, [t.sizes[i] for i in kept])
    return broadcast_in_dim(value, shape, kept)


def _facts(arrays, sizes) -> tuple[bool, bool]:
    """Whether static index vectors are sorted, and whether they are distinct."""
    flat = np.zeros((), np.int64)
    for array, n in zip(arrays, sizes, strict=True):
        flat = flat * n + array
    flat = np.ravel(flat)
    is_sorted = bool(np.all(flat[1:] >= flat[:-1]))
    return is_sorted, np.unique(flat).size == flat.size


# ---- the order of the result ----


def arranged(x, labels: list[Label], pick: Pick):
    """The axes of the result, in order, with the new ones."""
    order = [x for x in pick.labels if x[0] != "new"]
    x = transpose(x, [labels.index(label) for label in order])
    if len(order) < len(pick.labels):
        kept = [i for i, label in enumerate(pick.labels) if label[0] != "new"]
        x = broadcast_in_dim(x, pick.sizes, kept)
    return x if pick.sizes == pick.out_shape else reshape(x, pick.out_shape)
