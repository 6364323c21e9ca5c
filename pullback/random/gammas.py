"""Samplers that reject: the gamma distribution and those made of it, and Poisson.

Every number has its own key, so that a rejection does not change its neighbours.
"""

from math import prod

import numpy as np

from pullback import lax, numpy as pnp
from pullback.api.batch import vmap
from pullback.api.custom_jvp import custom_jvp
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.dtype_info import iinfo
from pullback.core.errors import DifferentiationError, ShapeError
from pullback.ops.promote import broadcast_to, to_dtype
from pullback.ops.random import random_split
from pullback.random.arguments import drawn_shape, float_type, integer_type, sizes
from pullback.random.continuous import (
    as_type,
    between,
    gaussian,
    pair,
    standard_exponential,
)
from pullback.random.keys import check_key, typed
from pullback.random.programs import one_program


def gamma(key, a, shape=None, dtype=None):
    """Gamma numbers: density proportional to `x**(a - 1) exp(-x)` on `x > 0`.

    Args:
      key: `key<fry>[]` or `u32[2]`.
      a: `f[*s]`, positive.
      shape: of the result; None means that of `a`.
      dtype: a floating type; None means the default one.

    Raises:
      ShapeError: `a` does not broadcast to `shape`.
      DifferentiationError: a derivative with respect to `a` is asked for.

    Source: Marsaglia and Tsang, A simple method for generating gamma variables (2000).
    """
    check_key("gamma", key)
    facts = drawn_shape("gamma", shape, a), float_type("gamma", dtype), False
    return _gamma(facts, key, a)


def loggamma(key, a, shape=None, dtype=None):
    """The logarithms of gamma numbers, also where these underflow."""
    check_key("loggamma", key)
    facts = drawn_shape("loggamma", shape, a), float_type("loggamma", dtype), True
    return _gamma(facts, key, a)


def beta(key, a, b, shape=None, dtype=None):
    """Beta numbers: density proportional to `x**(a - 1) (1 - x)**(b - 1)`."""
    check_key("beta", key)
    facts = drawn_shape("beta", shape, a, b), float_type("beta", dtype)
    return _beta(facts, key, a, b)


def dirichlet(key, alpha, shape=None, dtype=None):
    """Dirichlet vectors: positive, of sum 1.

    Args:
      key: `key<fry>[]` or `u32[2]`.
      alpha: `f[*s, n]`, positive.
      shape: of the result without its last axis; None means `[*s]`.
      dtype: a floating type; None means the default one.

    Returns:
      `f[*shape, n]`.

    Raises:
      ShapeError: `alpha` has no axis, or does not broadcast to `shape`.
    """
    check_key("dirichlet", key)
    aval = aval_of(alpha)
    if not aval.ndim:
        raise ShapeError(f"dirichlet of alpha {aval.short()}", rule="it has an axis")
    batch = drawn_shape("dirichlet", shape, np.empty(aval.shape[:-1], bool))
    facts = (*batch, aval.shape[-1]), float_type("dirichlet", dtype), True
    logs = _gamma(facts, key, alpha)
    top = lax.stop_gradient(pnp.max(logs, -1, keepdims=True))
    parts = lax.exp(logs - top)
    return parts / pnp.sum(parts, -1, keepdims=True)


def chisquare(key, df, shape=None, dtype=None):
    """Sums of `df` squared standard normal numbers."""
    check_key("chisquare", key)
    facts = drawn_shape("chisquare", shape, df), float_type("chisquare", dtype)
    return _chisquare(facts, key, df)


def f(key, dfnum, dfden, shape=None, dtype=None):
    """Ratios of mean squares of `dfnum` and `dfden` degrees of freedom."""
    check_key("f", key)
    facts = drawn_shape("f", shape, dfnum, dfden), float_type("f", dtype)
    return _f(facts, key, dfnum, dfden)


def t(key, df, shape=None, dtype=None):
    """Student's t numbers of `df` degrees of freedom."""
    check_key("t", key)
    return _t((drawn_shape("t", shape, df), float_type("t", dtype)), key, df)


def generalized_normal(key, p, shape=(), dtype=None):
    """Numbers of density proportional to `exp(-|x|**p)`."""
    name = "generalized_normal"
    check_key(name, key)
    return _generalized_normal((sizes(name, shape), float_type(name, dtype)), key, p)


