"""The arguments that reductions share: axes, masks, kept axes. No method of its own."""

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from pullback.core.primitive import REGISTRY
from pullback.ops.convert import convert
from pullback.ops.promote import broadcast_to
from pullback.ops.shape import broadcast_in_dim, expand_dims, reduce_sum

Axis = int | Sequence[int] | None


class AxisError(ArgumentError, IndexError):
    """An axis that the array does not have."""


def axes_of(name: str, axis: Axis, ndim: int) -> tuple[int, ...]:
    """The axes that `axis` names, counted from the front; all for None.

    Raises:
      AxisError: an axis is out of bounds.
      ArgumentError: an axis is named twice.
      ArgumentTypeError: an axis is no integer.
    """
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple | list) else (axis,)
    axes = tuple(one_axis(name, a, ndim) for a in given)
    if len(set(axes)) != len(axes):
        raise ArgumentError(f"{name}: duplicate value in 'axis': {tuple(given)}")
    return axes


def one_axis(name: str, axis: Any, ndim: int) -> int:
    """`axis` counted from the front.

    Raises:
      AxisError: it is out of bounds.
      ArgumentTypeError: it is no integer.
    """
    try:
        axis = operator.index(axis)
    except TypeError:
        raise ArgumentTypeError(
            f"{name}: axis={axis!r}", rule="an axis is an integer"
        ) from None
    if not -ndim <= axis < ndim:
        raise AxisError(
            f"{name}: axis {axis} is out of bounds for array of dimension {ndim}",
            rule=f"an axis lies in [{-ndim}, {ndim})",
        )
    return axis % ndim


def no_out(name: str, out: Any) -> None:
    """Refuse NumPy's argument `out`.

    Raises:
      UnsupportedError: it was given.
    """
    if out is not None:
        raise UnsupportedError(
            f"{name}: the 'out' argument is not supported",
            rule="arrays do not change",
            fix="use the returned array",
        )


def masked(x, where, neutral):
    """`x` where `where` is true, the scalar `neutral` elsewhere."""
    if where is None:
        return x
    aval = aval_of(x)
    shape = np.broadcast_shapes(aval.shape, aval_of(where).shape)
    where = convert(broadcast_to(where, shape), dtypes.bool_)
    other = broadcast_in_dim(np.asarray(neutral).astype(aval.dtype), shape, ())
    return REGISTRY["select_n"].bind(where, other, broadcast_to(x, shape))


def kept(out, shape: Sequence[int], axes: Sequence[int], keepdims: bool):
    """The result of a reduction, with axes of size 1 if asked for."""
    if not keepdims or not axes:
        return out
    return expand_dims(out, axes)


def counted(where, shape: Sequence[int], axes: Sequence[int], dtype):
    """How many elements of an array of `shape` count, as numbers of `dtype`.

    A scalar without a mask, `where=None`; else one number for each result.
    """
    if where is None:
        if len(axes) == len(shape):
            return np.asarray(prod(shape), dtype)
        return np.asarray(prod(shape[i] for i in axes), dtype)
    full = np.broadcast_shapes(tuple(shape), aval_of(where).shape)
    mask = convert(broadcast_to(where, full), dtypes.bool_)
    return reduce_sum(convert(mask, dtype), axes)
