"""Writing to what a normalized index takes: windows where it can be, one scatter else.

Everything is made of operations with derivatives, so updates have theirs.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.primitive import Primitive
from pullback.ops.dimensions import as_scatter
from pullback.ops.dynamic import put_window, window
from pullback.ops.elementwise import add, mul
from pullback.ops.index import gather_back, scatter_add_p, scatter_p
from pullback.ops.inverse import Inverse, is_dense
from pullback.ops.logic import (
    bitwise_and,
    ge,
    le,
    max as maximum,
    min as minimum,
    select_n,
)
from pullback.ops.pick import Dyn, Pick, pieces
from pullback.ops.pick_group import gather_plan, index_vectors
from pullback.ops.pick_read import backwards, ends, loosened, starts_of, taken
from pullback.ops.reduce import highest, lowest, reduce_max, reduce_min, reduce_prod
from pullback.ops.scatter import scatter_max_p, scatter_min_p, scatter_mul_p
from pullback.ops.shape import (
    broadcast_in_dim,
    full,
    reduce_sum,
    reshape,
    squeeze,
    transpose,
)
from pullback.ops.slicing import index_in_dim, pad, rev, slice, slice_in_dim


class Update(NamedTuple):
    """One way to combine an old value with a new one.

    `combine` is None for `set`. `identity(dtype)` changes nothing when combined.
    """

    name: str
    scatter: Primitive
    combine: Callable[[Any, Any], Any] | None = None
    identity: Callable[[Any], Any] = lambda dtype: 0
    reduce: Callable[..., Any] | None = None


def _minus_zero(dtype) -> Any:
    """The value that adding never changes: -0.0, since 0.0 would turn -0.0 into 0.0."""
    return -0.0 if dtypes.is_inexact(dtype) else 0


SET = Update("set", scatter_p)
ADD = Update("add", scatter_add_p, add, _minus_zero, reduce_sum)
MUL = Update("multiply", scatter_mul_p, mul, lambda dtype: 1, reduce_prod)
MIN = Update("min", scatter_min_p, minimum, highest, reduce_min)
MAX = Update("max", scatter_max_p, maximum, lowest, reduce_max)


def write(x, pick: Pick, y, update: Update, *, hints=(False, False)):
    """`x` with `y`, of the shape and dtype that `pick` reads, written by `update`."""
    if pick.empty:
        return x
    shape = aval_of(x).shape
    if pick.shape != shape:
        x = reshape(x, pick.shape)
    if pick.sizes != pick.out_shape:
        y = reshape(y, pick.sizes)
    parts = pieces(pick)
    if parts is not None and index_vectors(pick, hints).unique:
        for part in parts:
            some = slice_in_dim(y, part.start, part.stop, 1, part.axis)
            x = write(x, part.pick, some, update)
        return x if pick.shape == shape else reshape(x, shape)
    y, labels = _without_new(y, pick, update)
    if pick.lookups():
        y = _looked_up(x, pick, y, labels, update, hints)
        update = SET
    else:
        y = _in_order(y, labels, _canonical(pick))
    x = _put(x, pick, _tightened(y, pick), update)
    return x if pick.shape == shape else reshape(x, shape)


def _looked_up(x, pick: Pick, y, labels, update: Update, hints):
    """The region of `x` that the group looks up, with the values written to it."""
    block, block_labels = loosened(taken(x, pick), pick)
    shape = aval_of(block).shape
    at = index_vectors(pick, hints)
    _, numbers, order = gather_plan(shape, block_labels, pick)
    y = _in_order(y, labels, order)
    if at.inverse is not None and is_dense(at.inverse):
        return _gathered(block, y, numbers, at.inverse, update)
    return update.scatter.bind(
        block,
        at.array,
        y,
        dimension_numbers=as_scatter(numbers),
        indices_are_sorted=at.is_sorted,
        unique_indices=at.unique,
        mode=at.mode,
    )


def _gathered(block, y, numbers, inverse: Inverse, update: Update):
    """Each element of the block takes its own value: no two write to one place."""
    aval = aval_of(block)
    neutral = update.identity(aval.dtype)
    new = gather_back(y, aval.shape, numbers, inverse, neutral)
    if update.combine is not None:
        return update.combine(block, new)
    if inverse.is_full():
        return new
    hit = broadcast_in_dim(inverse.hit(), aval.shape, numbers.start_index_map)
    return select_n(hit, block, new)


def _canonical(pick: Pick) -> list[tuple]:
    return [
        ("axis", a, p) for a, sizes in enumerate(pick.parts) for p in range(len(sizes))
    ]


def _in_order(y, labels: list[tuple], order: Sequence[tuple]):
    return transpose(y, [labels.index(x) for x in order])


def _without_new(y, pick: Pick, update: Update):
    """The values without the axes that no axis of the operand stands behind."""
    new = [i for i, x in enumerate(pick.labels) if x[0] == "new"]
    labels = [x for x in pick.labels if x[0] != "new"]
    repeated = [i for i in new if pick.sizes[i] != 1]
    if repeated and update.reduce is not None:
        y = update.reduce(y, repeated)
    else:
        for i in reversed(repeated):
            y = index_in_dim(y, -1, i, keepdims=False)
    ones = [i - sum(r < i for r in repeated) for i in new if pick.sizes[i] == 1]
    return (squeeze(y, ones) if ones else y), labels


def _tightened(y, pick: Pick):
    """The values as a region of the operand: all of its axes, points of size 1."""
    return reshape(y, [t.size for t in pick.axes])


def _put(x, pick: Pick, y, update: Update):
    y = rev(y, backwards(pick))
    sizes = pick.boxes()
    starts = [t.start for t in pick.axes]
    dynamic = pick.is_dynamic()
    if not dynamic and not any(starts) and tuple(sizes) == aval_of(x).shape:
        return _combined(lambda: x, pick, y, update)
    at = starts_of(pick)

    @functools.cache
    def old_box():
        if dynamic:
            return window(x, at, sizes)
        return slice(x, starts, ends(starts, sizes))

    new = _combined(old_box, pick, y, update)
    hit = _inside(pick, at)
    if hit is not None:
        new = select_n(hit, old_box(), new)
    return put_window(x, new, at)


def _combined(old: Callable[[], Any], pick: Pick, y, update: Update):
    """The box with the values written to the positions of the runs."""
    steps = pick.steps()
    combine = update.combine
    if max(steps, default=1) == 1:
        return y if combine is None else combine(old(), y)
    aval = aval_of(y)
    config = [(0, 0, step - 1) for step in steps]
    if combine is not None:
        return combine(old(), pad(y, update.identity(aval.dtype), config))
    flags = full(ShapedArray(aval.shape, np.dtype(bool)), True)
    return select_n(pad(flags, False, config), old(), pad(y, 0, config))


def _inside(pick: Pick, starts: list[Any]):
    """Whether the traced points lie inside, where updates outside are dropped."""
    hit = None
    for t, n, s in zip(pick.axes, pick.shape, starts, strict=True):
        if type(t) is Dyn and not t.clamps:
            kind = s.dtype.type
            here = bitwise_and(ge(s, kind(0)), le(s, kind(n - 1)))
            hit = here if hit is None else bitwise_and(hit, here)
    return hit
