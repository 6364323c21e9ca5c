"""Samplers of continuous distributions that are functions of one uniform draw.

The numbers are those of JAX, bit for bit: each formula keeps its operations in order.
"""

from math import pi
from typing import Any

import numpy as np

from pullback import lax, numpy as pnp
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.dtype_info import finfo
from pullback.core.errors import ArgumentError
from pullback.ops.promote import SCALARS, broadcast_to, to_dtype
from pullback.ops.random import random_bits, random_split
from pullback.random.arguments import drawn_shape, float_type, inexact_type, sizes
from pullback.random.keys import check_key, typed
from pullback.random.programs import one_program

SHIFTED = {8: dtypes.uint8, 16: dtypes.uint16, 32: dtypes.uint32, 64: dtypes.uint64}


def uniform(key, shape=(), dtype=None, minval=0.0, maxval=1.0):
    """Uniform floats in `[minval, maxval)`.

    Args:
      key: `key<fry>[]` or `u32[2]`.
      shape: of the result.
      dtype: a floating type; None means the default one.
      minval: lower bound, broadcast to `shape`.
      maxval: upper bound, broadcast to `shape`.

    Returns:
      `f[*shape]`.

    Raises:
      ArgumentError: `dtype` is not floating.
      ShapeError: the bounds do not broadcast to `shape`, or `key` is an array of keys.

    Example:
      >>> from pullback import random
      >>> random.uniform(random.key(0), (2, 3)).shape
      (2, 3)
    """
    check_key("uniform", key)
    facts = drawn_shape("uniform", shape, minval, maxval), float_type("uniform", dtype)
    return _uniform(facts, key, minval, maxval)


def normal(key, shape=(), dtype=None):
    """Standard normal numbers: mean 0, variance 1.

    Args:
      key: `key<fry>[]` or `u32[2]`.
      shape: of the result.
      dtype: a floating or complex type; None means the default float. Complex numbers
        have independent parts of variance 1/2.

    Returns:
      `f[*shape]`.

    Raises:
      ArgumentError: `dtype` is not floating or complex.

    Example:
      >>> from pullback import random
      >>> x = random.normal(random.key(0), (1000,))
    """
    check_key("normal", key)
    facts = sizes("normal", shape), inexact_type("normal", dtype)
    return _normal(facts, key)


def truncated_normal(key, lower, upper, shape=None, dtype=None):
    """Normal numbers conditioned to lie in `(lower, upper)`.

    `shape` None: the shape of the bounds. Gradients flow to the bounds.

    Raises:
      ShapeError: the bounds do not broadcast to `shape`.
    """
    name = "truncated_normal"
    check_key(name, key)
    facts = drawn_shape(name, shape, lower, upper), float_type(name, dtype)
    return _truncated_normal(facts, key, lower, upper)


def exponential(key, shape=(), dtype=None):
    """Exponential numbers of rate 1: density `exp(-x)` on `x >= 0`."""
    check_key("exponential", key)
    facts = sizes("exponential", shape), float_type("exponential", dtype)
    return _exponential(facts, key)


def gumbel(key, shape=(), dtype=None, mode: str | None = None):
    """Gumbel numbers: density `exp(-(x + exp(-x)))`.

    `mode`: "low" (the default), or "high", which draws twice the bits so that the
    upper tail is resolved.

    Raises:
      ArgumentError: `mode` is something else, or `dtype` is not floating.
    """
    check_key("gumbel", key)
    facts = sizes("gumbel", shape), float_type("gumbel", dtype), precision(mode)
    return _gumbel(facts, key)


def laplace(key, shape=(), dtype=None):
    """Laplace numbers: density `exp(-|x|) / 2`."""
    check_key("laplace", key)
    facts = sizes("laplace", shape), float_type("laplace", dtype)
    return _laplace(facts, key)


def logistic(key, shape=(), dtype=None):
    """Logistic numbers: density `exp(-x) / (1 + exp(-x))**2`."""
    check_key("logistic", key)
    facts = sizes("logistic", shape), float_type("logistic", dtype)
    return _logistic(facts, key)


def cauchy(key, shape=(), dtype=None):
    """Cauchy numbers: density `1 / (pi (x**2 + 1))`."""
    check_key("cauchy", key)
    facts = sizes("cauchy", shape), float_type("cauchy", dtype)
    return _cauchy(facts, key)


def maxwell(key, shape=(), dtype=None):
    """Lengths of standard normal vectors of 3 dimensions."""
    check_key("maxwell", key)
    facts = sizes("maxwell", shape), float_type("maxwell", dtype)
    return _maxwell(facts, key)


def rayleigh(key, scale, shape=None, dtype=None):
    """Rayleigh numbers: density `x exp(-x**2 / (2 scale**2)) / scale**2`, `x > 0`."""
    check_key("rayleigh", key)
    facts = drawn_shape("rayleigh", shape, scale), float_type("rayleigh", dtype)
    return _rayleigh(facts, key, scale)


