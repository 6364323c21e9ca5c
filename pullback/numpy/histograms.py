"""Counts of elements by value or by bin."""

import operator
from typing import Any

import numpy as np

from pullback.api.arrays.axes import axes_of
from pullback.api.arrays.creation import asarray
from pullback.api.arrays.known import known_value
from pullback.api.arrays.reductions import sum
from pullback.api.arrays.ufuncs import divide, subtract
from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import DtypeError, ShapeError
from pullback.numpy.creation import linspace
from pullback.numpy.dtypes import isscalar
from pullback.numpy.sorting import searchsorted
from pullback.ops.convert import convert
from pullback.ops.dimensions import ScatterDimensionNumbers
from pullback.ops.index import scatter_add
from pullback.ops.logic import eq, max, select_n
from pullback.ops.promote import as_operand, promote_inexact
from pullback.ops.reduce import reduce_max, reduce_min
from pullback.ops.shape import broadcast_in_dim, expand_dims, full, reshape
from pullback.ops.slicing import index_in_dim, slice_in_dim

ONE_AXIS = ScatterDimensionNumbers(
    update_window_dims=(),
    inserted_window_dims=(0,),
    scatter_dims_to_operand_dims=(0,),
)


def _added(places, weights, length: int):
    """`[length]`: the sums of the weights at each place."""
    dtype = aval_of(weights).dtype
    start = full(ShapedArray((length,), dtype), 0)
    return scatter_add(start, expand_dims(places, (1,)), weights, ONE_AXIS, mode="drop")


def bincount(x, weights=None, minlength: int = 0, *, length: int | None = None):
    """How often each integer is there, or the sum of its weights.

    Args:
      x: `int[n]`, not negative; negative ones count as 0.
      weights: `[n]`
      minlength: the least number of results.
      length: the number of results; larger integers do not count. Without it, `x` is
        concrete.

    Returns:
      `[length]`, from 0 up.

    Raises:
      DtypeError, ShapeError: `x` is not a vector of integers.
      ConcretizationTypeError: `x` is traced and there is no `length`.
    """
    x = as_operand("bincount", x)
    aval = aval_of(x)
    if dtypes.is_inexact(aval.dtype):
        raise DtypeError(f"bincount of {aval.short()}", rule="it counts integers")
    if aval.ndim != 1:
        raise ShapeError(f"bincount of {aval.short()}", rule="it is a vector")
    if length is None:
        data = known_value("bincount", x, "give length=, the number of results")
        length = int(data.max(initial=-1)) + 1
        length = length if length > minlength else operator.index(minlength)
    x = convert(x, dtypes.default_int())
    x = max(x, full(aval_of(x), 0))
    if weights is None:
        weights = full(aval_of(x), 1)
    weights = as_operand("bincount", weights)
    if aval_of(weights).shape != aval.shape:
        raise ShapeError(
            f"bincount of {aval.short()} with weights {aval_of(weights).short()}",
            rule="there is one weight for each element",
        )
    return _added(x, weights, length)


def histogram_bin_edges(a, bins: Any = 10, range=None, weights=None):
    """Edges of bins of equal width from the least to the largest element.

    Args:
      a: real numbers.
      bins: how many; or the edges themselves.
      range: (lowest, highest edge).

    Returns:
      `[bins + 1]`
    """
    del weights
    if not isscalar(bins):
        return asarray(bins)
    (x,) = promote_inexact(as_operand("histogram_bin_edges", a))
    aval = aval_of(x)
    axes = axes_of("histogram_bin_edges", None, aval.ndim)
    if range is not None:
        low, high = range
        if low == high:
            low, high = low - 0.5, high + 0.5
        return linspace(low, high, int(bins) + 1, dtype=aval.dtype)
    if not aval.size:
        return linspace(0, 1, int(bins) + 1, dtype=aval.dtype)
    low, high = reduce_min(x, axes), reduce_max(x, axes)
    half = np.asarray(0.5, aval.dtype)
    flat = eq(low, high)
    low, high = (
        select_n(flat, low, subtract(low, half)),
        select_n(flat, high, high + half),
    )
    return linspace(low, high, int(bins) + 1, dtype=aval.dtype)


def histogram(a, bins: Any = 10, range=None, weights=None, density: bool = False):
    """How many elements fall into each bin.

    Args:
      a: real numbers.
      bins: how many bins of equal width; or their edges, increasing.
      range: (lowest, highest edge); elements outside do not count.
      weights: of the shape of `a`.
      density: divide by the bin widths and by the sum of all.

    Returns:
      (`[bins]` counts, `[bins + 1]` edges). A bin contains its left edge, the last one
      also its right.
    """
    x = as_operand("histogram", a)
    edges = histogram_bin_edges(x, bins, range)
    x, edges = promote_inexact(x, edges)
    size, last = aval_of(x).size, aval_of(edges).size
    x = reshape(x, (size,))
    if weights is None:
        weights = full(aval_of(x).strong(), 1)
    else:
        weights = reshape(as_operand("histogram", weights), (size,))
    places = searchsorted(edges, x, side="right")
    end = broadcast_in_dim(index_in_dim(edges, -1, 0, False), (size,), ())
    places = select_n(eq(x, end), places, full(aval_of(places), last - 1))
    counts = slice_in_dim(_added(places, weights, last), 1, last)
    if density:
        widths = subtract(
            slice_in_dim(edges, 1, last), slice_in_dim(edges, 0, last - 1)
        )
        counts = divide(divide(counts, widths), sum(counts))
    return counts, edges
