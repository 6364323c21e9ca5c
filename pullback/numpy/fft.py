"""Discrete Fourier transforms in NumPy's form."""

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pullback.api.arrays.axes import axes_of, one_axis
from pullback.api.arrays.creation import asarray
from pullback.api.arrays.ufuncs import divide
from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import ArgumentError
from pullback.numpy.shaping import roll
from pullback.ops.complex import conj
from pullback.ops.convert import convert
from pullback.ops.elementwise import mul, scalar_like
from pullback.ops.fft import LIMIT, FftType, fft as _fft
from pullback.ops.promote import as_operand, promote_inexact
from pullback.ops.shape import transpose, zeros
from pullback.ops.slicing import pad, slice_in_dim

Norm = str | None
SWAPPED = {None: "forward", "backward": "forward", "forward": "backward"}


def fft(
    a,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
):
    """Fourier transform along one axis: `sum(a[j] * exp(-2 pi i j k / n))`.

    Args:
      a: any number type.
      n: how many elements to take; fewer are filled up with zeros.
      axis: the axis.
      norm: which direction is divided by `n`: "backward" (None) the inverse, "forward"
        this one, "ortho" both by its root.

    Returns:
      Complex, with `n` elements along `axis`.

    Raises:
      ArgumentError: `n < 1`, an axis that is not there, or an unknown `norm`.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.fft.fft(pnp.array([1.0, 0.0, 0.0])).tolist()
      [(1+0j), (1+0j), (1+0j)]

    Source: StableHLO `fft`.
    """
    return _one("fft", FftType.FFT, a, n, axis, norm)


def ifft(
    a,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
):
    """The inverse of `fft`; arguments as there."""
    return _one("ifft", FftType.IFFT, a, n, axis, norm)


def rfft(
    a,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
):
    """The first `n // 2 + 1` elements of `fft` of real numbers; the rest mirrors them.

    Raises:
      ArgumentError: complex operands.
    """
    return _one("rfft", FftType.RFFT, a, n, axis, norm)


def irfft(
    a,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
):
    """The inverse of `rfft`; `n` (None: `2 * (m - 1)`) real numbers."""
    return _one("irfft", FftType.IRFFT, a, n, axis, norm)


def hfft(
    a,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
):
    """`fft` of a signal that mirrors itself, from its first half; real."""
    _check_norm("hfft", norm)
    return irfft(_conjugate("hfft", a), n, axis, SWAPPED.get(norm, norm))


def ihfft(
    a,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
):
    """The inverse of `hfft`."""
    _check_norm("ihfft", norm)
    return conj(rfft(a, n, axis, SWAPPED.get(norm, norm)))


def fft2(
    a,
    s=None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm = None,
):
    """`fftn` over two axes."""
    return _several("fft2", FftType.FFT, a, s, _pair("fft2", axes), norm)


def ifft2(
    a,
    s=None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm = None,
):
    """`ifftn` over two axes."""
    return _several("ifft2", FftType.IFFT, a, s, _pair("ifft2", axes), norm)


def rfft2(
    a,
    s=None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm = None,
):
    """`rfftn` over two axes."""
    return _several("rfft2", FftType.RFFT, a, s, _pair("rfft2", axes), norm)


def irfft2(
    a,
    s=None,
    axes: Sequence[int] = (-2, -1),
    norm: Norm = None,
):
    """`irfftn` over two axes."""
    return _several("irfft2", FftType.IRFFT, a, s, _pair("irfft2", axes), norm)


def fftn(
    a,
    s=None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
):
    """`fft` along several axes, one after the other.

    Args:
      a: any number type.
      s: how many elements to take along each axis.
      axes: the axes; None for all, or for the last `len(s)`.
      norm: as for `fft`.

    Raises:
      ArgumentError: `s` and `axes` differ in length; or as `fft`.
    """
    return _several("fftn", FftType.FFT, a, s, axes, norm)


def ifftn(
    a,
    s=None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
):
    """The inverse of `fftn`."""
    return _several("ifftn", FftType.IFFT, a, s, axes, norm)


def rfftn(
    a,
    s=None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
):
    """`fftn` of real numbers, of the last axis the first half."""
    return _several("rfftn", FftType.RFFT, a, s, axes, norm)


def irfftn(
    a,
    s=None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
):
    """The inverse of `rfftn`; real."""
    return _several("irfftn", FftType.IRFFT, a, s, axes, norm)


