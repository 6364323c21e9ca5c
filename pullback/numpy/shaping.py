"""Shape, joining and splitting: NumPy's functions that are not methods of arrays."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.api.arrays.creation import asarray, shape_of, spread, stacked
from pullback.api.arrays.shape_functions import (
    as_array,
    axes_of,
    axis_of,
    ravel,
    reshape,
)
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ArgumentTypeError, ShapeError
from pullback.ops import shape as ops
from pullback.ops.convert import convert
from pullback.ops.dynamic import window
from pullback.ops.elementwise import add, rem
from pullback.ops.joining import concatenate as join, split as cut
from pullback.ops.logic import lt, select_n
from pullback.ops.promote import broadcast_shapes as joint_shape, promote_dtypes
from pullback.ops.slicing import rev, slice_in_dim

# ---- axes ----


def shape(a) -> tuple[int, ...]:
    """The sizes of the axes of `a`."""
    return np.shape(a) if isinstance(a, list | tuple) else aval_of(a).shape


def ndim(a) -> int:
    """The number of axes of `a`."""
    return len(shape(a))


def size(a, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements of `a`, or along some of its axes."""
    sizes = shape(a)
    axes = range(len(sizes)) if axis is None else axes_of("size", axis, len(sizes))
    out = 1
    for i in axes:
        out *= sizes[i]
    return out


def moveaxis(a, source, destination):
    """Axes of `a` moved to other places; the rest keep their order.

    Raises:
      ArgumentError: as many sources as destinations are needed.
    """
    x = as_array("moveaxis", a)
    src = axes_of("moveaxis", source, x.ndim)
    dst = axes_of("moveaxis", destination, x.ndim)
    if len(src) != len(dst):
        raise ArgumentError(
            f"moveaxis from {src} to {dst}",
            rule="source and destination have the same length",
        )
    order = [i for i in range(x.ndim) if i not in src]
    for to, of in sorted(zip(dst, src, strict=True)):
        order.insert(to, of)
    return ops.transpose(x, order)


def rollaxis(a, axis: int, start: int = 0):
    """An axis of `a` moved to stand before axis `start`."""
    x = as_array("rollaxis", a)
    axis = axis_of("rollaxis", axis, x.ndim)
    start = axis_of("rollaxis", start, x.ndim + 1) if start < 0 else start
    if not 0 <= start <= x.ndim:
        raise ArgumentError(f"rollaxis: start {start} of {x.ndim} axes")
    return moveaxis(x, axis, start - 1 if axis < start else start)


def permute_dims(a, /, axes: Sequence[int]):
    """The axes of `a` in another order."""
    return ops.transpose(as_array("permute_dims", a), axes)


def expand_dims(a, axis: int | Sequence[int]):
    """New axes of size 1, which stand at `axis` of the result.

    Raises:
      ArgumentError: an axis is given twice or outside.
    """
    x = as_array("expand_dims", a)
    count = len(axis) if isinstance(axis, Sequence) else 1
    return ops.expand_dims(x, axes_of("expand_dims", axis, x.ndim + count))


def atleast_1d(*arys):
    """Scalars become arrays of one element."""
    return _each(arys, lambda x: x if x.ndim else ops.reshape(x, (1,)))


def atleast_2d(*arys):
    """Axes of size 1 are put in front until there are two."""
    return _each(arys, lambda x: ops.expand_dims(x, range(max(0, 2 - x.ndim))))


def atleast_3d(*arys):
    """Axes of size 1 are added until there are three: vectors become `(1, n, 1)`."""

    def raised(x):
        if x.ndim == 2:
            return ops.expand_dims(x, (2,))
        if x.ndim == 1:
            return ops.expand_dims(x, (0, 2))
        return ops.expand_dims(x, range(3)) if not x.ndim else x

    return _each(arys, raised)


def _each(arys, change):
    outs = [change(as_array("atleast", a)) for a in arys]
    return outs[0] if len(outs) == 1 else outs


def broadcast_to(array, shape, *, out_sharding=None):
    """`array` repeated to `shape`, by NumPy's rules.

    Raises:
      ShapeError: it does not fit.
    """
    x = as_array("broadcast_to", array)
    return spread(x, shape_of("broadcast_to", shape))


def broadcast_shapes(*shapes) -> tuple[int, ...]:
    """The shape to which arrays of the given shapes broadcast."""
    given = [shape_of("broadcast_shapes", s) for s in shapes]
    return joint_shape("broadcast_shapes", given) if given else ()


def broadcast_arrays(*args) -> list:
    """The arrays, repeated to the one shape that they broadcast to."""
    xs = [as_array("broadcast_arrays", x) for x in args]
    joint = broadcast_shapes(*[x.shape for x in xs])
    return [spread(x, joint) for x in xs]


