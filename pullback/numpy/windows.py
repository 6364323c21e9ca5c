"""Windows of signal processing, computed on the host in double precision."""

import operator

import numpy as np

from pullback.api.arrays.creation import asarray
from pullback.core import dtype as dtypes


def _window(values: np.ndarray):
    return asarray(values.astype(dtypes.default_float()))


def bartlett(M: int):
    """The triangular window of `M` points, zero at both ends."""
    return _window(np.bartlett(operator.index(M)))


def blackman(M: int):
    """The Blackman window of `M` points: three cosine terms."""
    return _window(np.blackman(operator.index(M)))


def hamming(M: int):
    """The Hamming window of `M` points: a raised cosine that ends at 0.08."""
    return _window(np.hamming(operator.index(M)))


def hanning(M: int):
    """The Hann window of `M` points: a raised cosine.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.hanning(3).tolist()
      [0.0, 1.0, 0.0]
    """
    return _window(np.hanning(operator.index(M)))


def kaiser(M: int, beta: float):
    """The Kaiser window of `M` points with a known shape parameter `beta`.

    Raises:
      ConcretizationTypeError: `beta` is traced.
    """
    return _window(np.kaiser(operator.index(M), float(beta)))
