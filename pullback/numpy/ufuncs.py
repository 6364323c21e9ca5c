"""Elementwise functions about the form of numbers: finite, signs, bits, nearness.

Operands are arrays, NumPy arrays or numbers, `x: t[*s]`; those of two broadcast.
"""

import math
from collections.abc import Sequence
from typing import Any

from pullback.api.arguments import own
from pullback.api.arrays.comparisons import bitwise_and, bitwise_or, greater
from pullback.api.arrays.parts import by_parts, imag, real, where
from pullback.api.arrays.ufuncs import one_for_zero
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.dtype_info import finfo
from pullback.core.errors import ArgumentError, ArgumentTypeError
from pullback.numpy.mathematics import rad2deg, strong, toward_zero
from pullback.ops import logic
from pullback.ops.bits import population_count
from pullback.ops.complex import abs as modulus
from pullback.ops.convert import bitcast_convert_type, convert
from pullback.ops.elementwise import (
    add,
    is_finite,
    mul,
    neg,
    nextafter_p,
    rem,
    scalar_like,
    sub,
)
from pullback.ops.hyperbolic import atan2
from pullback.ops.promote import (
    agree,
    agree_inexact,
    as_operand,
    inexact,
    inexact_operands,
    numeric_operands,
)
from pullback.ops.shape import full

SAME_WIDTH = {2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64, 1: dtypes.int8}


def _answer(x, value: bool):
    """An array of the shape of `x` with every element `value`."""
    return own(full(aval_of(x).update(dtype=dtypes.bool_, weak_type=False), value))


def isfinite(x, /):
    """Whether an element is neither infinite nor NaN.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.isfinite(pnp.array([1.0, pnp.inf, pnp.nan]))
      Array([ True, False, False], dtype=bool)
    """
    x = as_operand("isfinite", x)
    dtype = aval_of(x).dtype
    if dtypes.is_complex(dtype):
        return bitwise_and(is_finite(real(x)), is_finite(imag(x)))
    return is_finite(x) if dtypes.is_float(dtype) else _answer(x, True)


def isinf(x, /):
    """Whether an element is infinite; of complex numbers, whether a part is."""
    x = as_operand("isinf", x)
    dtype = aval_of(x).dtype
    if dtypes.is_complex(dtype):
        return bitwise_or(isinf(real(x)), isinf(imag(x)))
    if not dtypes.is_float(dtype):
        return _answer(x, False)
    return logic.eq(modulus(x), scalar_like(x, math.inf))


def isnan(x, /):
    """Whether an element is NaN."""
    x = as_operand("isnan", x)
    return logic.ne(x, x)


def _is_infinity(name: str, x, value: float):
    x = as_operand(name, x)
    dtype = aval_of(x).dtype
    if dtypes.is_complex(dtype):
        raise ArgumentError(
            f"{name} of complex numbers",
            rule="isposinf and isneginf are not well defined for complex types",
            fix="ask about the real or the imaginary part",
        )
    if not dtypes.is_float(dtype):
        return _answer(x, False)
    return logic.eq(x, scalar_like(x, value))


def isposinf(x, /, out: None = None):
    """Whether an element is positive infinity."""
    return _is_infinity("isposinf", x, math.inf)


def isneginf(x, /, out: None = None):
    """Whether an element is negative infinity."""
    return _is_infinity("isneginf", x, -math.inf)


def isreal(x, /):
    """Whether an element has no imaginary part."""
    part = imag(x)
    return logic.eq(part, scalar_like(part, 0))


def iscomplex(x, /):
    """Whether an element has an imaginary part."""
    part = imag(x)
    return logic.ne(part, scalar_like(part, 0))


def signbit(x, /):
    """Whether the sign is negative, of -0.0 too.

    Raises:
      ArgumentError: complex numbers.
    """
    x = as_operand("signbit", x)
    dtype = aval_of(x).dtype
    if dtypes.is_complex(dtype):
        raise ArgumentError("signbit of complex numbers", fix="take a part first")
    if dtypes.is_bool(dtype) or dtype in dtypes.UNSIGNED:
        return _answer(x, False)
    if dtypes.is_float(dtype):
        x = bitcast_convert_type(x, SAME_WIDTH[dtype.itemsize])
    return logic.lt(x, scalar_like(x, 0))


