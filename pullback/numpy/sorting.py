"""Sorting by several keys, searching in sorted arrays, unique values, histograms.

Functions whose result has as many elements as the values say need concrete arrays, or
the argument `size`.
"""

import numpy as np

from pullback.api.arrays.axes import one_axis
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ShapeError
from pullback.ops.elementwise import add, div, sub
from pullback.ops.iota import broadcasted_iota
from pullback.ops.logic import bitwise_and, bitwise_or, eq, ge, gt, le, lt, ne, select_n
from pullback.ops.promote import as_operand, promote_dtypes
from pullback.ops.shape import broadcast_in_dim, full, reshape
from pullback.ops.slicing import index_in_dim, rev
from pullback.ops.sort import sort, take_along


def lexsort(keys, axis: int = -1):
    """Positions that sort by several keys, the last one first.

    Args:
      keys: arrays of one shape, or the rows of an array.
      axis: the axis to sort along.

    Raises:
      ArgumentError: no keys; a bad axis.
    """
    if not isinstance(keys, tuple | list):
        rows = as_operand("lexsort", keys)
        keys = [index_in_dim(rows, i, 0, False) for i in range(aval_of(rows).shape[0])]
    if not keys:
        raise ArgumentError("lexsort of no keys", rule="there is at least one key")
    keys = [as_operand("lexsort", k) for k in keys]
    shape = aval_of(keys[0]).shape
    if not shape:
        return full(aval_of(np.int32(0)).update(dtype=dtypes.default_int()), 0)
    axis = one_axis("lexsort", axis, len(shape))
    places = broadcasted_iota(dtypes.default_int(), shape, axis)
    return sort((*reversed(keys), places), axis, num_keys=len(keys))[-1]


# ---- searching in sorted arrays ----


def searchsorted(a, v, side: str = "left", sorter=None, *, method: str = "scan"):
    """Where to insert `v` into sorted `a` so that it stays sorted.

    Args:
      a: `[n]`, in order; NaN counts as largest.
      v: `[*s]`
      side: "left": before equal elements; "right": after them.
      sorter: positions that put `a` in order.
      method: accepted as in JAX; the search is always by halving.

    Returns:
      `int32[*s]`, in [0, n].

    Raises:
      ArgumentError: another `side` or `method`.
      ShapeError: `a` is not a vector.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.searchsorted(pnp.array([1, 3, 5]), 3).item()
      1
    """
    if side not in ("left", "right"):
        raise ArgumentError(f"searchsorted with side={side!r}", rule="left or right")
    if method not in ("scan", "scan_unrolled", "sort", "compare_all"):
        raise ArgumentError(
            f"searchsorted with method={method!r}",
            rule="one of scan, scan_unrolled, sort, compare_all",
        )
    a, v = promote_dtypes(as_operand("searchsorted", a), as_operand("searchsorted", v))
    aval, shape = aval_of(a), aval_of(v).shape
    if aval.ndim != 1:
        raise ShapeError(f"searchsorted in {aval.short()}", rule="it has one axis")
    if sorter is not None:
        a = take_along(a, sorter, 0)
    v = reshape(v, (aval_of(v).size,))
    return reshape(_search(a, v, right=side == "right"), shape)


def _search(a, v, *, right: bool):
    """Halving, a fixed number of times: one more than the bits of the size."""
    n = aval_of(a).shape[0]
    dtype = dtypes.default_int()
    places = aval_of(v).update(dtype=dtype, weak_type=False)
    low, high = full(places, 0), full(places, n)
    one = np.asarray(1, dtype)
    two = np.asarray(2, dtype)
    for _ in range(n.bit_length()):
        middle = div(add(low, high), two)
        inside = lt(middle, full(places, n))
        at = take_along(a, select_n(inside, low, middle), 0)
        after = _not_after(at, v) if right else _before(at, v)
        after = bitwise_and(after, lt(low, high))
        low, high = (
            select_n(after, low, add(middle, one)),
            select_n(bitwise_or(after, ge(low, high)), middle, high),
        )
    return low


def _before(x, y):
    """`x < y` with NaN as largest."""
    if not dtypes.is_inexact(aval_of(x).dtype):
        return lt(x, y)
    return bitwise_or(lt(x, y), bitwise_and(eq(x, x), ne(y, y)))


def _not_after(x, y):
    """`x <= y` with NaN as largest."""
    if not dtypes.is_inexact(aval_of(x).dtype):
        return le(x, y)
    return bitwise_or(le(x, y), ne(y, y))


def digitize(x, bins, right: bool = False, *, method: str | None = None):
    """The bin of each element: how many edges are not above it.

    Args:
      x: `[*s]`
      bins: `[n]` edges, increasing or decreasing.
      right: whether an element that equals an edge is below it.
      method: as for `searchsorted`.

    Returns:
      `int32[*s]`, in [0, n].
    """
    method = method or "scan"
    x, bins = as_operand("digitize", x), as_operand("digitize", bins)
    aval = aval_of(bins)
    if aval.ndim != 1:
        raise ArgumentError(f"digitize with bins {aval.short()}", rule="a vector")
    side = "left" if right else "right"
    up = searchsorted(bins, x, side, method=method)
    n = aval.size
    if n < 2:
        return up
    down = searchsorted(rev(bins, (0,)), x, side, method=method)
    down = sub(full(aval_of(down), n), down)
    first = index_in_dim(bins, 0, 0, False)
    last = index_in_dim(bins, -1, 0, False)
    falls = gt(first, last)
    return select_n(broadcast_in_dim(falls, aval_of(up).shape, ()), up, down)
