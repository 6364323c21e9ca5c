"""Samplers of integers, booleans and orders: bits, ranges, coins, choices, shuffles."""

from math import ceil, log, prod

import numpy as np

from pullback import lax, numpy as pnp
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.dtype_info import iinfo
from pullback.core.errors import ArgumentError, ArgumentTypeError
from pullback.ops.promote import as_operand, to_dtype
from pullback.ops.random import random_bits
from pullback.random.arguments import bits_type, drawn_shape, integer_type, sizes
from pullback.random.continuous import between, pair, precision, standard_gumbel
from pullback.random.keys import check_key, typed
from pullback.random.programs import one_program


def bits(key, shape=(), dtype=None):
    """Uniform unsigned integers over all values of `dtype` (None: uint32).

    Raises:
      ArgumentError: `dtype` is not an unsigned integer type.
    """
    one, _ = typed("bits", key)
    dtype = bits_type("bits", dtype)
    return random_bits(one, 8 * dtype.itemsize, sizes("bits", shape))


def randint(key, shape, minval, maxval, dtype=None):
    """Uniform integers in `[minval, maxval)`.

    Args:
      key: `key<fry>[]` or `u32[2]`.
      shape: of the result.
      minval: lower bound, broadcast to `shape`.
      maxval: upper bound, excluded; where it is not above `minval`, `minval` is drawn.
      dtype: an integer type; None means the default one.

    Raises:
      ArgumentTypeError: `dtype` is not an integer type.
      ShapeError: the bounds do not broadcast to `shape`.
      ScalarOverflowError: a bound is a Python integer outside the default integer type.

    Example:
      >>> from pullback import random
      >>> dice = random.randint(random.key(0), (4,), 1, 7)
    """
    check_key("randint", key)
    facts = (
        drawn_shape("randint", shape, minval, maxval),
        integer_type("randint", dtype),
    )
    low, high = (
        x if dtypes.is_integer(aval_of(x).dtype) else to_dtype(x, dtypes.default_int())
        for x in (minval, maxval)
    )
    return _randint(facts, key, low, high)


def bernoulli(key, p=0.5, shape=None, mode: str = "low"):
    """Booleans that are true with probability `p`.

    Args:
      key: `key<fry>[]` or `u32[2]`.
      p: `f[*s]`, probabilities.
      shape: of the result; None means that of `p`.
      mode: "low", or "high", which draws twice the bits, for tiny probabilities.

    Raises:
      ArgumentTypeError: `p` is not floating.
      ShapeError: `p` does not broadcast to `shape`.
    """
    check_key("bernoulli", key)
    dtype = aval_of(p).dtype
    if not dtypes.is_float(dtype):
        raise ArgumentTypeError(
            f"bernoulli probability `p` of dtype {dtypes.name(dtype)}",
            rule="it must have a floating dtype",
        )
    facts = drawn_shape("bernoulli", shape, p), precision(mode)
    return _bernoulli(facts, key, p)


def rademacher(key, shape=(), dtype=None):
    """-1 or 1, with equal probability. `dtype` None: the default integer type."""
    check_key("rademacher", key)
    named = dtypes.default_int() if dtype is None else dtypes.named(dtype)
    return _rademacher((sizes("rademacher", shape), named), key)


def geometric(key, p, shape=None, dtype=None):
    """Numbers of trials up to the first success, of probability `p` each."""
    check_key("geometric", key)
    facts = drawn_shape("geometric", shape, p), integer_type("geometric", dtype)
    return _geometric(facts, key, p)


def categorical(
    key, logits, axis: int = -1, shape=None, replace: bool = True, mode=None
):
    """Indices along `axis` with probabilities proportional to `exp(logits)`.

    Args:
      key: `key<fry>[]` or `u32[2]`.
      logits: `f[*s]`, unnormalized log probabilities.
      axis: the axis of categories.
      shape: of the result, whose last axes are those of `logits` without `axis`;
        None means just these.
      replace: whether the leading axes of `shape` may repeat an index.
      mode: as in `gumbel`.

    Raises:
      ArgumentError: `logits` are not floating, or too few to draw without replacement.
      ShapeError: `shape` does not end with the other axes of `logits`.

    Source: the Gumbel-max trick.
    """
    check_key("categorical", key)
    logits = pnp.asarray(as_operand("categorical", logits))
    axis = axis - logits.ndim if axis >= 0 else axis
    batch = list(logits.shape)
    del batch[axis]
    if not dtypes.is_float(logits.dtype):
        raise ArgumentError(
            f"categorical of logits {logits.aval.short()}", rule="they are floating"
        )
    template = np.empty(batch, bool)
    wanted = drawn_shape("categorical", shape, template)
    return _categorical((wanted, axis, bool(replace), precision(mode)), key, logits)