def weibull_min(key, scale, concentration, shape=(), dtype=None):
    """Weibull numbers: `scale * e**(1 / concentration)` of exponential `e`."""
    name = "weibull_min"
    check_key(name, key)
    facts = drawn_shape(name, shape, scale, concentration), float_type(name, dtype)
    return _weibull_min(facts, key, scale, concentration)


def pareto(key, b, shape=None, dtype=None):
    """Pareto numbers: density `b / x**(b + 1)` on `x >= 1`."""
    check_key("pareto", key)
    facts = drawn_shape("pareto", shape, b), float_type("pareto", dtype)
    return _pareto(facts, key, b)


def triangular(key, left, mode, right, shape=None, dtype=None):
    """Triangular numbers on `[left, right]` with the peak at `mode`."""
    name = "triangular"
    check_key(name, key)
    shape = drawn_shape(name, shape, left, mode, right)
    dtype = float_type(name, dtype)
    left, mode, right = (
        broadcast_to(as_type(x, dtype), shape) for x in (left, mode, right)
    )
    peak = (mode - left) / (right - left)
    u = _uniform((shape, dtype), key, 0.0, 1.0)
    rising = left + lax.sqrt(u * (right - left) * (mode - left))
    falling = right - lax.sqrt((1 - u) * (right - left) * (right - mode))
    return pnp.where(u < peak, rising, falling)


def lognormal(key, sigma=1.0, shape=None, dtype=None):
    """Exponentials of normal numbers of deviation `sigma`."""
    name = "lognormal"
    check_key(name, key)
    facts = drawn_shape(name, shape, sigma), inexact_type(name, dtype)
    return lax.exp(_normal(facts, key) * as_type(sigma, facts[1]))


def wald(key, mean, shape=None, dtype=None):
    """Wald (inverse Gaussian) numbers of the given mean and shape parameter 1."""
    check_key("wald", key)
    facts = drawn_shape("wald", shape, mean), float_type("wald", dtype)
    return _wald(facts, key, mean)


def double_sided_maxwell(key, loc, scale, shape=(), dtype=None):
    """Maxwell numbers with a random sign, times `scale`, plus `loc`."""
    name = "double_sided_maxwell"
    check_key(name, key)
    facts = drawn_shape(name, shape, loc, scale), float_type(name, dtype)
    return _double_sided_maxwell(facts, key, loc, scale)


def precision(mode: str | None) -> str:
    """ "low" or "high".

    Raises:
      ArgumentError: `mode` is something else.
    """
    if mode not in (None, "low", "high"):
        raise ArgumentError(f"got {mode=}", rule="it is 'high' or 'low'")
    return mode or "low"


# ---- on typed keys, inside programs ----


def unit(key, shape: tuple[int, ...], dtype) -> Any:
    """Uniform floats in [0, 1): random bits as the mantissa of numbers in [1, 2)."""
    info = finfo(dtype)
    width = 8 if info.nmant < 8 else info.bits
    bits = random_bits(key, width, shape)
    whole = SHIFTED[info.bits]
    bits = to_dtype(bits, whole)
    bits = lax.shift_right_logical(bits, whole.type(width - info.nmant))
    one = np.ones((), dtype)
    floats = lax.bitcast_convert_type(lax.bitwise_or(bits, one.view(whole)), dtype)
    return lax.sub(floats, one)


def as_type(x, dtype) -> Any:
    """A parameter in the type that is drawn; numbers are rounded to it at once."""
    return np.asarray(x, dtype) if isinstance(x, SCALARS) else to_dtype(x, dtype)


def between(key, shape: tuple[int, ...], dtype, low, high) -> Any:
    """Uniform floats in [low, high)."""
    low, high = as_type(low, dtype), as_type(high, dtype)
    width = high - low
    if aval_of(low).ndim:
        low = broadcast_to(low, shape)
    scaled = unit(key, shape, dtype) * width + low
    return lax.max(low, scaled)


def gaussian(key, shape: tuple[int, ...], dtype) -> Any:
    """Standard normal floats, by the inverse of the distribution function."""
    low = np.nextafter(np.asarray(-1, dtype), np.asarray(0, dtype), dtype=dtype)
    u = between(key, shape, dtype, low, np.asarray(1, dtype))
    return lax.mul(np.asarray(np.sqrt(2), dtype), lax.erf_inv(u))


def pair(key) -> tuple[Any, Any]:
    """Two new keys."""
    keys = random_split(key, (2,))
    return keys[0], keys[1]


def _one(key):
    return typed("sampler", key)[0]


@one_program
def _uniform(facts, key, low, high):
    shape, dtype = facts
    return between(_one(key), shape, dtype, low, high)


