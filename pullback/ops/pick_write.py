"""Writing to what a normalized index takes: windows where it can be, one scatter else.

Everything is made of operations with derivatives, so updates have theirs.
"""

from collections.abc import Sequence
from math import prod

from pullback.core.aval import aval_of
from pullback.ops.dimensions import as_scatter
from pullback.ops.index import gather_back
from pullback.ops.inverse import Inverse, scatter_is_cheaper
from pullback.ops.logic import (
    select_n,
)
from pullback.ops.pick import Pick, pieces
from pullback.ops.pick_check import check_traced
from pullback.ops.pick_group import gather_plan, index_vectors
from pullback.ops.pick_read import loosened, taken
from pullback.ops.pick_region import SET, Update, put_region
from pullback.ops.shape import (
    broadcast_in_dim,
    reshape,
    squeeze,
    transpose,
)
from pullback.ops.slicing import index_in_dim, slice_in_dim


def write(x, pick: Pick, y, update: Update, *, hints=(False, False)):
    """`x` with `y`, of the shape and dtype that `pick` reads, written by `update`."""
    check_traced(pick)
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
    x = put_region(x, pick, _tightened(y, pick), update)
    return x if pick.shape == shape else reshape(x, shape)


def _looked_up(x, pick: Pick, y, labels, update: Update, hints):
    """The region of `x` that the group looks up, with the values written to it."""
    block, block_labels = loosened(taken(x, pick), pick)
    shape = aval_of(block).shape
    at = index_vectors(pick, hints)
    _, numbers, order = gather_plan(shape, block_labels, pick)
    y = _in_order(y, labels, order)
    if at.inverse is not None and not scatter_is_cheaper(
        aval_of(y).size,
        aval_of(block).size,
        prod(shape[max(numbers.start_index_map) + 1 :]),
    ):
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
