"""Functions of mathematics, elementwise: exponentials, angles, roots, rounding.

Integers and booleans are computed in floating point, as in JAX. Operands are arrays,
NumPy arrays or numbers, `x: t[*s]`; those of two operands broadcast.
"""

import math

import numpy as np

from pullback.api.arguments import own
from pullback.api.arrays.parts import by_parts
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ArgumentTypeError
from pullback.ops import hyperbolic, powers, transcendental
from pullback.ops.complex import abs as modulus, sign_p
from pullback.ops.convert import convert, stop_gradient
from pullback.ops.elementwise import (
    RoundingMethod,
    add,
    ceil_p,
    div,
    floor_p,
    mul,
    neg,
    round_p,
    scalar_like,
)
from pullback.ops.logic import bitwise_or, eq, lt, max, select
from pullback.ops.promote import (
    agree_inexact,
    as_operand,
    inexact,
    numeric_operands,
    unary,
)
from pullback.ops.shape import full

exp = unary("exp", transcendental.exp_p, "e to the `x`, elementwise.")
exp2 = unary("exp2", transcendental.exp2_p, "2 to the `x`, elementwise.")
expm1 = unary(
    "expm1", transcendental.expm1_p, "e to the `x` minus 1, exact near 0, elementwise."
)
log = unary("log", transcendental.log_p, "Natural logarithm of `x`, elementwise.")
log1p = unary("log1p", transcendental.log1p_p, "Logarithm of 1 + `x`, exact near 0.")
sin = unary("sin", transcendental.sin_p, "Sine of `x` in radians, elementwise.")
cos = unary("cos", transcendental.cos_p, "Cosine of `x` in radians, elementwise.")
tan = unary("tan", transcendental.tan_p, "Tangent of `x` in radians, elementwise.")
arcsin = unary("arcsin", hyperbolic.asin_p, "Angle in radians whose sine is `x`.")
arccos = unary("arccos", hyperbolic.acos_p, "Angle in radians whose cosine is `x`.")
arctan = unary("arctan", hyperbolic.atan_p, "Angle in radians whose tangent is `x`.")
sinh = unary("sinh", hyperbolic.sinh_p, "Hyperbolic sine of `x`, elementwise.")
cosh = unary("cosh", hyperbolic.cosh_p, "Hyperbolic cosine of `x`, elementwise.")
tanh = unary("tanh", transcendental.tanh_p, "Hyperbolic tangent of `x`, elementwise.")
arcsinh = unary("arcsinh", hyperbolic.asinh_p, "Inverse hyperbolic sine of `x`.")
arccosh = unary("arccosh", hyperbolic.acosh_p, "Inverse hyperbolic cosine of `x`.")
arctanh = unary("arctanh", hyperbolic.atanh_p, "Inverse hyperbolic tangent of `x`.")
sqrt = unary("sqrt", powers.sqrt_p, "Square root of `x`; NaN below zero, elementwise.")
cbrt = unary("cbrt", powers.cbrt_p, "Real cube root of `x`, elementwise.")
asin, acos, atan = arcsin, arccos, arctan
asinh, acosh, atanh = arcsinh, arccosh, arctanh


def arctan2(x1, x2, /):
    """Angle in radians of the point (`x2`, `x1`), from -pi to pi.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.arctan2(1.0, 0.0)
      Array(1.5707964, dtype=float32, weak_type=True)
    """
    return hyperbolic.atan2(*agree_inexact("arctan2", x1, x2))


atan2 = arctan2


def square(x, /):
    """`x * x`, elementwise; integers stay integers."""
    (x,) = numeric_operands("square", x)
    return powers.square(x)


def reciprocal(x, /):
    """`1 / x`, elementwise."""
    return powers.integer_pow(inexact("reciprocal", x), -1)


def _scaled(x, factor: float):
    """A complex or real array times a real number."""
    return mul(x, scalar_like(x, factor))


def strong(x, value: float):
    """The scalar `value` in the dtype of `x`, not weakly typed even if `x` is."""
    return np.asarray(value, aval_of(x).dtype)


def log2(x, /):
    """Logarithm of `x` to the base 2, elementwise."""
    x = transcendental.log(inexact("log2", x))
    if dtypes.is_complex(aval_of(x).dtype):
        return by_parts(lambda part: div(part, strong(part, math.log(2))), x)
    return div(x, strong(x, math.log(2)))


def log10(x, /):
    """Logarithm of `x` to the base 10, elementwise."""
    x = transcendental.log(inexact("log10", x))
    if dtypes.is_complex(aval_of(x).dtype):
        return by_parts(lambda part: mul(part, strong(part, 1 / math.log(10))), x)
    return mul(x, strong(x, 1 / math.log(10)))


