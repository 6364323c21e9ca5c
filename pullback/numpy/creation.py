"""Arrays of numbers by rule: ranges, grids, triangles, diagonals."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.api.arrays import ufuncs
from pullback.api.arrays.creation import (
    arange,
    asarray,
    shape_of,
    spread,
    stacked,
    zeros,
)
from pullback.api.arrays.shape_functions import as_array, axis_of, ravel
from pullback.api.arrays.taking import diagonal
from pullback.compile.eager import concrete
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, UnsupportedError
from pullback.ops import shape as ops
from pullback.ops.convert import convert
from pullback.ops.elementwise import floor
from pullback.ops.joining import concatenate
from pullback.ops.logic import select_n
from pullback.ops.promote import broadcast_shapes, promote_inexact
from pullback.ops.slicing import pad
from pullback.ops.transcendental import log


def _float_type(name: str, dtype, *xs):
    kind = aval_of(promote_inexact(*xs)[0]).dtype
    return kind if dtype is None else dtypes.named(dtype, name), kind


def linspace(
    start,
    stop,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype=None,
    axis: int = 0,
    *,
    device=None,
) -> Any:
    """`num` evenly spaced numbers from `start` to `stop`.

    Args:
      start, stop: numbers, or arrays that broadcast.
      endpoint: whether `stop` is the last of them.
      retstep: whether to return the step as well.
      axis: where the new axis stands.

    Raises:
      ArgumentError: `num` is negative.
    """
    num = operator.index(num)
    if num < 0:
        raise ArgumentError(
            f"linspace: Number of samples, {num}, must be non-negative."
        )
    start, stop = asarray(start), asarray(stop)
    kind, work = _float_type("linspace", dtype, start, stop)
    joint = broadcast_shapes("linspace", [start.shape, stop.shape])
    first = spread(convert(start, work), joint)
    last = spread(convert(stop, work), joint)
    parts = num - 1 if endpoint else num
    out = _spaced(first, last, num, parts, endpoint, work)
    out = ops.moveaxis(out, 0, axis_of("linspace", axis, out.ndim))
    if dtypes.is_integer(kind):
        out = floor(out)
    out = convert(out, kind)
    if not retstep:
        return out
    step = (last - first) / parts if parts else first * float("nan")
    return out, step


def _spaced(first, last, num: int, parts: int, endpoint: bool, work):
    shape = (num, *first.shape)
    if num < 2 and (endpoint or not num):
        return ops.broadcast_in_dim(first, shape, range(1, len(shape)))
    weight = concrete((np.arange(num) / max(parts, 1)).astype(dtypes.to_real(work)))
    weight = ops.broadcast_in_dim(convert(weight, work), shape, (0,))
    low = ops.broadcast_in_dim(first, shape, range(1, len(shape)))
    high = ops.broadcast_in_dim(last, shape, range(1, len(shape)))
    out = low * (1 - weight) + high * weight
    if not endpoint:
        return out
    end = ops.expand_dims(last, (0,))
    return concatenate([out[:-1], end], 0)


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis: int = 0):
    """`base` to the power of evenly spaced numbers from `start` to `stop`."""
    powers = linspace(start, stop, num, endpoint, axis=axis)
    out = ufuncs.power(asarray(base, powers.dtype), powers)
    return out if dtype is None else asarray(out, dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis: int = 0):
    """Numbers in geometric progression from `start` to `stop`."""
    start, stop = asarray(start), asarray(stop)
    kind, work = _float_type("geomspace", dtype, start, stop)
    first, last = convert(start, work), convert(stop, work)
    both_negative = convert((first < 0) & (last < 0), work)
    sign = 1 - 2 * both_negative
    powers = linspace(
        _log10(first * sign), _log10(last * sign), num, endpoint, axis=axis
    )
    return asarray(sign * ufuncs.power(asarray(10.0, work), powers), kind)


def _log10(x):
    return log(x) / float(np.log(10.0))


# ---- triangles and diagonals ----


def eye(N: int, M: int | None = None, k: int = 0, dtype=None, *, device=None):
    """Ones on diagonal `k` of an `N` by `M` matrix, zeros elsewhere."""
    rows = operator.index(N)
    columns = rows if M is None else operator.index(M)
    kind = dtypes.named(dtype, "eye")
    if rows < 0 or columns < 0:
        raise ArgumentError(f"eye: negative dimensions {N}, {M}")
    return concrete(np.eye(rows, columns, operator.index(k)).astype(kind))


def identity(n: int, dtype=None):
    """The `n` by `n` identity matrix."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype=None):
    """Ones at and below diagonal `k` of an `N` by `M` matrix, zeros elsewhere."""
    kind = dtypes.named(np.float32 if dtype is None else dtype, "tri")
    return concrete(np.tri(N, M, k).astype(kind))


def tril(m, k: int = 0):
    """`m` with zeros above diagonal `k` of its last two axes.

    Raises:
      ArgumentError: there are fewer than two axes.
    """
    return _triangle("tril", m, lambda rows, columns: np.tri(rows, columns, k, bool))


def triu(m, k: int = 0):
    """`m` with zeros below diagonal `k` of its last two axes.

    Raises:
      ArgumentError: there are fewer than two axes.
    """
    return _triangle(
        "triu", m, lambda rows, columns: ~np.tri(rows, columns, k - 1, bool)
    )