@one_program
def _normal(facts, key):
    shape, dtype = facts
    key = _one(key)
    if not dtypes.is_complex(dtype):
        return gaussian(key, shape, dtype)
    first, second = pair(key)
    real = dtypes.to_real(dtype)
    re = to_dtype(gaussian(first, shape, real), dtype)
    im = to_dtype(gaussian(second, shape, real), dtype)
    return (re + 1j * im) / np.asarray(np.sqrt(2), dtype)


@one_program
def _truncated_normal(facts, key, lower, upper):
    shape, dtype = facts
    root = np.asarray(np.sqrt(2), dtype)
    lower, upper = pnp.asarray(lower, dtype), pnp.asarray(upper, dtype)
    ends = lax.erf(lower / root), lax.erf(upper / root)
    x = root * lax.erf_inv(between(_one(key), shape, dtype, *ends))
    infinity = np.asarray(np.inf, dtype)
    low = lax.nextafter(lax.stop_gradient(lower), infinity)
    high = lax.nextafter(lax.stop_gradient(upper), -infinity)
    return pnp.clip(x, low, high)


def standard_exponential(key, shape, dtype):
    """Exponential numbers of rate 1."""
    return -lax.log1p(-between(key, shape, dtype, 0.0, 1.0))


@one_program
def _exponential(facts, key):
    return standard_exponential(_one(key), *facts)


@one_program
def _gumbel(facts, key):
    return standard_gumbel(_one(key), *facts)


def standard_gumbel(key, shape, dtype, mode):
    """Gumbel numbers of location 0 and scale 1."""
    tiny = finfo(dtype).tiny
    if mode == "low":
        return -lax.log(-lax.log(between(key, shape, dtype, tiny, 1.0)))
    draws = between(key, (2, *shape), dtype, 0.0, 1.0)
    high, low = draws[0], draws[1]
    fine = high + np.asarray(finfo(dtype).eps, dtype) * low + np.asarray(tiny, dtype)
    return -lax.log(-lax.log1p(-pnp.where(high >= 0.5, high, fine)))


@one_program
def _laplace(facts, key):
    shape, dtype = facts
    low = -1.0 + finfo(dtype).epsneg
    u = between(_one(key), shape, dtype, low, 1.0)
    return lax.sign(u) * lax.log1p(-lax.abs(u))


@one_program
def _logistic(facts, key):
    shape, dtype = facts
    u = between(_one(key), shape, dtype, finfo(dtype).tiny, 1.0)
    return lax.log(u) - lax.log1p(-u)


@one_program
def _cauchy(facts, key):
    shape, dtype = facts
    u = between(_one(key), shape, dtype, finfo(dtype).eps, 1.0)
    return lax.tan(np.asarray(pi, dtype) * (u - 0.5))


def standard_maxwell(key, shape, dtype):
    """Lengths of normal vectors of 3 dimensions."""
    x = gaussian(key, (*shape, 3), dtype)
    return lax.sqrt(pnp.sum(x * x, -1))


@one_program
def _maxwell(facts, key):
    return standard_maxwell(_one(key), *facts)


@one_program
def _double_sided_maxwell(facts, key, loc, scale):
    shape, dtype = facts
    first, second = pair(_one(key))
    length = standard_maxwell(first, shape, dtype)
    heads = between(second, shape, dtypes.default_float(), 0.0, 1.0) < 0.5
    signs = 2 * to_dtype(heads, dtype) - 1
    return signs * length * as_type(scale, dtype) + as_type(loc, dtype)


@one_program
def _rayleigh(facts, key, scale):
    shape, dtype = facts
    u = between(_one(key), shape, dtype, 0.0, 1.0)
    return as_type(scale, dtype) * lax.sqrt(lax.log(u) * -2.0)


@one_program
def _weibull_min(facts, key, scale, concentration):
    shape, dtype = facts
    draws = standard_exponential(_one(key), shape, dtype)
    power = to_dtype(1.0 / pnp.asarray(concentration), dtype)
    return pnp.power(draws, power) * as_type(scale, dtype)


@one_program
def _pareto(facts, key, b):
    shape, dtype = facts
    draws = standard_exponential(_one(key), shape, dtype)
    return lax.exp(draws / as_type(b, dtype))


@one_program
def _wald(facts, key, mean):
    shape, dtype = facts
    first, second = pair(_one(key))
    mean = broadcast_to(as_type(mean, dtype), shape)
    v = pnp.square(gaussian(first, shape, dtype))
    u = between(second, shape, dtype, 0.0, 1.0)
    root = lax.sqrt(4 * mean * v + pnp.square(mean) * pnp.square(v))
    x = mean + pnp.square(mean) * v / 2 - mean / 2 * root
    return pnp.where(u <= mean / (mean + x), x, pnp.square(mean) / x)