def deg2rad(x, /):
    """Degrees as radians, elementwise."""
    return _scaled(inexact("deg2rad", x), math.pi / 180)


def rad2deg(x, /):
    """Radians as degrees, elementwise."""
    return _scaled(inexact("rad2deg", x), 180 / math.pi)


radians, degrees = deg2rad, rad2deg


def _rounding(name: str, x, function):
    x = as_operand(name, x)
    discrete = not dtypes.is_inexact(aval_of(x).dtype)
    return own(x) if discrete else function(x)


def floor(x, /):
    """Largest integer not above `x`, in the dtype of `x`, elementwise."""
    return _rounding("floor", x, floor_p.bind)


def ceil(x, /):
    """Smallest integer not below `x`, in the dtype of `x`, elementwise."""
    return _rounding("ceil", x, ceil_p.bind)


def toward_zero(x):
    """`x` without its fraction."""
    return select(lt(x, scalar_like(x, 0)), ceil_p.bind(x), floor_p.bind(x))


def trunc(x, /):
    """`x` without its fraction, in the dtype of `x`, elementwise.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.trunc(-1.7)
      Array(-1., dtype=float32, weak_type=True)
    """
    return _rounding("trunc", x, toward_zero)


def rint(x, /):
    """Nearest integer, halves to even, as a floating number, elementwise."""
    x = as_operand("rint", x)
    dtype = aval_of(x).dtype
    if dtypes.is_complex(dtype):
        return by_parts(rint, x)
    if not dtypes.is_float(dtype):
        return own(convert(x, dtypes.to_inexact(dtype)))
    return round_p.bind(x, rounding_method=RoundingMethod.TO_NEAREST_EVEN)


def fabs(x, /):
    """Absolute value as a floating number, elementwise; not of complex numbers."""
    x = inexact("fabs", x)
    if dtypes.is_complex(aval_of(x).dtype):
        raise ArgumentTypeError("fabs of complex numbers", fix="use abs")
    return modulus(x)


def sign(x, /):
    """-1, 0 or 1 by the sign of `x`; `x / abs(x)` of complex numbers."""
    return sign_p.bind(as_operand("sign", x))


def sinc(x, /):
    """`sin(pi x) / (pi x)`, elementwise; 1 at 0, with all derivatives right there."""
    angle = _scaled(inexact("sinc", x), math.pi)
    size = modulus(angle)
    small = lt(size, scalar_like(size, 0.05))
    one = full(aval_of(angle), 1)
    safe = select(small, one, angle)
    return select(small, _sinc_series(angle), div(transcendental.sin(safe), safe))


def _sinc_series(x):
    """1 - x^2/3! + x^4/5! - ..., by Horner's rule."""
    minus = neg(powers.square(x))
    total = scalar_like(x, 1 / math.factorial(11))
    for n in (9, 7, 5, 3, 1):
        total = add(mul(total, minus), scalar_like(x, 1 / math.factorial(n)))
    return total


def hypot(x1, x2, /):
    """`sqrt(x1**2 + x2**2)` without overflow, elementwise.

    Raises:
      ArgumentError: complex numbers.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.hypot(3.0, 4.0)
      Array(5., dtype=float32)
    """
    x, y = agree_inexact("hypot", x1, x2)
    if dtypes.is_complex(aval_of(x).dtype):
        raise ArgumentError(
            "hypot of complex numbers",
            rule="hypot is not well defined for complex-valued inputs",
            fix="take absolute values first",
        )
    infinite = scalar_like(x, math.inf)
    size = stop_gradient(own(max(modulus(x), modulus(y))))
    endless = bitwise_or(eq(modulus(x), infinite), eq(modulus(y), infinite))
    size = select(endless, full(aval_of(size), math.inf), size)
    trivial = bitwise_or(eq(size, scalar_like(size, 0)), endless)
    size_or_one = select(trivial, full(aval_of(size).strong(), 1), size)
    squares = add(
        powers.square(div(x, size_or_one)), powers.square(div(y, size_or_one))
    )
    safe = select(trivial, full(aval_of(size).strong(), 1), squares)
    return select(trivial, size, mul(size, powers.sqrt(safe)))


def logaddexp(x1, x2, /):
    """`log(exp(x1) + exp(x2))` without overflow, elementwise.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.logaddexp(1000.0, 0.0)
      Array(1000., dtype=float32, weak_type=True)
    """
    return transcendental.logaddexp(*agree_inexact("logaddexp", x1, x2))


def logaddexp2(x1, x2, /):
    """`log2(2**x1 + 2**x2)` without overflow, elementwise."""
    x, y = agree_inexact("logaddexp2", x1, x2)
    log_two = math.log(2)
    total = transcendental.logaddexp(_scaled(x, log_two), _scaled(y, log_two))
    return div(total, strong(total, log_two))
