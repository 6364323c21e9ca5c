"""Shapes as functions of the user: broadcast, collapse, tile."""

from collections.abc import Sequence
from math import prod

import numpy as np

from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ShapeError
from pullback.ops.shape import broadcast_in_dim, expand_dims, reshape


def broadcast(operand, sizes: Sequence[int]):
    """`operand` repeated along new leading axes of the given sizes.

    Example:
      >>> from pullback import lax
      >>> lax.broadcast(1.0, (2, 3)).shape
      (2, 3)
    """
    shape = aval_of(operand).shape
    new = tuple(map(int, sizes))
    kept = range(len(new), len(new) + len(shape))
    return broadcast_in_dim(operand, (*new, *shape), kept)


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that arrays of the given shapes broadcast to.

    Raises:
      ShapeError: they do not.
    """
    try:
        return np.broadcast_shapes(*map(tuple, shapes))
    except ValueError:
        raise ShapeError(
            f"broadcast_shapes of {', '.join(map(str, shapes))}",
            rule="aligned at their ends, sizes are equal or 1",
        ) from None


def broadcast_to_rank(x, rank: int):
    """`x` with axes of size 1 put in front, up to the given number of axes.

    Raises:
      ArgumentError: it has more.
    """
    ndim = aval_of(x).ndim
    if ndim > rank:
        raise ArgumentError(f"broadcast_to_rank of {ndim} axes to {rank}")
    return expand_dims(x, range(rank - ndim)) if ndim < rank else x


def collapse(operand, start_dimension: int, stop_dimension: int | None = None):
    """`operand` with the axes from start to stop (excluded) merged into one.

    Example:
      >>> from pullback import lax, numpy as pnp
      >>> lax.collapse(pnp.ones((2, 3, 4)), 0, 2).shape
      (6, 4)
    """
    shape = aval_of(operand).shape
    start, stop, _ = slice(start_dimension, stop_dimension).indices(len(shape))
    if stop <= start:
        raise ArgumentError(
            f"collapse of axes {start_dimension} to {stop_dimension} of shape {shape}",
            rule="there is at least one axis to merge",
        )
    return reshape(operand, (*shape[:start], prod(shape[start:stop]), *shape[stop:]))


def tile(x, reps: Sequence[int]):
    """`x` repeated along each of its axes; `reps` has one number an axis.

    Raises:
      ArgumentError: the numbers of axes differ.
    """
    shape = aval_of(x).shape
    if len(reps) != len(shape):
        raise ArgumentError(
            f"tile of shape {shape} by {tuple(reps)}", rule="one number an axis"
        )
    pairs = [k for pair in zip(reps, shape, strict=True) for k in pair]
    wide = broadcast_in_dim(x, pairs, range(1, 2 * len(shape), 2))
    return reshape(wide, [r * n for r, n in zip(reps, shape, strict=True)])
