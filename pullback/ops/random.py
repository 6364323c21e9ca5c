"""Random family: keys, and the bits that they stand for. Threefry-2x32.

A key is one 64-bit word: its first 32-bit word in the low half. What a key gives at a
counter depends on nothing else, so arrays of keys, and parts of results, cost no more.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray
from pullback.core.derivative import NotDifferentiable
from pullback.core.errors import ArgumentError, ArgumentTypeError, ShapeError
from pullback.core.primitive import Primitive
from pullback.ops.shape import broadcast_to_axis, moveaxis
from pullback.ops.threefry import (
    CARRIER,
    WORD,
    emit_blocks,
    emit_join,
    emit_threefry,
    emit_words,
    key_blocks,
    threefry,
)

IMPLEMENTATIONS = {"fry": dtypes.KeyType("fry")}
DISCRETE = NotDifferentiable("random bits do not vary smoothly with their key")


def threefry2x32(k0, k1, x0, x1):
    """Encrypt the counter `(x0, x1)` with the key `(k0, k1)`, elementwise on `u32[*s]`.

    Returns two arrays `u32[*s]`.

    Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011).
    """
    return threefry2x32_p.bind(k0, k1, x0, x1)


def random_seed(seeds, *, impl: str):
    """The keys that integers `seeds` stand for."""
    return random_seed_p.bind(seeds, impl=impl)


def random_wrap(words, *, impl: str):
    """`u32[*s, 2]` as keys of shape `[*s]`."""
    return random_wrap_p.bind(words, impl=impl)


def random_unwrap(keys):
    """Keys of shape `[*s]` as `u32[*s, 2]`."""
    return random_unwrap_p.bind(keys)


def random_split(keys, shape: Sequence[int]):
    """For each key, an array of new keys of `shape`."""
    return random_split_p.bind(keys, shape=tuple(shape))


def random_fold_in(keys, data):
    """The keys that `keys` become when the integers `data` are mixed in."""
    return random_fold_in_p.bind(keys, data)


def random_bits(keys, bit_width: int, shape: Sequence[int]):
    """For each key, an array of uniform unsigned integers of `bit_width` bits."""
    return random_bits_p.bind(keys, bit_width=bit_width, shape=tuple(shape))


# ---- what the rules share ----


def _check_keys(name: str, aval: ShapedArray) -> None:
    if not dtypes.is_key(aval.dtype):
        raise ArgumentTypeError(
            f"{name} of {aval.short()}",
            rule="it takes typed PRNG keys",
            fix="make keys with pullback.random.key or wrap_key_data",
        )


def _words(aval: ShapedArray) -> ShapedArray:
    return ShapedArray(aval.shape, WORD)


def _in_front(x, d: int | None, n: int):
    """`x` with its mapped axis in front; repeated along one if it has none."""
    if d is None:
        return broadcast_to_axis(x, n, 0)
    return moveaxis(x, d, 0) if d else x


def _batch_first(bind: Callable[..., Any]):
    """Axes of keys lead in operand and result, and so does a mapped axis."""
    return lambda n, xs, ds, **params: (bind(_in_front(xs[0], ds[0], n), **params), 0)


# ---- threefry2x32 ----


def _threefry_abstract(*avals):
    shapes = {a.shape for a in avals}
    if len(shapes) > 1 or any(a.dtype != WORD for a in avals):
        got = ", ".join(a.short() for a in avals)
        raise ShapeError(
            f"threefry2x32 of {got}", rule="it takes four u32 arrays of one shape"
        )
    return [ShapedArray(avals[0].shape, WORD)] * 2


def _threefry_batch(n, xs, ds):
    xs = [_in_front(x, d, n) for x, d in zip(xs, ds, strict=True)]
    return threefry2x32_p.bind(*xs), [0, 0]


threefry2x32_p = Primitive(
    "threefry2x32",
    abstract=_threefry_abstract,
    reference=threefry,
    lower=lambda b, outs, *xs: emit_threefry(b, outs[0].shape, *xs),
    derivative=DISCRETE,
    batch=_threefry_batch,
    multiple_results=True,
)


# ---- random_seed ----


def _seed_abstract(seeds, *, impl):
    if not dtypes.is_integer(seeds.dtype):
        raise ArgumentTypeError(
            f"a PRNG key of seed {seeds.short()}",
            rule="PRNG key seed must be an integer",
            fix="convert it with astype(int)",
        )
    return ShapedArray(seeds.shape, IMPLEMENTATIONS[impl])


def _seed_reference(seeds, *, impl):
    low = seeds.astype(WORD).astype(CARRIER)
    high = seeds.astype(CARRIER) >> 32 if seeds.dtype.itemsize == 8 else low * 0
    return high | low << 32


def _seed_lower(b, out, seeds, *, impl):
    words = _words(out)
    if b.avals_in[0].dtype.itemsize < 8:
        return emit_join(b, out.shape, b.full(0, words), b.convert(words, seeds))
    wide = b.bitcast_convert(ShapedArray(out.shape, CARRIER), seeds)
    low, high = emit_words(b, out.shape, wide)
    return emit_join(b, out.shape, high, low)


random_seed_p = Primitive(
    "random_seed",
    abstract=_seed_abstract,
    reference=_seed_reference,
    lower=_seed_lower,
    derivative=DISCRETE,
    batch=_batch_first(random_seed),
)


# ---- random_wrap, random_unwrap ----


def _wrap_abstract(words, *, impl):
    if words.dtype != WORD or words.shape[-1:] != (2,):
        raise ShapeError(
            f"PRNG keys of data {words.short()}",
            rule="the data of keys are uint32 words, two a key: u32[..., 2]",
        )
    return ShapedArray(words.shape[:-1], IMPLEMENTATIONS[impl])


def _wrap_reference(words, *, impl):
    return words[..., 0].astype(CARRIER) | words[..., 1].astype(CARRIER) << 32


random_wrap_p = Primitive(
    "random_wrap",
    abstract=_wrap_abstract,
    reference=_wrap_reference,
    lower=lambda b, out, words, *, impl: b.bitcast_convert(out, words),
    derivative=DISCRETE,
    batch=_batch_first(random_wrap),
)


def _unwrap_abstract(keys):
    _check_keys("random_unwrap", keys)
    return ShapedArray((*keys.shape, 2), WORD)


def _unwrap_reference(keys):
    return np.stack([keys.astype(WORD), (keys >> 32).astype(WORD)], -1)


random_unwrap_p = Primitive(
    "random_unwrap",
    abstract=_unwrap_abstract,
    reference=_unwrap_reference,
    lower=lambda b, out, keys: b.bitcast_convert(out, keys),
    derivative=DISCRETE,
    batch=_batch_first(random_unwrap),
)


# ---- random_split ----


def _split_abstract(keys, *, shape):
    _check_keys("random_split", keys)
    return ShapedArray((*keys.shape, *shape), keys.dtype)


def _split_reference(keys, *, shape):
    first, second = key_blocks(keys, shape)
    return first.astype(CARRIER) | second.astype(CARRIER) << 32


def _split_lower(b, out, keys, *, shape):
    return emit_join(b, out.shape, *emit_blocks(b, keys, out.shape, len(shape)))


random_split_p = Primitive(
    "random_split",
    abstract=_split_abstract,
    reference=_split_reference,
    lower=_split_lower,
    derivative=DISCRETE,
    batch=_batch_first(random_split),
)


# ---- random_fold_in ----


def _fold_abstract(keys, data):
    _check_keys("random_fold_in", keys)
    if data.shape != keys.shape or data.dtype != WORD:
        raise ShapeError(
            f"random_fold_in of {keys.short()} and {data.short()}",
            rule="the data are uint32, one a key",
        )
    return keys


def _fold_reference(keys, data):
    k0, k1 = keys.astype(WORD), (keys >> 32).astype(WORD)
    first, second = threefry(k0, k1, np.zeros_like(data), data)
    return first.astype(CARRIER) | second.astype(CARRIER) << 32


def _fold_lower(b, out, keys, data):
    k0, k1 = emit_words(b, out.shape, keys)
    zero = b.full(0, _words(out))
    return emit_join(b, out.shape, *emit_threefry(b, out.shape, k0, k1, zero, data))


def _fold_batch(n, xs, ds):
    xs = [_in_front(x, d, n) for x, d in zip(xs, ds, strict=True)]
    return random_fold_in_p.bind(*xs), 0


random_fold_in_p = Primitive(
    "random_fold_in",
    abstract=_fold_abstract,
    reference=_fold_reference,
    lower=_fold_lower,
    derivative=DISCRETE,
    batch=_fold_batch,
)


# ---- random_bits ----

WIDTHS = {8 * d.itemsize: d for d in (dtypes.uint8, dtypes.uint16, WORD, CARRIER)}


def _bits_abstract(keys, *, bit_width, shape):
    _check_keys("random_bits", keys)
    if bit_width not in WIDTHS:
        raise ArgumentError(
            f"random bits of width {bit_width}", rule="it is 8, 16, 32 or 64"
        )
    return ShapedArray((*keys.shape, *shape), WIDTHS[bit_width])


def _bits_reference(keys, *, bit_width, shape):
    first, second = key_blocks(keys, shape)
    if bit_width == 64:
        return first.astype(CARRIER) << 32 | second.astype(CARRIER)
    return (first ^ second).astype(WIDTHS[bit_width])


def _bits_lower(b, out, keys, *, bit_width, shape):
    first, second = emit_blocks(b, keys, out.shape, len(shape))
    if bit_width == 64:
        return emit_join(b, out.shape, second, first)
    mixed = b.xor(first, second)
    return mixed if bit_width == 32 else b.convert(out, mixed)


random_bits_p = Primitive(
    "random_bits",
    abstract=_bits_abstract,
    reference=_bits_reference,
    lower=_bits_lower,
    derivative=DISCRETE,
    batch=_batch_first(random_bits),
)
