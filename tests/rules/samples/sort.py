"""Samples of sorting and of the largest elements."""

import numpy as np

from pullback.core.errors import ArgumentError, ShapeError
from tests.rules.sample import Bad, Sample, bools, ints, rand

FLOAT = ("float64", "float32", "bfloat16", "float16")
INT = ("int32", "uint8", "int8", "uint32", "int64")
EDGES = np.array([0.0, -0.0, np.nan, 3.0, -np.inf, np.inf, -0.0, -np.nan, 3.0])


def by(dimension: int = 0, num_keys: int = 1) -> dict:
    return {"dimension": dimension, "is_stable": True, "num_keys": num_keys}


def largest(k: int, axis: int = 0) -> dict:
    return {"k": k, "axis": axis}


SAMPLES = {
    "sort": [
        Sample((rand(3, 4, 2),), by(1), FLOAT),
        Sample((rand(3),), by(), ("complex64",), grad=False),
        *(Sample((rand(n),), by()) for n in (0, 1, 5)),
        Sample((EDGES,), by(), FLOAT, grad=False),
        Sample((ints(4, 5),), by(0), INT),
        Sample((bools(7),), by(), ("float32",)),
        Sample((rand(6), ints(6), rand(6, seed=1)), by()),
        Sample((ints(9, lo=0, hi=3), rand(9)), by(0, 2), grad=False),
        Sample((ints(9, lo=0, hi=3), ints(9, lo=0, hi=2), ints(9)), by(0, 2)),
        Sample((EDGES, ints(9)), by(0, 2), grad=False),
    ],
    "top_k": [
        Sample((rand(3, 4),), largest(2, 1), FLOAT[1:3]),
        Sample((rand(3, 4),), largest(2, 0)),
        Sample((rand(5),), largest(5)),
        Sample((rand(5),), largest(0)),
        Sample((rand(2, 3, 4),), largest(2, 1)),
        Sample((EDGES,), largest(6), FLOAT[1:2], grad=False),
        Sample((ints(9),), largest(4), ("int32", "uint8")),
    ],
}
BAD = {
    "sort": [
        Bad((rand(3), rand(2)), by(), ShapeError, "one shape"),
        Bad((rand(3),), by(1), ArgumentError, "out of bounds"),
    ],
    "top_k": [Bad((rand(3),), largest(4), ArgumentError, "k lies in")],
}
