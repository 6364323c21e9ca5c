"""Arithmetic family: ring operations, division, rounding and neighbours."""

from enum import IntEnum

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.derivative import Linear, Multilinear, NotDifferentiable, Smooth
from pullback.ops.nary import NUMERIC, REAL, nary, unbroadcast
from pullback.ops.shape import broadcast_in_dim


class RoundingMethod(IntEnum):
    """Where `round` takes a value halfway between two integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


def neg(x):
    """`-x`, elementwise. Source: StableHLO `negate`."""
    return neg_p.bind(x)


def add(x, y):
    """`x + y`, elementwise, of equal shapes and dtypes. Source: StableHLO `add`."""
    return add_p.bind(x, y)


def add_any(x, y):
    """The sum of two cotangents of one value."""
    return add_any_p.bind(x, y)


def sub(x, y):
    """`x - y`, of equal shapes and dtypes. Source: StableHLO `subtract`."""
    return sub_p.bind(x, y)


def mul(x, y):
    """`x * y`, of equal shapes and dtypes. Source: StableHLO `multiply`."""
    return mul_p.bind(x, y)


def div(x, y):
    """`x / y`, elementwise; integers are divided towards zero, by 0 to all bits set.

    Source: StableHLO `divide`.
    """
    return div_p.bind(x, y)


def rem(x, y):
    """The remainder of `x / y` with the sign of `x`; for integers `x` where `y` is 0.

    Source: StableHLO `remainder`.
    """
    return rem_p.bind(x, y)


def floor(x):
    """The largest integer not above `x`, elementwise. Source: StableHLO `floor`."""
    return floor_p.bind(x)


def ceil(x):
    """The smallest integer not below `x`, elementwise. Source: StableHLO `ceil`."""
    return ceil_p.bind(x)


def round(x, rounding_method=RoundingMethod.AWAY_FROM_ZERO):
    """The nearest integer, elementwise.

    `rounding_method`: where halves go, `RoundingMethod.AWAY_FROM_ZERO` or
    `TO_NEAREST_EVEN`.

    Source: StableHLO `round_nearest_afz`, `round_nearest_even`.
    """
    return round_p.bind(x, rounding_method=RoundingMethod(rounding_method))


def is_finite(x):
    """Whether an element is neither infinite nor NaN. Source: StableHLO `is_finite`."""
    return is_finite_p.bind(x)


def nextafter(x, y):
    """The number next to `x` on the way to `y`. Source: CHLO `next_after`."""
    return nextafter_p.bind(x, y)


def reciprocal(x):
    """`1 / x`, elementwise."""
    return div_p.bind(scalar_like(x, 1), x)


def scalar_like(x, value):
    """The scalar `value` with the dtype of `x`, to be combined with it elementwise."""
    aval = aval_of(x)
    if aval.weak_type:
        return dtypes.scalar_type_of(aval.dtype)(value)
    return np.asarray(value, dtype=aval.dtype)


# ---- rules ----


def spread(t, out):
    """A tangent of a rank-0 operand, repeated to the result's shape."""
    shape = aval_of(out).shape
    if aval_of(t).shape == shape:
        return t
    return broadcast_in_dim(t, shape, ())


def no_tangent(t, *values, **params):
    """The tangent of a function that is constant where it is smooth: zero."""
    return


def _ct_x(ct, x, y):
    return unbroadcast(ct, x)


def _ct_y(ct, x, y):
    return unbroadcast(ct, y)


def _integer_div(x, y):
    """Towards zero, as StableHLO; all bits set for a zero divisor."""
    zero = y == 0
    safe = np.where(zero, 1, y).astype(y.dtype)
    floored = np.floor_divide(x, safe)
    inexact = (np.multiply(floored, safe) != x) & ((x < 0) != (safe < 0))
    quotient = floored + inexact.astype(x.dtype)
    return np.where(zero, np.invert(np.zeros_like(y)), quotient)


def _div_reference(x, y):
    if dtypes.is_integer(x.dtype):
        return _integer_div(*np.broadcast_arrays(x, y))
    return np.divide(x, y)


def _rem_reference(x, y):
    if not dtypes.is_integer(x.dtype):
        return np.fmod(x, y)
    return np.subtract(x, np.multiply(_div_reference(x, y), y), dtype=x.dtype)


