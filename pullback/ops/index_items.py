"""The items of an index: what each is, how many axes it takes, and what is refused.

Knows NumPy's rules of indexing, nothing of operations.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    IndexingError,
    NonConcreteBooleanIndexError,
)
from pullback.core.trace import Tracer
from pullback.core.value import Array


class Integers(NamedTuple):
    """A static array of positions, `int64[*s]` with at least one axis."""

    value: np.ndarray


class Mask(NamedTuple):
    """A static mask, `bool[*s]`; of no axes for a scalar bool."""

    value: np.ndarray


class Traced(NamedTuple):
    """Positions that are computed, an integer scalar or array."""

    value: Any

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.value.ndim


class Window(NamedTuple):
    """`ds(start, size, stride)`: a window whose start may be traced."""

    start: Any
    size: int
    stride: int


class DynamicSlice(NamedTuple):
    """The index item that `ds` makes."""

    start: Any
    size: Any
    stride: int = 1


def out_of_bounds(value: Any, axis: int, n: int, item: int | None) -> IndexingError:
    """The error for a position outside its axis."""
    where = "" if item is None else f" (item {item + 1} of the index)"
    return IndexingError(
        f"index {value} is out of bounds for axis {axis} with size {n}{where}",
        rule="an axis of size 0 has no element"
        if n == 0
        else f"a position of this axis lies in [{-n}, {n})",
    )


def parse(index: Any, shape: tuple[int, ...], reads: bool):
    """The items of `index`, `...` among them, and how many axes each one takes.

    Raises:
      IndexingError: too many items or ellipses, or a mask of another shape.
      ArgumentTypeError: an item of a type that does not index.
    """
    raw = index if type(index) is tuple else _single(index)
    items = [_item(x, i, len(raw), reads) for i, x in enumerate(raw)]
    dots = sum(item is Ellipsis for item in items)
    if dots > 1:
        raise IndexingError(
            "an index with more than one ellipsis", rule="`...` stands once at most"
        )
    if not dots:
        items.append(Ellipsis)
    counts = [_axes_taken(item) for item in items]
    left = len(shape) - sum(counts)
    if left < 0:
        raise IndexingError(
            f"Too many indices: {sum(counts)} for an array of {len(shape)} axes, "
            f"shape {shape}",
            rule="an index has at most one item an axis; a mask counts for all of its "
            "axes, None for none",
        )
    counts[items.index(Ellipsis) if Ellipsis in items else -1] = left
    _check_masks(items, counts, shape)
    return items, counts


def _axes_taken(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return item.value.ndim if type(item) is Mask else 1


def _check_masks(items, counts, shape) -> None:
    at = 0
    for i, (item, count) in enumerate(zip(items, counts, strict=True)):
        if type(item) is Mask and item.value.shape != shape[at : at + count]:
            raise IndexingError(
                f"boolean index of shape {item.value.shape} for axes of sizes "
                f"{shape[at : at + count]} (item {i + 1} of the index)",
                rule="a mask has the sizes of the axes that it covers",
            )
        at += count


def _single(index: Any) -> tuple:
    if isinstance(index, tuple) and type(index) is not DynamicSlice:
        return tuple(index)
    if isinstance(index, list | range):
        hint = "tuple(seq)" if any(_is_item(x) for x in index) else "array(seq)"
        raise ArgumentTypeError(
            "Using a non-tuple sequence for multidimensional indexing is not allowed",
            rule="it is ambiguous: an array of positions, or a tuple of items?",
            fix=f"use x[array(seq)] or x[tuple(seq)]; here {hint} is meant",
        )
    return (index,)


def _is_item(x: Any) -> bool:
    return x is None or x is Ellipsis or isinstance(x, slice)


def _item(x: Any, i: int, count: int, reads: bool) -> Any:
    kind = type(x)
    if kind is int or x is None or x is Ellipsis:
        return x
    if kind is slice:
        return _slice(x, i)
    if isinstance(x, bool | np.bool_):
        return Mask(np.asarray(bool(x)))
    if kind is DynamicSlice or isinstance(x, DynamicSlice):
        return _window(x, i)
    if isinstance(x, Array):
        if isinstance(x, Tracer) and x.concrete() is None:
            return _traced(x, i, reads)
        return _static(x.concrete() if isinstance(x, Tracer) else x, x, i)
    if isinstance(x, np.ndarray | np.generic | list | tuple | range):
        return _static(x, x, i)
    if hasattr(x, "__jax_array__"):
        return _item(x.__jax_array__(), i, count, reads)
    if hasattr(x, "__index__"):
        return int(x.__index__())
    raise _wrong_type(f"a value of type {type(x).__name__}", i)


def _wrong_type(what: str, i: int, fix: str | None = None) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"Indexer must have integer or boolean type: {what} "
        f"(item {i + 1} of the index)",
        rule="an index is made of integers, slices, None, `...`, ds(start, size), and "
        "integer or boolean arrays",
        fix=fix,
    )


def _static(value: Any, x: Any, i: int) -> Any:
    dtype = getattr(x, "dtype", None)
    if dtype is not None and not (dtypes.is_integer(dtype) or dtypes.is_bool(dtype)):
        raise _array_type(x, dtype, i)
    array = np.asarray(value)
    if not array.size and dtype is None:
        array = array.astype(np.int64)
    if dtypes.is_bool(array.dtype):
        return Mask(array)
    if not dtypes.is_integer(array.dtype):
        raise _array_type(array, array.dtype, i)
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(2**63 - 1))
    return Integers(array.astype(np.int64)) if array.ndim else int(array)


def _array_type(x: Any, dtype: Any, i: int) -> ArgumentTypeError:
    name = dtypes.name(dtype) if hasattr(dtype, "name") else str(dtype)
    return _wrong_type(f"an array of dtype {name}", i, "convert it with astype(int)")


def _traced(x: Tracer, i: int, reads: bool) -> Traced:
    if dtypes.is_bool(x.dtype):
        raise NonConcreteBooleanIndexError(
            f"Array boolean indices must be concrete; got {x.describe()} (item {i + 1} "
            "of the index)",
            rule="the shape of what a mask takes depends on its values",
            fix="use where(mask, x, y), or x.at[mask].set(scalar) to write"
            if reads
            else "write a scalar or a value that broadcasts along the mask",
        )
    if not dtypes.is_integer(x.dtype):
        raise _array_type(x, x.dtype, i)
    return Traced(x)


def _slice(s: slice, i: int) -> slice:
    bounds = (s.start, s.stop, s.step)
    for bound in bounds:
        if isinstance(bound, Tracer) and bound.concrete() is None:
            raise IndexingError(
                "Array slice indices must have static start/stop/step: got "
                f"{bound.describe()} (item {i + 1} of the index)",
                rule="the shape of a slice follows from its bounds",
                fix="for a window of known size write x[ds(start, size)]",
            )
    start, stop, step = (b if b is None else _bound(b, i) for b in bounds)
    if step == 0:
        raise ArgumentError(
            f"slice step is zero (item {i + 1} of the index)",
            rule="slice step cannot be zero",
        )
    return slice(start, stop, step)


def _bound(bound: Any, i: int) -> int:
    if not hasattr(bound, "__index__"):
        raise ArgumentTypeError(
            f"slice bound {bound!r} of type {type(bound).__name__} "
            f"(item {i + 1} of the index)",
            rule="slice bounds are integers or None",
        )
    return bound.__index__()


def _window(x: DynamicSlice, i: int) -> Window:
    size, stride = x.size, x.stride
    if isinstance(size, Tracer):
        raise IndexingError(
            f"ds with a traced size, {size.describe()} (item {i + 1} of the index)",
            rule="the size of a window is static",
        )
    size, stride = size.__index__(), stride.__index__()
    if size < 0 or stride < 1:
        raise ArgumentError(
            f"ds(start, {size}, {stride}) (item {i + 1} of the index)",
            rule="size is at least 0 and stride at least 1",
        )
    start = _item(x.start, i, 1, True)
    if not isinstance(start, int | Traced) or (type(start) is Traced and start.ndim):
        raise _wrong_type("a ds whose start is not an integer scalar", i)
    return Window(start.value if type(start) is Traced else start, size, stride)


def items_of(index: Any) -> Sequence[Any]:
    """The items of an index as it was written."""
    return index if type(index) is tuple else (index,)
