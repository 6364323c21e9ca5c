"""Convolution family: sums of products over moving windows, in groups.

The cotangents of a convolution, and a convolution with batched operands, are
convolutions with axes renamed.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pullback.core import config, dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Multilinear
from pullback.core.errors import ArgumentError
from pullback.core.primitive import Primitive
from pullback.ops.contract import canonical_precision
from pullback.ops.convert import convert
from pullback.ops.convolution_shapes import (
    Axes,
    ConvDimensionNumbers,
    conv_dimension_numbers,
    convolved,
    convolved_sizes,
    dilated,
    padtype_to_pads,
    spatial,
)
from pullback.ops.nary import quiet
from pullback.ops.shape import moveaxis, reshape, zeros
from pullback.ops.slicing import rev


def conv_general_dilated(
    lhs,
    rhs,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding=None,
):
    """Convolution over any number of spatial axes (the kernel is not reversed).

    Args:
      lhs: the input, `[batch, features, *spatial]` unless `dimension_numbers` differ.
      rhs: the kernel, `[output features, input features, *spatial]`.
      window_strides: steps between windows, one a spatial axis.
      padding: "SAME", "SAME_LOWER", "VALID", or a pair of numbers a spatial axis;
        negative ones crop.
      lhs_dilation: distances between elements of the input, the gaps filled with 0.
      rhs_dilation: distances between elements of the kernel.
      dimension_numbers: as for `conv_dimension_numbers`.
      feature_group_count: groups of features that do not mix.
      batch_group_count: groups of the batch, each with output features of its own.
      precision: "default", "high", "highest" or a `Precision`; or a pair of them.
      preferred_element_type: the dtype to accumulate in and to return.

    Returns:
      `[batch, output features, *spatial]`

    Raises:
      ShapeError: sizes or groups do not fit.
      DtypeError: operands of different dtypes.
      ArgumentError: an unknown padding; parameters of a wrong length or range.

    Example:
      >>> from pullback import lax, numpy as pnp
      >>> x, kernel = pnp.ones((1, 1, 5, 5)), pnp.ones((2, 1, 3, 3))
      >>> lax.conv_general_dilated(x, kernel, (1, 1), "SAME").shape
      (1, 2, 5, 5)

    Source: StableHLO `convolution`.
    """
    del out_sharding
    x, kernel = aval_of(lhs), aval_of(rhs)
    numbers = conv_dimension_numbers(x.shape, kernel.shape, dimension_numbers)
    ones = (1,) * (x.ndim - 2)
    strides, by, between = (
        ones if given is None else tuple(map(int, given))
        for given in (window_strides, lhs_dilation, rhs_dilation)
    )
    dtype = preferred_element_type
    return bind_conv(
        lhs,
        rhs,
        window_strides=strides,
        padding=_pads(padding, x, kernel, numbers, strides, by, between),
        lhs_dilation=by,
        rhs_dilation=between,
        dimension_numbers=numbers,
        feature_group_count=int(feature_group_count),
        batch_group_count=int(batch_group_count),
        precision=precision,
        preferred_element_type=None if dtype is None else dtypes.named(dtype),
    )


def _pads(padding, x, kernel, numbers, strides, by, between):
    if not isinstance(padding, str):
        return tuple((int(low), int(high)) for low, high in padding)
    if any(n != 1 for n in by):
        raise ArgumentError(
            f"conv_general_dilated with padding={padding!r} and lhs_dilation={by}",
            rule="a padding by name is not defined for a dilated input",
            fix="give pairs of numbers, or use lax.conv_transpose",
        )
    sizes = spatial(kernel.shape, numbers.rhs_spec)
    windows = [dilated(k, d) for k, d in zip(sizes, between, strict=True)]
    return tuple(
        padtype_to_pads(spatial(x.shape, numbers.lhs_spec), windows, strides, padding)
    )


def bind_conv(x, kernel, *, precision, **params):
    """`conv_general_dilated` of canonical arguments."""
    if precision is None:
        precision = config.current().default_matmul_precision
    precision = None if precision is None else canonical_precision(precision)
    return conv_general_dilated_p.bind(x, kernel, precision=precision, **params)


# ---- types and values ----


def _abstract(x, kernel, *, precision, preferred_element_type, **params):
    shape = convolved(x, kernel, **params)
    dtype = preferred_element_type or x.dtype
    return ShapedArray(shape, dtype, x.weak_type and kernel.weak_type)


def _spread(x, dilation: Sequence[int]):
    """`x` with zeros between the elements of its last axes."""
    first = x.ndim - len(dilation)
    sizes = [dilated(n, d) for n, d in zip(x.shape[first:], dilation, strict=True)]
    out = np.zeros((*x.shape[:first], *sizes), x.dtype)
    out[(..., *(slice(None, None, d) for d in dilation))] = x
    return out


def _padded(x, padding):
    """`x` with its last axes padded with zeros, or cropped."""
    first = x.ndim - len(padding)
    grown = [(max(low, 0), max(high, 0)) for low, high in padding]
    x = np.pad(x, [(0, 0)] * first + grown)
    for i, (low, high) in enumerate(padding, first):
        n = x.shape[i]
        x = np.take(x, range(max(-low, 0), max(n - max(-high, 0), 0)), i)
    return x


def _windows(x, sizes, strides, kernel_dilation, counts):
    """`[n, c, *spatial]` to `[n, c, *counts, *sizes]`."""
    index: list[Any] = [slice(None), slice(None)]
    k = len(sizes)
    for i, (size, s, d) in enumerate(zip(sizes, strides, kernel_dilation, strict=True)):
        at = np.arange(counts[i])[:, None] * s + np.arange(size) * d
        shape = [1] * (2 * k)
        shape[i], shape[k + i] = at.shape
        index.append(at.reshape(shape))
    return x[tuple(index)]


def _wide(dtype):
    if dtypes.is_integer(dtype):
        return np.dtype(np.int64)
    narrow = dtypes.is_float(dtype) and dtype.itemsize < 4
    return np.dtype(np.float32) if narrow else dtype


def _reference(
    x,
    kernel,
    *,
    window_strides,
    padding,
    lhs_dilation,
    rhs_dilation,
    dimension_numbers,
    feature_group_count,
    batch_group_count,
    precision,
    preferred_element_type,
):
    lhs, rhs, out = dimension_numbers
    dtype = preferred_element_type or x.dtype
    wide = np.promote_types(_wide(x.dtype), _wide(dtype))
    x, kernel = np.transpose(x, lhs).astype(wide), np.transpose(kernel, rhs)
    sizes, kernel = kernel.shape[2:], kernel.astype(wide)
    per_axis = (window_strides, padding, lhs_dilation, rhs_dilation)
    counts = convolved_sizes(x.shape[2:], sizes, *per_axis)
    x = _padded(_spread(x, lhs_dilation), padding)
    groups = feature_group_count * batch_group_count
    b, c = batch_group_count, feature_group_count
    patches = _windows(x, sizes, window_strides, rhs_dilation, counts)
    n, features = x.shape[0] // b, x.shape[1] // c
    rows, depth = prod(counts), prod(sizes)
    patches = patches.reshape(b, n, c, features, rows, depth)
    patches = np.moveaxis(patches, 2, 1).reshape(groups, n, features, rows, depth)
    o = kernel.shape[0] // groups
    weights = kernel.reshape(groups, o, features, depth)
    product = np.einsum("gnfrd,gofd->ngor", patches, weights, optimize=True)
    shaped = product.reshape(n, groups * o, *counts)
    return np.transpose(shaped, np.argsort(out)).astype(dtype)


# ---- lowering ----


def _lower(b, out, x, kernel, *, precision, preferred_element_type, **params):
    ax, ak = b.avals_in
    if not (ax.size and ak.size and out.size):
        return b.full(0, out)
    names = None if precision is None else [p.name for p in precision]
    emit = _emitted(b, names, params)
    if not dtypes.is_complex(ax.dtype):
        return emit(out, x, kernel)
    part = out.update(dtype=dtypes.to_real(out.dtype))  # XLA has no complex ones
    xr, xi, kr, ki = b.real(x), b.imag(x), b.real(kernel), b.imag(kernel)
    real = b.subtract(emit(part, xr, kr), emit(part, xi, ki))
    return b.complex(real, b.add(emit(part, xr, ki), emit(part, xi, kr)))


def _emitted(b, names, params):
    return lambda out, x, kernel: b.convolution(
        out, x, kernel, precision=names, **params
    )


# ---- derivative ----


def _split(x, axis: int, parts: int):
    """An axis as two: `parts`, and the rest."""
    shape = aval_of(x).shape
    n = shape[axis] // parts
    return reshape(x, (*shape[:axis], parts, n, *shape[axis + 1 :]))


def _merge(x, axis: int):
    """Axes `axis` and the next as one."""
    shape = aval_of(x).shape
    merged = shape[axis] * shape[axis + 1]
    return reshape(x, (*shape[:axis], merged, *shape[axis + 2 :]))


def _handed_over(x, source: int, destination: int, groups: int):
    """Move the major part, of size `groups`, of one axis to another axis."""
    if groups == 1:
        return x
    x = moveaxis(_split(x, source, groups), source, 0)
    return _merge(moveaxis(x, 0, destination), destination)


def _swapped(spec: Axes) -> Axes:
    return (spec[1], spec[0], *spec[2:])


def _edges(x, kernel, params):
    """For each spatial axis the dilated sizes of input, kernel and result."""
    lhs, rhs, _ = params["dimension_numbers"]
    by, between = params["lhs_dilation"], params["rhs_dilation"]
    strides, padding = params["window_strides"], params["padding"]
    xs, ks = spatial(x.shape, lhs), spatial(kernel.shape, rhs)
    counts = convolved_sizes(xs, ks, strides, padding, by, between)
    return [
        (dilated(xs[i], by[i]), dilated(ks[i], between[i]), dilated(counts[i], s))
        for i, s in enumerate(strides)
    ]


def _transpose_x(ct, x, kernel, **params):
    """The kernel, reversed and with its features exchanged, over a dilated `ct`."""
    ax, ak = aval_of(x), aval_of(kernel)
    if not (ax.size and ak.size and aval_of(ct).size):
        return zeros(ax.strong())
    lhs, rhs, out = params["dimension_numbers"]
    batches = params["batch_group_count"]
    groups = batches * params["feature_group_count"]
    pads = []
    for (n, k, m), (low, _) in zip(
        _edges(ax, ak, params), params["padding"], strict=True
    ):
        first = k - 1 - low
        pads.append((first, n + k - 1 - m - first))
    kernel = rev(_handed_over(kernel, rhs[0], rhs[1], groups), rhs[2:])
    product = bind_conv(
        convert(ct, ak.dtype),
        kernel,
        **params
        | {
            "window_strides": params["lhs_dilation"],
            "lhs_dilation": params["window_strides"],
            "padding": tuple(pads),
            "dimension_numbers": ConvDimensionNumbers(out, _swapped(rhs), lhs),
            "feature_group_count": groups,
            "batch_group_count": 1,
        },
    )
    product = _handed_over(product, lhs[1], lhs[0], batches)
    return convert(product, ax.dtype, ax.weak_type)


def _transpose_kernel(ct, x, kernel, **params):
    """`ct`, dilated, over the input: features in the place of the batch."""
    ax, ak = aval_of(x), aval_of(kernel)
    if not (ax.size and ak.size and aval_of(ct).size):
        return zeros(ak.strong())
    lhs, rhs, out = params["dimension_numbers"]
    pads = []
    for (n, k, m), (low, _) in zip(
        _edges(ax, ak, params), params["padding"], strict=True
    ):
        pads.append((low, m + k - 1 - n - low))
    product = bind_conv(
        x,
        convert(ct, ax.dtype),
        **params
        | {
            "window_strides": params["rhs_dilation"],
            "rhs_dilation": params["window_strides"],
            "padding": tuple(pads),
            "dimension_numbers": ConvDimensionNumbers(
                _swapped(lhs), _swapped(out), _swapped(rhs)
            ),
            "feature_group_count": params["batch_group_count"],
            "batch_group_count": params["feature_group_count"],
        },
    )
    return convert(product, ak.dtype, ak.weak_type)


# ---- batching ----


def _folded(x, d: int, axis: int, groups: int):
    """A batch axis made part of an axis, minor to its `groups`."""
    x = moveaxis(x, d, 0)
    if groups == 1:
        return _merge(moveaxis(x, 0, axis), axis)
    x = moveaxis(_split(x, axis + 1, groups), 0, axis + 1)
    return _merge(_merge(x, axis), axis)


def _unfolded(y, n: int, axis: int, groups: int) -> tuple[Any, int]:
    """The reverse, for the result; where the batch axis is then."""
    if groups == 1:
        return _split(y, axis, n), axis
    y = _split(_split(y, axis, groups), axis + 1, n)
    return _merge(moveaxis(y, axis + 1, 0), axis + 1), 0


def _batch(n, xs, ds, **params):
    (x, kernel), (dx, dk) = xs, ds
    lhs, rhs, out = params["dimension_numbers"]
    features, batches = params["feature_group_count"], params["batch_group_count"]
    if dk is None:
        x = _folded(x, dx, lhs[0], batches)
        return _unfolded(bind_conv(x, kernel, **params), n, out[0], 1)
    if dx is None:
        kernel = _folded(kernel, dk, rhs[0], features * batches)
        y = bind_conv(x, kernel, **params)
        return _unfolded(y, n, out[1], features * batches)
    which = "feature_group_count" if batches == 1 else "batch_group_count"
    x = _folded(x, dx, lhs[1] if batches == 1 else lhs[0], 1)
    kernel = _folded(kernel, dk, rhs[0], 1)
    y = bind_conv(x, kernel, **params | {which: n * params[which]})
    return _unfolded(y, n, out[1], 1)


conv_general_dilated_p = Primitive(
    "conv_general_dilated",
    abstract=_abstract,
    reference=quiet(_reference),
    lower=_lower,
    derivative=Multilinear((_transpose_x, _transpose_kernel)),
    batch=_batch,
)
