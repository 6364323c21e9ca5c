"""`x.at[index]`: updated copies of an array, and reads that say what lies outside.

Every method takes `indices_are_sorted` and `unique_indices`, promises about computed
indices, `mode` for positions outside (`"drop"`, the default, or `"clip"`), and
`wrap_negative_indices`.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.api.arrays import ufuncs
from pullback.api.arrays.applying import apply_often, is_distinct
from pullback.api.arrays.creation import asarray
from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import ArgumentTypeError, ShapeError
from pullback.core.trace import Tracer
from pullback.core.value import Array
from pullback.ops.convert import convert
from pullback.ops.dimensions import FILL_OR_DROP, GatherScatterMode, default_fill
from pullback.ops.elementwise import neg
from pullback.ops.inverse import SMALL, SPARSE
from pullback.ops.logic import select_n
from pullback.ops.normalize import normalize
from pullback.ops.pick_read import read
from pullback.ops.pick_region import ADD, LONG, MAX, MIN, MUL, SET, Update
from pullback.ops.pick_write import write
from pullback.ops.promote import broadcast_to, promote_inexact, to_dtype
from pullback.ops.promotion import promote_pair
from pullback.ops.shape import broadcast_in_dim, full, reshape


class Indexable:
    """The value of `x.at`: index it."""

    __slots__ = ("array",)

    def __init__(self, array: Any):
        self.array = array

    def __getitem__(self, index: Any) -> "Place":
        return Place(self.array, index)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.array!r})"


class Place:
    """The value of `x.at[index]`: its methods return updated copies of `x`."""

    __slots__ = ("array", "index")

    def __init__(self, array: Any, index: Any):
        self.array, self.index = array, index

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.array!r}, {self.index!r})"

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        fill_value: Any = None,
        wrap_negative_indices: bool = True,
    ):
        """`x[index]`, with a say in what positions outside give.

        Args:
          indices_are_sorted, unique_indices: promises about computed indices.
          mode: `"clip"` (None), `"fill"` or `"promise_in_bounds"`.
          fill_value: what `"fill"` gives (None: NaN, the least integer).
          wrap_negative_indices: negative positions count from the end.
        """
        x = self.array
        fills = mode is not None and GatherScatterMode.from_any(mode) is FILL_OR_DROP
        pick = normalize(
            self.index, x.shape, clips=not fills, wraps=bool(wrap_negative_indices)
        )
        if fills and fill_value is None:
            fill_value = default_fill(x.dtype)
        hints = (bool(indices_are_sorted), bool(unique_indices))
        return read(x, pick, fill_value=fill_value, hints=hints)

    def set(self, values, **options):
        """`x` with `values` at the index. Of several for one place, one wins."""
        return self._update(values, SET, options)

    def add(self, values, **options):
        """`x` with `values` added at the index, all of them where places repeat."""
        return self._update(values, ADD, options)

    def subtract(self, values, **options):
        """`x` with `values` subtracted at the index."""
        values = _fitting(values, self.array)
        return self._update(neg(values), ADD, options)

    def multiply(self, values, **options):
        """`x` with the index multiplied by `values`."""
        return self._update(values, MUL, options)

    mul = multiply

    def divide(self, values, **options):
        """`x / values` at the index; of an integer array, the result is floating."""
        x, values = promote_inexact(self.array, asarray(values))
        ones = full(ShapedArray(aval_of(x).shape, aval_of(x).dtype), 1)
        return ufuncs.divide(x, Place(ones, self.index)._update(values, MUL, options))

    def power(self, values, **options):
        """`x` with the index raised to the power of `values`."""
        x = self.array
        values = asarray(values)
        aval, other = aval_of(x), aval_of(values)
        dtype, _ = promote_pair(
            aval.dtype, aval.weak_type, other.dtype, other.weak_type
        )
        ones = full(ShapedArray(aval.shape, dtype), 1)
        return ufuncs.power(x, Place(ones, self.index)._update(values, MUL, options))

    def min(self, values, **options):
        """`x` with the index lowered to `values` where they are less."""
        return self._update(values, MIN, options)

    def max(self, values, **options):
        """`x` with the index raised to `values` where they are greater."""
        return self._update(values, MAX, options)

    def apply(self, func: Callable, **options):
        """`x` with `func` applied to what the index takes, elementwise.

        It is applied as often as the index names a place. Where that is known only when
        the program runs, there is no reverse derivative.
        """
        x = self.array
        mask = _mask_of(self.index, x)
        if mask is not None:
            return select_n(mask, x, convert(func(x), x.dtype))
        sorted_, unique, clips, wraps = _options("apply", options)
        pick = normalize(self.index, x.shape, reads=False, clips=clips, wraps=wraps)
        if not (unique or is_distinct(pick)):
            return apply_often(x, pick, func)
        source = normalize(self.index, x.shape, clips=True, wraps=wraps)
        new = convert(func(read(x, source)), x.dtype)
        return write(x, pick, new, SET, hints=(sorted_, unique))

    def _update(self, values, update: Update, options: dict):
        x = self.array
        sorted_, unique, clips, wraps = _options(update.name, options)
        values = _fitting(values, x)
        masked = _under_mask(x, self.index, values, update)
        if masked is not None:
            return masked
        pick = normalize(self.index, x.shape, reads=False, clips=clips, wraps=wraps)
        y = _spread(values, pick.out_shape, update.name)
        return write(x, pick, y, update, hints=(sorted_, unique))


def _options(name: str, options: dict) -> tuple[bool, bool, bool, bool]:
    known = {
        "indices_are_sorted": False,
        "unique_indices": False,
        "mode": None,
        "wrap_negative_indices": True,
        "out_sharding": None,
    }
    unknown = options.keys() - known.keys()
    if unknown:
        raise ArgumentTypeError(
            f"x.at[...].{name} got unexpected keyword arguments {sorted(unknown)}",
            rule=f"it takes {', '.join(list(known)[:4])}",
        )
    given = {**known, **options}
    mode = given["mode"]
    drops = GatherScatterMode.from_any(mode) is FILL_OR_DROP
    return (
        bool(given["indices_are_sorted"]),
        bool(given["unique_indices"]),
        not drops,
        bool(given["wrap_negative_indices"]),
    )


def _fitting(values, x):
    """Values with the dtype of the array that they are written to."""
    aval = aval_of(x)
    if isinstance(values, list | tuple):
        values = asarray(values)
    other = aval_of(values)
    if other.dtype == aval.dtype and not other.weak_type:
        return values
    joint, _ = promote_pair(other.dtype, other.weak_type, aval.dtype, aval.weak_type)
    if joint != aval.dtype:
        warnings.warn(
            f"values of type {other.short()} are written to an array of type "
            f"{aval.short()}, which does not hold all of them: convert them first",
            FutureWarning,
            stacklevel=4,
        )
    return convert(values, aval.dtype) if other.shape else to_dtype(values, aval.dtype)


def _spread(y, shape: tuple[int, ...], name: str):
    old = aval_of(y).shape
    extra = len(old) - len(shape)
    if extra > 0 and all(n == 1 for n in old[:extra]):
        y = reshape(y, old[extra:])
        old = old[extra:]
    aligned = shape[len(shape) - len(old) :] if len(old) <= len(shape) else None
    if aligned is None or any(
        n not in (1, m) for n, m in zip(old, aligned, strict=True)
    ):
        raise ShapeError(
            f"Incompatible shapes for broadcasting: x.at[...].{name} of values of "
            f"shape {old} to an index of shape {shape}",
            rule="values broadcast to the shape that the index reads",
        )
    return broadcast_to(y, shape)


# ---- masks: a choice between old and new, where values do not depend on place ----


def _mask_of(index: Any, x):
    """The index as a mask of the shape of `x`, or None if it is no lone mask."""
    found = _mask_item(index)
    if found is None:
        return None
    mask, at = found
    shape = aval_of(x).shape
    covered = aval_of(mask).shape
    if not covered or shape[at : at + len(covered)] != covered:
        return None
    dims = tuple(range(at, at + len(covered)))
    return mask if covered == shape else broadcast_in_dim(mask, shape, dims)


def _mask_item(index: Any) -> tuple[Any, int] | None:
    """The one mask of an index whose other items are whole axes, and its first axis."""
    items = index if type(index) is tuple else (index,)
    mask, at = None, 0
    for item in items:
        if _is_mask(item):
            if mask is not None:
                return None
            mask = item
        elif mask is None and _is_whole(item) and item is not ...:
            at += 1
        elif mask is None or not _is_whole(item):
            return None
    return None if mask is None else (mask, at)


def _is_whole(item: Any) -> bool:
    return item is ... or (
        type(item) is slice and item.start is item.stop is item.step is None
    )


def _is_mask(item: Any) -> bool:
    return isinstance(item, Array | np.ndarray) and (
        dtypes.is_bool(item.dtype) and item.ndim > 0
    )


def _under_mask(x, index: Any, values, update: Update):
    """`x` updated under a mask by values that are the same all along it, or None."""
    found = _mask_item(index)
    if found is None:
        return None
    mask, at = found
    covered = aval_of(mask).ndim
    after = aval_of(x).ndim - at - covered
    shape = aval_of(values).shape
    if len(shape) > after:
        place = len(shape) - after - 1
        if shape[place] != 1 or len(shape) > aval_of(x).ndim - covered + 1:
            return None
        shape = (*shape[:place], *(1,) * covered, *shape[place + 1 :])
    if not isinstance(mask, Tracer) and _is_sparse(mask, aval_of(x).size):
        return None
    chosen = _mask_of(index, x)
    if chosen is None:
        return None
    y = reshape(values, shape) if shape != aval_of(values).shape else values
    y = _spread(y, aval_of(x).shape, update.name)
    new = y if update.combine is None else update.combine(x, y)
    return select_n(chosen, x, new)


def _is_sparse(mask: Any, size: int) -> bool:
    """Whether a scatter to the true positions is less work than a choice everywhere."""
    value = np.asarray(mask)
    count = int(np.count_nonzero(value))
    rows = size >= LONG * value.size
    return size > SMALL and (8 if rows else SPARSE) * count < value.size


METHODS = {"at": property(Indexable, doc="Updated copies: `x.at[index].set(y)`.")}
