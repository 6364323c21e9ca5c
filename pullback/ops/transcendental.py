"""Transcendental family: exponentials, logarithms, sine, cosine, tangent, logistic."""

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.derivative import Smooth
from pullback.ops.elementwise import add, div, is_finite, mul, neg, scalar_like, sub
from pullback.ops.logic import bitwise_and, bitwise_not, eq, select
from pullback.ops.nary import INEXACT, nary
from pullback.ops.shape import full


def smooth(name, reference, emit, tangent, accepts=INEXACT):
    """A differentiable function of one operand with `tangent(t, out, x)`."""
    return nary(
        name,
        accepts=accepts,
        reference=reference,
        emit=emit,
        derivative=Smooth((tangent,)),
    )


def exp(x):
    """e to the `x`, elementwise. Source: StableHLO `exponential`."""
    return exp_p.bind(x)


def exp2(x):
    """2 to the `x`, elementwise. Source: StableHLO `power`."""
    return exp2_p.bind(x)


def expm1(x):
    """e to the `x` minus 1, exact near 0. Source: StableHLO `exponential_minus_one`."""
    return expm1_p.bind(x)


def log(x):
    """Natural logarithm, elementwise. Source: StableHLO `log`."""
    return log_p.bind(x)


def log1p(x):
    """The logarithm of 1 + `x`, exact near 0. Source: StableHLO `log_plus_one`."""
    return log1p_p.bind(x)


def logistic(x):
    """`1 / (1 + exp(-x))`, elementwise. Source: StableHLO `logistic`."""
    return logistic_p.bind(x)


def tanh(x):
    """Hyperbolic tangent, elementwise. Source: StableHLO `tanh`."""
    return tanh_p.bind(x)


def sin(x):
    """Sine of `x` in radians, elementwise. Source: StableHLO `sine`."""
    return sin_p.bind(x)


def cos(x):
    """Cosine of `x` in radians, elementwise. Source: StableHLO `cosine`."""
    return cos_p.bind(x)


def tan(x):
    """Tangent of `x` in radians, elementwise. Source: StableHLO `tan`."""
    return tan_p.bind(x)


def logaddexp(x, y):
    """`log(exp(x) + exp(y))` without overflow, elementwise."""
    return logaddexp_p.bind(x, y)


# ---- rules ----


def _expm1_reference(x):
    if not dtypes.is_complex(x.dtype):
        return np.expm1(x)
    half = np.sin(x.imag / 2)
    real = np.expm1(x.real) * np.cos(x.imag) - 2 * half * half
    return real + 1j * np.exp(x.real) * np.sin(x.imag)


def _log1p_reference(x):
    if not dtypes.is_complex(x.dtype):
        return np.log1p(x)
    u, v = x.real, x.imag
    return np.log1p(u * (2 + u) + v * v) / 2 + 1j * np.arctan2(v, 1 + u)


def _logistic_reference(x):
    if dtypes.is_complex(x.dtype):
        return 1 / (1 + np.exp(-x))
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


def _logistic_tangent(t, out, x):
    """t s(x) s(-x): 1 - s(x) would round to 0 in the tail."""
    return mul(t, mul(out, logistic(neg(x))))


def _tanh_tangent(t, out, x):
    """t / cosh(x)^2 = 4 t s(2x) s(-2x): 1 - tanh(x)^2 would round to 0 in the tail."""
    if aval_of(x).dtype in dtypes.COMPLEX:
        one = scalar_like(x, 1)
        return mul(mul(t, add(one, out)), sub(one, out))
    twice = add(x, x)
    both = mul(logistic(twice), logistic(neg(twice)))
    return mul(t, mul(scalar_like(x, 4), both))


def _exp2_emit(b, x):
    return b.power(b.full(2, b.avals_in[0]), x)


# ---- primitives ----

exp_p = smooth(
    "exp",
    np.exp,
    lambda b, x: b.exponential(x),
    lambda t, out, x: mul(t, out),
)
exp2_p = smooth(
    "exp2",
    np.exp2,
    _exp2_emit,
    lambda t, out, x: mul(t, mul(scalar_like(x, np.log(2.0)), out)),
)
expm1_p = smooth(
    "expm1",
    _expm1_reference,
    lambda b, x: b.exponential_minus_one(x),
    lambda t, out, x: mul(t, exp(x)),
)
log_p = smooth(
    "log",
    np.log,
    lambda b, x: b.log(x),
    lambda t, out, x: div(t, x),
)
log1p_p = smooth(
    "log1p",
    _log1p_reference,
    lambda b, x: b.log_plus_one(x),
    lambda t, out, x: div(t, add(x, scalar_like(x, 1))),
)
logistic_p = smooth(
    "logistic",
    _logistic_reference,
    lambda b, x: b.logistic(x),
    _logistic_tangent,
)
tanh_p = smooth(
    "tanh",
    np.tanh,
    lambda b, x: b.tanh(x),
    _tanh_tangent,
)
sin_p = smooth(
    "sin",
    np.sin,
    lambda b, x: b.sine(x),
    lambda t, out, x: mul(t, cos(x)),
)
cos_p = smooth(
    "cos",
    np.cos,
    lambda b, x: b.cosine(x),
    lambda t, out, x: neg(mul(t, sin(x))),
)
tan_p = smooth(
    "tan",
    np.tan,
    lambda b, x: b.tan(x),
    lambda t, out, x: mul(t, add(scalar_like(x, 1), mul(out, out))),
)


# ---- logaddexp ----


def _logaddexp_emit(b, x, y):
    """max + log1p(exp(-|x - y|)); the sum where the difference is NaN."""
    apart = b.subtract(x, y)
    small = b.log_plus_one(b.exponential(b.negate(b.abs(apart))))
    total = b.add(b.maximum(x, y), small)
    return b.select(b.compare(apart, apart, "NE"), b.add(x, y), total)


def _logaddexp_reference(x, y):
    apart = x - y
    total = np.maximum(x, y) + np.log1p(np.exp(-np.abs(apart)))
    return np.where(np.isnan(apart), x + y, total)


def exp_share(x, y):
    """The share of exp(x) in exp(x) + exp(y): one half for equal infinities."""
    apart = sub(x, y)
    infinite = bitwise_and(eq(x, y), bitwise_not(is_finite(x)))
    return logistic(select(infinite, full(aval_of(apart), 0), apart))


logaddexp_p = nary(
    "logaddexp",
    accepts=("float",),
    reference=_logaddexp_reference,
    emit=_logaddexp_emit,
    derivative=Smooth(
        (
            lambda t, out, x, y: mul(t, exp_share(x, y)),
            lambda t, out, x, y: mul(t, exp_share(y, x)),
        )
    ),
)
