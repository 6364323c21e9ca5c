"""PRNG keys: made from seeds, split, and taken apart into words.

Every function takes typed keys and raw ones (`u32[2]`) alike, and returns its own kind.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.core import config, dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of, is_array_like
from pullback.core.dtype import ScalarOverflowError
from pullback.core.errors import ArgumentError, ArgumentTypeError, ShapeError
from pullback.ops import random as bits_of
from pullback.ops.promote import to_dtype
from pullback.random.arguments import sizes

IMPLEMENTATION = "threefry2x32"
SHORT_NAME = "fry"
KEY = bits_of.IMPLEMENTATIONS[SHORT_NAME]


def key(seed, *, impl: Any = None, dtype: Any = None):
    """A typed key: the source of randomness that the other functions draw from.

    Args:
      seed: an integer scalar; equal seeds give equal keys.
      impl: name of the generator; only "threefry2x32", which is the default.
      dtype: the type of the key, in place of `impl`.

    Returns:
      `key<fry>[]`.

    Raises:
      ArgumentTypeError: `seed` is not an integer scalar.
      ArgumentError: there is no generator `impl`.

    Example:
      >>> from pullback import random
      >>> random.normal(random.key(0), (2,)).shape
      (2,)

    Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011).
    """
    _check_implementation(impl if dtype is None else dtype)
    return bits_of.random_seed(_seed("key", seed), impl=SHORT_NAME)


def PRNGKey(seed, *, impl: Any = None):
    """As `key`, for a raw key: its two words as `u32[2]`."""
    _check_implementation(impl)
    typed_key = bits_of.random_seed(_seed("PRNGKey", seed), impl=SHORT_NAME)
    return bits_of.random_unwrap(typed_key)


def split(key, num: int | Sequence[int] = 2):
    """New keys from one; draw from each once, and from `key` no more.

    Args:
      key: `key<fry>[]` or `u32[2]`.
      num: how many, or the shape of the array of keys.

    Returns:
      `key<fry>[num]` (or `u32[num, 2]`).

    Raises:
      ArgumentTypeError: `key` is not a key.
      ShapeError: it is an array of keys.

    Example:
      >>> from pullback import random
      >>> key, used = random.split(random.key(0))
    """
    one, raw = typed("split", key)
    keys = bits_of.random_split(one, sizes("split", num))
    return bits_of.random_unwrap(keys) if raw else keys


def fold_in(key, data):
    """The key that stands for `key` and the integer `data` together.

    Args:
      key: `key<fry>[]` or `u32[2]`.
      data: an integer scalar, taken modulo 2 to the 32 unless it is a Python number.

    Raises:
      ScalarOverflowError: a Python integer outside uint32.

    Example:
      >>> from pullback import random
      >>> steps = [random.fold_in(random.key(0), i) for i in range(3)]
    """
    one, raw = typed("fold_in", key)
    new = bits_of.random_fold_in(one, _folded(data))
    return bits_of.random_unwrap(new) if raw else new


def key_data(keys):
    """The words of keys: `key<fry>[*s]` to `u32[*s, 2]`; raw keys as they are."""
    aval = _aval("key_data", keys)
    return bits_of.random_unwrap(keys) if dtypes.is_key(aval.dtype) else keys


def wrap_key_data(key_bits_array, *, impl: Any = None, dtype: Any = None):
    """Typed keys of words: `u32[*s, 2]` to `key<fry>[*s]`. The inverse of `key_data`.

    Raises:
      ShapeError: the words are not `u32[*s, 2]`.
    """
    _check_implementation(impl if dtype is None else dtype)
    _aval("wrap_key_data", key_bits_array)
    return bits_of.random_wrap(key_bits_array, impl=SHORT_NAME)


def key_impl(keys) -> str:
    """The name of the generator of `keys`: "threefry2x32"."""
    _aval("key_impl", keys)
    return IMPLEMENTATION


def key_dtype(impl_spec: Any = None):
    """The type of the keys of a generator: `key<fry>`."""
    _check_implementation(impl_spec)
    return KEY


def clone(key):
    """A key equal to `key`, to say that drawing the same numbers again is meant."""
    _aval("clone", key)
    return key


# ---- what keys and samplers share ----


def typed(name: str, key) -> tuple[Any, bool]:
    """One typed key, and whether it was given as words.

    Raises:
      ArgumentTypeError: `key` is not a key.
      ShapeError: it is an array of keys.
    """
    aval = _aval(name, key)
    raw = not dtypes.is_key(aval.dtype)
    if aval.ndim != raw:
        raise ShapeError(
            f"{name} of {aval.short()}",
            rule=f"{name} accepts a single key, but was given a key array of shape "
            f"{aval.shape} != ()",
            fix="use vmap for batching",
        )
    return (bits_of.random_wrap(key, impl=SHORT_NAME) if raw else key), raw


def check_key(name: str, key) -> None:
    """As `typed`, for a key that is wrapped later."""
    aval = _aval(name, key)
    if aval.ndim != (aval.dtype is not KEY):
        typed(name, key)


def _aval(name: str, keys) -> ShapedArray:
    """The type of keys, typed or raw."""
    if not hasattr(keys, "dtype") or not is_array_like(keys):
        raise ArgumentTypeError(
            f"{name}: unexpected PRNG key type {type(keys).__name__}",
            rule="a key is what key, PRNGKey or split return",
        )
    aval = aval_of(keys)
    if dtypes.is_key(aval.dtype):
        return aval
    if aval.dtype != dtypes.uint32 or aval.shape[-1:] != (2,):
        raise ArgumentTypeError(
            f"{name}: invalid PRNG key data {aval.short()}",
            rule="keys are typed, or uint32 words with a last axis of size 2",
            fix="make keys with pullback.random.key",
        )
    return aval


def _check_implementation(impl: Any) -> None:
    if impl not in (None, IMPLEMENTATION) and impl is not KEY:
        raise ArgumentError(
            f"unrecognized PRNG implementation {impl!r}",
            rule=f'the generator is "{IMPLEMENTATION}"',
        )


def _seed(name: str, seed):
    """A seed as an integer scalar; Python integers lose what their type cannot hold."""
    if isinstance(seed, int):
        if not -(2**63) <= seed < 2**63:
            raise ScalarOverflowError(
                f"{name} of seed {seed}", rule="a seed fits in 64 bits with a sign"
            )
        return np.int64(seed) if config.x64() else np.int64(seed).astype(np.int32)
    aval = aval_of(seed)
    if aval.ndim or not dtypes.is_integer(aval.dtype):
        raise ArgumentTypeError(
            f"{name} of seed {aval.short()}",
            rule="PRNG key seed must be an integer scalar",
            fix="use vmap for an array of seeds",
        )
    return seed


def _folded(data):
    if isinstance(data, int | float):
        data = int(data)
        if not 0 <= data < 2**32:
            raise ScalarOverflowError(
                f"fold_in of {data}", rule="Python integers lie in [0, 2**32)"
            )
        return np.uint32(data)
    aval = aval_of(data)
    if aval.ndim:
        raise ArgumentTypeError(
            f"fold_in of an array of shape {aval.shape}",
            rule="fold_in accepts a scalar",
            fix="use vmap for batching",
        )
    return to_dtype(data, dtypes.uint32)