# ---- joining ----


def _arrays(name: str, arrays: Any) -> list:
    if hasattr(arrays, "shape") and not isinstance(arrays, list | tuple):
        arrays = list(asarray(arrays))
    if not isinstance(arrays, Sequence):
        raise ArgumentTypeError(
            f"{name} of a value of type {type(arrays).__name__}",
            rule="it takes a sequence of arrays",
        )
    if not arrays:
        raise ArgumentError(f"{name}: Need at least one array to {name}.")
    return promote_dtypes(*[as_array(name, a) for a in arrays])


def concatenate(arrays, axis: int | None = 0, dtype=None):
    """Arrays one after another along an axis that they have (None: all flattened).

    Raises:
      ShapeError: the other axes differ.
      ArgumentError: no array is given, or scalars.
    """
    xs = _arrays("concatenate", arrays)
    if axis is None:
        xs, axis = [ravel(x) for x in xs], 0
    if any(not x.ndim for x in xs):
        raise ArgumentError(
            "Zero-dimensional arrays cannot be concatenated.", fix="use stack"
        )
    out = join(xs, axis_of("concatenate", axis, xs[0].ndim))
    return out if dtype is None else asarray(out, dtype)


concat = concatenate


def stack(arrays, axis: int = 0, out=None, dtype=None):
    """Arrays of one shape along a new axis.

    Raises:
      ShapeError: the shapes differ.
    """
    xs = _arrays("stack", arrays)
    x = stacked(xs)
    x = ops.moveaxis(x, 0, axis_of("stack", axis, x.ndim))
    return x if dtype is None else asarray(x, dtype)


def vstack(tup, dtype=None):
    """Arrays one below another; vectors are rows."""
    return concatenate([atleast_2d(x) for x in _arrays("vstack", tup)], 0, dtype)


def hstack(tup, dtype=None):
    """Arrays side by side: along the second axis, vectors along their only one."""
    xs = [atleast_1d(x) for x in _arrays("hstack", tup)]
    return concatenate(xs, 0 if xs[0].ndim == 1 else 1, dtype)


def dstack(tup, dtype=None):
    """Arrays one behind another, along the third axis."""
    return concatenate([atleast_3d(x) for x in _arrays("dstack", tup)], 2, dtype)


def column_stack(tup):
    """Vectors as columns, and matrices, side by side."""
    xs = _arrays("column_stack", tup)
    return concatenate([_column(x) for x in xs], 1)


def _column(x):
    return x if x.ndim > 1 else ops.reshape(x, (x.size, 1))


def block(arrays):
    """An array put together from nested lists of blocks, innermost along the last axis."""
    depth = _depth(arrays)
    return _block(arrays, depth, max(depth, _rank(arrays)))


def _depth(arrays) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _rank(arrays) -> int:
    if isinstance(arrays, list):
        return max(map(_rank, arrays))
    return ndim(arrays)


def _block(arrays, depth: int, rank: int):
    if not isinstance(arrays, list):
        x = as_array("block", arrays)
        return ops.expand_dims(x, range(rank - x.ndim))
    return concatenate([_block(a, depth - 1, rank) for a in arrays], -depth)


def append(arr, values, axis: int | None = None):
    """`values` after `arr` along an axis (None: both flattened)."""
    return concatenate([as_array("append", arr), as_array("append", values)], axis)


# ---- splitting ----


def array_split(ary, indices_or_sections, axis: int = 0) -> list:
    """`ary` cut into a number of pieces, nearly equal, or at given places."""
    return _split("array_split", ary, indices_or_sections, axis, even=False)


def split(ary, indices_or_sections, axis: int = 0) -> list:
    """`ary` cut into a number of equal pieces, or at given places.

    Raises:
      ArgumentError: the axis is not a multiple of the number of pieces.
    """
    return _split("split", ary, indices_or_sections, axis, even=True)


def _split(name: str, ary, where, axis: int, even: bool) -> list:
    x = as_array(name, ary)
    axis = axis_of(name, axis, x.ndim)
    n = x.shape[axis]
    if np.ndim(where):
        ends = [
            min(max(i + n if i < 0 else i, 0), n) for i in map(operator.index, where)
        ]
        starts, ends = [0, *ends], [*ends, n]
        return [
            slice_in_dim(x, a, max(a, b), 1, axis)
            for a, b in zip(starts, ends, strict=True)
        ]
    count = operator.index(where)
    part, rest = divmod(n, count)
    if rest and even:
        raise ArgumentError(
            "array split does not result in an equal division: "
            f"{name} of axis {axis} of size {n} into {count}",
            fix="use array_split",
        )
    return cut(x, [part + 1] * rest + [part] * (count - rest), axis)


