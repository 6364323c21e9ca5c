"""Unique values and counts of values.

How many there are depends on the values, so it needs a concrete array or `size`.
"""

from typing import Any, NamedTuple

import numpy as np

from pullback.api.arrays.axes import one_axis
from pullback.api.arrays.creation import asarray
from pullback.api.arrays.known import known_value
from pullback.api.arrays.sorting import cumsum
from pullback.api.arrays.taking import take
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import UnsupportedError
from pullback.numpy.sorting import searchsorted
from pullback.ops.convert import convert
from pullback.ops.elementwise import sub
from pullback.ops.iota import broadcasted_iota
from pullback.ops.joining import concatenate
from pullback.ops.logic import bitwise_and, lt, min, ne, select_n
from pullback.ops.promote import as_operand
from pullback.ops.shape import broadcast_in_dim, full, reshape
from pullback.ops.slicing import index_in_dim, slice_in_dim
from pullback.ops.sort import sort, take_along


class UniqueAll(NamedTuple):
    """Unique values, where each is first, which one each element is, how often."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """Unique values, and how often each is there."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """Unique values, and which one each element is."""

    values: Any
    inverse_indices: Any


def unique(
    ar,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
):
    """The different values of an array, in order.

    Args:
      ar: any type.
      return_index: also return where each value is first.
      return_inverse: also return, in the shape of `ar`, which value each element is.
      return_counts: also return how often each value is there.
      axis: compare slices along this axis; None: elements.
      equal_nan: whether NaNs are one value.
      size: how many values to return, known before the values are: the rest is cut
        off, or filled up. Needed under `jit` and other transformations.
      fill_value: what fills up (None: the first value).
      sorted: accepted as in NumPy; the values are always in order.

    Raises:
      ConcretizationTypeError: the array is traced and there is no `size`.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.unique(pnp.array([3, 1, 3])).tolist()
      [1, 3]
    """
    del sorted
    x = as_operand("unique", ar)
    if size is None:
        parts = _of_values(x, axis, equal_nan)
    elif axis is not None and aval_of(x).ndim > 1:
        raise UnsupportedError(
            "unique with axis and size", fix="leave one of them out, or flatten"
        )
    else:
        parts = _of_size(x, int(size), fill_value, equal_nan)
    flags = (return_index, return_inverse, return_counts)
    others = tuple(v for v, on in zip(parts[1:], flags, strict=True) if on)
    return (parts[0], *others) if others else parts[0]


def _of_values(x, axis, equal_nan: bool):
    data = known_value("unique", x, "give size=, the number of values to return")
    shape = data.shape
    if axis is not None:
        axis = one_axis("unique", axis, data.ndim)
    plain = data.astype(np.float32) if data.dtype.kind == "V" else data
    _, first, inverse, counts = np.unique(
        plain, True, True, True, axis=axis, equal_nan=equal_nan
    )
    positions = [asarray(v.astype(np.int32)) for v in (first, inverse, counts)]
    if axis is None:
        x, axis = reshape(x, (data.size,)), 0
        positions[1] = reshape(positions[1], shape)
    else:
        positions[1] = reshape(positions[1], (shape[axis],))
    return take(x, positions[0], axis=axis), *positions


def _of_size(x, size: int, fill_value, equal_nan: bool):
    """Equal elements stand side by side once sorted; runs of them are counted."""
    aval = aval_of(x)
    n, dtype = aval.size, dtypes.default_int()
    x, order = sort((reshape(x, (n,)), broadcasted_iota(dtype, (n,), 0)), 0)
    runs = cumsum(convert(_starts(x, n, equal_nan), dtype))
    wanted = broadcasted_iota(dtype, (size + 1,), 0)
    bounds = searchsorted(runs, wanted, side="right")
    start, end = slice_in_dim(bounds, 0, size), slice_in_dim(bounds, 1, size + 1)
    inside = lt(start, full(aval_of(start), n))
    at = min(start, full(aval_of(start), n - 1))
    values, first = take_along(x, at, 0), take_along(order, at, 0)
    if fill_value is None:
        filler = index_in_dim(x, 0, 0, False)
    else:
        filler = convert(fill_value, aval.dtype)
    values = select_n(inside, broadcast_in_dim(filler, (size,), ()), values)
    first = select_n(
        inside,
        broadcast_in_dim(index_in_dim(order, 0, 0, False), (size,), ()),
        first,
    )
    one = np.asarray(1, dtype)
    _, inverse = sort((order, sub(runs, one)), 0)
    return values, first, reshape(inverse, aval.shape), sub(end, start)


def _starts(x, n: int, equal_nan: bool):
    """Whether each element of a sorted vector differs from the one before."""
    before, after = slice_in_dim(x, 0, n - 1), slice_in_dim(x, 1, n)
    differs = ne(before, after)
    if equal_nan and dtypes.is_inexact(aval_of(x).dtype):
        numbers = ne(after, after)
        both = bitwise_and(ne(before, before), numbers)
        differs = select_n(both, differs, full(aval_of(differs), False))
    return concatenate([np.ones((1,), bool), differs], 0)


def unique_all(x, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """Unique values with all that `unique` returns; NaNs are all different."""
    options = {"size": size, "fill_value": fill_value, "equal_nan": False}
    return UniqueAll(*unique(x, True, True, True, **options))


def unique_counts(
    x, /, *, size: int | None = None, fill_value: Any = None
) -> UniqueCounts:
    """Unique values and how often each is there; NaNs are all different."""
    options = {"size": size, "fill_value": fill_value, "equal_nan": False}
    return UniqueCounts(*unique(x, False, False, True, **options))


def unique_inverse(
    x, /, *, size: int | None = None, fill_value: Any = None
) -> UniqueInverse:
    """Unique values and which one each element is; NaNs are all different."""
    options = {"size": size, "fill_value": fill_value, "equal_nan": False}
    return UniqueInverse(*unique(x, False, True, False, **options))


def unique_values(x, /, *, size: int | None = None, fill_value: Any = None):
    """Unique values; NaNs are all different."""
    return unique(x, size=size, fill_value=fill_value, equal_nan=False)