def ball(key, d: int, p=2, shape=(), dtype=None):
    """Vectors of size `d`, uniform in the unit ball of the `p`-norm.

    Source: Barthe et al., A probabilistic approach to the geometry of the ball (2005).
    """
    check_key("ball", key)
    facts = (*sizes("ball", shape), d.__index__()), float_type("ball", dtype)
    return _ball(facts, key, p)


def poisson(key, lam, shape=None, dtype=None):
    """Numbers of events of rate `lam` in unit time.

    Args:
      key: `key<fry>[]` or `u32[2]`.
      lam: `f[*s]`, not negative.
      shape: of the result; None means that of `lam`.
      dtype: an integer type; None means the default one.

    Raises:
      ShapeError: `lam` does not broadcast to `shape`.

    Source: Knuth's product of uniforms below 10, above it Hoermann, The transformed
    rejection method for generating Poisson random variables (1993).
    """
    check_key("poisson", key)
    facts = drawn_shape("poisson", shape, lam), integer_type("poisson", dtype)
    return _poisson(facts, key, lam)


# ---- gamma ----


def draw_gamma(key, a, log_space: bool):
    """Gamma numbers of parameters `a: f[*s]`, or their logarithms."""
    shape = aval_of(a).shape
    if not prod(shape):
        return a
    keys = random_split(key, (prod(shape),))
    one = vmap(_log_gamma_of_one if log_space else _gamma_of_one)
    samples = one(keys, pnp.reshape(lax.stop_gradient(a), -1))
    return _implicit(pnp.reshape(samples, shape), a)


@custom_jvp
def _implicit(samples, a):
    return samples


@_implicit.defjvp
def _implicit_jvp(primals, tangents):
    raise DifferentiationError(
        f"the derivative of gamma draws with respect to a, {primals[1].aval.short()}",
        rule="it is implicit in the distribution function, which is not available",
        fix="hold `a` fixed with lax.stop_gradient",
    )


def _gamma_of_one(key, a):
    large, scale, cube, key = _accepted(key, a)
    shrink = 1 - between(key, (), a.dtype, 0.0, 1.0)
    boost = pnp.where(large, as_type(1.0, a.dtype), lax.pow(shrink, 1 / a))
    return scale * cube * boost


def _log_gamma_of_one(key, a):
    large, scale, cube, key = _accepted(key, a)
    shrink = -standard_exponential(key, (), a.dtype)
    zero = as_type(0.0, a.dtype)
    boost = pnp.where(large | (shrink == 0), zero, shrink * (1 / a))
    return lax.log(scale) + lax.log(cube) + boost


def _accepted(key, a):
    """Marsaglia and Tsang's d and v for `a`, or for `a + 1` where it is below 1."""
    dtype = a.dtype
    third = as_type(1 / 3, dtype)
    large = a >= 1
    scale = pnp.where(large, a, a + 1) - third
    slope = third / lax.sqrt(scale)

    def rejected(state):
        _, x, v, u = state
        quick = u >= 1 - as_type(0.0331, dtype) * (x * x)
        return quick & (lax.log(u) >= x * 0.5 + scale * ((1 - v) + lax.log(v)))

    def propose(state):
        keys = random_split(state[0], (3,))
        start = keys[1], as_type(0.0, dtype), as_type(-1.0, dtype)
        _, x, v = lax.while_loop(lambda kxv: kxv[2] <= 0, _next_normal, start)
        return keys[0], x * x, (v * v) * v, between(keys[2], (), dtype, 0.0, 1.0)

    def _next_normal(state):
        again, used = pair(state[0])
        x = gaussian(used, (), dtype)
        return again, x, 1 + x * slope

    key, last = pair(key)
    start = key, as_type(0.0, dtype), as_type(1.0, dtype), as_type(2.0, dtype)
    _, _, cube, _ = lax.while_loop(rejected, propose, start)
    return large, scale, cube, last


def _one(key):
    return typed("sampler", key)[0]


@one_program
def _gamma(facts, key, a):
    shape, dtype, log_space = facts
    return draw_gamma(_one(key), broadcast_to(as_type(a, dtype), shape), log_space)


@one_program
def _beta(facts, key, a, b):
    shape, dtype = facts
    first, second = pair(_one(key))
    a, b = (broadcast_to(as_type(x, dtype), shape) for x in (a, b))
    x, y = draw_gamma(first, a, True), draw_gamma(second, b, True)
    top = lax.max(x, y)
    x, y = lax.exp(x - top), lax.exp(y - top)
    return x / (x + y)


def _draw_chisquare(key, shape, df):
    half = broadcast_to(df / 2, shape)
    return lax.exp(draw_gamma(key, half, True)) * 2


