"""Convolutions with fewer parameters, transposed ones, and the patches they read."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ShapeError
from pullback.ops.convolution import conv_general_dilated
from pullback.ops.convolution_shapes import (
    ConvDimensionNumbers,
    conv_dimension_numbers,
    dilated,
)
from pullback.ops.slicing import rev

LAST = {  # axes of conv_transpose: features last
    2: ("NC", "IO", "NC"),
    3: ("NHC", "HIO", "NHC"),
    4: ("NHWC", "HWIO", "NHWC"),
    5: ("NHWDC", "HWDIO", "NHWDC"),
}


def conv(
    lhs,
    rhs,
    window_strides: Sequence[int],
    padding: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
):
    """`conv_general_dilated` of `[n, c, *spatial]` and `[o, c, *spatial]`.

    Example:
      >>> from pullback import lax, numpy as pnp
      >>> lax.conv(pnp.ones((1, 1, 4)), pnp.ones((1, 1, 2)), (1,), "VALID").tolist()
      [[[2.0, 2.0, 2.0]]]
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_with_general_padding(
    lhs,
    rhs,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: Any = None,
    preferred_element_type: Any = None,
):
    """`conv_general_dilated` of operands with batch and feature axes first."""
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_transpose(
    lhs,
    rhs,
    strides: Sequence[int],
    padding: Any,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: Any = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
):
    """Convolution over an input that is spread out: `strides` times as many results.

    Args:
      lhs: the input, `[batch, *spatial, features]` unless `dimension_numbers` differ.
      rhs: the kernel, `[*spatial, input features, output features]`.
      strides: distances between elements of the spread input, one a spatial axis.
      padding: "SAME" gives `size * stride` results; "VALID" all that the kernel
        touches; or pairs of numbers for the spread input.
      rhs_dilation: distances between elements of the kernel.
      dimension_numbers: as for `conv_dimension_numbers`.
      transpose_kernel: reverse the kernel and exchange its features, which makes it
        the gradient of the convolution with that kernel.
      use_consistent_padding: pairs of numbers are those of that convolution.

    Raises:
      ShapeError, DtypeError, ArgumentError: as `conv_general_dilated`.

    Source: Dumoulin and Visin, A guide to convolution arithmetic (2016), section 4.
    """
    x, kernel = aval_of(lhs), aval_of(rhs)
    if dimension_numbers is None:
        dimension_numbers = LAST.get(x.ndim)
        if dimension_numbers is None:
            raise ArgumentError(
                f"conv_transpose of {x.short()}",
                rule="beyond three spatial axes dimension_numbers are given",
            )
    numbers = conv_dimension_numbers(x.shape, kernel.shape, dimension_numbers)
    between = rhs_dilation or (1,) * (x.ndim - 2)
    sizes = [kernel.shape[i] for i in numbers.rhs_spec[2:]]
    windows = [dilated(k, d) for k, d in zip(sizes, between, strict=True)]
    if isinstance(padding, str):
        pads = [
            _transposed_pads(k, s, padding)
            for k, s in zip(windows, strides, strict=True)
        ]
    elif use_consistent_padding:
        pads = [
            (k - 1 - low, k - 1 - high)
            for k, (low, high) in zip(windows, padding, strict=True)
        ]
    else:
        pads = padding
    if transpose_kernel:
        o, i, *spatial = numbers.rhs_spec
        rhs = rev(rhs, spatial)
        numbers = numbers._replace(rhs_spec=(i, o, *spatial))
    return conv_general_dilated(
        lhs,
        rhs,
        (1,) * (x.ndim - 2),
        pads,
        strides,
        between,
        numbers,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _transposed_pads(k: int, s: int, padding: str) -> tuple[int, int]:
    match padding.upper():
        case "SAME":
            total = k + s - 2
            low = k - 1 if s > k - 1 else -(-total // 2)
        case "VALID":
            total, low = k + s - 2 + max(k - s, 0), k - 1
        case _:
            raise ArgumentError(
                f"conv_transpose with padding={padding!r}",
                rule='a padding is "SAME", "VALID", or pairs of numbers',
            )
    return low, total - low


def conv_general_dilated_patches(
    lhs,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    precision: Any = None,
    preferred_element_type: Any = None,
):
    """The windows that a convolution reads, as features of each place.

    Returns:
      As `conv_general_dilated`, with `c * prod(filter_shape)` features: those of one
      input feature next to each other.

    Raises:
      ShapeError: `filter_shape` has not one size a spatial axis.
    """
    x = aval_of(lhs)
    size = prod(filter_shape)
    if len(filter_shape) != x.ndim - 2:
        raise ShapeError(
            f"patches of {x.short()} with filter_shape={tuple(filter_shape)}",
            rule="filter_shape has one size a spatial axis",
        )
    numbers = dimension_numbers
    if numbers is not None and not isinstance(numbers, ConvDimensionNumbers):
        numbers = conv_dimension_numbers(x.shape, (1,) * x.ndim, numbers)
    numbers = numbers or conv_dimension_numbers(x.shape, x.shape, None)
    c = x.shape[numbers.lhs_spec[1]]
    one = np.eye(size, dtype=x.dtype).reshape(size, 1, *filter_shape)
    kernel = np.tile(one, (c, *(1,) * (x.ndim - 1)))
    return conv_general_dilated(
        lhs,
        np.transpose(kernel, np.argsort(numbers.rhs_spec)),
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        numbers,
        feature_group_count=c,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
