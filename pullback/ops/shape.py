"""Shape family, all linear: axes placed, merged, permuted, dropped and summed."""

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Linear
from pullback.core.errors import ArgumentError, ShapeError
from pullback.core.primitive import Primitive


def broadcast_in_dim(x, shape: Sequence[int], broadcast_dimensions: Sequence[int]):
    """Place the axes of `x` at the given axes of an array of `shape`; repeat the rest.

    Args:
      x: `[*s]`; axis i has the size of axis `broadcast_dimensions[i]` of the result,
        or size 1.
      shape: sizes of the result.
      broadcast_dimensions: strictly increasing axes of the result.

    Raises:
      ShapeError: the sizes or the axes do not fit.

    Example:
      >>> from pullback import lax, numpy as pnp
      >>> lax.broadcast_in_dim(pnp.arange(3), (2, 3), (1,)).shape
      (2, 3)

    Source: StableHLO `broadcast_in_dim`.
    """
    return broadcast_in_dim_p.bind(
        x, shape=tuple(shape), broadcast_dimensions=tuple(broadcast_dimensions)
    )


def reshape(x, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None):
    """The elements of `x` in row-major order, as an array of shape `new_sizes`.

    `dimensions`: axes of `x` in the order to read them (None: as they are).

    Raises:
      ShapeError: the number of elements differs.

    Source: StableHLO `reshape`.
    """
    new_sizes = tuple(map(int, new_sizes))
    if dimensions is not None:
        x = transpose(x, dimensions)
    if aval_of(x).shape == new_sizes and hasattr(x, "aval"):
        return x
    return reshape_p.bind(x, new_sizes=new_sizes)


def transpose(x, permutation: Sequence[int]):
    """Permute axes: axis i of the result is axis `permutation[i]` of `x`.

    Raises:
      ShapeError: `permutation` is not a permutation of the axes.

    Source: StableHLO `transpose`.
    """
    permutation = tuple(map(int, permutation))
    unmoved = permutation == tuple(range(len(permutation)))
    if unmoved and hasattr(x, "aval") and len(permutation) == x.ndim:
        return x
    return transpose_p.bind(x, permutation=permutation)


def squeeze(x, dimensions: Sequence[int]):
    """Drop the axes `dimensions`, which must have size 1.

    Raises:
      ShapeError: an axis has another size.
    """
    ndim = aval_of(x).ndim
    dims = tuple(sorted(canonical_axis(d, ndim) for d in dimensions))
    if not dims and hasattr(x, "aval"):
        return x
    return squeeze_p.bind(x, dimensions=dims)


def expand_dims(x, dimensions: Sequence[int]):
    """Insert axes of size 1 so that they stand at `dimensions` of the result."""
    aval = aval_of(x)
    ndim = aval.ndim + len(dimensions)
    new = {canonical_axis(d, ndim) for d in dimensions}
    if not new:
        return x
    old = [i for i in range(ndim) if i not in new]
    shape = [1] * ndim
    for i, n in zip(old, aval.shape, strict=True):
        shape[i] = n
    return broadcast_in_dim(x, shape, old)


def reduce_sum(x, axes: Sequence[int], *, out_sharding=None):
    """Sum over `axes`. Half precision is accumulated in float32.

    Source: StableHLO `reduce` with `add`.
    """
    del out_sharding
    return reduce_sum_p.bind(x, axes=tuple(axes))


# ---- small tools of the rules; no primitive of their own ----


def canonical_axis(axis: int, ndim: int) -> int:
    """`axis` counted from the front.

    Raises:
      ArgumentError: it is outside `[-ndim, ndim)`.
    """
    axis = axis.__index__()
    if not -ndim <= axis < ndim:
        raise ArgumentError(
            f"axis {axis} is out of bounds for array of dimension {ndim}",
            rule=f"an axis lies in [{-ndim}, {ndim})",
        )
    return axis % ndim


def full(aval: ShapedArray, value) -> Any:
    """An array of the given type; every element is the scalar `value`."""
    scalar: Any = np.asarray(value, dtype=aval.dtype)
    if aval.weak_type and dtypes.of_scalar(scalar.item()) == (aval.dtype, True):
        scalar = scalar.item()
    if not aval.shape:
        return scalar
    return broadcast_in_dim_p.bind(scalar, shape=aval.shape, broadcast_dimensions=())


def zeros(aval: ShapedArray):
    """An array of zeros of the given type."""
    return full(aval, 0)