def copysign(x1, x2, /):
    """`x1` with the signs of `x2`; not of complex numbers."""
    x, y = agree_inexact("copysign", x1, x2)
    if dtypes.is_complex(aval_of(x).dtype):
        raise ArgumentTypeError("copysign of complex-valued inputs")
    return where(logic.ne(signbit(x), signbit(y)), neg(x), x)


def nextafter(x, y, /):
    """The number next to `x` on the way to `y`."""
    return nextafter_p.bind(*agree_inexact("nextafter", x, y))


def fmax(x1, x2, /):
    """The larger of `x1` and `x2`, and the other one where one is NaN."""
    x, y, _ = agree("fmax", x1, x2)
    return where(bitwise_or(greater(x, y), logic.ne(y, y)), x, y)


def fmin(x1, x2, /):
    """The smaller of `x1` and `x2`, and the other one where one is NaN."""
    x, y, _ = agree("fmin", x1, x2)
    return where(bitwise_or(greater(y, x), logic.ne(y, y)), x, y)


def fmod(x1, x2, /):
    """What `x1 / x2` leaves, with the sign of `x1`; 0 for integers if `x2` is 0."""
    x, y = numeric_operands("fmod", x1, x2)
    if dtypes.is_integer(aval_of(x).dtype):
        y = one_for_zero(y)
    return rem(x, y)


def modf(x, /, out: None = None):
    """The fraction and the whole part of `x`, both with its sign."""
    x = own(inexact("modf", x))
    whole = toward_zero(x)
    return sub(x, whole), whole


def heaviside(x1, x2, /):
    """0 where `x1 < 0`, 1 where `x1 > 0`, `x2` where it is 0.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.heaviside(pnp.array([-1.0, 0.0, 2.0]), 0.5)
      Array([0. , 0.5, 1. ], dtype=float32)
    """
    x, y = inexact_operands("heaviside", x1, x2)
    constant = scalar_like if aval_of(x1).weak_type else strong
    zero, one = constant(x, 0), constant(x, 1)
    known = where(logic.lt(x, zero), zero, where(logic.gt(x, zero), one, y))
    return where(logic.ne(x, x), x, known)


def angle(z, deg: bool = False):
    """The argument of complex numbers in radians, or degrees if `deg`."""
    z = own(as_operand("angle", z))
    y = imag(z) if dtypes.is_complex(z.aval.dtype) else strong(z, 0)
    y, x = agree_inexact("angle", y, real(z))
    out = atan2(y, x)
    return rad2deg(out) if deg else out


def nan_to_num(x, copy: bool = True, nan=0.0, posinf=None, neginf=None):
    """`x` with NaN and infinities replaced by numbers.

    `nan`, `posinf`, `neginf`: the replacements (None: the largest and the least finite
    number of the dtype).

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.nan_to_num(pnp.array([pnp.nan, 1.0]), nan=-1.0)
      Array([-1.,  1.], dtype=float32)
    """
    x = own(as_operand("nan_to_num", x))
    dtype = x.aval.dtype
    if not dtypes.is_inexact(dtype):
        return x
    if dtypes.is_complex(dtype):
        return by_parts(lambda part: nan_to_num(part, copy, nan, posinf, neginf), x)
    info = finfo(dtype)
    largest = info.max if posinf is None else posinf
    least = info.min if neginf is None else neginf
    values = (convert(v, dtype) for v in (nan, largest, least))
    tests = (isnan(x), isposinf(x), isneginf(x))
    for test, value in zip(tests, values, strict=True):
        x = where(test, value, x)
    return x


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan: bool = False):
    """Whether `|a - b| <= atol + rtol |b|`; infinities are close to themselves.

    `equal_nan`: whether NaN is close to NaN.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.isclose(1.0, 1.000001)
      Array(True, dtype=bool)
    """
    x, y = agree_inexact("isclose", a, b)
    size = modulus(y)
    rtol, atol = (convert(v, aval_of(size).dtype) for v in (rtol, atol))
    near = logic.le(modulus(sub(x, y)), add(atol, mul(rtol, size)))
    out = bitwise_or(logic.eq(x, y), bitwise_and(isfinite(y), near))
    return bitwise_or(out, bitwise_and(isnan(x), isnan(y))) if equal_nan else out


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan: bool = False):
    """Whether all elements of two arrays are close; arguments as for `isclose`.

    Example:
      >>> import pullback.numpy as pnp
      >>> bool(pnp.allclose(pnp.array([1.0, 2.0]), pnp.array([1.0, 2.0000001])))
      True
    """
    return isclose(a, b, rtol, atol, equal_nan).all()