def fftfreq(n: int, d: Any = 1.0, *, dtype=None, device=None):
    """The frequencies of the elements of `fft`, in cycles a unit of `d`.

    `d`: the distance of samples.

    Raises:
      ArgumentError: `n < 1`.
    """
    n = _count("fftfreq", n)
    whole = np.concatenate([np.arange((n + 1) // 2), np.arange(-(n // 2), 0)])
    return _frequencies(whole, n, d, dtype, device)


def rfftfreq(n: int, d: Any = 1.0, *, dtype=None, device=None):
    """The frequencies of the elements of `rfft`."""
    n = _count("rfftfreq", n)
    return _frequencies(np.arange(n // 2 + 1), n, d, dtype, device)


def _frequencies(whole, n: int, d, dtype, device):
    dtype = dtypes.default_float() if dtype is None else dtypes.named(dtype)
    return divide(asarray(whole / n, dtype, device=device), d)


def fftshift(x, axes: int | Sequence[int] | None = None):
    """The order in which the zero frequency stands in the middle."""
    return _shifted("fftshift", x, axes, 1)


def ifftshift(x, axes: int | Sequence[int] | None = None):
    """The inverse of `fftshift`."""
    return _shifted("ifftshift", x, axes, -1)


def _shifted(name: str, x, axes, sign: int):
    x = as_operand(name, x)
    shape = aval_of(x).shape
    axes = axes_of(name, None if axes is None else axes, len(shape))
    half = [n // 2 if sign > 0 else -(n // 2) for n in shape]
    return roll(x, tuple(half[i] for i in axes), axes)


# ---- the transforms behind all of them ----


def _count(name: str, n) -> int:
    n = operator.index(n)
    if n < 1:
        raise ArgumentError(
            f"fft.{name} with n={n}", rule="at least one element is transformed"
        )
    return n


def _pair(name: str, axes: Sequence[int]) -> Sequence[int]:
    if len(axes) != 2:
        raise ArgumentError(
            f"fft.{name} with axes={tuple(axes)}",
            rule="it takes two axes",
            fix="use the transform with n for other numbers of axes",
        )
    return axes


def _check_norm(name: str, norm: Norm) -> None:
    if norm not in (None, "backward", "ortho", "forward"):
        raise ArgumentError(
            f"fft.{name} with norm={norm!r}",
            rule='the norm is "backward", "ortho", "forward" or None',
        )


def _inexact(name: str, x):
    """Numbers that can be transformed: half precision is widened."""
    (x,) = promote_inexact(as_operand(f"fft.{name}", x))
    dtype = aval_of(x).dtype
    return convert(x, dtypes.float32 if dtype.itemsize < 4 else dtype)


def _conjugate(name: str, x):
    return conj(_inexact(name, x))


def _one(name: str, kind: FftType, a, n, axis, norm):
    a = _inexact(name, a)
    axis = one_axis(f"fft.{name}", axis, aval_of(a).ndim)
    return _transformed(name, kind, a, None if n is None else [n], (axis,), norm)


def _several(name: str, kind: FftType, a, s, axes, norm):
    a = _inexact(name, a)
    ndim = aval_of(a).ndim
    if axes is None and s is not None:
        axes = range(ndim - len(s), ndim)
    places = axes_of(f"fft.{name}", None if axes is None else tuple(axes), ndim)
    if s is not None and len(s) != len(places):
        raise ArgumentError(
            f"fft.{name} with s={tuple(s)} and axes={places}",
            rule="there is one size for each axis",
        )
    return _transformed(name, kind, a, s, places, norm)


def _transformed(name: str, kind: FftType, a, s, axes: tuple[int, ...], norm):
    _check_norm(name, norm)
    aval = aval_of(a)
    real = kind is FftType.RFFT
    if real and dtypes.is_complex(aval.dtype):
        raise ArgumentError(
            f"fft.{name} of {aval.short()}",
            rule="it takes real numbers",
            fix="use the transform without r, or x.real",
        )
    if not axes:
        return a if real else convert(a, dtypes.to_complex(aval.dtype))
    others = [i for i in range(aval.ndim) if i not in axes]
    order = [*others, *axes]
    x = transpose(a if real else convert(a, dtypes.to_complex(aval.dtype)), order)
    lengths = _lengths(name, kind, [aval.shape[i] for i in axes], s)
    first = len(others)
    for i, n in enumerate(lengths):
        half = kind is FftType.IRFFT and i == len(lengths) - 1
        x = _resized(x, first + i, n // 2 + 1 if half else n)
    y = _scaled(_in_steps(kind, x, lengths), kind, prod(lengths), norm)
    return transpose(y, _inverse(order))


def _inverse(order: list[int]) -> list[int]:
    """The permutation that undoes one."""
    return sorted(range(len(order)), key=order.__getitem__)


def _lengths(name: str, kind: FftType, sizes: list[int], s) -> tuple[int, ...]:
    if s is not None:
        wanted = [size if n == -1 else n for n, size in zip(s, sizes, strict=True)]
    else:
        wanted = list(sizes)
        if kind is FftType.IRFFT:
            wanted[-1] = 2 * (sizes[-1] - 1)
    return tuple(_count(name, n) for n in wanted)


def _resized(x, axis: int, n: int):
    """The first `n` elements, filled up with zeros."""
    aval = aval_of(x)
    size = aval.shape[axis]
    if n <= size:
        return slice_in_dim(x, 0, n, axis=axis) if n < size else x
    config = [(0, 0, 0)] * aval.ndim
    config[axis] = (0, n - size, 0)
    return pad(x, zeros(ShapedArray((), aval.dtype)), config)


def _in_steps(kind: FftType, x, lengths: tuple[int, ...]):
    """As many axes at once as XLA takes; the real side comes first or last."""
    if len(lengths) <= LIMIT:
        return _fft(x, kind, lengths)
    ndim = aval_of(x).ndim
    inner, outer = lengths[-LIMIT:], lengths[:-LIMIT]
    rest = range(ndim - len(lengths), ndim - LIMIT)
    front = [i for i in range(ndim) if i not in rest]
    order = [*front, *rest]
    back = FftType.IFFT if kind in (FftType.IFFT, FftType.IRFFT) else FftType.FFT
    if kind is not FftType.IRFFT:
        x = _fft(x, kind, inner)
    x = transpose(_in_steps(back, transpose(x, order), outer), _inverse(order))
    return _fft(x, kind, inner) if kind is FftType.IRFFT else x


def _scaled(y, kind: FftType, count: int, norm: Norm):
    """XLA divides the inverse transforms by `count`."""
    inverse = kind in (FftType.IFFT, FftType.IRFFT)
    if norm == "ortho":
        factor = count**0.5 if inverse else count**-0.5
    elif norm == "forward":
        factor = float(count) if inverse else 1 / count
    else:
        return y
    return mul(y, scalar_like(y, factor))
