"""Convolution and correlation of vectors in NumPy's form."""

from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ShapeError
from pullback.ops.complex import conj
from pullback.ops.convert import convert
from pullback.ops.convolution import conv_general_dilated
from pullback.ops.promote import as_operand, promote_inexact
from pullback.ops.shape import reshape
from pullback.ops.slicing import rev


def convolve(a, v, mode: str = "full", *, precision=None, preferred_element_type=None):
    """`sum(a[j] * v[k - j])` for every `k`.

    Args:
      a, v: vectors of one element or more.
      mode: "full": all `k`; "same": as many as the longer operand has; "valid": where
        both overlap entirely.
      precision: as for `matmul`.
      preferred_element_type: the dtype to accumulate in and to return.

    Raises:
      ShapeError: no vectors, or an empty one.
      ArgumentError: another mode.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.convolve(pnp.array([1.0, 2.0]), pnp.array([1.0, 10.0])).tolist()
      [1.0, 12.0, 20.0]
    """
    x, y = _vectors("convolve", a, v)
    if aval_of(x).size < aval_of(y).size:
        x, y = y, x
    return _windowed(
        "convolve", x, rev(y, (0,)), mode, precision, preferred_element_type
    )


def correlate(
    a, v, mode: str = "valid", *, precision=None, preferred_element_type=None
):
    """`sum(a[j + k] * conj(v[j]))` for every `k`; arguments as for `convolve`."""
    x, y = _vectors("correlate", a, v)
    y = conj(y) if dtypes.is_complex(aval_of(y).dtype) else y
    options = (precision, preferred_element_type)
    if aval_of(x).size >= aval_of(y).size:
        return _windowed("correlate", x, y, mode, *options)
    return rev(_windowed("correlate", y, x, mode, *options), (0,))


def _vectors(name: str, a, v):
    x, y = promote_inexact(*(as_operand(name, x) for x in (a, v)))
    avals = aval_of(x), aval_of(y)
    if any(z.ndim != 1 or not z.size for z in avals):
        raise ShapeError(
            f"{name} of {avals[0].short()} and {avals[1].short()}",
            rule="operands are vectors of at least one element",
        )
    return convert(x, avals[0].dtype), convert(y, avals[1].dtype)


def _windowed(name: str, x, y, mode: str, precision, dtype):
    """Products of the shorter `y` with windows of `x`."""
    n = aval_of(y).size
    match mode:
        case "valid":
            pads = (0, 0)
        case "same":
            pads = (n // 2, n - n // 2 - 1)
        case "full":
            pads = (n - 1, n - 1)
        case _:
            raise ArgumentError(
                f"{name} with mode={mode!r}",
                rule='the mode is "full", "same" or "valid"',
            )
    x, y = (reshape(z, (1, 1, aval_of(z).size)) for z in (x, y))
    out = conv_general_dilated(
        x, y, (1,), [pads], precision=precision, preferred_element_type=dtype
    )
    return reshape(out, (aval_of(out).size,))
