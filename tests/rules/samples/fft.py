"""Samples of Fourier transforms."""

from pullback.core.errors import ArgumentError, DtypeError, ShapeError
from pullback.ops.fft import FftType
from tests.rules.sample import Bad, Sample, rand

COMPLEX = ("complex128", "complex64")
FLOAT = ("float64", "float32")


def by(kind: str, *lengths: int) -> dict:
    return {"fft_type": FftType[kind], "fft_lengths": lengths}


SAMPLES = {
    "fft": [
        Sample((rand(5),), by("FFT", 5), COMPLEX),
        Sample((rand(2, 8),), by("IFFT", 8), COMPLEX),
        Sample((rand(2, 3, 4),), by("FFT", 3, 4), COMPLEX),
        Sample((rand(2, 3, 2, 5),), by("IFFT", 3, 2, 5), COMPLEX),
        Sample((rand(1),), by("FFT", 1), COMPLEX),
        Sample((rand(0, 4),), by("FFT", 4), COMPLEX),
        Sample((rand(6),), by("RFFT", 6), FLOAT),
        Sample((rand(2, 7),), by("RFFT", 7), FLOAT),
        Sample((rand(2, 3, 4),), by("RFFT", 3, 4), FLOAT),
        Sample((rand(4, 3, 5),), by("RFFT", 4, 3, 5), FLOAT),
        Sample((rand(1),), by("RFFT", 1), FLOAT),
        Sample((rand(4),), by("IRFFT", 6), COMPLEX),
        Sample((rand(2, 4),), by("IRFFT", 7), COMPLEX),
        Sample((rand(2, 3, 3),), by("IRFFT", 3, 4), COMPLEX),
        Sample((rand(4, 3, 3),), by("IRFFT", 4, 3, 5), COMPLEX),
        Sample((rand(1),), by("IRFFT", 1), COMPLEX),
    ]
}
BAD = {
    "fft": [
        Bad((rand(5),), by("FFT", 5), DtypeError, "RFFT takes float"),
        Bad((rand(5),), by("RFFT", 4), ShapeError, "the sizes"),
        Bad((rand(2, 2, 2, 2),), by("RFFT", 2, 2, 2, 2), ArgumentError, "at once"),
    ]
}
