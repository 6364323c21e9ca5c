"""Functions of shape that are not methods of arrays: axes, tiles, flips, rolls."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.api.arrays.creation import shape_of, spread
from pullback.api.arrays.shape_functions import (
    as_array,
    axes_of,
    axis_of,
    ravel,
    reshape,
)
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ShapeError
from pullback.ops import shape as ops
from pullback.ops.convert import convert
from pullback.ops.dynamic import window
from pullback.ops.elementwise import add, rem
from pullback.ops.joining import concatenate as join
from pullback.ops.logic import lt, select_n
from pullback.ops.promote import broadcast_shapes as joint_shape
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


def atleast_1d(*arys) -> Any:
    """Scalars become arrays of one element."""
    return _each(arys, lambda x: x if x.ndim else ops.reshape(x, (1,)))


def atleast_2d(*arys) -> Any:
    """Axes of size 1 are put in front until there are two."""
    return _each(arys, lambda x: ops.expand_dims(x, range(max(0, 2 - x.ndim))))


def atleast_3d(*arys) -> Any:
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
