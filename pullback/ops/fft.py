"""Fourier family: discrete Fourier transforms over the last axes, all linear."""

from collections.abc import Sequence
from enum import IntEnum
from math import prod
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Linear
from pullback.core.errors import ArgumentError, DtypeError, ShapeError
from pullback.core.primitive import Primitive
from pullback.ops.complex import conj
from pullback.ops.elementwise import mul
from pullback.ops.nary import quiet
from pullback.ops.promote import broadcast_to
from pullback.ops.shape import moveaxis

LIMIT = 3  # axes that XLA transforms at once


class FftType(IntEnum):
    """Complex or real, forth or back."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


def fft(x, fft_type: Any, fft_lengths: Sequence[int]):
    """Discrete Fourier transform over the last `len(fft_lengths)` axes.

    Args:
      x: `[*b, *s]`, complex for FFT, IFFT and IRFFT, real for RFFT.
      fft_type: a `FftType` or its name.
      fft_lengths: sizes of the transformed axes, of the real side where they differ.

    Returns:
      RFFT: complex with `n // 2 + 1` elements in the last axis. IRFFT: real with `n`.
      The inverses are divided by the number of elements.

    Raises:
      ShapeError: the lengths are not those of the axes.
      DtypeError: real where complex is needed, or the reverse.
      ArgumentError: an unknown type, or more than three axes.

    Example:
      >>> from pullback import lax, numpy as pnp
      >>> lax.fft(pnp.ones(4), "RFFT", (4,)).tolist()
      [(4+0j), 0j, 0j]

    Source: StableHLO `fft`.
    """
    kind = fft_type.upper() if isinstance(fft_type, str) else fft_type
    names = list(FftType.__members__)
    if kind not in names and kind not in range(4):
        raise ArgumentError(
            f"fft of type {fft_type!r}",
            rule=f"it is one of {', '.join(names)}",
        )
    kind = FftType[kind] if isinstance(kind, str) else FftType(kind)
    return fft_p.bind(x, fft_type=kind, fft_lengths=tuple(map(int, fft_lengths)))


# ---- rules ----


def _half(lengths: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of the spectrum of real numbers."""
    return (*lengths[:-1], lengths[-1] // 2 + 1)


def _abstract(x, *, fft_type, fft_lengths):
    count = len(fft_lengths)
    what = f"fft of {x.short()} of type {fft_type.name} with lengths {fft_lengths}"
    if not 1 <= count <= LIMIT:
        raise ArgumentError(what, rule=f"one to {LIMIT} axes are transformed at once")
    real = fft_type is FftType.RFFT
    fits = dtypes.is_float if real else dtypes.is_complex
    if not fits(x.dtype) or x.dtype.itemsize < 4:
        raise DtypeError(
            what,
            rule="RFFT takes float32 or float64, the others complex numbers",
            fix="convert with astype(...), or use pullback.numpy.fft",
        )
    back = fft_type is FftType.IRFFT
    given = _half(fft_lengths) if back else fft_lengths
    if x.shape[-count:] != given or x.ndim < count or not min(fft_lengths):
        raise ShapeError(
            what, rule=f"the last axes have the sizes {given}, none of them 0"
        )
    sizes = _half(fft_lengths) if real else fft_lengths
    dtype = dtypes.to_complex(x.dtype) if real else x.dtype
    dtype = dtypes.to_real(dtype) if back else dtype
    return ShapedArray((*x.shape[:-count], *sizes), dtype)


def _reference(x, *, fft_type, fft_lengths):
    function = {
        FftType.FFT: np.fft.fftn,
        FftType.IFFT: np.fft.ifftn,
        FftType.RFFT: np.fft.rfftn,
        FftType.IRFFT: np.fft.irfftn,
    }[fft_type]
    return function(x, fft_lengths, range(-len(fft_lengths), 0))


def _lower(b, out, x, *, fft_type, fft_lengths):
    if not out.size:
        return b.full(0, out)
    return b.fft(out, x, fft_type.name, fft_lengths)


def _weights(length: int, dtype) -> np.ndarray:
    """How often each element of half a spectrum stands in the whole one."""
    weights = np.full(length // 2 + 1, 2)
    weights[0] = 1
    if length % 2 == 0:
        weights[-1] = 1
    return weights.astype(dtype)


def _transpose(ct, x, *, fft_type, fft_lengths):
    """The matrix of the transform is symmetric; halves of spectra need weights."""
    if fft_type in (FftType.FFT, FftType.IFFT):
        return fft_p.bind(ct, fft_type=fft_type, fft_lengths=fft_lengths)
    aval, scale = aval_of(ct), prod(fft_lengths)
    weights = _weights(fft_lengths[-1], dtypes.to_complex(aval.dtype))
    if fft_type is FftType.RFFT:
        ct = mul(conj(ct), broadcast_to(scale / weights, aval.shape))
        return fft_p.bind(ct, fft_type=FftType.IRFFT, fft_lengths=fft_lengths)
    spectrum = fft_p.bind(ct, fft_type=FftType.RFFT, fft_lengths=fft_lengths)
    return mul(conj(spectrum), broadcast_to(weights / scale, aval_of(spectrum).shape))


def _batch(n, xs, ds, **params):
    return fft_p.bind(moveaxis(xs[0], ds[0], 0) if ds[0] else xs[0], **params), 0


fft_p = Primitive(
    "fft",
    abstract=_abstract,
    reference=quiet(_reference),
    lower=_lower,
    derivative=Linear((_transpose,)),
    batch=_batch,
)
