"""Slicing family: static slices, reversal, and padding, the inverse of slices.

All linear. Positions are Python integers; those that are computed are in `dynamic`.
"""

from builtins import slice as slices
from collections.abc import Sequence

import numpy as np

from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Linear
from pullback.core.errors import DtypeError, IndexingError, ShapeError
from pullback.core.jaxpr import Var
from pullback.core.primitive import Primitive
from pullback.ops.elementwise import sub
from pullback.ops.logic import select_n
from pullback.ops.shape import (
    broadcast_in_dim,
    broadcast_to_axis,
    canonical_axis,
    full,
    moveaxis,
    reduce_sum,
    squeeze,
    zeros,
)


def slice(
    operand,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
):
    """The elements of `operand` from start to limit (excluded) of each axis.

    `strides`: how far apart, at least 1 (None: 1 for all).

    Raises:
      ShapeError: the numbers do not fit the array.

    Example:
      >>> from pullback import lax, numpy as pnp
      >>> lax.slice(pnp.arange(6), (1,), (6,), (2,)).tolist()
      [1, 3, 5]

    Source: StableHLO `slice`.
    """
    strides = None if strides is None else tuple(map(int, strides))
    if strides is not None and all(s == 1 for s in strides):
        strides = None
    return slice_p.bind(
        operand,
        start_indices=tuple(map(int, start_indices)),
        limit_indices=tuple(map(int, limit_indices)),
        strides=strides,
    )


def slice_in_dim(operand, start_index, limit_index, stride: int = 1, axis: int = 0):
    """A slice of one axis; None for a bound means the end of the axis.

    Negative bounds count from the end.
    """
    shape = aval_of(operand).shape
    axis = canonical_axis(axis, len(shape))
    n = shape[axis]
    start = 0 if start_index is None else int(start_index)
    limit = n if limit_index is None else int(limit_index)
    starts, limits = [0] * len(shape), list(shape)
    starts[axis] = start + n if start < 0 else start
    limits[axis] = limit + n if limit < 0 else limit
    strides = [1] * len(shape)
    strides[axis] = int(stride)
    return slice(operand, starts, limits, strides)


def index_in_dim(operand, index: int, axis: int = 0, keepdims: bool = True):
    """Element `index` of one axis, which is kept with size 1 or dropped.

    Raises:
      IndexingError: the index is outside the axis.
    """
    axis = canonical_axis(axis, aval_of(operand).ndim)
    n = aval_of(operand).shape[axis]
    index = int(index)
    if not -n <= index < n:
        raise IndexingError(
            f"index {index} is out of bounds for axis {axis} with size {n}",
            rule=f"an index of this axis lies in [{-n}, {n})",
        )
    index %= n
    kept = slice_in_dim(operand, index, index + 1, 1, axis)
    return kept if keepdims else squeeze(kept, (axis,))


def rev(operand, dimensions: Sequence[int]):
    """`operand` with the order of its elements along `dimensions` reversed.

    Source: StableHLO `reverse`.
    """
    ndim = aval_of(operand).ndim
    dims = tuple(canonical_axis(d, ndim) for d in dimensions)
    return rev_p.bind(operand, dimensions=dims) if dims else operand


def pad(operand, padding_value, padding_config: Sequence[tuple[int, int, int]]):
    """`operand` with elements added around and between its own.

    `padding_config`: for each axis `(low, high, interior)`: how many to add before,
    after, and between neighbours. Negative `low` and `high` drop elements.

    Raises:
      ShapeError: the configuration does not fit.
      DtypeError: the dtypes differ.

    Source: StableHLO `pad`.
    """
    config = tuple((int(a), int(b), int(c)) for a, b, c in padding_config)
    aval = aval_of(operand)
    if isinstance(padding_value, bool | int | float | complex):
        padding_value = np.asarray(padding_value, aval.dtype)
    return pad_p.bind(operand, padding_value, padding_config=config)


# ---- slice ----


