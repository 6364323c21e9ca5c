"""The looked-up part of a pick: index vectors, and the numbers of its gather."""

from typing import Any, NamedTuple

import numpy as np

from pullback.core.aval import aval_of
from pullback.ops.convert import convert
from pullback.ops.dimensions import (
    CLIP,
    FILL_OR_DROP,
    PROMISE_IN_BOUNDS,
    GatherDimensionNumbers,
    GatherScatterMode,
)
from pullback.ops.elementwise import add
from pullback.ops.inverse import Inverse, inverse_of
from pullback.ops.joining import concatenate
from pullback.ops.logic import lt, min as minimum, select_n
from pullback.ops.pick import Label, Lookup, Pick
from pullback.ops.shape import (
    broadcast_in_dim,
    reshape,
)

INT32 = np.dtype(np.int32)
INT64 = np.dtype(np.int64)
LARGEST = np.iinfo(INT32).max


def position(value, n: int, wraps: bool):
    """A traced position as int32 (int64 if it was), counted from the front.

    Widened before the size is added, and never turned negative by narrowing.
    """
    dtype = value.dtype
    unsigned = not np.iinfo(dtype).min
    if unsigned and dtype.itemsize >= 4:
        value = minimum(value, np.asarray(LARGEST, dtype))
    if dtype != INT64 or value.aval.weak_type:
        value = convert(value, INT64 if dtype == INT64 else INT32)
    if unsigned or not wraps:
        return value
    kind = value.dtype.type
    return select_n(lt(value, kind(0)), value, add(value, kind(n)))


def gather_plan(shape, labels: list[Label], pick: Pick):
    """Window sizes, dimension numbers and result axes of the gather of a group."""
    looked: list[int] = []
    sizes: list[int] = []
    window: list[Label] = []
    for i, label in enumerate(labels):
        if label[0] == "lookup":
            looked.append(i)
            sizes.append(1)
        else:
            window.append(label)
            sizes.append(shape[i])
    group = [("group", s) for s in range(len(pick.group))]
    at = _group_position(pick, window)
    out = [*window[:at], *group, *window[at:]]
    offsets = [i for i, x in enumerate(out) if x[0] != "group"]
    numbers = GatherDimensionNumbers(offsets, looked, looked)
    return sizes, numbers, out


def _group_position(pick: Pick, window: list[Label]) -> int:
    """How many axes of the window stand before the group, if they can stay there."""
    order = [x for x in pick.labels if x[0] != "new"]
    if not pick.group:
        return 0
    first = order.index(("group", 0))
    before = order[:first]
    return first if before == window[:first] else 0


class Vectors(NamedTuple):
    """The index vectors of a group, the mode that they need, and what is known of them.

    `inverse`: where each position is read, for static and distinct ones.
    """

    array: Any
    mode: GatherScatterMode
    is_sorted: bool
    unique: bool
    inverse: Inverse | None = None


def index_vectors(pick: Pick, hints: tuple[bool, bool]) -> Vectors:
    """The index vectors of the group; `hints`: what the caller promises of them."""
    looked = pick.members()
    mode = CLIP if pick.clips else FILL_OR_DROP
    if not any(hasattr(t.array, "aval") for t in looked):
        arrays = [np.broadcast_to(t.array, pick.group) for t in looked]
        sizes = [t.size for t in looked]
        vectors = _static_vectors(arrays, max(sizes))
        if not all(t.inside for t in looked):
            return Vectors(vectors, mode, *hints)
        return Vectors(vectors, PROMISE_IN_BOUNDS, *_facts(arrays, sizes))
    columns = [_column(t, pick) for t in looked]
    if any(c.dtype == INT64 for c in columns):
        columns = [convert(c, INT64) for c in columns]
    return Vectors(concatenate(columns, len(pick.group)), mode, *hints)


def _static_vectors(arrays, largest: int) -> np.ndarray:
    dtype = INT64 if largest > LARGEST else INT32
    edge = np.iinfo(dtype)
    vectors = np.stack(arrays, -1)
    return np.clip(vectors, edge.min, edge.max).astype(dtype)


def _column(t: Lookup, pick: Pick):
    shape = (*pick.group, 1)
    if not hasattr(t.array, "aval"):
        line = np.clip(t.array, -1, LARGEST)
        column = line.astype(INT32)[..., None]
        return np.broadcast_to(column, shape)
    value = position(t.array, t.size, pick.wraps)
    if aval_of(value).shape != t.sizes:
        value = reshape(value, t.sizes)
    kept = [i for i, k in enumerate(t.sizes) if k == pick.group[i]]
    if len(kept) < len(t.sizes):
        value = reshape(value, [t.sizes[i] for i in kept])
    return broadcast_in_dim(value, shape, kept)


def _facts(arrays, sizes) -> tuple[bool, bool, Inverse | None]:
    """Whether static positions are sorted, whether they are distinct, their inverse."""
    flat = np.zeros((), np.int64)
    for array, n in zip(arrays, sizes, strict=True):
        flat = flat * n + array
    flat = np.ravel(flat)
    is_sorted = bool(np.all(flat[1:] >= flat[:-1]))
    inverse = inverse_of(flat, sizes)
    if inverse is not None:
        return is_sorted, True, inverse
    return is_sorted, np.unique(flat).size == flat.size, None