def bitwise_count(x, /):
    """The number of bits set in the absolute value, as uint8."""
    (x,) = numeric_operands("bitwise_count", x)
    if aval_of(x).dtype not in dtypes.UNSIGNED:
        x = modulus(x)
    return convert(population_count(x), dtypes.uint8)


def select(condlist: Sequence, choicelist: Sequence, default: Any = 0):
    """The elements of the first choice whose condition holds, else `default`.

    Raises:
      ArgumentError: not as many conditions as choices, or none.

    Example:
      >>> import pullback.numpy as pnp
      >>> x = pnp.arange(4)
      >>> pnp.select([x < 1, x > 2], [x - 1, x * x], 7)
      Array([-1,  7,  7,  9], dtype=int32)
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ArgumentError(
            f"select of {len(condlist)} conditions and {len(choicelist)} choices",
            rule="condlist must have length equal to choicelist, at least 1",
        )
    out = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        out = where(condition, choice, out)
    return out


# ---- binary exponents ----


def _layout(dtype) -> tuple[int, int]:
    """Bits of the mantissa, and the bias of the exponent."""
    return finfo(dtype).nmant, 1 - int(finfo(dtype).minexp)


def frexp(x, /):
    """Mantissas in [0.5, 1) and exponents with `x = m * 2**e`, elementwise.

    Raises:
      ArgumentTypeError: complex numbers.
    """
    x = own(inexact("frexp", x))
    dtype = x.aval.dtype
    if dtypes.is_complex(dtype):
        raise ArgumentTypeError("frexp of complex-valued inputs")
    if dtype.itemsize < 4:
        mantissa, exponent = frexp(convert(x, dtypes.float32))
        return convert(mantissa, dtype), exponent
    bits, bias = _layout(dtype)
    word = SAME_WIDTH[dtype.itemsize]
    tiny = logic.lt(modulus(x), scalar_like(x, float(finfo(dtype).tiny)))
    lifted = where(tiny, mul(x, scalar_like(x, 2.0**bits)), x)
    raw = bitcast_convert_type(lifted, word)
    field = bitwise_and(raw >> bits, 2 * bias + 1)
    exponent = field - (bias - 1) - where(tiny, bits, 0)
    plain = bitwise_and(isfinite(x), logic.ne(x, scalar_like(x, 0)))
    exponent = where(plain, exponent, 0)
    return ldexp(x, -exponent), convert(exponent, dtypes.int32)


def ldexp(x1, x2, /):
    """`x1 * 2**x2`, exactly, elementwise.

    Raises:
      ArgumentError: `x2` is not an integer array, or `x1` is complex.
    """
    x, n = own(inexact("ldexp", x1)), own(as_operand("ldexp", x2))
    dtype = x.aval.dtype
    discrete = dtypes.is_integer(n.aval.dtype) or dtypes.is_bool(n.aval.dtype)
    if dtypes.is_complex(dtype) or not discrete:
        raise ArgumentError(
            f"ldexp of {x.aval.short()} and {n.aval.short()}",
            rule="ldexp takes a real array and an integer array",
        )
    if dtype.itemsize < 4:
        return convert(ldexp(convert(x, dtypes.float32), n), dtype)
    bits, bias = _layout(dtype)
    n = convert(n, SAME_WIDTH[dtype.itemsize])
    for _ in range(3):
        step = logic.clamp(scalar_like(n, 1 - bias), n, scalar_like(n, bias))
        factor = bitcast_convert_type((step + bias) << bits, dtype)
        x, n = x * factor, n - step
    return x
