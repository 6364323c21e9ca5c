"""The rules that gather and all scatters share: types, meaning, lowering, batching."""

from math import prod

import numpy as np

from pullback.core.aval import ShapedArray
from pullback.core.errors import DtypeError, ShapeError
from pullback.ops.dimensions import (
    CLIP,
    ScatterDimensionNumbers,
    as_gather,
    as_scatter,
    front_order,
    gather_shape,
    limits,
    moved_numbers,
    positions,
    window_axes,
    with_batching,
    with_offset,
)
from pullback.ops.slicing import batched_front


def bounds_of(b, indices, aval, last: np.ndarray):
    """Index vectors, and scalars 0 and the last position spread to their shape."""
    top = np.iinfo(aval.dtype).max
    zero = b.constant(np.zeros(aval.shape, aval.dtype), aval)
    line = ShapedArray((len(last),), aval.dtype)
    bound = b.constant(np.minimum(last, top).astype(aval.dtype), line)
    return zero, b.broadcast_in_dim(aval, bound, (aval.ndim - 1,))


def inside_of(b, indices, aval, last: np.ndarray):
    """Which index vectors lie inside: `bool[*b]`."""
    zero, bound = bounds_of(b, indices, aval, last)
    ok = b.and_(b.compare(indices, zero, "GE"), b.compare(indices, bound, "LE"))
    flag = np.dtype(bool)
    true = b.constant(np.ones((), flag), ShapedArray((), flag))
    out = ShapedArray(aval.shape[:-1], flag)
    return b.reduce(
        [out], [ok], [true], (aval.ndim - 1,), lambda b, p, q: [b.and_(p, q)]
    )[0]


def window_sizes(x_shape, updates_shape, s: ScatterDimensionNumbers) -> tuple[int, ...]:
    """The size of an update's window along each axis of the operand."""
    kept = window_axes(len(x_shape), as_gather(s))
    sizes = [min(1, n) for n in x_shape]
    for i, d in zip(kept, s.update_window_dims, strict=False):
        sizes[i] = updates_shape[d] if d < len(updates_shape) else -1
    return tuple(sizes)


def scatter_abstract(name: str):
    """The type rule of a scatter."""

    def abstract(x, indices, updates, *, dimension_numbers, **_):
        if x.dtype != updates.dtype:
            raise DtypeError(
                f"{name} of {updates.short()} into {x.short()}",
                rule="operand and updates have the same dtype",
                fix="convert the updates with astype(...)",
            )
        sizes = window_sizes(x.shape, updates.shape, dimension_numbers)
        shape = gather_shape(name, x, indices, as_gather(dimension_numbers), sizes)
        if shape != updates.shape:
            raise ShapeError(
                f"{name} of {updates.short()} into {x.short()} at {indices.short()}",
                rule=f"with {dimension_numbers} the updates have shape {shape}",
            )
        return x

    return abstract


def scatter_reference(write):
    """The meaning of a scatter; `write(out, positions, values)` changes `out`."""

    def reference(x, indices, updates, *, dimension_numbers, mode, **_):
        s = dimension_numbers
        sizes = window_sizes(x.shape, updates.shape, s)
        clip = mode is CLIP
        at, inside = positions(x.shape, indices, as_gather(s), sizes, clip=clip)
        values = np.transpose(updates, front_order(updates.ndim, s.update_window_dims))
        out = np.array(x)
        if not values.size or not x.ndim:
            if values.size and not x.ndim:
                write(out, (), values)
            return out
        where = tuple(np.broadcast_to(p, values.shape) for p in at)
        if not clip:
            where = tuple(p[inside] for p in where)
            values = values[inside]
        write(out, where, values)
        return out

    return reference


def scatter_lower(combine):
    """The lowering of a scatter; `combine(b, old, new)` on scalars."""

    def lower(
        b,
        out,
        x,
        indices,
        updates,
        *,
        dimension_numbers,
        indices_are_sorted,
        unique_indices,
        mode,
    ):
        s = dimension_numbers
        x_aval, aval, updates_aval = b.avals_in
        if mode is CLIP:
            sizes = window_sizes(x_aval.shape, updates_aval.shape, s)
            last = limits(x_aval.shape, sizes, as_gather(s))
            zero, bound = bounds_of(b, indices, aval, last)
            indices = b.clamp(zero, indices, bound)
        order = front_axes(s, x_aval.shape, updates_aval)
        if order is not None:
            ahead, s = in_front(s, order, updates_aval.ndim)
            x = b.transpose(out := _permuted(out, order), x, order)
            updates = b.transpose(_permuted(updates_aval, ahead), updates, ahead)
        value = b.scatter(
            [out],
            [x],
            indices,
            [updates],
            lambda b, old, new: [combine(b, old, new)],
            update_window_dims=s.update_window_dims,
            inserted_window_dims=s.inserted_window_dims,
            input_batching_dims=s.operand_batching_dims,
            scatter_indices_batching_dims=s.scatter_indices_batching_dims,
            scattered_dims_to_operand_dims=s.scatter_dims_to_operand_dims,
            index_vector_dim=aval.ndim - 1,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices and mode is not CLIP,
        )[0]
        if order is None:
            return value
        back = [order.index(i) for i in range(x_aval.ndim)]
        return b.transpose(_permuted(out, back), value, back)

    return lower


# ---- windows of a few elements, far apart: the scattered axes are moved in front ----

SHORT = 16
ENOUGH = 4  # scattered elements, times this, that pay for moving all of them


def front_axes(s: ScatterDimensionNumbers, shape, updates) -> list[int] | None:
    """The order of axes in which a scatter costs least; None for that they have.

    Windows that run along leading axes are written element by element.
    """
    axes = s.scatter_dims_to_operand_dims
    if s.operand_batching_dims or not axes or {*axes} != {*s.inserted_window_dims}:
        return None
    kept = [i for i in range(len(shape)) if i not in axes]
    before = prod(shape[i] for i in kept if i < max(axes))
    after = prod(shape[i] for i in kept if i > max(axes))
    if before < SHORT or after >= SHORT or ENOUGH * updates.size < prod(shape):
        return None
    return [*sorted(axes), *kept]


def in_front(s: ScatterDimensionNumbers, order: list[int], ndim: int):
    """The order of the updates' axes, and the numbers, of the scatter in that order."""
    batch = [d for d in range(ndim) if d not in s.update_window_dims]
    numbers = ScatterDimensionNumbers(
        range(len(batch), ndim),
        range(len(s.inserted_window_dims)),
        [order.index(i) for i in s.scatter_dims_to_operand_dims],
    )
    return [*batch, *s.update_window_dims], numbers


def _permuted(aval: ShapedArray, order) -> ShapedArray:
    return aval.update(shape=tuple(aval.shape[i] for i in order))


def scatter_batch(bind):
    """The batch rule of the scatter that `bind` applies."""

    def batch(n, xs, ds, *, dimension_numbers, **params):
        (x, indices, updates), (x_d, i_d, u_d) = xs, ds
        x, updates = batched_front(x, x_d, n), batched_front(updates, u_d, n)
        g = as_gather(dimension_numbers)
        if i_d is None:
            g = with_offset(moved_numbers(g, x=True, out=True))
        else:
            indices = batched_front(indices, i_d, n)
            g = moved_numbers(g, x=True, indices=True, out=True)
            g = with_batching(g)
            params = {**params, "indices_are_sorted": False}
        return bind(x, indices, updates, dimension_numbers=as_scatter(g), **params), 0

    return batch
