"""Activations: smooth and piecewise functions of one array, elementwise.

Where a branch is not taken its operand is replaced first, so that no derivative is
infinite there and then multiplied by zero.
"""

import numpy as np

from pullback import lax, numpy as pnp
from pullback.core.aval import aval_of
from pullback.core.errors import ShapeError
from pullback.ops.promote import as_operand, promote_inexact, to_dtype

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def identity(x):
    """`x`, as an array."""
    return pnp.asarray(as_operand("identity", x))


def relu(x):
    """`max(x, 0)`; its derivative at 0 is 0.

    Example:
      >>> from pullback import nn, numpy as pnp
      >>> nn.relu(pnp.array([-1.0, 2.0]))
      Array([0., 2.], dtype=float32)
    """
    x = as_operand("relu", x)
    return pnp.where(pnp.less_equal(x, 0), 0, x)


def relu6(x):
    """`min(max(x, 0), 6)`; its derivative at 0 and at 6 is 0."""
    x = as_operand("relu6", x)
    below = pnp.where(pnp.greater_equal(x, 6), 6.0, x)
    return pnp.where(pnp.less_equal(x, 0), 0.0, below)


def sigmoid(x):
    """`1 / (1 + exp(-x))`. Source: StableHLO `logistic`."""
    return lax.logistic(_floating("sigmoid", x))


def softplus(x):
    """`log(1 + exp(x))`, without overflow; its derivative is `sigmoid(x)`."""
    x = _floating("softplus", x)
    positive = pnp.greater(x, 0)
    small = pnp.where(positive, pnp.negative(x), x)
    return pnp.where(positive, x, 0) + lax.log1p(lax.exp(small))


def log_sigmoid(x):
    """`log(sigmoid(x))`, exact in the lower tail."""
    return -softplus(-_floating("log_sigmoid", x))


def soft_sign(x):
    """`x / (1 + |x|)`"""
    x = _floating("soft_sign", x)
    return x / (pnp.abs(x) + 1)


def silu(x):
    """`x * sigmoid(x)`, also known as swish."""
    x = _floating("silu", x)
    return x * lax.logistic(x)


swish = silu


def mish(x):
    """`x * tanh(softplus(x))`"""
    x = _floating("mish", x)
    return x * lax.tanh(softplus(x))


def elu(x, alpha=1.0):
    """`x` where positive, else `alpha * (exp(x) - 1)`."""
    x = _floating("elu", x)
    positive = pnp.greater(x, 0)
    safe = pnp.where(positive, 0.0, x)
    return pnp.where(positive, x, alpha * lax.expm1(safe))


def celu(x, alpha=1.0):
    """`max(x, 0) + alpha * (exp(min(x, 0) / alpha) - 1)`"""
    x = _floating("celu", x)
    below = pnp.minimum(x, 0.0)
    return pnp.maximum(x, 0.0) + alpha * pnp.expm1(below / alpha)


def selu(x):
    """`elu` scaled so that means of 0 and variances of 1 are kept.

    Source: Klambauer et al., Self-normalizing neural networks (2017).
    """
    return SELU_SCALE * elu(x, SELU_ALPHA)


def leaky_relu(x, negative_slope=0.01):
    """`x` where it is at least 0, else `negative_slope * x`."""
    x = _floating("leaky_relu", x)
    return pnp.where(pnp.greater_equal(x, 0), x, negative_slope * x)


def gelu(x, approximate: bool = True):
    """`x` times the probability that a standard normal number is below `x`.

    `approximate`: the form with tanh; False: exact, with erfc.

    Source: Hendrycks and Gimpel, Gaussian error linear units (2016).
    """
    x = _floating("gelu", x)
    dtype = aval_of(x).dtype
    if approximate:
        root = np.asarray(np.sqrt(2 / np.pi), dtype)
        cube = lax.integer_pow(x, 3)
        return x * (0.5 * (1.0 + lax.tanh(root * (x + 0.044715 * cube))))
    root = np.asarray(np.sqrt(0.5), dtype)
    return 0.5 * x * lax.erfc(-x * root)


def glu(x, axis: int = -1):
    """The first half of `x` along `axis`, times the sigmoid of the second half.

    Raises:
      ShapeError: the size of the axis is odd.
    """
    x = _floating("glu", x)
    aval = aval_of(x)
    size = aval.shape[axis]
    if size % 2:
        raise ShapeError(
            f"glu of {aval.short()} along axis {axis}", rule="its size is even"
        )
    first, second = pnp.split(x, 2, axis)
    return first * lax.logistic(second)


def squareplus(x, b=4):
    """`(x + sqrt(x**2 + b)) / 2`: a softplus without exponentials."""
    x = _floating("squareplus", x)
    return (x + pnp.sqrt(pnp.square(x) + b)) / 2


def sparse_plus(x):
    """0 up to -1, `x` from 1, and `(x + 1)**2 / 4` in between."""
    x = _floating("sparse_plus", x)
    middle = pnp.square(x + 1.0) / 4
    upper = pnp.where(pnp.greater_equal(x, 1.0), x, middle)
    return pnp.where(pnp.less_equal(x, -1.0), 0.0, upper)


def sparse_sigmoid(x):
    """`clip(x + 1, 0, 2) / 2`: the derivative of `sparse_plus`."""
    return 0.5 * pnp.clip(_floating("sparse_sigmoid", x) + 1.0, 0.0, 2.0)


def hard_sigmoid(x):
    """`relu6(x + 3) / 6`"""
    return relu6(pnp.add(x, 3.0)) / 6.0


def hard_silu(x):
    """`x * hard_sigmoid(x)`, also known as hard swish."""
    x = _floating("hard_silu", x)
    return x * hard_sigmoid(x)


hard_swish = hard_silu


def hard_tanh(x):
    """`clip(x, -1, 1)`; its derivative at -1 and 1 is 1."""
    x = as_operand("hard_tanh", x)
    below = pnp.where(pnp.less(x, -1), -1, x)
    return pnp.where(pnp.greater(x, 1), 1, below)


def log1mexp(x):
    """`log(1 - exp(-x))` for positive `x`, exact at both ends.

    Source: Maechler, Accurately computing log(1 - exp(-|a|)) (2012).
    """
    x = _floating("log1mexp", x)
    near = pnp.less(x, np.log(2.0))
    one = to_dtype(1.0, aval_of(x).dtype)
    small, large = pnp.where(near, x, one), pnp.where(near, one, x)
    return pnp.where(near, lax.log(-lax.expm1(-small)), lax.log1p(-lax.exp(-large)))


def _floating(name: str, x):
    """An operand, as an array; integers and booleans become floating."""
    return pnp.asarray(promote_inexact(as_operand(name, x))[0])
