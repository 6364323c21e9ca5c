"""Positions and what stands at them: nonzero, unravel_index, put, insert, delete."""

from typing import Any

import numpy as np

from pullback.api.arrays.at import Indexable
from pullback.api.arrays.creation import asarray, shape_of, stacked
from pullback.api.arrays.positions import nonzero as nonzero
from pullback.api.arrays.shape_functions import as_array, axis_of, ravel, reshape
from pullback.api.arrays.taking import along_axis, wrapped
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, IndexingError
from pullback.core.trace import Tracer
from pullback.ops import shape as ops
from pullback.ops.convert import convert
from pullback.ops.dimensions import as_scatter
from pullback.ops.elementwise import add, div, rem
from pullback.ops.index import scatter
from pullback.ops.joining import concatenate
from pullback.ops.logic import clamp, eq, lt, select_n
from pullback.ops.promote import broadcast_to, promote_dtypes

INT32 = np.dtype(np.int32)


# ---- positions of true elements ----


def flatnonzero(a, *, size: int | None = None, fill_value: Any = None):
    """The positions of the elements of the flattened `a` that are not zero."""
    return nonzero(ravel(a), size=size, fill_value=fill_value)[0]


def argwhere(a, *, size: int | None = None, fill_value: Any = None):
    """The positions of the elements of `a` that are not zero, one in each row."""
    found = nonzero(a, size=size, fill_value=fill_value)
    count = found[0].shape[0]
    if not aval_of(as_array("argwhere", a)).ndim:
        return asarray(np.zeros((count, 0), INT32))
    return ops.transpose(stacked(found), (1, 0))


# ---- flat positions ----


def unravel_index(indices, shape) -> tuple:
    """The positions along each axis of `shape` of flat positions.

    Negative ones count from the end; those outside are moved inside.
    """
    sizes = shape_of("unravel_index", shape)
    index = as_array("unravel_index", indices)
    if not dtypes.is_integer(index.dtype):
        raise ArgumentError(f"unravel_index of {index.aval.short()}: not integers")
    total = int(np.prod(sizes))
    kind = index.dtype.type
    index = select_n(lt(index, kind(0)), index, add(index, kind(total)))
    index = clamp(kind(0), index, kind(max(total - 1, 0)))
    outs = []
    for n in reversed(sizes):
        outs.append(rem(index, kind(max(n, 1))))
        index = div(index, kind(max(n, 1)))
    return tuple(reversed(outs))


def ravel_multi_index(multi_index, dims, mode: str = "raise", order: str = "C"):
    """The flat positions in an array of shape `dims` of positions along each axis.

    `mode`: what becomes of positions outside: `"raise"` (only where they are known),
    `"clip"` or `"wrap"`.

    Raises:
      ArgumentError: a position is outside, in the mode `"raise"`.
    """
    sizes = shape_of("ravel_multi_index", dims)
    xs = promote_dtypes(*[as_array("ravel_multi_index", x) for x in multi_index])
    if len(xs) != len(sizes):
        raise ArgumentError(
            f"ravel_multi_index: len(multi_index)={len(xs)} and {len(sizes)} sizes"
        )
    xs = [_bounded(x, n, mode) for x, n in zip(xs, sizes, strict=True)]
    pairs = list(zip(xs, sizes, strict=True))
    flat = None
    for x, n in pairs if order == "C" else reversed(pairs):
        flat = x if flat is None else flat * n + x
    return asarray(0) if flat is None else flat


def _bounded(x, n: int, mode: str):
    kind = x.dtype.type
    if mode == "clip":
        return clamp(kind(0), x, kind(n - 1))
    if mode == "wrap":
        left = rem(x, kind(n))
        return select_n(lt(left, kind(0)), left, add(left, kind(n)))
    value = np.asarray(x)  # in the mode "raise" a traced array has no answer
    if value.size and (value.min() < 0 or value.max() >= n):
        raise ArgumentError("invalid entry in coordinates array")
    return x


# ---- writing ----


def put_along_axis(arr, indices, values, axis, inplace: bool = True, *, mode=None):
    """A copy of `arr` with `values` at `indices` along an axis.

    Raises:
      ArgumentError: `inplace` is not False: arrays do not change.
    """
    if inplace:
        raise ArgumentError(
            "put_along_axis with inplace=True",
            rule="arrays are immutable",
            fix="pass inplace=False and use the result",
        )
    x = as_array("put_along_axis", arr)
    shape = x.shape
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of("put_along_axis", axis, x.ndim)
    wide, vectors, numbers, mode = along_axis("put_along_axis", x, indices, axis, mode)
    y = convert(asarray(values), x.dtype)
    y = broadcast_to(y, aval_of(vectors).shape[:-1])
    x = broadcast_to(x, wide)
    out = scatter(x, vectors, y, as_scatter(numbers), mode=mode)
    return reshape(out, shape)


