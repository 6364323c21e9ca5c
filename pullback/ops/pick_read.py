"""Reading what a normalized index takes: slices where it can be, one gather else."""

from typing import Any

from pullback.core.aval import ShapedArray, aval_of
from pullback.ops.convert import convert
from pullback.ops.dynamic import window
from pullback.ops.index import gather
from pullback.ops.inverse import is_dense
from pullback.ops.joining import concatenate
from pullback.ops.pick import Dyn, Label, Lookup, Pick, Point, pieces
from pullback.ops.pick_check import check_traced
from pullback.ops.pick_group import INT32, INT64, gather_plan, index_vectors, position
from pullback.ops.shape import (
    broadcast_in_dim,
    full,
    reshape,
    squeeze,
    transpose,
)
from pullback.ops.slicing import rev, slice


def read(x, pick: Pick, *, fill_value: Any = None, hints=(False, False)):
    """What `pick` takes of `x`.

    `fill_value`: what positions outside give when the pick does not clip. `hints`:
    whether the caller promises sorted and unique traced indices.
    """
    if pick.clips:
        check_traced(pick)
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
        at = index_vectors(pick, hints)
        sizes, numbers, labels = gather_plan(aval_of(x).shape, labels, pick)
        x = gather(
            x,
            at.array,
            numbers,
            sizes,
            indices_are_sorted=at.is_sorted,
            unique_indices=at.unique,
            mode=at.mode,
            fill_value=fill_value,
            inverse=at.inverse if is_dense(at.inverse) else None,
        )
    return arranged(x, labels, pick)


def starts_of(pick: Pick) -> list[Any]:
    """The start of each axis, integer scalars of one dtype."""
    sized = zip(pick.axes, pick.shape, strict=True)
    starts = [
        position(t.start, n, pick.wraps) if type(t) is Dyn else t.start
        for t, n in sized
    ]
    wide = any(not isinstance(s, int) and s.dtype == INT64 for s in starts)
    dtype = INT64 if wide else INT32
    return [dtype.type(s) if isinstance(s, int) else convert(s, dtype) for s in starts]


# ---- the region: a box of every axis, then strides and directions ----


def taken(x, pick: Pick):
    """The region of `x` that holds what is read, all axes kept."""
    if pick.is_dynamic():
        x = window(x, starts_of(pick), pick.boxes())
        starts = [0] * len(pick.axes)
    else:
        starts = [t.start for t in pick.axes]
    return rev(_strided(x, pick, starts), backwards(pick))


def _strided(x, pick: Pick, starts: list[int]):
    limits = ends(starts, pick.boxes())
    steps = pick.steps()
    plain = not any(starts) and max(steps, default=1) == 1
    if plain and tuple(limits) == aval_of(x).shape:
        return x
    return slice(x, starts, limits, steps)


def ends(starts: list[int], sizes: list[int]) -> list[int]:
    """Where windows end."""
    return [s + k for s, k in zip(starts, sizes, strict=True)]


def backwards(pick: Pick) -> list[int]:
    """The axes that are read backwards."""
    return [a for a, t in enumerate(pick.axes) if t.backwards]


def _is_point(t: Any) -> bool:
    return type(t) is Point or (type(t) is Dyn and t.point)


def loosened(x, pick: Pick) -> tuple[Any, list[Label]]:
    """The region with points dropped and split runs split; and what its axes are."""
    labels: list[Label] = []
    shape: list[int] = []
    points: list[int] = []
    for a, t in enumerate(pick.axes):
        if type(t) is Lookup:
            labels.append(("lookup", a))
            shape.append(t.size)
        elif _is_point(t):
            points.append(a)
        else:
            labels += [("axis", a, p) for p in range(len(pick.parts[a]))]
            shape += pick.parts[a]
    if len(points) + len(shape) != len(pick.axes):  # a run is split
        return reshape(x, shape), labels
    return (squeeze(x, points) if points else x), labels


# ---- the order of the result ----


def arranged(x, labels: list[Label], pick: Pick):
    """The axes of the result, in order, with the new ones."""
    order = [x for x in pick.labels if x[0] != "new"]
    x = transpose(x, [labels.index(label) for label in order])
    if len(order) < len(pick.labels):
        kept = [i for i, label in enumerate(pick.labels) if label[0] != "new"]
        x = broadcast_in_dim(x, pick.sizes, kept)
    return x if pick.sizes == pick.out_shape else reshape(x, pick.out_shape)
