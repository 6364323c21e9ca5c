"""Special functions: error functions, gamma functions and their derivatives.

Their references are series in float64, independent of XLA's polynomials.
"""

import math
from collections.abc import Callable

import numpy as np

from pullback.core.derivative import Smooth
from pullback.ops.elementwise import add, mul, neg, scalar_like
from pullback.ops.nary import nary
from pullback.ops.powers import square
from pullback.ops.transcendental import exp, smooth

REAL = ("float",)


def erf(x):
    """The error function, elementwise. Source: CHLO `erf`."""
    return erf_p.bind(x)


def erfc(x):
    """`1 - erf(x)`, without cancellation for large `x`. Source: CHLO `erfc`."""
    return erfc_p.bind(x)


def erf_inv(x):
    """The inverse of the error function on (-1, 1). Source: CHLO `erf_inv`."""
    return erf_inv_p.bind(x)


def lgamma(x):
    """The logarithm of the absolute value of the gamma function. Source: CHLO."""
    return lgamma_p.bind(x)


def digamma(x):
    """The derivative of `lgamma`. Source: CHLO `digamma`."""
    return digamma_p.bind(x)


def polygamma(m, x):
    """The m-th derivative of `digamma`, m a whole number. Source: CHLO `polygamma`."""
    return polygamma_p.bind(m, x)


def zeta(x, q):
    """The Hurwitz zeta function, the sum of `(q + n) ** -x`. Source: CHLO `zeta`."""
    return zeta_p.bind(x, q)


# ---- references ----


def in_double(function: Callable) -> Callable:
    """A reference from a function of Python floats."""

    def reference(*xs):
        wide = [np.asarray(x, np.float64) for x in xs]
        out = np.vectorize(function, otypes=[np.float64])(*wide)
        return out.astype(xs[0].dtype)

    return reference


def _erf_inv(x: float) -> float:
    """Newton's method on erf or erfc, whichever keeps digits."""
    if math.isnan(x) or abs(x) > 1:
        return math.nan
    if abs(x) == 1:
        return math.copysign(math.inf, x)
    tail = 1 - abs(x)
    y = math.sqrt(max(0.0, -math.log(tail))) if tail < 0.5 else abs(x)
    for _ in range(60):
        gap = tail - math.erfc(y) if tail < 0.5 else math.erf(y) - abs(x)
        y -= gap * math.sqrt(math.pi) / 2 * math.exp(y * y)
    return math.copysign(y, x)


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except ValueError:
        return math.inf


BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def _digamma(x: float) -> float:
    """Upward recurrence, then the asymptotic series; reflection below zero."""
    if x <= 0 and x == math.floor(x):
        return math.nan
    if x < 0:
        return _digamma(1 - x) - math.pi / math.tan(math.pi * math.fmod(x, 1.0))
    if not math.isfinite(x):
        return x
    shift = 0.0
    while x < 12:
        shift, x = shift + 1 / x, x + 1
    powers = (b / (2 * k * x ** (2 * k)) for k, b in enumerate(BERNOULLI, 1))
    return math.log(x) - 1 / (2 * x) - sum(powers) - shift


def _zeta(s: float, q: float) -> float:
    """Euler-Maclaurin summation, for s > 1; below q = 0 only for whole s."""
    if not s > 1 or (q <= 0 and s != math.floor(s)):
        return math.inf if s == 1 else math.nan
    if q <= 0:
        return math.inf if q == math.floor(q) else q**-s + _zeta(s, q + 1)
    terms = sum((q + k) ** -s for k in range(20))
    a = q + 20
    total = terms + a ** (1 - s) / (s - 1) + 0.5 * a**-s
    factor = s * a ** (-s - 1)
    for k, b in enumerate(BERNOULLI, 1):
        total += b * factor / math.factorial(2 * k)
        factor *= (s + 2 * k - 1) * (s + 2 * k) / (a * a)
    return total


def _polygamma(m: float, x: float) -> float:
    if m == 0:
        return _digamma(x)
    if m < 0 or m != math.floor(m):
        return math.nan
    return (-1) ** (int(m) + 1) * math.gamma(m + 1) * _zeta(m + 1, x)


# ---- derivatives ----


def _gaussian(factor: float, sign: int):
    """t times `factor * exp(sign * y^2)`, y the operand or (sign > 0) the result."""

    def tangent(t, out, x):
        exponent = square(out) if sign > 0 else neg(square(x))
        return mul(t, mul(scalar_like(x, factor), exp(exponent)))

    return tangent


TWO_BY_ROOT_PI = 2 / math.sqrt(math.pi)

erf_p = smooth(
    "erf",
    in_double(math.erf),
    lambda b, x: b.erf(x),
    _gaussian(TWO_BY_ROOT_PI, -1),
    REAL,
)
erfc_p = smooth(
    "erfc",
    in_double(math.erfc),
    lambda b, x: b.erfc(x),
    _gaussian(-TWO_BY_ROOT_PI, -1),
    REAL,
)
erf_inv_p = smooth(
    "erf_inv",
    in_double(_erf_inv),
    lambda b, x: b.erf_inv(x),
    _gaussian(1 / TWO_BY_ROOT_PI, 1),
    REAL,
)
lgamma_p = smooth(
    "lgamma",
    in_double(_lgamma),
    lambda b, x: b.lgamma(x),
    lambda t, out, x: mul(t, digamma(x)),
    REAL,
)
digamma_p = smooth(
    "digamma",
    in_double(_digamma),
    lambda b, x: b.digamma(x),
    lambda t, out, x: mul(t, polygamma(scalar_like(x, 1), x)),
    REAL,
)


def _no_order(t, *values):
    return mul(t, scalar_like(t, math.nan))


def _polygamma_tangent(t, out, m, x):
    return mul(t, polygamma(add(m, scalar_like(m, 1)), x))


def _zeta_tangent(t, out, x, q):
    return neg(mul(t, mul(x, zeta(add(x, scalar_like(x, 1)), q))))


polygamma_p = nary(
    "polygamma",
    accepts=REAL,
    reference=in_double(_polygamma),
    emit=lambda b, m, x: b.polygamma(m, x),
    derivative=Smooth((_no_order, _polygamma_tangent)),
)
zeta_p = nary(
    "zeta",
    accepts=REAL,
    reference=in_double(_zeta),
    emit=lambda b, x, q: b.zeta(x, q),
    derivative=Smooth((_no_order, _zeta_tangent)),
)
