"""Functions of whole axes: normalizations, and indices as vectors."""

from math import prod
from typing import Any

import numpy as np

from pullback import lax, numpy as pnp
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError
from pullback.ops.promote import as_operand, promote_inexact
from pullback.ops.shape import canonical_axis

Axis = int | tuple[int, ...] | None


def softmax(x, axis: Axis = -1, where=None):
    """`exp(x)` divided by its sum along `axis`, without overflow.

    Args:
      x: `f[*s]`.
      axis: the axis or axes of the sum.
      where: `bool[*s]`, elements to take part; the others are 0 in the result.

    Returns:
      `f[*s]`; NaN where all elements of a sum are -inf.

    Example:
      >>> from pullback import nn, numpy as pnp
      >>> nn.softmax(pnp.zeros(4))
      Array([0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    _, exps, total = _shifted("softmax", x, axis, where)
    result = exps / total
    return result if where is None else pnp.where(where, result, 0)


def log_softmax(x, axis: Axis = -1, where=None):
    """`log(softmax(x))`, without under- or overflow; -inf where not `where`."""
    shifted, _, total = _shifted("log_softmax", x, axis, where)
    result = shifted - lax.log(total)
    return result if where is None else pnp.where(where, result, -np.inf)


def _shifted(name: str, x, axis: Axis, where) -> tuple[Any, Any, Any]:
    """`x` less its maximum, the exponentials of that, and their sum along `axis`."""
    x = pnp.asarray(promote_inexact(as_operand(name, x))[0])
    top = pnp.max(x, axis, where=where, initial=-np.inf, keepdims=True)
    kept = x if where is None else pnp.where(where, x, -np.inf)
    shifted = kept - lax.stop_gradient(top)
    exps = lax.exp(shifted)
    return shifted, exps, pnp.sum(exps, axis, where=where, keepdims=True)


def logsumexp(
    a,
    axis: Axis = None,
    b=None,
    keepdims: bool = False,
    return_sign: bool = False,
    where=None,
):
    """`log(sum(b * exp(a)))` along `axis`, without overflow.

    Args:
      a: `f[*s]`.
      axis: the axis or axes of the sum; None means all.
      b: weights, broadcast with `a`; None means 1.
      keepdims: keep the axes, with size 1.
      return_sign: return the logarithm of the sum's magnitude, and its sign.
      where: `bool[*s]`, elements to take part.

    Returns:
      `f[...]`; NaN where the sum is negative, unless `return_sign`. Or a pair.
    """
    a, weights = _weighted(a, b, where)
    top = pnp.max(pnp.real(a), axis, where=where, initial=-np.inf, keepdims=True)
    top = lax.stop_gradient(pnp.where(pnp.isfinite(top), top, 0))
    exps = lax.exp(a - top)
    exps = exps if weights is None else exps * weights
    total = pnp.sum(exps, axis, where=where, keepdims=True)
    if not keepdims:
        axes = tuple(range(a.ndim)) if axis is None else axis
        total, top = pnp.squeeze(total, axes), pnp.squeeze(top, axes)
    if return_sign:
        return lax.log(pnp.abs(total)) + top, lax.sign(total)
    if dtypes.is_complex(total.dtype) or weights is None:
        return lax.log(total) + top
    result = lax.log(pnp.abs(total)) + top
    return pnp.where(total < 0, np.nan, result)


def _weighted(a, b, where) -> tuple[Any, Any]:
    """The exponents, -inf where they have no weight, and the weights."""
    if b is None:
        a = pnp.asarray(promote_inexact(as_operand("logsumexp", a))[0])
        return (a if where is None else pnp.where(where, a, 0)), None
    pair = promote_inexact(as_operand("logsumexp", a), as_operand("logsumexp", b))
    a, b = pnp.broadcast_arrays(*map(pnp.asarray, pair))
    a = a if where is None else pnp.where(where, a, 0)
    return pnp.where(b != 0, a, -np.inf), b


def logmeanexp(x, axis: Axis = None, where=None, keepdims: bool = False):
    """`log(mean(exp(x)))` along `axis`, without overflow."""
    total = logsumexp(x, axis, keepdims=keepdims, where=where)
    if where is not None:
        mask = pnp.broadcast_to(where, aval_of(x).shape)
        return total - pnp.log(pnp.sum(mask, axis, keepdims=keepdims))
    shape = aval_of(x).shape
    axes = range(len(shape)) if axis is None else np.atleast_1d(axis)
    return total - float(np.log(prod(shape[i] for i in axes)))


def standardize(x, axis: Axis = -1, mean=None, variance=None, epsilon=1e-5, where=None):
    """`x` less its mean, divided by its deviation, along `axis`.

    Args:
      x: `f[*s]`.
      axis: the axis or axes of the statistics.
      mean: in place of the mean of `x`.
      variance: in place of the variance of `x`.
      epsilon: added to the variance.
      where: `bool[*s]`, elements that count in the statistics.
    """
    x = pnp.asarray(promote_inexact(as_operand("standardize", x))[0])
    if mean is None:
        mean = pnp.mean(x, axis, keepdims=True, where=where)
    if variance is None:
        squares = pnp.mean(pnp.square(x), axis, keepdims=True, where=where)
        variance = pnp.clip(squares - pnp.square(mean), 0)
    return (x - mean) * lax.rsqrt(pnp.asarray(variance + epsilon))


def one_hot(x, num_classes: int, *, dtype: Any = None, axis: int = -1):
    """Indices as vectors: 1 at the index and 0 elsewhere; all 0 for others.

    Args:
      x: `i[*s]`, indices.
      num_classes: size of the new axis.
      dtype: of the result; None means the default float.
      axis: where the new axis stands in the result.

    Example:
      >>> from pullback import nn, numpy as pnp
      >>> nn.one_hot(pnp.array([0, 2]), 3)
      Array([[1., 0., 0.],
             [0., 0., 1.]], dtype=float32)
    """
    x = pnp.asarray(x)
    dtype = dtypes.default_float() if dtype is None else dtypes.named(dtype, "one_hot")
    classes = _checked_count(num_classes)
    axis = canonical_axis(axis, x.ndim + 1)
    shape = [1] * (x.ndim + 1)
    shape[axis] = classes
    ids = lax.broadcasted_iota(x.dtype, shape, axis)
    return pnp.astype(pnp.expand_dims(x, axis) == ids, dtype)


def _checked_count(num_classes: int) -> int:
    try:
        return num_classes.__index__()
    except AttributeError:
        raise ArgumentError(
            f"one_hot with num_classes={num_classes!r}", rule="it is an integer"
        ) from None