@one_program
def _chisquare(facts, key, df):
    shape, dtype = facts
    return _draw_chisquare(_one(key), shape, to_dtype(df, dtype))


@one_program
def _f(facts, key, dfnum, dfden):
    shape, dtype = facts
    dfnum, dfden = to_dtype(dfnum, dtype), to_dtype(dfden, dtype)
    first, second = pair(_one(key))
    below = _draw_chisquare(first, shape, dfden) / dfden
    return _draw_chisquare(second, shape, dfnum) / dfnum / below


@one_program
def _t(facts, key, df):
    shape, dtype = facts
    first, second = pair(_one(key))
    half = to_dtype(df, dtype) / 2
    draws = gaussian(first, shape, dtype)
    return draws * lax.sqrt(half / draw_gamma(second, broadcast_to(half, shape), False))


def _draw_generalized(key, shape, dtype, p):
    first, second = pair(key)
    power = to_dtype(1 / pnp.asarray(p), dtype)
    size = draw_gamma(first, broadcast_to(power, shape), False)
    heads = between(second, shape, dtypes.default_float(), 0.0, 1.0) < 0.5
    return (2 * to_dtype(heads, dtype) - 1) * pnp.power(size, power)


@one_program
def _generalized_normal(facts, key, p):
    shape, dtype = facts
    return _draw_generalized(_one(key), shape, dtype, p)


@one_program
def _ball(facts, key, p):
    shape, dtype = facts
    first, second = pair(_one(key))
    direction = _draw_generalized(first, shape, dtype, p)
    radius = standard_exponential(second, shape[:-1], dtype)
    total = pnp.sum(pnp.power(pnp.abs(direction), to_dtype(p, dtype)), -1) + radius
    length = pnp.power(total, to_dtype(1 / pnp.asarray(p), dtype))
    return direction / length[..., None]


# ---- Poisson ----


@one_program
def _poisson(facts, key, lam):
    shape, dtype = facts
    key = _one(key)
    lam = broadcast_to(to_dtype(lam, dtypes.float32), shape)
    small = (lam != lam) | (lam < 10)
    limit = iinfo(dtype).max
    few = _by_product(key, pnp.where(small, lam, 0.0), shape, dtype, limit)
    many = _by_rejection(key, pnp.where(small, 1e5, lam), shape, dtype, limit)
    return pnp.where(lam == 0, 0, pnp.where(small, few, many))


def _by_product(key, lam, shape, dtype, limit):
    """How many uniforms multiply to more than `exp(-lam)`."""

    def step(state):
        i, count, key, log_product = state
        key, used = pair(key)
        count = pnp.where(log_product > -lam, count + 1, count)
        u = between(used, shape, dtypes.float32, 0.0, 1.0)
        return i + 1, count, key, log_product + lax.log(u)

    def unfinished(state):
        return pnp.any(state[3] > -lam) & (state[0] < limit)

    zeros = pnp.zeros(shape, dtype)
    start = pnp.asarray(0), zeros, key, pnp.zeros(shape, dtypes.float32)
    return lax.while_loop(unfinished, step, start)[1] - 1


def _by_rejection(key, lam, shape, dtype, limit):
    """Hoermann's PTRS, for rates of at least 10."""
    log_lam = lax.log(lam)
    b = 0.931 + 2.53 * lax.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2)

    def step(state):
        i, out, accepted, key = state
        keys = random_split(key, (3,))
        u = between(keys[1], shape, lam.dtype, 0.0, 1.0) - 0.5
        v = between(keys[2], shape, lam.dtype, 0.0, 1.0)
        us = 0.5 - pnp.abs(u)
        k = pnp.floor((2 * a / us + b) * u + lam + 0.43)
        s = lax.log(v * inverse_alpha / (a / (us * us) + b))
        density = -lam + k * log_lam - lax.lgamma(k + 1)
        inside = (us >= 0.07) & (v <= v_r)
        outside = (k < 0) | ((us < 0.013) & (v > us))
        accept = inside | (~outside & (s <= density))
        return i + 1, pnp.where(accept, k, out), accepted | accept, keys[0]

    def unfinished(state):
        return pnp.any(~state[2]) & (state[0] < limit)

    out, accepted = pnp.full(shape, -1, lam.dtype), pnp.zeros(shape, bool)
    out = lax.while_loop(unfinished, step, (pnp.asarray(0), out, accepted, key))[1]
    return out.astype(dtype)
