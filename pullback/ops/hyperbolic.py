"""Hyperbolic functions, and the inverses of circular and hyperbolic ones."""

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.derivative import Smooth
from pullback.core.dtype_info import finfo
from pullback.ops.complex import abs
from pullback.ops.convert import stop_gradient
from pullback.ops.elementwise import add, div, mul, neg, scalar_like, sub
from pullback.ops.logic import clamp, max
from pullback.ops.nary import nary
from pullback.ops.powers import rsqrt, square
from pullback.ops.transcendental import smooth


def sinh(x):
    """Hyperbolic sine, elementwise. Source: CHLO `sinh`."""
    return sinh_p.bind(x)


def cosh(x):
    """Hyperbolic cosine, elementwise. Source: CHLO `cosh`."""
    return cosh_p.bind(x)


def asin(x):
    """Arcsine in radians, elementwise. Source: CHLO `asin`."""
    return asin_p.bind(x)


def acos(x):
    """Arccosine in radians, elementwise. Source: CHLO `acos`."""
    return acos_p.bind(x)


def atan(x):
    """Arctangent in radians, elementwise. Source: CHLO `atan`."""
    return atan_p.bind(x)


def asinh(x):
    """Inverse hyperbolic sine, elementwise. Source: CHLO `asinh`."""
    return asinh_p.bind(x)


def acosh(x):
    """Inverse hyperbolic cosine, elementwise. Source: CHLO `acosh`."""
    return acosh_p.bind(x)


def atanh(x):
    """Inverse hyperbolic tangent, elementwise. Source: CHLO `atanh`."""
    return atanh_p.bind(x)


def atan2(x, y):
    """The angle of the point (`y`, `x`) in radians. Source: StableHLO `atan2`."""
    return atan2_p.bind(x, y)


# ---- rules ----


def _scale(x, least: float):
    """A size of `x` to divide by, so that squares neither overflow nor vanish.

    The formulas that use it do not depend on its value, so its derivative is left out.
    """
    info = finfo(aval_of(x).dtype)
    low, high = scalar_like(x, least), scalar_like(x, info.max)
    return stop_gradient(clamp(low, abs(x), high))


def _asin_slope(x):
    """1 / sqrt(1 - x^2), from factors that do not cancel near 1."""
    one = scalar_like(x, 1)
    return rsqrt(mul(sub(one, x), add(one, x)))


def _asinh_tangent(t, out, x):
    one = scalar_like(x, 1)
    if dtypes.is_complex(aval_of(x).dtype):
        return mul(t, rsqrt(add(square(x), one)))
    size = _scale(x, 1.0)
    squares = add(square(div(x, size)), square(div(one, size)))
    return mul(t, div(rsqrt(squares), size))


def _acosh_tangent(t, out, x):
    one = scalar_like(x, 1)
    return mul(t, mul(rsqrt(sub(x, one)), rsqrt(add(x, one))))


def _atanh_tangent(t, out, x):
    one = scalar_like(x, 1)
    return div(t, mul(sub(one, x), add(one, x)))


def _atan_tangent(t, out, x):
    return div(t, add(square(x), scalar_like(x, 1)))


def _atan2_slope(x, y):
    """y / (x^2 + y^2)"""
    tiny = float(finfo(aval_of(x).dtype).tiny)
    size = max(_scale(x, tiny), _scale(y, tiny))
    u, v = div(x, size), div(y, size)
    return div(div(v, add(square(u), square(v))), size)


sinh_p = smooth(
    "sinh",
    np.sinh,
    lambda b, x: b.sinh(x),
    lambda t, out, x: mul(t, cosh(x)),
)
cosh_p = smooth(
    "cosh",
    np.cosh,
    lambda b, x: b.cosh(x),
    lambda t, out, x: mul(t, sinh(x)),
)
asin_p = smooth(
    "asin",
    np.arcsin,
    lambda b, x: b.asin(x),
    lambda t, out, x: mul(t, _asin_slope(x)),
)
acos_p = smooth(
    "acos",
    np.arccos,
    lambda b, x: b.acos(x),
    lambda t, out, x: neg(mul(t, _asin_slope(x))),
)
atan_p = smooth("atan", np.arctan, lambda b, x: b.atan(x), _atan_tangent)
asinh_p = smooth("asinh", np.arcsinh, lambda b, x: b.asinh(x), _asinh_tangent)
acosh_p = smooth("acosh", np.arccosh, lambda b, x: b.acosh(x), _acosh_tangent)
atanh_p = smooth("atanh", np.arctanh, lambda b, x: b.atanh(x), _atanh_tangent)

atan2_p = nary(
    "atan2",
    accepts=("float",),
    reference=np.arctan2,
    emit=lambda b, x, y: b.atan2(x, y),
    derivative=Smooth(
        (
            lambda t, out, x, y: mul(t, _atan2_slope(x, y)),
            lambda t, out, x, y: neg(mul(t, _atan2_slope(y, x))),
        )
    ),
)
