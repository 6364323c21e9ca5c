"""Iota: arrays that count along an axis, made from nothing."""

from collections.abc import Sequence

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray
from pullback.core.derivative import NotDifferentiable
from pullback.core.errors import ShapeError
from pullback.core.primitive import Primitive
from pullback.ops.shape import canonical_axis


def iota(dtype, size: int):
    """`[0, 1, ..., size - 1]` of the given dtype."""
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(dtype, shape: Sequence[int], dimension: int):
    """An array of `shape` whose elements count along axis `dimension`.

    Source: StableHLO `iota`.
    """
    dtype = dtypes.named(dtype)
    shape = tuple(map(int, shape))
    return iota_p.bind(
        dtype=dtype, shape=shape, dimension=canonical_axis(dimension, len(shape))
    )


def _iota_reference(*, dtype, shape, dimension):
    sizes = [1] * len(shape)
    sizes[dimension] = shape[dimension]
    line = np.arange(shape[dimension]).astype(dtype)
    return np.broadcast_to(line.reshape(sizes), shape)


def _iota_batch(n, xs, ds, **params):
    raise ShapeError("iota has no operand that could be mapped")


iota_p = Primitive(
    "iota",
    abstract=lambda *, dtype, shape, dimension: ShapedArray(shape, dtype),
    reference=_iota_reference,
    lower=lambda b, out, *, dtype, shape, dimension: b.iota(out, dimension),
    derivative=NotDifferentiable("it has no operand"),
    batch=_iota_batch,
)
