"""Transcendental family: exponentials, logarithms, trigonometric and hyperbolic."""

import numpy as np

from pullback.core.derivative import Smooth
from pullback.ops.elementwise import div, mul, neg, sub
from pullback.ops.nary import INEXACT, nary


def _smooth(name, reference, emit, tangent):
    return nary(
        name,
        accepts=INEXACT,
        reference=reference,
        emit=emit,
        derivative=Smooth((tangent,)),
    )


def sin(x):
    """Sine of `x` in radians, elementwise. Source: StableHLO `sine`."""
    return sin_p.bind(x)


def cos(x):
    """Cosine of `x` in radians, elementwise. Source: StableHLO `cosine`."""
    return cos_p.bind(x)


def exp(x):
    """e to the `x`, elementwise. Source: StableHLO `exponential`."""
    return exp_p.bind(x)


def log(x):
    """Natural logarithm, elementwise. Source: StableHLO `log`."""
    return log_p.bind(x)


def tanh(x):
    """Hyperbolic tangent, elementwise. Source: StableHLO `tanh`."""
    return tanh_p.bind(x)


sin_p = _smooth(
    "sin",
    np.sin,
    lambda b, x: b.sine(x),
    lambda t, out, x: mul(t, cos(x)),
)
cos_p = _smooth(
    "cos",
    np.cos,
    lambda b, x: b.cosine(x),
    lambda t, out, x: neg(mul(t, sin(x))),
)
exp_p = _smooth(
    "exp",
    np.exp,
    lambda b, x: b.exponential(x),
    lambda t, out, x: mul(t, out),
)
log_p = _smooth(
    "log",
    np.log,
    lambda b, x: b.log(x),
    lambda t, out, x: div(t, x),
)
tanh_p = _smooth(
    "tanh",
    np.tanh,
    lambda b, x: b.tanh(x),
    lambda t, out, x: sub(t, mul(t, mul(out, out))),
)
