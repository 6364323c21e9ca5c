"""Power family: integer and real powers, squares and roots."""

from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Smooth
from pullback.core.errors import DtypeError
from pullback.core.primitive import Primitive
from pullback.ops.convert import convert
from pullback.ops.elementwise import div, mul, scalar_like, sub
from pullback.ops.logic import eq, select_n
from pullback.ops.nary import (
    INEXACT,
    NUMERIC,
    align,
    check_kind,
    full_operands,
    joint_shape,
    nary,
    quiet,
)
from pullback.ops.shape import full
from pullback.ops.transcendental import log


def integer_pow(x, y: int):
    """`x` to the power `y`, an int, by repeated squaring.

    Raises:
      DtypeError: `x` is an integer array and `y` is negative.
    """
    return integer_pow_p.bind(x, y=int(y))


def pow(x, y):
    """`x` to the power `y`, elementwise; `y` has the dtype of `x` or is an integer.

    Source: StableHLO `power`.
    """
    return pow_p.bind(x, y)


def square(x):
    """`x * x`, elementwise."""
    return square_p.bind(x)


def sqrt(x):
    """The square root, elementwise; NaN below zero. Source: StableHLO `sqrt`."""
    return sqrt_p.bind(x)


def rsqrt(x):
    """`1 / sqrt(x)`, elementwise. Source: StableHLO `rsqrt`."""
    return rsqrt_p.bind(x)


def cbrt(x):
    """The real cube root, elementwise. Source: StableHLO `cbrt`."""
    return cbrt_p.bind(x)


# ---- integer_pow ----


def _by_squaring(x, n: int, multiply) -> Any:
    """`x` to the power n >= 1 in about 2 log2(n) multiplications."""
    power: Any = x
    result: Any = None
    while True:
        if n & 1:
            result = power if result is None else multiply(result, power)
        n >>= 1
        if not n:
            return result
        power = multiply(power, power)


def _integer_pow_reference(x, *, y):
    one = np.ones_like(x)
    if y == 0:
        return one
    power = _by_squaring(x, abs(y), np.multiply)
    return power if y > 0 else np.divide(one, power)


def _integer_pow_emit(b, x, *, y):
    aval = b.avals_in[0]
    if y == 0:
        return b.full(1, aval)
    power = _by_squaring(x, abs(y), b.multiply)
    return power if y > 0 else b.divide(b.full(1, aval), power)


def _integer_pow_tangent(t, out, x, *, y):
    if y == 0:
        return None
    if y == 1:
        return t
    slope = x if y == 2 else integer_pow(x, y - 1)
    return mul(t, mul(scalar_like(x, y), slope))


def _check_exponent(x, y: int) -> None:
    if y < 0 and dtypes.is_integer(x.dtype):
        raise DtypeError(
            f"integer_pow of {x.short()} to the power {y}",
            rule="integers cannot be raised to negative powers",
            fix="convert the base to a floating type",
        )


integer_pow_p = nary(
    "integer_pow",
    accepts=NUMERIC,
    reference=_integer_pow_reference,
    emit=_integer_pow_emit,
    derivative=Smooth((_integer_pow_tangent,)),
    check=_check_exponent,
)


# ---- pow ----


def _pow_abstract(x, y):
    check_kind("pow", x.dtype, INEXACT)
    if y.dtype != x.dtype and not dtypes.is_integer(y.dtype):
        raise DtypeError(
            f"pow of {x.short()} and {y.short()}",
            rule="the exponent has the dtype of the base, or an integer dtype",
            fix="convert one of them, or use pullback.numpy.power",
        )
    weak = x.weak_type and y.weak_type
    return ShapedArray(joint_shape("pow", (x, y)), x.dtype, weak)


def _pow_lower(b, out, x, y):
    x, y = full_operands(b, out, (x, y))
    if b.avals_in[1].dtype != out.dtype:
        y = b.convert(out, y)
    return b.power(x, y)


def _pow_tangent_x(t, out, x, y):
    """t y x^(y-1), and 0 where y is 0 whatever x is."""
    y = convert(y, aval_of(out).dtype)
    zero = eq(y, scalar_like(out, 0))
    less = sub(y, scalar_like(out, 1))
    less = select_n(zero, less, full(aval_of(less), 0))
    return mul(t, mul(y, pow(x, less)))


def _pow_tangent_y(t, out, x, y):
    """t x^y log(x), and 0 where x is 0."""
    safe = select_n(eq(x, scalar_like(x, 0)), x, full(aval_of(x), 1))
    return mul(t, mul(log(safe), out))


def _pow_batch(n, xs, ds):
    xs, d = align(n, xs, ds)
    return pow_p.bind(*xs), d


pow_p = Primitive(
    "pow",
    abstract=_pow_abstract,
    reference=quiet(lambda x, y: np.power(x, np.asarray(y).astype(x.dtype))),
    lower=_pow_lower,
    derivative=Smooth((_pow_tangent_x, _pow_tangent_y)),
    batch=_pow_batch,
)


# ---- roots ----


def _rsqrt_reference(x):
    return np.divide(np.ones_like(x), np.sqrt(x))


def _cbrt_tangent(t, out, x):
    return div(t, mul(scalar_like(x, 3), square(out)))


square_p = nary(
    "square",
    accepts=NUMERIC,
    reference=np.square,
    emit=lambda b, x: b.multiply(x, x),
    derivative=Smooth((lambda t, out, x: mul(t, mul(scalar_like(x, 2), x)),)),
)

sqrt_p = nary(
    "sqrt",
    accepts=INEXACT,
    reference=np.sqrt,
    emit=lambda b, x: b.sqrt(x),
    derivative=Smooth((lambda t, out, x: mul(t, div(scalar_like(x, 0.5), out)),)),
)

rsqrt_p = nary(
    "rsqrt",
    accepts=INEXACT,
    reference=_rsqrt_reference,
    emit=lambda b, x: b.rsqrt(x),
    derivative=Smooth(
        (lambda t, out, x: mul(t, mul(scalar_like(x, -0.5), div(out, x))),)
    ),
)

cbrt_p = nary(
    "cbrt",
    accepts=("float",),
    reference=np.cbrt,
    emit=lambda b, x: b.cbrt(x),
    derivative=Smooth((_cbrt_tangent,)),
)
