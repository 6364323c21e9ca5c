"""Joining and splitting arrays along axes."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.api.arrays.creation import asarray, stacked
from pullback.api.arrays.shape_functions import (
    as_array,
    axis_of,
    ravel,
)
from pullback.core.errors import ArgumentError, ArgumentTypeError
from pullback.numpy.shaping import atleast_1d, atleast_2d, atleast_3d, ndim
from pullback.ops import shape as ops
from pullback.ops.joining import concatenate as join, split as cut
from pullback.ops.promote import promote_dtypes
from pullback.ops.slicing import slice_in_dim


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
    """An array of nested lists of blocks, the innermost along the last axis."""
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