def _rem_tangent(t, out, x, y):
    whole = round(div(sub(x, out), y), RoundingMethod.TO_NEAREST_EVEN)
    return neg(mul(t, whole))


def _round_reference(x, *, rounding_method):
    if rounding_method == RoundingMethod.TO_NEAREST_EVEN:
        return np.rint(x)
    whole = np.trunc(x)
    half = np.abs(x - whole) >= np.asarray(0.5, x.dtype)
    return np.where(half, whole + np.copysign(1, x).astype(x.dtype), whole)


def _round_emit(b, x, *, rounding_method):
    if rounding_method == RoundingMethod.TO_NEAREST_EVEN:
        return b.round_nearest_even(x)
    return b.round_nearest_afz(x)


# ---- primitives ----

neg_p = nary(
    "neg",
    accepts=NUMERIC,
    reference=np.negative,
    emit=lambda b, x: b.negate(x),
    derivative=Linear((lambda ct, x: neg(ct),)),
)

add_p = nary(
    "add",
    accepts=NUMERIC,
    reference=np.add,
    emit=lambda b, x, y: b.add(x, y),
    derivative=Smooth(
        tangent=(
            lambda t, out, x, y: spread(t, out),
            lambda t, out, x, y: spread(t, out),
        ),
        transpose={0: _ct_x, 1: _ct_y},
    ),
)

add_any_p = nary(
    "add_any",
    accepts=NUMERIC,
    reference=np.add,
    emit=lambda b, x, y: b.add(x, y),
    derivative=Smooth(
        tangent=(lambda t, out, x, y: t, lambda t, out, x, y: t),
        transpose={0: lambda ct, x, y: ct, 1: lambda ct, x, y: ct},
    ),
)

sub_p = nary(
    "sub",
    accepts=NUMERIC,
    reference=np.subtract,
    emit=lambda b, x, y: b.subtract(x, y),
    derivative=Smooth(
        tangent=(
            lambda t, out, x, y: spread(t, out),
            lambda t, out, x, y: spread(neg(t), out),
        ),
        transpose={0: _ct_x, 1: lambda ct, x, y: unbroadcast(neg(ct), y)},
    ),
)

mul_p = nary(
    "mul",
    accepts=NUMERIC,
    reference=np.multiply,
    emit=lambda b, x, y: b.multiply(x, y),
    derivative=Multilinear(
        (
            lambda ct, x, y: unbroadcast(mul(ct, y), x),
            lambda ct, x, y: unbroadcast(mul(x, ct), y),
        )
    ),
)

div_p = nary(
    "div",
    accepts=NUMERIC,
    reference=_div_reference,
    emit=lambda b, x, y: b.divide(x, y),
    derivative=Smooth(
        tangent=(None, lambda t, out, x, y: div(neg(mul(out, t)), y)),
        transpose={0: lambda ct, x, y: unbroadcast(div(ct, y), x)},
    ),
)

rem_p = nary(
    "rem",
    accepts=REAL,
    reference=_rem_reference,
    emit=lambda b, x, y: b.remainder(x, y),
    derivative=Smooth((lambda t, out, x, y: spread(t, out), _rem_tangent)),
)

floor_p = nary(
    "floor",
    accepts=("float",),
    reference=np.floor,
    emit=lambda b, x: b.floor(x),
    derivative=Smooth((no_tangent,)),
)

ceil_p = nary(
    "ceil",
    accepts=("float",),
    reference=np.ceil,
    emit=lambda b, x: b.ceil(x),
    derivative=Smooth((no_tangent,)),
)

round_p = nary(
    "round",
    accepts=("float",),
    reference=_round_reference,
    emit=_round_emit,
    derivative=Smooth((no_tangent,)),
)

is_finite_p = nary(
    "is_finite",
    accepts=("float",),
    reference=np.isfinite,
    emit=lambda b, x: b.is_finite(x),
    derivative=NotDifferentiable("its result is boolean"),
    result=lambda dtype: dtypes.bool_,
)

nextafter_p = nary(
    "nextafter",
    accepts=("float",),
    reference=lambda x, y: np.where(x == y, y, np.nextafter(x, y)),
    emit=lambda b, x, y: b.next_after(x, y),
    derivative=NotDifferentiable("it moves by one ulp: no linear model fits"),
)
