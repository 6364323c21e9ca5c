"""Dynamic slicing family: windows of static size at positions that are computed.

Positions are clamped so that the window lies inside, here in the lowering too: compiled
programs of jaxlib 0.10 go wrong on starts outside (xla#49118, xla#49122, jax#40849).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Linear
from pullback.core.errors import DtypeError, ShapeError
from pullback.core.jaxpr import Var
from pullback.core.primitive import Primitive
from pullback.ops.dimensions import (
    CLIP,
    GatherDimensionNumbers,
    ScatterDimensionNumbers,
)
from pullback.ops.index import gather_p, scatter_p
from pullback.ops.joining import concatenate
from pullback.ops.shape import broadcast_in_dim, zeros
from pullback.ops.slicing import batched_front


def window(x, starts: Sequence[Any], sizes: Sequence[int]):
    """The window of `x` of the given sizes at `starts`, one integer scalar an axis.

    Starts are clamped into range; negative ones too. See `lax.dynamic_slice`.

    Source: StableHLO `dynamic_slice`.
    """
    return dynamic_slice_p.bind(x, *starts, slice_sizes=tuple(sizes))


def put_window(x, update, starts: Sequence[Any]):
    """`x` with the window at `starts` replaced by `update`. Starts are clamped.

    Source: StableHLO `dynamic_update_slice`.
    """
    return dynamic_update_slice_p.bind(x, update, *starts)


def _check_starts(name: str, x, starts) -> None:
    fits = len(starts) == x.ndim and all(not s.shape for s in starts)
    if not fits:
        got = ", ".join(s.short() for s in starts)
        raise ShapeError(
            f"{name} of {x.short()} at ({got})",
            rule="one scalar start an axis",
        )
    if any(not dtypes.is_integer(s.dtype) for s in starts) or (
        len({s.dtype for s in starts}) > 1
    ):
        got = ", ".join(s.short() for s in starts)
        raise DtypeError(
            f"{name} of {x.short()} at ({got})",
            rule="starts are integers of one dtype",
        )


def _clamped(x_shape, sizes, starts) -> list[int]:
    return [
        min(max(int(s), 0), n - k)
        for s, n, k in zip(starts, x_shape, sizes, strict=True)
    ]


def _slices(starts, sizes) -> tuple[slice, ...]:
    return tuple(slice(s, s + k) for s, k in zip(starts, sizes, strict=True))


def _clamp_starts(b, starts, avals, limits) -> list[Any]:
    """Starts inside; one value for one start, or reads and writes would not fuse."""
    out = []
    for s, aval, limit in zip(starts, avals, limits, strict=True):
        key = ("clamped", s, limit)
        if key not in b.known:
            zero = b.constant(np.zeros((), aval.dtype), aval)
            top = np.asarray(min(limit, int(np.iinfo(aval.dtype).max)), aval.dtype)
            b.known[key] = b.clamp(zero, s, b.constant(top, aval))
        out.append(b.known[key])
    return out


def _limits(shape, sizes) -> list[int]:
    return [n - k for n, k in zip(shape, sizes, strict=True)]


def _stacked(n: int, starts, ds):
    """Starts, some of them mapped, as index vectors `i[n, rank]`."""
    columns = []
    for s, d in zip(starts, ds, strict=True):
        columns.append(broadcast_in_dim(s, (n, 1), () if d is None else (0,)))
    return concatenate(columns, 1)


# ---- dynamic_slice ----


def _slice_abstract(x, *starts, slice_sizes):
    _check_starts("dynamic_slice", x, starts)
    if len(slice_sizes) != x.ndim or not all(
        0 <= k <= n for k, n in zip(slice_sizes, x.shape, strict=True)
    ):
        raise ShapeError(
            f"dynamic_slice of {x.short()} with sizes {slice_sizes}",
            rule="one size an axis, at most that of the axis",
        )
    return ShapedArray(slice_sizes, x.dtype, x.weak_type)


def _slice_reference(x, *starts, slice_sizes):
    return x[_slices(_clamped(x.shape, slice_sizes, starts), slice_sizes)]


def _slice_lower(b, out, x, *starts, slice_sizes):
    x_aval, *avals = b.avals_in
    if not starts:
        return x
    bounded = _clamp_starts(b, starts, avals, _limits(x_aval.shape, slice_sizes))
    return b.dynamic_slice(x, bounded, slice_sizes)


def _slice_transpose(ct, x, *starts, slice_sizes):
    into = zeros(aval_of(x).strong())
    return [put_window(into, ct, starts), *[None] * len(starts)]


def _slice_batch(n, xs, ds, *, slice_sizes):
    (x, *starts), (d, *start_ds) = xs, ds
    if all(s is None for s in start_ds):
        x = batched_front(x, d, n)
        zero = np.zeros((), aval_of(starts[0]).dtype) if starts else np.int32(0)
        return window(x, (zero, *starts), (n, *slice_sizes)), 0
    axes = tuple(range(len(starts)))
    return gather_p.batch(
        n,
        (x, _stacked(n, starts, start_ds)),
        (d, 0),
        dimension_numbers=GatherDimensionNumbers(axes, (), axes),
        slice_sizes=slice_sizes,
        unique_indices=False,
        indices_are_sorted=False,
        mode=CLIP,
        fill_value=None,
    )


dynamic_slice_p = Primitive(
    "dynamic_slice",
    abstract=_slice_abstract,
    reference=_slice_reference,
    lower=_slice_lower,
    derivative=Linear(_slice_transpose),
    batch=_slice_batch,
)


# ---- dynamic_update_slice ----


def _update_abstract(x, update, *starts):
    _check_starts("dynamic_update_slice", x, starts)
    if x.dtype != update.dtype:
        raise DtypeError(
            f"dynamic_update_slice of {update.short()} into {x.short()}",
            rule="operand and update have the same dtype",
            fix="convert the update with astype(...)",
        )
    if update.ndim != x.ndim or any(
        k > n for k, n in zip(update.shape, x.shape, strict=True)
    ):
        raise ShapeError(
            f"dynamic_update_slice of {update.short()} into {x.short()}",
            rule="both have the same number of axes, and the update fits inside",
        )
    return x


def _update_reference(x, update, *starts):
    out = np.array(x)
    out[_slices(_clamped(x.shape, update.shape, starts), update.shape)] = update
    return out


def _update_lower(b, out, x, update, *starts):
    x_aval, update_aval, *avals = b.avals_in
    if not starts:
        return update
    limits = _limits(x_aval.shape, update_aval.shape)
    return b.dynamic_update_slice(x, update, _clamp_starts(b, starts, avals, limits))


def _update_transpose(ct, x, update, *starts):
    none = [None] * len(starts)
    gone = zeros(aval_of(update).strong())
    ct_x = put_window(ct, gone, starts) if isinstance(x, Var) else None
    ct_update = None
    if isinstance(update, Var):
        ct_update = window(ct, starts, aval_of(update).shape)
    return [ct_x, ct_update, *none]


def _update_batch(n, xs, ds):
    (x, update, *starts), (x_d, u_d, *start_ds) = xs, ds
    if all(s is None for s in start_ds):
        x, update = batched_front(x, x_d, n), batched_front(update, u_d, n)
        zero = np.zeros((), aval_of(starts[0]).dtype) if starts else np.int32(0)
        return put_window(x, update, (zero, *starts)), 0
    axes = tuple(range(len(starts)))
    return scatter_p.batch(
        n,
        (x, _stacked(n, starts, start_ds), update),
        (x_d, 0, u_d),
        dimension_numbers=ScatterDimensionNumbers(axes, (), axes),
        indices_are_sorted=False,
        unique_indices=True,
        mode=CLIP,
    )


dynamic_update_slice_p = Primitive(
    "dynamic_update_slice",
    abstract=_update_abstract,
    reference=_update_reference,
    lower=_update_lower,
    derivative=Linear(_update_transpose),
    batch=_update_batch,
)
