"""Special functions of SciPy on arrays that transform.

Where a branch is not taken its operand is replaced first, so that no derivative is
infinite there and then multiplied by zero.
"""

import numpy as np

from pullback import lax, nn, numpy as pnp
from pullback.api.custom_jvp import custom_jvp
from pullback.core import dtype as dtypes
from pullback.core.errors import UnsupportedError
from pullback.nn import logsumexp as logsumexp
from pullback.ops.promote import inexact_operands

LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)


def erf(x):
    """The error function, `2 / sqrt(pi)` times the integral of `exp(-t**2)` to `x`."""
    return lax.erf(*_floating("erf", x))


def erfc(x):
    """`1 - erf(x)`, without cancellation for large `x`."""
    return lax.erfc(*_floating("erfc", x))


def erfinv(x):
    """The inverse of the error function on (-1, 1)."""
    return lax.erf_inv(*_floating("erfinv", x))


def expit(x):
    """`1 / (1 + exp(-x))`, the logistic sigmoid."""
    return lax.logistic(*_floating("expit", x))


def logit(x):
    """`log(x / (1 - x))`, the inverse of `expit`."""
    (x,) = _floating("logit", x)
    return lax.log(x) - lax.log1p(-x)


def gammaln(x):
    """The logarithm of the magnitude of the gamma function."""
    return lax.lgamma(*_floating("gammaln", x))


def gammasgn(x):
    """The sign of the gamma function; NaN at negative integers."""
    (x,) = _floating("gammasgn", x)
    below = pnp.floor(x)
    even = pnp.remainder(below, 2) == 0
    sign = pnp.where(even, 1.0, -1.0)
    sign = pnp.where(below == x, np.nan, sign)
    at_zero = pnp.where(pnp.signbit(x), -1.0, 1.0)
    sign = pnp.where(x == 0, at_zero, sign)
    sign = pnp.where(x > 0, 1.0, sign)
    return sign.astype(x.dtype)


def gamma(x):
    """The gamma function."""
    (x,) = _floating("gamma", x)
    return gammasgn(x) * lax.exp(lax.lgamma(x))


def factorial(n, exact: bool = False):
    """`gamma(n + 1)`; 0 for negative `n`. `exact` is not supported.

    Raises:
      UnsupportedError: `exact` is true.
    """
    if exact:
        raise UnsupportedError(
            "factorial with exact=True", rule="results are floating", fix="use math"
        )
    (n,) = _floating("factorial", n)
    return pnp.where(n < 0, 0.0, lax.exp(lax.lgamma(n + 1)))


def digamma(x):
    """The derivative of `gammaln`."""
    return lax.digamma(*_floating("digamma", x))


def polygamma(n, x):
    """The derivative of order `n` of `digamma`."""
    return lax.polygamma(*_full("polygamma", n, x))


def zeta(x, q=None):
    """The Hurwitz zeta function: the sum of `(k + q)**-x`; Riemann's for `q` None."""
    return lax.zeta(*_full("zeta", x, 1.0 if q is None else q))


def xlogy(x, y):
    """`x * log(y)`, and 0 where `x` is 0 and `y` is a number."""
    return _xlogy(*_full("xlogy", x, y))


def xlog1py(x, y):
    """`x * log(1 + y)`, and 0 where `x` is 0 and `y` is a number."""
    return _xlog1py(*_full("xlog1py", x, y))


def entr(x):
    """`-x * log(x)`; 0 at 0, and -inf below."""
    (x,) = _floating("entr", x)
    return pnp.where(x < 0, -np.inf, -_xlogx(x))


@custom_jvp
def _xlogy(x, y):
    return pnp.where((x == 0) & (y == y), 0.0, x * lax.log(y))


@custom_jvp
def _xlog1py(x, y):
    return pnp.where((x == 0) & (y == y), 0.0, x * lax.log1p(y))


@custom_jvp
def _xlogx(x):
    return pnp.where(x == 0, 0.0, x * lax.log(x))


_xlogy.defjvps(
    lambda t, out, x, y: t * lax.log(y),
    lambda t, out, x, y: t * x / y,
)
_xlog1py.defjvps(
    lambda t, out, x, y: t * lax.log1p(y),
    lambda t, out, x, y: t * x / (1 + y),
)
_xlogx.defjvps(lambda t, out, x: t * (lax.log(x) + 1))


def rel_entr(p, q):
    """`p * log(p / q)`; 0 where `p` is 0 and `q` is not negative; else infinite."""
    p, q = _full("rel_entr", p, q)
    inside = (p > 0) & (q > 0)
    zero = (p == 0) & (q >= 0)
    safe_p = pnp.where(inside, p, 1.0)
    safe_q = pnp.where(inside, q, 1.0)
    value = safe_p * lax.log(safe_p) - safe_p * lax.log(safe_q)
    edge = pnp.where(zero, 0.0, np.inf)
    return pnp.where(inside, value, edge)


def kl_div(p, q):
    """`rel_entr(p, q) - p + q`"""
    return rel_entr(p, q) - p + q


def ndtr(x):
    """The probability that a standard normal number is below `x`."""
    (x,) = _floating("ndtr", x)
    return 0.5 * lax.erfc(x * np.asarray(-np.sqrt(0.5), x.dtype))


def log_ndtr(x, series_order: int = 3):
    """`log(ndtr(x))`, exact in both tails.

    `series_order`: number of terms of the series in the lower tail.

    Source: Abramowitz and Stegun, 26.2.12.
    """
    (x,) = _floating("log_ndtr", x)
    lower, upper = (-20.0, 8.0) if x.dtype == dtypes.float64 else (-10.0, 5.0)
    high, low = x > upper, x <= lower
    middle = pnp.where(high | low, 0.0, x)
    tail = pnp.where(low, x, lower)
    square = pnp.square(tail)
    term, series = 1.0, 1.0
    for n in range(1, series_order + 1):
        term = term * -(2 * n - 1) / square
        series = series + term
    below = -0.5 * square - lax.log(-tail)
    below = below - LOG_SQRT_2PI + lax.log(series)
    above = -ndtr(pnp.where(high, -x, 0.0))
    inner = lax.log(ndtr(middle))
    outer = pnp.where(low, below, inner)
    return pnp.where(high, above, outer)


def softmax(x, /, *, axis=None):
    """As `nn.softmax`, over all axes by default."""
    return nn.softmax(x, axis)


def log_softmax(x, /, *, axis=None):
    """As `nn.log_softmax`, over all axes by default."""
    return nn.log_softmax(x, axis)


def _floating(name: str, x):
    """The operand as a floating array, alone in a tuple."""
    return (pnp.asarray(inexact_operands(name, x)[0]),)


def _full(name: str, x, y):
    """Two floating arrays of one shape."""
    return pnp.broadcast_arrays(*map(pnp.asarray, inexact_operands(name, x, y)))
