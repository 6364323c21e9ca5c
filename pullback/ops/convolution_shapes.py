"""Sizes of convolutions: names of axes, padding, dilation. It knows no primitive."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pullback.core.aval import ShapedArray
from pullback.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    ShapeError,
)

Axes = tuple[int, ...]
Pads = Sequence[tuple[int, int]]
PADDINGS = ("SAME", "SAME_LOWER", "VALID")


class ConvDimensionNumbers(NamedTuple):
    """Which axis is what.

    `lhs_spec`: batch, feature and spatial axes of the input. `rhs_spec`: output
    feature, input feature and spatial axes of the kernel. `out_spec`: as `lhs_spec`, of
    the result.
    """

    lhs_spec: Axes
    rhs_spec: Axes
    out_spec: Axes


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """Dimension numbers from any way to write them.

    `dimension_numbers`: three strings such as `("NHWC", "HWIO", "NHWC")`, three
    permutations, a `ConvDimensionNumbers`, or None for batch and feature axes first.

    Raises:
      ArgumentTypeError: it is none of these, or the strings do not name the axes.
    """
    ndim = len(lhs_shape)
    if len(rhs_shape) != ndim:
        raise ShapeError(
            f"convolution of shapes {tuple(lhs_shape)} and {tuple(rhs_shape)}",
            rule="input and kernel have the same number of axes",
        )
    if dimension_numbers is None:
        first = tuple(range(ndim))
        return ConvDimensionNumbers(first, first, first)
    if not isinstance(dimension_numbers, tuple | list) or len(dimension_numbers) != 3:
        raise ArgumentTypeError(
            f"dimension_numbers={dimension_numbers!r}",
            rule="three strings or permutations, for input, kernel and result, or None",
        )
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if not all(isinstance(spec, str) for spec in dimension_numbers):
        return ConvDimensionNumbers(*(tuple(map(int, s)) for s in dimension_numbers))
    return ConvDimensionNumbers(*_from_names(dimension_numbers, ndim))


def _from_names(names: Sequence[str], ndim: int) -> list[Axes]:
    firsts = ("NC", "OI", "NC")
    spatial = [c for c in names[1] if c not in "OI"]  # the kernel's order decides
    specs = []
    for name, (one, two) in zip(names, firsts, strict=True):
        wanted = sorted([one, two, *spatial])
        if sorted(name) != wanted or len(name) != ndim or len(set(name)) != ndim:
            raise ArgumentTypeError(
                f"dimension_numbers={tuple(names)} of arrays with {ndim} axes",
                rule="each names every axis once: N and C (of the kernel O and I) and "
                "the same letters for the spatial axes",
            )
        specs.append(tuple(map(name.index, (one, two, *spatial))))
    return specs


def dilated(n: int, dilation: int) -> int:
    """The size of an axis with `dilation - 1` gaps between its elements."""
    return 0 if n == 0 else (n - 1) * dilation + 1


def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str,
) -> list[tuple[int, int]]:
    """What "SAME", "SAME_LOWER" and "VALID" mean for the given sizes.

    "SAME": as many results as `ceil(size / stride)`, the odd element of padding at the
    end ("SAME_LOWER": at the start).

    Raises:
      ArgumentError: another name.
    """
    name = str(padding).upper()
    if name not in PADDINGS:
        raise ArgumentError(
            f"padding={padding!r}",
            rule=f"a padding is one of {', '.join(PADDINGS)}, or pairs of numbers",
        )
    if name == "VALID":
        return [(0, 0)] * len(in_shape)
    pads = []
    for n, k, s in zip(in_shape, window_shape, window_strides, strict=True):
        count = -(-n // s)
        total = max((count - 1) * s + k - n, 0)
        low, high = total // 2, total - total // 2
        pads.append((low, high) if name == "SAME" else (high, low))
    return pads


def spatial(shape: Sequence[int], spec: Axes) -> tuple[int, ...]:
    """The sizes of the spatial axes."""
    return tuple(shape[i] for i in spec[2:])


def convolved_sizes(
    x: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Pads,
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
) -> tuple[int, ...]:
    """The spatial sizes of the result from those of the input and the kernel."""
    sizes = []
    for i, s in enumerate(strides):
        padded = dilated(x[i], lhs_dilation[i]) + sum(padding[i])
        room = padded - dilated(kernel[i], rhs_dilation[i])
        sizes.append(room // s + 1 if room >= 0 and padded >= 0 else 0)
    return tuple(sizes)


def convolved(
    x: ShapedArray,
    kernel: ShapedArray,
    *,
    window_strides,
    padding,
    lhs_dilation,
    rhs_dilation,
    dimension_numbers,
    feature_group_count,
    batch_group_count,
) -> tuple[int, ...]:
    """The shape of a convolution.

    Raises:
      ShapeError, ArgumentError, DtypeError: the operands or parameters do not fit.
    """
    what = f"conv_general_dilated of {x.short()} with kernel {kernel.short()}"
    if x.dtype != kernel.dtype:
        raise DtypeError(
            what,
            rule="input and kernel have the same dtype",
            fix="convert one with astype(...)",
        )
    lhs, rhs, out = dimension_numbers
    if not x.ndim == kernel.ndim == len(lhs) == len(rhs) == len(out) or x.ndim < 2:
        raise ShapeError(what, rule="all have the same number of axes, at least two")
    per_axis = (window_strides, padding, lhs_dilation, rhs_dilation)
    if any(len(p) != x.ndim - 2 for p in per_axis):
        raise ArgumentError(
            f"{what}, strides {window_strides}, padding {padding}, dilations "
            f"{lhs_dilation} and {rhs_dilation}",
            rule=f"each has {x.ndim - 2} entries, one a spatial axis",
        )
    if any(n < 1 for p in (*per_axis[:1], *per_axis[2:]) for n in p):
        raise ArgumentError(
            f"{what}, strides {window_strides}, dilations {lhs_dilation} and "
            f"{rhs_dilation}",
            rule="strides and dilations are at least 1",
        )
    _check_groups(what, x, kernel, lhs, rhs, feature_group_count, batch_group_count)
    sizes = convolved_sizes(
        spatial(x.shape, lhs), spatial(kernel.shape, rhs), *per_axis
    )
    n = x.shape[lhs[0]] // batch_group_count
    shape = [0] * x.ndim
    for i, size in zip(out, (n, kernel.shape[rhs[0]], *sizes), strict=True):
        shape[i] = size
    return tuple(shape)


def _check_groups(what: str, x, kernel, lhs: Axes, rhs: Axes, features, batches):
    if features < 1 or batches < 1 or (features > 1 and batches > 1):
        raise ArgumentError(
            f"{what}, feature_group_count={features}, batch_group_count={batches}",
            rule="both are at least 1, and one of them is 1",
        )
    n, c = x.shape[lhs[0]], x.shape[lhs[1]]
    o, i = kernel.shape[rhs[0]], kernel.shape[rhs[1]]
    if c != i * features:
        raise ShapeError(
            f"{what}, feature_group_count={features}",
            rule=f"the features of the input ({c}) are as many as feature_group_count "
            f"times the input features of the kernel ({i})",
            fix="check dimension_numbers: by default axis 1 holds features, as NCHW",
        )
    for groups, size, name in (
        (features, o, "output features"),
        (batches, o, "output features"),
        (batches, n, "elements of the batch"),
    ):
        if size % groups:
            raise ShapeError(
                f"{what}, feature_group_count={features}, batch_group_count={batches}",
                rule=f"the {size} {name} are divided evenly into {groups} groups",
            )