def _slice_sizes(x, starts, limits, strides) -> tuple[int, ...]:
    steps = strides or (1,) * x.ndim
    fits = len(starts) == len(limits) == len(steps) == x.ndim and all(
        0 <= a <= b <= n and s >= 1
        for a, b, s, n in zip(starts, limits, steps, x.shape, strict=True)
    )
    if not fits:
        raise ShapeError(
            f"slice of {x.short()} from {starts} to {limits} by {strides}",
            rule="on each axis 0 <= start <= limit <= size, and stride >= 1",
        )
    return tuple(
        -(-(b - a) // s) for a, b, s in zip(starts, limits, steps, strict=True)
    )


def _slice_abstract(x, *, start_indices, limit_indices, strides):
    sizes = _slice_sizes(x, start_indices, limit_indices, strides)
    return ShapedArray(sizes, x.dtype, x.weak_type)


def _slices(starts, limits, strides):
    steps = strides or (1,) * len(starts)
    return tuple(map(slices, starts, limits, steps))


def _slice_transpose(ct, x, *, start_indices, limit_indices, strides):
    shape, sizes = aval_of(x).shape, aval_of(ct).shape
    steps = strides or (1,) * len(shape)
    config = []
    for a, s, k, n in zip(start_indices, steps, sizes, shape, strict=True):
        covered = (k - 1) * s + 1 if k else 0
        config.append((a, n - a - covered, s - 1))
    return pad(ct, 0, config)


def inserted(values: Sequence, d: int, value) -> tuple:
    """`values` with one more at place d."""
    return (*values[:d], value, *values[d:])


def _slice_batch(n, xs, ds, *, start_indices, limit_indices, strides):
    d = ds[0]
    out = slice_p.bind(
        xs[0],
        start_indices=inserted(start_indices, d, 0),
        limit_indices=inserted(limit_indices, d, n),
        strides=None if strides is None else inserted(strides, d, 1),
    )
    return out, d


slice_p = Primitive(
    "slice",
    abstract=_slice_abstract,
    reference=lambda x, *, start_indices, limit_indices, strides: x[
        _slices(start_indices, limit_indices, strides)
    ],
    lower=lambda b, out, x, *, start_indices, limit_indices, strides: b.slice(
        x, start_indices, limit_indices, strides
    ),
    derivative=Linear((_slice_transpose,)),
    batch=_slice_batch,
)


# ---- rev ----


def _rev_abstract(x, *, dimensions):
    if len(set(dimensions)) != len(dimensions):
        raise ShapeError(
            f"rev of {x.short()} along {dimensions}", rule="the axes are distinct"
        )
    return x


rev_p = Primitive(
    "rev",
    abstract=_rev_abstract,
    reference=lambda x, *, dimensions: np.flip(x, dimensions),
    lower=lambda b, out, x, *, dimensions: b.reverse(x, dimensions),
    derivative=Linear((lambda ct, x, *, dimensions: rev(ct, dimensions),)),
    batch=lambda n, xs, ds, *, dimensions: (
        rev(xs[0], [i + (i >= ds[0]) for i in dimensions]),
        ds[0],
    ),
)


def batched_front(x, d: int | None, n: int):
    """`x` with its batch axis in front; repeated along one when it has none."""
    if d is None:
        return broadcast_to_axis(x, n, 0)
    return moveaxis(x, d, 0) if d else x


# ---- pad ----


def _padded(n: int, config) -> int:
    low, high, interior = config
    return low + high + n + max(n - 1, 0) * interior


def _pad_abstract(x, value, *, padding_config):
    if x.dtype != value.dtype:
        raise DtypeError(
            f"pad of {x.short()} with {value.short()}",
            rule="operands have the same dtype",
        )
    shape = (
        tuple(map(_padded, x.shape, padding_config))
        if len(padding_config) == x.ndim
        else (-1,)
    )
    if (
        value.shape
        or min(shape, default=0) < 0
        or any(c[2] < 0 for c in padding_config)
    ):
        raise ShapeError(
            f"pad of {x.short()} with {value.short()} by {padding_config}",
            rule="one (low, high, interior) an axis, interior >= 0, a scalar value, "
            "and no negative size",
        )
    return ShapedArray(shape, x.dtype, x.weak_type and value.weak_type)


def _pad_axis(n: int, config):
    """Which elements stay, and where they go: two slices."""
    low, _, interior = config
    step, size = interior + 1, _padded(n, config)
    first = max(0, -(low // step))
    last = min(n - 1, (size - 1 - low) // step)
    if last < first:
        return slices(0, 0), slices(0, 0)
    to = slices(low + first * step, low + last * step + 1, step)
    return slices(first, last + 1), to


def _pad_reference(x, value, *, padding_config):
    shape = tuple(map(_padded, x.shape, padding_config))
    out = np.full(shape, value, x.dtype)
    pairs = list(map(_pad_axis, x.shape, padding_config))
    out[tuple(to for _, to in pairs)] = x[tuple(src for src, _ in pairs)]
    return out


def _pad_transpose(ct, x, value, *, padding_config):
    inner = _unpadded(ct, aval_of(x).shape, padding_config)
    if not isinstance(value, Var):
        return [inner, None]
    axes = range(aval_of(ct).ndim)
    return [inner, sub(reduce_sum(ct, axes), reduce_sum(inner, axes))]


def _unpadded(ct, shape, padding_config):
    crop = [(-low, -high, 0) for low, high, _ in padding_config]
    if any(low or high for low, high, _ in crop):
        ct = pad(ct, 0, crop)
    if not any(interior for _, _, interior in padding_config):
        return ct
    steps = [interior + 1 for _, _, interior in padding_config]
    return slice(ct, (0,) * len(shape), aval_of(ct).shape, steps)


def _pad_batch(n, xs, ds, *, padding_config):
    (x, value), (d, value_d) = xs, ds
    if value_d is None:
        config = inserted(padding_config, d, (0, 0, 0))
        return pad_p.bind(x, value, padding_config=config), d
    x = batched_front(x, d, n)
    config = ((0, 0, 0), *padding_config)
    aval = aval_of(x)
    inside = pad(
        full(aval.update(dtype=np.dtype(bool), weak_type=False), True), False, config
    )
    out = pad_p.bind(x, zeros(ShapedArray((), aval.dtype)), padding_config=config)
    values = broadcast_in_dim(value, aval_of(out).shape, (0,))
    return select_n(inside, values, out), 0


pad_p = Primitive(
    "pad",
    abstract=_pad_abstract,
    reference=_pad_reference,
    lower=lambda b, out, x, value, *, padding_config: (
        b.pad(x, value, *zip(*padding_config, strict=True)) if padding_config else x
    ),
    derivative=Linear(_pad_transpose),
    batch=_pad_batch,
)