def moveaxis(x, source: int, destination: int):
    """Move one axis to another place; the others keep their order."""
    perm = [i for i in range(aval_of(x).ndim) if i != source]
    perm.insert(destination, source)
    return transpose(x, perm)


def broadcast_to_axis(x, size: int, axis: int):
    """Repeat `x` along a new axis of the given size."""
    shape = list(aval_of(x).shape)
    dims = [i if i < axis else i + 1 for i in range(len(shape))]
    shape.insert(axis, size)
    return broadcast_in_dim(x, shape, dims)


def _moved(d: int, dims: Sequence[int]) -> tuple[int, ...]:
    """Axes `dims` of an unbatched operand, in the operand with a batch axis at d."""
    return tuple(i if i < d else i + 1 for i in dims)


def _check_distinct(name: str, axes: Sequence[int], x: ShapedArray) -> None:
    if len(set(axes)) != len(axes) or not all(0 <= a < x.ndim for a in axes):
        raise ShapeError(
            f"{name} of {x.short()} over axes {tuple(axes)}",
            rule=f"axes are distinct and lie in [0, {x.ndim})",
        )


# ---- broadcast_in_dim ----


def _broadcast_abstract(x, *, shape, broadcast_dimensions):
    dims = broadcast_dimensions
    fits = (
        len(dims) == x.ndim
        and all(a < b for a, b in pairwise(dims))
        and all(0 <= i < len(shape) for i in dims)
        and all(n in (1, shape[i]) for n, i in zip(x.shape, dims, strict=True))
    )
    if not fits:
        raise ShapeError(
            f"broadcast_in_dim of {x.short()} to shape {shape} at axes {dims}",
            rule="the axes are increasing and each size is 1 or that of the result",
        )
    return ShapedArray(shape, x.dtype, x.weak_type)


def _broadcast_reference(x, *, shape, broadcast_dimensions):
    sizes = [1] * len(shape)
    for n, i in zip(x.shape, broadcast_dimensions, strict=True):
        sizes[i] = n
    return np.broadcast_to(np.reshape(x, sizes), shape)


def _broadcast_transpose(ct, x, *, shape, broadcast_dimensions):
    aval = aval_of(x)
    repeated = [i for i in range(len(shape)) if i not in broadcast_dimensions]
    ones = [
        i
        for n, i in zip(aval.shape, broadcast_dimensions, strict=True)
        if n == 1 and shape[i] != 1
    ]
    summed = reduce_sum(ct, sorted(repeated + ones)) if repeated or ones else ct
    return reshape(summed, aval.shape) if ones else summed


def _broadcast_batch(n, xs, ds, *, shape, broadcast_dimensions):
    x = moveaxis(xs[0], ds[0], 0) if ds[0] else xs[0]
    dims = (0, *(i + 1 for i in broadcast_dimensions))
    return broadcast_in_dim(x, (n, *shape), dims), 0


broadcast_in_dim_p = Primitive(
    "broadcast_in_dim",
    abstract=_broadcast_abstract,
    reference=_broadcast_reference,
    lower=lambda b, out, x, *, shape, broadcast_dimensions: b.broadcast_in_dim(
        out, x, broadcast_dimensions
    ),
    derivative=Linear((_broadcast_transpose,)),
    batch=_broadcast_batch,
)


# ---- reshape ----


def _reshape_abstract(x, *, new_sizes):
    if x.size != prod(new_sizes) or any(n < 0 for n in new_sizes):
        raise ShapeError(
            f"reshape of {x.short()}, {x.size} elements, to {tuple(new_sizes)}, "
            f"{prod(new_sizes)} elements",
            rule="the number of elements stays the same",
            fix="use -1 for one axis to have its size computed",
        )
    return ShapedArray(new_sizes, x.dtype, x.weak_type)


def _reshape_batch(n, xs, ds, *, new_sizes):
    x = moveaxis(xs[0], ds[0], 0) if ds[0] else xs[0]
    return reshape(x, (n, *new_sizes)), 0


reshape_p = Primitive(
    "reshape",
    abstract=_reshape_abstract,
    reference=lambda x, *, new_sizes: np.reshape(x, new_sizes),
    lower=lambda b, out, x, *, new_sizes: b.reshape(out, x),
    derivative=Linear((lambda ct, x, *, new_sizes: reshape(ct, aval_of(x).shape),)),
    batch=_reshape_batch,
)


# ---- transpose ----