def permutation(key, x, axis: int = 0, independent: bool = False):
    """The slices of `x` along `axis`, or the integers below `x`, in random order.

    `independent`: shuffle every line along `axis` on its own.

    Raises:
      ArgumentTypeError: `x` is neither an array nor an integer.
    """
    check_key("permutation", key)
    x = as_operand("permutation", x)
    aval = aval_of(x)
    if not aval.ndim:
        if not dtypes.is_integer(aval.dtype):
            raise ArgumentTypeError(
                f"permutation of {aval.short()}", rule="x must be an integer or array"
            )
        return _shuffle((0,), key, pnp.arange(int(x)))
    axis %= aval.ndim
    if independent or aval.ndim == 1:
        return _shuffle((axis,), key, x)
    order = _shuffle((0,), key, pnp.arange(aval.shape[axis]))
    return pnp.take(x, order, axis)


def choice(key, a, shape=(), replace: bool = True, p=None, axis: int = 0, mode=None):
    """Draw slices of `a` along `axis`, or integers below `a`.

    Args:
      key: `key<fry>[]` or `u32[2]`.
      a: an array, or how many integers there are.
      shape: of the draws; the result has it in place of `axis`.
      replace: whether a slice may be drawn twice.
      p: `f[n]`, probabilities; None means equal ones.
      axis: the axis of `a` to draw from.
      mode: as in `gumbel`, for weighted draws without replacement.

    Raises:
      ArgumentError: there is nothing to draw from, more is to be drawn than there is
        without replacement, or `p` has the wrong shape.
    """
    check_key("choice", key)
    a = as_operand("choice", a)
    whole, shape = aval_of(a).shape, sizes("choice", shape)
    axis = axis % len(whole) if whole else 0
    count, draws = whole[axis] if whole else int(a), prod(shape)
    _check_choice(count, draws, replace, p)
    if p is None and not replace:
        order = permutation(key, a if whole else count, axis)
        drawn = lax.slice_in_dim(order, 0, draws, axis=axis)
    else:
        indices = _drawn_indices(key, count, shape, replace, p, mode)
        drawn = pnp.take(a, indices, axis) if whole else indices
    return pnp.reshape(drawn, (*whole[:axis], *shape, *whole[axis + 1 :]))


def _check_choice(count: int, draws: int, replace: bool, p) -> None:
    if count <= 0 and draws:
        raise ArgumentError(
            "choice from nothing",
            rule="a must be greater than 0 unless no samples are taken",
        )
    if not replace and draws > count:
        raise ArgumentError(
            f"choice: a sample of size {draws} from a population of size {count}",
            rule="Cannot take a larger sample than population when 'replace=False'",
        )
    if p is not None and aval_of(p).shape != (count,):
        raise ArgumentError(
            f"choice with p of shape {aval_of(p).shape}",
            rule=f"p must be None or a 1D vector with the size of a: {count}",
        )


def _drawn_indices(key, count: int, shape, replace: bool, p, mode):
    if p is None:
        return _randint((shape, dtypes.default_int()), key, 0, count)
    p = pnp.asarray(p)
    p = p if dtypes.is_inexact(p.dtype) else p.astype(float)
    if replace:
        sums = pnp.cumsum(p)
        draws = sums[-1] * (1 - _unit((shape, sums.dtype), key))
        return pnp.searchsorted(sums, draws)
    return _weighted(((count,), p.dtype, precision(mode), prod(shape)), key, p)


# ---- programs ----


def _one(key):
    return typed("sampler", key)[0]


@one_program
def _unit(facts, key):
    shape, dtype = facts
    return between(_one(key), shape, dtype, 0.0, 1.0)


@one_program
def _weighted(facts, key, p):
    shape, dtype, mode, draws = facts
    g = standard_gumbel(_one(key), shape, dtype, mode) + lax.log(p)
    return lax.top_k(g, draws)[1]