def put(a, ind, v, mode: str | None = None, *, inplace: bool = True):
    """A copy of `a` with values `v` at flat positions `ind`, repeated as needed.

    `mode`: positions outside are moved inside (None; `"clip"`, where negative ones are
    outside too), or count on from the start (`"wrap"`).

    Raises:
      ArgumentError: `inplace` is not False: arrays do not change.
    """
    if inplace:
        raise ArgumentError(
            "put with inplace=True",
            rule="arrays are immutable",
            fix="pass inplace=False and use the result",
        )
    x = as_array("put", a)
    index = ind if isinstance(ind, Tracer) else np.asarray(ind)
    index = index.reshape(-1)
    values = ravel(asarray(v))
    if not index.size or not values.size:
        return x
    values = values[np.arange(index.size) % values.size]
    if mode == "wrap":
        index = wrapped(index, x.size)
    out = Indexable(ravel(x))[index].set(
        values, mode="clip", wrap_negative_indices=mode != "clip"
    )
    return reshape(out, x.shape)


def fill_diagonal(a, val, wrap: bool = False, *, inplace: bool = True):
    """A copy of `a` with `val` on its main diagonal."""
    if inplace or wrap:
        raise ArgumentError(
            "fill_diagonal with inplace=True or wrap=True",
            rule="arrays are immutable",
            fix="pass inplace=False and use the result",
        )
    x = as_array("fill_diagonal", a)
    line = np.arange(min(x.shape))
    values = ravel(asarray(val))
    if values.size > 1:
        values = values[np.arange(line.size) % values.size]
    return Indexable(x)[(line,) * x.ndim].set(values)


def delete(arr, obj, axis: int | None = None, *, assume_unique_indices: bool = False):
    """`arr` without the elements `obj` of an axis (None: of the flattened array).

    `obj`: static: an integer, integers, a mask or a slice.

    Raises:
      IndexingError: a position is outside.
    """
    x = as_array("delete", arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of("delete", axis, x.ndim)
    places = np.arange(x.shape[axis])
    chosen = obj if isinstance(obj, slice) else np.asarray(obj)
    try:
        kept = np.delete(places, chosen)
    except IndexError as error:
        raise IndexingError(f"delete: {error}") from None
    return x[(slice(None),) * axis + (kept,)]


def insert(arr, obj, values, axis: int | None = None):
    """`arr` with `values` put in before positions `obj` of an axis.

    `obj`: static: an integer, integers or a slice.

    Raises:
      IndexingError: a position is outside.
    """
    x = as_array("insert", arr)
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of("insert", axis, x.ndim)
    n = x.shape[axis]
    y = convert(asarray(values), x.dtype)
    scalar = not isinstance(obj, slice) and np.ndim(obj) == 0
    places = np.arange(n)[obj] if isinstance(obj, slice) else np.asarray(obj)
    y = ops.moveaxis(y, 0, axis) if scalar and y.ndim == x.ndim and axis else y
    count = places.size
    if count == 1 and y.ndim == x.ndim:
        count = y.shape[axis]
        places = np.full(count, places.reshape(-1)[0])
    y = broadcast_to(y, (*x.shape[:axis], count, *x.shape[axis + 1 :]))
    try:
        order = np.insert(np.arange(n), places, np.arange(n, n + count))
    except IndexError as error:
        raise IndexingError(f"insert: {error}") from None
    return concatenate([x, y], axis)[(slice(None),) * axis + (order,)]


def compress(condition, a, axis: int | None = None):
    """What stands along an axis where the static `condition` is true."""
    x = as_array("compress", a)
    if axis is None:
        x, axis = ravel(x), 0
    mask = np.asarray(condition).astype(bool)
    return x[
        (slice(None),) * axis_of("compress", axis, x.ndim) + (np.flatnonzero(mask),)
    ]


def extract(condition, arr):
    """The elements of `arr` where the static `condition` is true."""
    return compress(ravel(condition), ravel(arr))


def array_equal(a1, a2, equal_nan: bool = False):
    """Whether two arrays have the same shape and the same elements."""
    x, y = asarray(a1), asarray(a2)
    if x.shape != y.shape:
        return asarray(False)
    x, y = promote_dtypes(x, y)
    same = eq(x, y)
    if equal_nan:
        same = same | ((x != x) & (y != y))
    return same.all()


def array_equiv(a1, a2):
    """Whether two arrays have the same elements when one is broadcast to the other."""
    x, y = promote_dtypes(asarray(a1), asarray(a2))
    try:
        shape = np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return asarray(False)
    return eq(broadcast_to(x, shape), broadcast_to(y, shape)).all()
