"""Complex family: parts, conjugates, sizes and signs."""

from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.derivative import Linear, Smooth
from pullback.ops.elementwise import div, mul, neg, scalar_like
from pullback.ops.logic import eq, ge, select_n
from pullback.ops.nary import nary, unbroadcast
from pullback.ops.shape import full


def real(x):
    """The real part of a complex array. Source: StableHLO `real`."""
    return real_p.bind(x)


def imag(x):
    """The imaginary part of a complex array. Source: StableHLO `imag`."""
    return imag_p.bind(x)


def complex(x, y):
    """`x + i y` of real arrays. Source: StableHLO `complex`."""
    return complex_p.bind(x, y)


def conj(x):
    """The complex conjugate; of a real array, the same numbers as complex ones."""
    return conj_p.bind(x, input_dtype=aval_of(x).dtype)


def abs(x):
    """The absolute value; of complex numbers the modulus. Source: StableHLO `abs`.

    At 0 the derivative is 1 for real numbers and 0 for complex ones.
    """
    return abs_p.bind(x)


def sign(x):
    """-1, 0 or 1 by the sign of `x`; `x / abs(x)` of complex numbers.

    Source: StableHLO `sign`.
    """
    return sign_p.bind(x)


# ---- rules; the cotangent of t -> f(t) is ct * f, not conjugated, as in JAX ----


def _of_real(ct):
    return complex(ct, scalar_like(ct, 0))


def _conj_transpose(ct, x, *, input_dtype):
    if dtypes.is_complex(input_dtype):
        return conj(ct)
    return real(ct)


def _conj_emit(b, x, *, input_dtype):
    if dtypes.is_complex(input_dtype):
        return b.complex(b.real(x), b.negate(b.imag(x)))
    return b.complex(x, b.full(0, b.avals_in[0]))


def _unit(x, size):
    """`x / size`, and 0 where `size` is 0; `size` is real."""
    safe = select_n(eq(size, scalar_like(size, 0)), size, full(aval_of(size), 1))
    return complex(div(real(x), safe), div(imag(x), safe))


def _abs_tangent(t, out, x):
    if dtypes.is_complex(aval_of(x).dtype):
        return real(mul(t, conj(_unit(x, out))))
    return select_n(ge(x, scalar_like(x, 0)), neg(t), t)


def _sign_tangent(t, out, x):
    """The part of t across the direction of a complex x, divided by its size."""
    if not dtypes.is_complex(aval_of(x).dtype):
        return None
    across = imag(mul(conj(out), _unit(t, abs(x))))
    return mul(out, complex(scalar_like(across, 0), across))


def _sign_reference(x):
    if not dtypes.is_complex(x.dtype):
        return np.where(x == 0, x, np.sign(x))
    size = np.abs(x)
    return np.where(size == 0, 0, x / np.where(size == 0, 1, size))


def _sign_emit(b, x):
    aval = b.avals_in[0]
    if aval.dtype not in dtypes.UNSIGNED:
        return b.sign(x)
    return b.minimum(x, b.full(1, aval))


def _complex_reference(x, y):
    """By parts: x + 1j * y would make NaN of infinities."""
    shape = np.broadcast_shapes(x.shape, y.shape)
    out: Any = np.empty(shape, np.complex64 if x.dtype.itemsize == 4 else np.complex128)
    out.real, out.imag = x, y
    return out


def _abs_emit(b, x):
    return x if b.avals_in[0].dtype in dtypes.UNSIGNED else b.abs(x)


real_p = nary(
    "real",
    accepts=("complex",),
    reference=np.real,
    emit=lambda b, x: b.real(x),
    derivative=Linear((lambda ct, x: _of_real(ct),)),
    result=dtypes.to_real,
)

imag_p = nary(
    "imag",
    accepts=("complex",),
    reference=np.imag,
    emit=lambda b, x: b.imag(x),
    derivative=Linear((lambda ct, x: complex(scalar_like(ct, 0), neg(ct)),)),
    result=dtypes.to_real,
)

complex_p = nary(
    "complex",
    accepts=("float",),
    reference=_complex_reference,
    emit=lambda b, x, y: b.complex(x, y),
    derivative=Linear(
        (
            lambda ct, x, y: unbroadcast(real(ct), x),
            lambda ct, x, y: unbroadcast(neg(imag(ct)), y),
        )
    ),
    result=dtypes.to_complex,
)

conj_p = nary(
    "conj",
    accepts=("float", "complex"),
    reference=lambda x, *, input_dtype: np.conj(x),
    emit=_conj_emit,
    derivative=Linear((_conj_transpose,)),
    result=dtypes.to_complex,
)

abs_p = nary(
    "abs",
    accepts=("float", "complex", "int"),
    reference=np.abs,
    emit=_abs_emit,
    derivative=Smooth((_abs_tangent,)),
    result=dtypes.to_real,
)

sign_p = nary(
    "sign",
    accepts=("float", "complex", "int"),
    reference=_sign_reference,
    emit=_sign_emit,
    derivative=Smooth((_sign_tangent,)),
)