@one_program
def _randint(facts, key, low, high):
    shape, dtype = facts
    if dtype.itemsize < 4:
        info = iinfo(dtype)
        low = pnp.clip(low, int(info.min), int(info.max))
        high = pnp.clip(high, int(info.min), int(info.max) + 1)
        return to_dtype(_integers(_one(key), shape, dtypes.int32, low, high), dtype)
    return _integers(_one(key), shape, dtype, low, high)


def _integers(key, shape, dtype, low, high):
    """Two words a number, so that the remainder is nearly without bias."""
    full = high > _within(iinfo(dtype).max, aval_of(high).dtype)
    low, high = _clamped(low, dtype), _clamped(high, dtype)
    width = 8 * dtype.itemsize
    word = {32: dtypes.uint32, 64: dtypes.uint64}[width]
    first, second = (random_bits(k, width, shape) for k in pair(key))
    span = to_dtype(high - low, word)
    span = pnp.where(high <= low, word.type(1), span)
    span = pnp.where(full & (high > low), span + word.type(1), span)
    factor = lax.rem(pnp.asarray(2 ** (width // 2), word), span)
    factor = lax.rem(factor * factor, span)
    offset = pnp.remainder(first, span) * factor + pnp.remainder(second, span)
    return low + to_dtype(pnp.remainder(offset, span), dtype)


def _within(value: int, dtype) -> np.ndarray:
    info = iinfo(dtype)
    return np.asarray(min(max(int(value), int(info.min)), int(info.max)), dtype)


def _clamped(x, dtype):
    """`x` in the given type, its values out of range at the ends."""
    x, info = pnp.asarray(x), iinfo(dtype)
    return pnp.clip(x, _within(info.min, x.dtype), _within(info.max, x.dtype)).astype(
        dtype
    )


@one_program
def _bernoulli(facts, key, p):
    shape, mode = facts
    dtype = aval_of(p).dtype
    if mode == "low":
        return between(_one(key), shape, dtype, 0.0, 1.0) < p
    draws = between(_one(key), (2, *shape), dtype, 0.0, 1.0)
    return draws[1] * pnp.finfo(dtype).eps < p - draws[0]


@one_program
def _rademacher(facts, key):
    shape, dtype = facts
    heads = between(_one(key), shape, dtypes.default_float(), 0.0, 1.0) < 0.5
    return 2 * to_dtype(heads, dtype) - 1


@one_program
def _geometric(facts, key, p):
    shape, dtype = facts
    u = between(_one(key), shape, dtypes.to_inexact(aval_of(p).dtype), 0.0, 1.0)
    u = pnp.where(u == 0, 1, u)
    return to_dtype(pnp.floor(lax.log(u) / lax.log1p(-p)) + 1, dtype)


@one_program
def _categorical(facts, key, logits):
    shape, axis, replace, mode = facts
    key = _one(key)
    lead = shape[: len(shape) - logits.ndim + 1]
    if not replace:
        return _without_replacement(key, shape, prod(lead), axis, mode, logits)
    drawn = list(shape[len(lead) :])
    drawn.insert(len(drawn) + 1 + axis, logits.shape[axis])
    noise = standard_gumbel(key, (*lead, *drawn), logits.dtype, mode)
    return pnp.argmax(noise + logits, axis)


def _without_replacement(key, shape, count: int, axis: int, mode, logits):
    if count > logits.shape[axis]:
        raise ArgumentError(
            f"categorical: {count} draws from {logits.shape[axis]} without replacement",
            rule="no more are drawn than there are",
        )
    noisy = logits + standard_gumbel(key, logits.shape, logits.dtype, mode)
    indices = lax.top_k(pnp.moveaxis(noisy, axis, -1), count)[1]
    return pnp.reshape(pnp.moveaxis(indices, -1, 0), shape)


@one_program
def _shuffle(facts, key, x):
    """Sort by random words, as often as makes collisions rare."""
    (axis,) = facts
    key, shape = _one(key), aval_of(x).shape
    rounds = ceil(3 * log(max(1, prod(shape))) / log(iinfo(dtypes.uint32).max))
    for _ in range(rounds):
        key, used = pair(key)
        words = random_bits(used, 32, shape)
        _, x = lax.sort((words, x), dimension=axis, num_keys=1)
    return x