def hsplit(ary, indices_or_sections) -> list:
    """`split` along the second axis, of vectors along their only one."""
    return split(ary, indices_or_sections, 0 if ndim(ary) == 1 else 1)


def vsplit(ary, indices_or_sections) -> list:
    """`split` along the first axis."""
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections) -> list:
    """`split` along the third axis."""
    return split(ary, indices_or_sections, 2)


def unstack(x, /, *, axis: int = 0) -> tuple:
    """The elements along an axis, as separate arrays."""
    x = as_array("unstack", x)
    if not x.ndim:
        raise ArgumentError("unstack requires arrays with rank > 0, got a scalar")
    axis = axis_of("unstack", axis, x.ndim)
    pieces = cut(x, [1] * x.shape[axis], axis) if x.shape[axis] else []
    return tuple(ops.squeeze(p, (axis,)) for p in pieces)


# ---- repeating, reversing ----


def tile(A, reps):
    """`A` repeated along its axes."""
    x = as_array("tile", A)
    counts = shape_of("tile", reps)
    rank = max(len(counts), x.ndim)
    counts = (1,) * (rank - len(counts)) + counts
    sizes = (1,) * (rank - x.ndim) + x.shape
    wide = [n for pair in zip(counts, sizes, strict=True) for n in pair]
    dims = [2 * i + 1 for i in range(rank - x.ndim, rank)]
    out = tuple(c * n for c, n in zip(counts, sizes, strict=True))
    return ops.reshape(ops.broadcast_in_dim(x, wide, dims), out)


def resize(a, new_shape):
    """The elements of `a` in another shape, repeated from the start as needed."""
    x = ravel(a)
    sizes = shape_of("resize", new_shape)
    total = int(np.prod(sizes))
    if not x.size:
        return ops.zeros(x.aval.update(shape=sizes))
    x = tile(x, -(-total // x.size)) if total > x.size else x
    return reshape(slice_in_dim(x, 0, total), sizes)


def flip(m, axis: int | Sequence[int] | None = None):
    """`m` reversed along axes (None: all)."""
    x = as_array("flip", m)
    return rev(x, range(x.ndim) if axis is None else axes_of("flip", axis, x.ndim))


def fliplr(m):
    """`m` reversed along its second axis."""
    return flip(m, 1)


def flipud(m):
    """`m` reversed along its first axis."""
    return flip(m, 0)


def rot90(m, k: int = 1, axes: tuple[int, int] = (0, 1)):
    """`m` turned by `k` right angles, from the first of `axes` towards the second."""
    x = as_array("rot90", m)
    i, j = axes_of("rot90", axes, x.ndim)
    order = list(range(x.ndim))
    order[i], order[j] = j, i
    match k % 4:
        case 0:
            return x
        case 1:
            return ops.transpose(rev(x, (j,)), order)
        case 2:
            return rev(x, (i, j))
    return rev(ops.transpose(x, order), (j,))


def roll(a, shift, axis: int | Sequence[int] | None = None):
    """The elements along axes moved on by `shift`, those that fall off put in front.

    Raises:
      ArgumentError: shifts and axes do not go together.
    """
    x = as_array("roll", a)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = axis if isinstance(axis, Sequence) else (axis,)
    axes = [axis_of("roll", i, x.ndim) for i in axes]
    if hasattr(shift, "aval") and shift.ndim == 0:
        shifts = [shift]
    else:
        shifts = list(shift) if np.ndim(shift) else [shift]
    if len(shifts) == 1:
        shifts *= len(axes)
    if len(axes) == 1:
        axes *= len(shifts)
    if len(shifts) != len(axes):
        raise ShapeError(f"roll by {len(shifts)} shifts along {len(axes)} axes")
    for by, i in zip(shifts, axes, strict=True):
        x = _rolled(x, by, i)
    return x


def _rolled(x, shift, axis: int):
    n = x.shape[axis]
    if not n:
        return x
    if hasattr(shift, "aval"):
        start = _modulo(-shift, n)
        index = [0] * x.ndim
        wide = join([x, x], axis)
        starts = [start if i == axis else np.int32(0) for i, _ in enumerate(index)]
        return window(wide, starts, x.shape)
    at = -int(shift) % n
    if not at:
        return x
    parts = slice_in_dim(x, at, n, 1, axis), slice_in_dim(x, 0, at, 1, axis)
    return join(parts, axis)


def _modulo(value, n: int):
    left = rem(convert(value, np.dtype(np.int32)), np.int32(n))
    return select_n(lt(left, np.int32(0)), left, add(left, np.int32(n)))
