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
    x = _floating(name, x)
    top = _top(x, axis, where)
    if where is not None:
        x = pnp.where(where, x, -np.inf)
    shifted = x - lax.stop_gradient(top)
    exps = lax.exp(shifted)
    total = pnp.sum(exps, axis, where=where, keepdims=True)
    return shifted, exps, total


def _floating(name: str, x) -> Any:
    """An operand, as an array; integers and booleans become floating."""
    (x,) = promote_inexact(as_operand(name, x))
    return pnp.asarray(x)


def _top(x, axis: Axis, where) -> Any:
    return pnp.max(
        x,
        axis,
        where=where,
        initial=-np.inf,
        keepdims=True,
    )


def logsumexp(
    a,
    axis: Axis = None,
    b=None,
    keepdims: bool = False,
    return_sign: bool = False,
    where=None,
) -> Any:
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
    top = _top(pnp.real(a), axis, where)
    top = pnp.where(pnp.isfinite(top), top, 0)
    top = lax.stop_gradient(top)
    exps = lax.exp(a - top)
    if weights is not None:
        exps = exps * weights
    total = pnp.sum(exps, axis, where=where, keepdims=True)
    if not keepdims:
        axes = tuple(range(a.ndim)) if axis is None else axis
        total = pnp.squeeze(total, axes)
        top = pnp.squeeze(top, axes)
    if not return_sign:
        return _log_of_sum(total, signed=weights is not None) + top
    return lax.log(pnp.abs(total)) + top, lax.sign(total)


def _log_of_sum(total, signed: bool) -> Any:
    """The logarithm; NaN of negative reals."""
    if not signed or dtypes.is_complex(total.dtype):
        return lax.log(total)
    logs = lax.log(pnp.abs(total))
    return pnp.where(total < 0, np.nan, logs)


def _weighted(a, b, where) -> tuple[Any, Any]:
    """The exponents, -inf where they have no weight, and the weights."""
    name = "logsumexp"
    a = as_operand(name, a)
    if b is None:
        a = _floating(name, a)
    else:
        a, b = promote_inexact(a, as_operand(name, b))
        a, b = pnp.broadcast_arrays(pnp.asarray(a), pnp.asarray(b))
    if where is not None:
        a = pnp.where(where, a, 0)
    if b is not None:
        a = pnp.where(b != 0, a, -np.inf)
    return a, b


def logmeanexp(x, axis: Axis = None, where=None, keepdims: bool = False):
    """`log(mean(exp(x)))` along `axis`, without overflow."""
    total = logsumexp(x, axis, keepdims=keepdims, where=where)
    shape = aval_of(x).shape
    if where is not None:
        mask = pnp.broadcast_to(where, shape)
        count = pnp.sum(mask, axis, keepdims=keepdims)
        return total - pnp.log(count)
    axes = range(len(shape)) if axis is None else np.atleast_1d(axis)
    count = prod(shape[i] for i in axes)
    return total - float(np.log(count))


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
    x = _floating("standardize", x)
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
