"""Indexing family: gather, and the scatters that write and add.

A gather's transpose is scatter-add, and back. `scatter` has the scatters that multiply
and take extremes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Linear, Smooth
from pullback.core.primitive import Primitive
from pullback.ops.dimensions import (
    FILL_OR_DROP,
    PROMISE_IN_BOUNDS,
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    as_gather,
    as_scatter,
    default_fill,
    front_order,
    gather_shape,
    limits,
    moved_numbers,
    positions,
    window_axes,
    with_batching,
    with_offset,
)
from pullback.ops.inverse import Inverse, turned_numbers
from pullback.ops.iota import broadcasted_iota
from pullback.ops.logic import eq, select_n
from pullback.ops.scatter_rules import (
    inside_of,
    scatter_abstract,
    scatter_batch,
    scatter_lower,
    scatter_reference,
    window_sizes,
)
from pullback.ops.shape import full, reshape, zeros
from pullback.ops.slicing import batched_front

Mode = GatherScatterMode | str | None


def gather(
    operand,
    start_indices,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Mode = None,
    fill_value: Any = None,
    inverse: Inverse | None = None,
):
    """Windows of `operand` at positions that are computed.

    Args:
      operand: `t[*s]`
      start_indices: `i[*b, k]`, an index vector for each window.
      dimension_numbers: which axis is which.
      slice_sizes: the size of a window along each axis of the operand.
      unique_indices, indices_are_sorted: promises that make it quicker.
      mode: what windows outside give, see `GatherScatterMode`.
      fill_value: what they give in the mode `"fill"` (None: NaN, the least integer).
      inverse: where each position is read, if static and distinct: the transpose is
        then a gather. Windows span whole axes.

    Raises:
      ShapeError: shapes and numbers do not fit.

    Source: StableHLO `gather`.
    """
    mode = GatherScatterMode.from_any(mode)
    if fill_value is None and mode is FILL_OR_DROP:
        fill_value = default_fill(aval_of(operand).dtype)
    known = {} if inverse is None else {"inverse": inverse}
    return gather_p.bind(
        operand,
        start_indices,
        dimension_numbers=dimension_numbers,
        slice_sizes=tuple(map(int, slice_sizes)),
        unique_indices=bool(unique_indices),
        indices_are_sorted=bool(indices_are_sorted),
        mode=mode,
        fill_value=fill_value if mode is FILL_OR_DROP else None,
        **known,
    )


def scatter(
    operand,
    scatter_indices,
    updates,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
):
    """`operand` with windows at computed positions replaced by `updates`.

    Args:
      operand: `t[*s]`
      scatter_indices: `i[*b, k]`, an index vector for each window.
      updates: `t[*b and *window]`, axes ordered by the dimension numbers.
      dimension_numbers: which axis is which.
      indices_are_sorted, unique_indices: promises that make it quicker.
      mode: what becomes of updates outside, see `GatherScatterMode`.

    Where windows overlap, one of their updates wins; which one is not specified.

    Source: StableHLO `scatter`.
    """
    return scatter_p.bind(
        operand,
        scatter_indices,
        updates,
        dimension_numbers=dimension_numbers,
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=GatherScatterMode.from_any(mode),
    )


def scatter_add(
    operand,
    scatter_indices,
    updates,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
):
    """`operand` with `updates` added to windows at computed positions.

    Arguments as those of `scatter`. Overlapping updates are all added.

    Source: StableHLO `scatter` with `add`.
    """
    return scatter_add_p.bind(
        operand,
        scatter_indices,
        updates,
        dimension_numbers=dimension_numbers,
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=GatherScatterMode.from_any(mode),
    )


# ---- gather ----


def _gather_abstract(x, indices, *, dimension_numbers, slice_sizes, **_):
    shape = gather_shape("gather", x, indices, dimension_numbers, slice_sizes)
    return ShapedArray(shape, x.dtype, x.weak_type)


def _gather_reference(
    x, indices, *, dimension_numbers, slice_sizes, mode, fill_value, **_
):
    g = dimension_numbers
    fill = mode is FILL_OR_DROP
    at, inside = positions(x.shape, indices, g, slice_sizes, clip=not fill)
    window = tuple(slice_sizes[i] for i in window_axes(x.ndim, g))
    shape = inside.shape + window
    if x.ndim and shape:
        out = x[tuple(np.broadcast_to(p, shape) for p in at)] if x.size else None
        out = np.zeros(shape, x.dtype) if out is None else out
    else:
        out = np.broadcast_to(x[tuple(at)] if x.ndim else x, shape)
    if fill:
        mask = inside.reshape(inside.shape + (1,) * len(window))
        out = np.where(mask, out, np.asarray(fill_value, x.dtype))
    order = front_order(len(shape), g.offset_dims)
    return np.transpose(out, np.argsort(order))


def _gather_lower(
    b,
    out,
    x,
    indices,
    *,
    dimension_numbers,
    slice_sizes,
    unique_indices,
    indices_are_sorted,
    mode,
    fill_value,
    inverse=None,
):
    g = dimension_numbers
    x_aval, aval = b.avals_in
    value = b.gather(
        out,
        x,
        indices,
        offset_dims=g.offset_dims,
        collapsed_slice_dims=g.collapsed_slice_dims,
        operand_batching_dims=g.operand_batching_dims,
        start_indices_batching_dims=g.start_indices_batching_dims,
        start_index_map=g.start_index_map,
        index_vector_dim=aval.ndim - 1,
        slice_sizes=slice_sizes,
        indices_are_sorted=indices_are_sorted,
    )
    if mode is not FILL_OR_DROP:
        return value
    inside = inside_of(b, indices, aval, limits(x_aval.shape, slice_sizes, g))
    batch = [d for d in range(out.ndim) if d not in g.offset_dims]
    mask = b.broadcast_in_dim(out.update(dtype=np.dtype(bool)), inside, batch)
    return b.select(mask, value, b.constant(np.asarray(fill_value, out.dtype), out))


def _zero_filled(params: dict) -> dict:
    return {**params, "fill_value": 0} if params["mode"] is FILL_OR_DROP else params


def _gather_tangent(t, out, x, indices, **params):
    return gather_p.bind(t, indices, **_zero_filled(params))


def gather_back(
    y,
    shape: tuple[int, ...],
    g: GatherDimensionNumbers,
    inverse: Inverse,
    fill: Any = 0,
):
    """An array of `shape` that holds `y` where a gather read it, and else `fill`."""
    aval = aval_of(y)
    back = turned_numbers(len(shape), aval.ndim, g)
    read = back.collapsed_slice_dims
    sizes = [1 if d in read else n for d, n in enumerate(aval.shape)]
    joint = [aval.shape[d] for d in read]
    return gather(
        y,
        inverse.vectors(joint),
        back,
        sizes,
        unique_indices=inverse.is_full(),
        mode=PROMISE_IN_BOUNDS if inverse.is_full() else FILL_OR_DROP,
        fill_value=fill,
        inverse=inverse.turned(joint),
    )


def _gather_transpose(
    ct, x, indices, *, dimension_numbers, mode, inverse=None, **params
):
    if inverse is not None:
        return gather_back(ct, aval_of(x).shape, dimension_numbers, inverse)
    return scatter_add_p.bind(
        zeros(aval_of(x).strong()),
        indices,
        ct,
        dimension_numbers=as_scatter(dimension_numbers),
        indices_are_sorted=params["indices_are_sorted"],
        unique_indices=params["unique_indices"],
        mode=mode,
    )


def _gather_batch(n, xs, ds, *, dimension_numbers, slice_sizes, **params):
    (x, indices), (x_d, i_d) = xs, ds
    g = dimension_numbers
    if i_d is not None:
        params.pop("inverse", None)
    if i_d is None:
        x, sizes = batched_front(x, x_d, n), (n, *slice_sizes)
        g = moved_numbers(g, x=True, out=True)
        g = with_offset(g)
    elif x_d is None:
        indices, sizes = batched_front(indices, i_d, n), slice_sizes
        g = moved_numbers(g, indices=True, out=True)
    else:
        x, indices = batched_front(x, x_d, n), batched_front(indices, i_d, n)
        sizes = (min(n, 1), *slice_sizes)
        g = moved_numbers(g, x=True, indices=True, out=True)
        g = with_batching(g)
        if params["indices_are_sorted"] and n > 1:
            params = {**params, "indices_are_sorted": False}
    return gather_p.bind(
        x, indices, dimension_numbers=g, slice_sizes=sizes, **params
    ), 0


gather_p = Primitive(
    "gather",
    abstract=_gather_abstract,
    reference=_gather_reference,
    lower=_gather_lower,
    derivative=Smooth((_gather_tangent, None), transpose={0: _gather_transpose}),
    batch=_gather_batch,
)


def read_back(x, indices, updates, params: dict):
    """What a gather reads of `x` where updates of the given type were written.

    Updates that were dropped read zero.
    """
    s = params["dimension_numbers"]
    mode = params["mode"]
    return gather_p.bind(
        x,
        indices,
        dimension_numbers=as_gather(s),
        slice_sizes=window_sizes(aval_of(x).shape, aval_of(updates).shape, s),
        unique_indices=params["unique_indices"],
        indices_are_sorted=params["indices_are_sorted"],
        mode=mode,
        fill_value=0 if mode is FILL_OR_DROP else None,
    )


# ---- scatter ----


def _write(out, where, values):
    out[where] = values


def _winners(x, indices, updates, params: dict):
    """Which updates are still there after all were written."""
    aval = aval_of(updates)
    ids = np.dtype(np.int32)
    count = broadcasted_iota(ids, (max(aval.size, 1),), 0)
    mine = reshape(count, aval.shape) if aval.size else zeros(aval.update(dtype=ids))
    none = full(ShapedArray(aval_of(x).shape, ids), -1)
    written = scatter_p.bind(none, indices, mine, **params)
    return eq(read_back(written, indices, updates, params), mine)


def _scatter_transpose_x(ct, x, indices, updates, **params):
    gone = zeros(aval_of(updates).strong())
    return scatter_p.bind(ct, indices, gone, **params)


def _scatter_transpose_updates(ct, x, indices, updates, **params):
    read = read_back(ct, indices, updates, params)
    if params["unique_indices"]:
        return read
    kept = _winners(x, indices, updates, params)
    return select_n(kept, zeros(aval_of(read)), read)


scatter_p = Primitive(
    "scatter",
    abstract=scatter_abstract("scatter"),
    reference=scatter_reference(_write),
    lower=scatter_lower(lambda b, old, new: new),
    derivative=Linear((_scatter_transpose_x, None, _scatter_transpose_updates)),
    batch=scatter_batch(lambda *xs, **params: scatter_p.bind(*xs, **params)),
)


# ---- scatter-add ----


scatter_add_p = Primitive(
    "scatter-add",
    abstract=scatter_abstract("scatter-add"),
    reference=scatter_reference(np.add.at),
    lower=scatter_lower(lambda b, old, new: b.add(old, new)),
    derivative=Linear(
        (
            lambda ct, x, indices, updates, **params: ct,
            None,
            lambda ct, x, indices, updates, **params: read_back(
                ct, indices, updates, params
            ),
        )
    ),
    batch=scatter_batch(lambda *xs, **params: scatter_add_p.bind(*xs, **params)),
)