def _transpose_abstract(x, *, permutation):
    if sorted(permutation) != list(range(x.ndim)):
        raise ShapeError(
            f"transpose of {x.short()} with permutation {permutation}",
            rule=f"it is a permutation of the axes 0..{x.ndim - 1}",
        )
    return ShapedArray(tuple(x.shape[i] for i in permutation), x.dtype, x.weak_type)


def _transpose_batch(n, xs, ds, *, permutation):
    return transpose(xs[0], (ds[0], *_moved(ds[0], permutation))), 0


def _inverse(permutation):
    return tuple(int(i) for i in np.argsort(permutation))


transpose_p = Primitive(
    "transpose",
    abstract=_transpose_abstract,
    reference=lambda x, *, permutation: np.transpose(x, permutation),
    lower=lambda b, out, x, *, permutation: b.transpose(out, x, permutation),
    derivative=Linear(
        (lambda ct, x, *, permutation: transpose(ct, _inverse(permutation)),)
    ),
    batch=_transpose_batch,
)


# ---- squeeze ----


def _squeeze_abstract(x, *, dimensions):
    _check_distinct("squeeze", dimensions, x)
    if any(x.shape[i] != 1 for i in dimensions):
        raise ShapeError(
            f"squeeze of {x.short()} over axes {dimensions}",
            rule="only axes of size 1 can be dropped",
        )
    shape = tuple(n for i, n in enumerate(x.shape) if i not in dimensions)
    return ShapedArray(shape, x.dtype, x.weak_type)


def _squeeze_batch(n, xs, ds, *, dimensions):
    x = moveaxis(xs[0], ds[0], 0) if ds[0] else xs[0]
    return squeeze(x, [i + 1 for i in dimensions]), 0


squeeze_p = Primitive(
    "squeeze",
    abstract=_squeeze_abstract,
    reference=lambda x, *, dimensions: np.squeeze(x, dimensions),
    lower=lambda b, out, x, *, dimensions: b.reshape(out, x),
    derivative=Linear((lambda ct, x, *, dimensions: reshape(ct, aval_of(x).shape),)),
    batch=_squeeze_batch,
)


# ---- reduce_sum ----


def reduced_aval(name: str, x: ShapedArray, axes: Sequence[int]) -> ShapedArray:
    """The type of a reduction that keeps the dtype."""
    if len(axes) == x.ndim and axes == tuple(range(x.ndim)):
        return ShapedArray((), x.dtype, x.weak_type)
    _check_distinct(name, axes, x)
    shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    return ShapedArray(shape, x.dtype, x.weak_type)


def batched_axes(d: int, axes: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """Axes of a reduction past a batch axis at d, and the batch axis of the result."""
    moved = _moved(d, axes)
    return moved, d - sum(a < d for a in moved)


def _sum_reference(x, *, axes):
    wide = np.float32 if dtypes.is_float(x.dtype) and x.dtype.itemsize < 4 else x.dtype
    return np.sum(x, axis=axes, dtype=wide)


def _sum_transpose(ct, x, *, axes):
    aval = aval_of(x)
    kept = [i for i in range(aval.ndim) if i not in axes]
    return broadcast_in_dim(ct, aval.shape, kept)


def _sum_batch(n, xs, ds, *, axes):
    moved, d = batched_axes(ds[0], axes)
    return reduce_sum(xs[0], moved), d


def _sum_lower(b, out, x, *, axes):
    aval = b.avals_in[0]
    if not (dtypes.is_float(aval.dtype) and aval.dtype.itemsize < 4):
        zero = b.constant(np.zeros((), aval.dtype), ShapedArray((), aval.dtype))
        return b.reduce([out], [x], [zero], axes, lambda b, p, q: [b.add(p, q)])[0]
    f32 = np.dtype(np.float32)
    zero = b.constant(np.zeros((), f32), ShapedArray((), f32))
    wide = b.convert(aval.update(dtype=f32), x)
    wide_out = out.update(dtype=f32)
    total = b.reduce([wide_out], [wide], [zero], axes, lambda b, p, q: [b.add(p, q)])
    return b.convert(out, total[0])


reduce_sum_p = Primitive(
    "reduce_sum",
    abstract=lambda x, *, axes: reduced_aval("reduce_sum", x, axes),
    reference=_sum_reference,
    lower=_sum_lower,
    derivative=Linear((_sum_transpose,)),
    batch=_sum_batch,
)
