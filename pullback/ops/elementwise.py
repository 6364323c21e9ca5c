"""Arithmetic family: the ring operations, division, powers and roots."""

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.derivative import Linear, Multilinear, Smooth
from pullback.ops.nary import ANY, NUMERIC, nary, unbroadcast
from pullback.ops.shape import broadcast_in_dim


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
    """`x - y`, elementwise, of equal shapes and dtypes. Source: StableHLO `subtract`."""
    return sub_p.bind(x, y)


def mul(x, y):
    """`x * y`, elementwise, of equal shapes and dtypes. Source: StableHLO `multiply`."""
    return mul_p.bind(x, y)


def div(x, y):
    """`x / y`, elementwise; integers are divided towards zero. Source: StableHLO `divide`."""
    return div_p.bind(x, y)


def scalar_like(x, value):
    """The scalar `value` with the dtype of `x`, to be combined with it elementwise."""
    return np.asarray(value, dtype=aval_of(x).dtype)



# ---- rules ----


def spread(t, out):
    """A tangent of a rank-0 operand, repeated to the result's shape."""
    shape = aval_of(out).shape
    if aval_of(t).shape == shape:
        return t
    return broadcast_in_dim(t, shape, ())


def _ct_x(ct, x, y):
    return unbroadcast(ct, x)


def _ct_y(ct, x, y):
    return unbroadcast(ct, y)


def _integer_div(x, y):
    """Towards zero, as StableHLO; -1 (all bits) for a zero divisor."""
    safe = np.where(y == 0, 1, y)
    quotient = np.abs(x.astype(object)) // np.abs(safe.astype(object))
    signed = np.where((x < 0) != (safe < 0), -quotient, quotient)
    return np.where(y == 0, -1, signed)


def _div_reference(x, y):
    if dtypes.is_integer(x.dtype):
        return _integer_div(*np.broadcast_arrays(x, y))
    return np.divide(x, y)


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
    accepts=ANY,
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
        tangent=(None, lambda t, out, x, y: neg(div(mul(out, t), y))),
        transpose={0: lambda ct, x, y: unbroadcast(div(ct, y), x)},
    ),
)
