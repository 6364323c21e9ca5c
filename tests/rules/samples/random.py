"""Samples of the random family. Keys are made from words by `random_wrap`."""

import numpy as np

from pullback.compile.array import ArrayImpl
from pullback.core.aval import ShapedArray
from pullback.core.errors import ArgumentError, ArgumentTypeError, ShapeError
from pullback.ops.random import IMPLEMENTATIONS
from tests.rules.sample import Bad, Sample, ints

WORDS = ("uint32",)


def words(*shape, seed=0):
    """Uniform 32-bit words."""
    return np.random.default_rng(seed).integers(0, 2**32, shape)


def keys(*shape, seed=0):
    """Typed keys."""
    value = np.random.default_rng(seed).integers(0, 2**63, shape).astype(np.uint64)
    return ArrayImpl(ShapedArray(shape, IMPLEMENTATIONS["fry"]), None, value)


def _sample(*args, dtypes=WORDS, **params):
    return Sample(args, params, dtypes, grad=False)


SAMPLES = {
    "threefry2x32": [
        _sample(*(words(seed=i) for i in range(4))),
        _sample(*(words(0, seed=i) for i in range(4))),
        _sample(*(words(2, 1, 3, seed=i) for i in range(4))),
    ],
    "random_seed": [
        _sample(ints(lo=-5, hi=5), dtypes=("int8", "int32", "uint32"), impl="fry"),
        _sample(ints(2, 3, lo=-5, hi=5), dtypes=("int32",), impl="fry"),
    ],
    "random_wrap": [_sample(words(2), impl="fry"), _sample(words(3, 1, 2), impl="fry")],
    "random_unwrap": [_sample(keys()), _sample(keys(3, 1)), _sample(keys(0))],
    "random_split": [
        _sample(keys(), shape=(2,)),
        _sample(keys(), shape=()),
        _sample(keys(3), shape=(2, 2)),
        _sample(keys(2), shape=(0,)),
    ],
    "random_fold_in": [_sample(keys(), words()), _sample(keys(2, 3), words(2, 3))],
    "random_bits": [
        _sample(keys(), bit_width=32, shape=(3, 2)),
        _sample(keys(), bit_width=8, shape=(5,)),
        _sample(keys(2), bit_width=16, shape=(3,)),
        _sample(keys(), bit_width=32, shape=()),
        _sample(keys(2, 1), bit_width=32, shape=(0,)),
    ],
}

BAD = {
    "threefry2x32": [
        Bad((words(2), words(2), words(2), words(3)), {}, ShapeError, "one shape")
    ],
    "random_seed": [
        Bad((np.ones(()),), {"impl": "fry"}, ArgumentTypeError, "must be an integer")
    ],
    "random_wrap": [Bad((words(3),), {"impl": "fry"}, ShapeError, "two a key")],
    "random_unwrap": [Bad((words(2),), {}, ArgumentTypeError, "typed PRNG keys")],
    "random_split": [
        Bad((words(2),), {"shape": (2,)}, ArgumentTypeError, "typed PRNG keys")
    ],
    "random_fold_in": [Bad((keys(), words(2)), {}, ShapeError, "one a key")],
    "random_bits": [
        Bad((keys(),), {"bit_width": 7, "shape": ()}, ArgumentError, "8, 16, 32 or 64")
    ],
}
