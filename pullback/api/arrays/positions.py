"""Positions of the elements that are not zero, as a function and as a method."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.api.arrays.at import Indexable
from pullback.api.arrays.creation import asarray
from pullback.api.arrays.known import known_value
from pullback.api.arrays.shape_functions import as_array
from pullback.compile.eager import concrete
from pullback.core import dtype as dtypes
from pullback.core.trace import Tracer
from pullback.ops import shape as ops
from pullback.ops.convert import convert
from pullback.ops.elementwise import add, div, rem, sub
from pullback.ops.joining import concatenate
from pullback.ops.logic import lt, min as minimum, ne, select_n
from pullback.ops.promote import to_dtype
from pullback.ops.slicing import slice_in_dim

INT32 = np.dtype(np.int32)


def nonzero(a, *, size: int | None = None, fill_value: Any = None) -> tuple:
    """For each axis, the positions of the elements of `a` that are not zero.

    Args:
      size: how many positions to give, so that the shape is static: the rest is cut
        off, and what lacks is filled.
      fill_value: the positions that fill (None: 0), a number or one for each axis.

    Raises:
      ConcretizationTypeError: `a` is traced and no size is given.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.nonzero(pnp.array([0, 3, 4]))[0].tolist()
      [1, 2]
    """
    x = as_array("nonzero", a)
    x = x if x.ndim else ops.reshape(x, (1,))
    fills = _fills(fill_value, x.ndim)
    if size is not None and isinstance(x, Tracer):
        return _traced_nonzero(x, operator.index(size), fills)
    data = known_value(
        "nonzero", x, "give size=, the number of positions, or use where(c, x, y)"
    )
    return tuple(map(concrete, _known_nonzero(data, size, fills)))


def _fills(fill_value: Any, ndim: int) -> list:
    given = 0 if fill_value is None else fill_value
    return list(given) if isinstance(given, Sequence) else [given] * ndim


def _known_nonzero(x: np.ndarray, size: int | None, fills: list) -> list[np.ndarray]:
    found = [i.astype(dtypes.default_int()) for i in np.nonzero(x)]
    if size is None:
        return found
    outs = []
    for line, fill in zip(found, fills, strict=True):
        out = np.full((size,), np.asarray(fill), line.dtype)
        out[: min(size, line.size)] = line[:size]
        outs.append(out)
    return outs


def _traced_nonzero(x, size: int, fills: list) -> tuple:
    flags = ops.reshape(x if dtypes.is_bool(x.dtype) else ne(x, _zero(x)), (x.size,))
    counts = convert(flags, INT32)
    rank = sub(_running_count(counts), np.int32(1))
    beyond = ops.broadcast_in_dim(np.int32(size), (x.size,), ())
    places = minimum(select_n(flags, beyond, rank), beyond)
    flat = np.arange(x.size, dtype=np.int32)
    none = ops.broadcast_in_dim(np.int32(-1), (size + 1,), ())
    flat = Indexable(asarray(none))[places].set(flat)
    flat = slice_in_dim(flat, 0, size)
    outs, stride = [], x.size
    for n, fill in zip(x.shape, fills, strict=True):
        stride = stride // n if n else 0
        value = rem(div(flat, np.int32(max(stride, 1))), np.int32(max(n, 1)))
        filler = to_dtype(asarray(fill), INT32)
        filler = ops.broadcast_in_dim(filler, (size,), ())
        outs.append(select_n(lt(flat, np.int32(0)), value, filler))
    return tuple(outs)


def _zero(x):
    return np.zeros((), x.dtype)


def _running_count(counts):
    """Running sums by doubling: log n additions."""
    n, step = counts.shape[0], 1
    while step < n:
        head = slice_in_dim(counts, 0, step)
        tail = add(slice_in_dim(counts, step, n), slice_in_dim(counts, 0, n - step))
        counts = concatenate([head, tail], 0)
        step *= 2
    return counts


METHODS = {"nonzero": nonzero}