def _triangle(name: str, m, mask_of: Callable):
    x = as_array(name, m)
    if x.ndim < 2:
        raise ArgumentError(f"Argument to jax.numpy.{name} must be at least 2D")
    mask = mask_of(*x.shape[-2:])
    if x.ndim > 2:
        mask = ops.broadcast_in_dim(mask, x.shape, (x.ndim - 2, x.ndim - 1))
    return select_n(mask, ops.zeros(x.aval), x)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple:
    """Row and column positions at and below diagonal `k` of an `n` by `m` matrix."""
    return tuple(map(concrete, np.tril_indices(n, k, m)))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple:
    """Row and column positions at and above diagonal `k` of an `n` by `m` matrix."""
    return tuple(map(concrete, np.triu_indices(n, k, m)))


def tril_indices_from(arr, k: int = 0) -> tuple:
    """`tril_indices` for the shape of a matrix."""
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr, k: int = 0) -> tuple:
    """`triu_indices` for the shape of a matrix."""
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


def diag(v, k: int = 0):
    """A matrix with `v` on diagonal `k`, or diagonal `k` of a matrix.

    Raises:
      ArgumentError: `v` has neither one axis nor two.
    """
    x = as_array("diag", v)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ArgumentError("diag input must be 1d or 2d")
    x = pad(x, 0, [(max(k, 0), max(-k, 0), 0)])
    mask = np.eye(x.size, k=k, dtype=bool)
    wide = ops.broadcast_in_dim(x, (x.size, x.size), (1,))
    return select_n(mask, ops.zeros(wide.aval), wide)


def diagflat(v, k: int = 0):
    """A matrix with the flattened `v` on diagonal `k`."""
    return diag(ravel(v), k)


def diag_indices(n: int, ndim: int = 2) -> tuple:
    """The positions on the main diagonal of an array of `ndim` axes of size `n`."""
    return (arange(n),) * ndim


def diag_indices_from(arr) -> tuple:
    """`diag_indices` for the shape of an array with equal axes."""
    return diag_indices(arr.shape[0], arr.ndim)


def vander(x, N: int | None = None, increasing: bool = False):
    """The matrix whose columns are powers of `x`."""
    x = as_array("vander", x)
    n = x.size if N is None else operator.index(N)
    powers = np.arange(n) if increasing else np.arange(n)[::-1]
    return ufuncs.power(x[:, None], concrete(powers.astype(np.int32))[None, :])


# ---- grids ----


def meshgrid(*xi, copy: bool = True, sparse: bool = False, indexing: str = "xy"):
    """Coordinate arrays of the grid spanned by vectors.

    `indexing`: `"ij"` for axes in the order of the vectors, `"xy"` for the first two
    swapped. `sparse`: size 1 along the other axes instead of repetition.
    """
    if indexing not in ("xy", "ij"):
        raise ArgumentError(
            f"meshgrid: indexing {indexing!r}", rule="it is 'xy' or 'ij'"
        )
    xs = [ravel(as_array("meshgrid", x)) for x in xi]
    order = list(range(len(xs)))
    if indexing == "xy" and len(xs) > 1:
        order[0], order[1] = 1, 0
    shape = [1] * len(xs)
    for x, i in zip(xs, order, strict=True):
        shape[i] = x.size
    outs = []
    for x, i in zip(xs, order, strict=True):
        sizes = [x.size if j == i else 1 for j in range(len(xs))]
        wide = ops.broadcast_in_dim(x, sizes if sparse else shape, (i,))
        outs.append(wide)
    return outs


def indices(dimensions: Sequence[int], dtype=None, sparse: bool = False):
    """The positions of a grid: one array for each axis, stacked unless `sparse`."""
    kind = dtypes.default_int() if dtype is None else dtypes.named(dtype, "indices")
    shape = shape_of("indices", dimensions)
    outs = []
    for i, n in enumerate(shape):
        sizes = [n if j == i else 1 for j in range(len(shape))]
        line = arange(n, dtype=kind)
        outs.append(ops.broadcast_in_dim(line, sizes if sparse else shape, (i,)))
    if sparse:
        return tuple(outs)
    return stacked(outs) if outs else zeros((0,), kind)


def ix_(*args) -> tuple:
    """Vectors shaped so that together they index an outer product.

    Raises:
      UnsupportedError: a vector is Boolean.
    """
    outs = []
    for i, a in enumerate(args):
        x = asarray(a)
        if dtypes.is_bool(x.dtype):
            raise UnsupportedError(
                "Boolean arguments to ix_ are not implemented",
                fix="pass the positions: nonzero(mask)[0]",
            )
        if x.ndim != 1:
            raise ArgumentError("Cross index must be 1 dimensional")
        sizes = [x.size if j == i else 1 for j in range(len(args))]
        outs.append(ops.reshape(x, sizes))
    return tuple(outs)


def fromfunction(function: Callable, shape, *, dtype=float, **kwargs):
    """What `function` gives of the positions of a grid of the given shape."""
    grid = indices(shape, dtypes.named(dtype))
    return function(*grid, **kwargs)


def frombuffer(buffer, dtype=float, count: int = -1, offset: int = 0):
    """A vector of the elements that the bytes of `buffer` stand for."""
    wide = dtypes.parse(dtype)
    return asarray(np.frombuffer(buffer, wide, count, offset))


def fromiter(iterable, dtype, count: int = -1):
    """A vector of the elements of an iterable."""
    return asarray(np.fromiter(iterable, dtypes.named(dtype), count))
