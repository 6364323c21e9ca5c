"""Samples of contractions."""

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.errors import ShapeError
from pullback.ops.contract import Precision
from tests.rules.sample import Bad, Sample, bools, ints, rand

ALL = ("float64", "float32", "bfloat16", "float16", "complex64")
INT = ("int32", "uint8", "int8", "uint32", "int64")
HIGHEST = (Precision.HIGHEST, Precision.HIGHEST)


def dims(xc=(), yc=(), xb=(), yb=(), dtype=None, precision=None) -> dict:
    return {
        "dimension_numbers": ((xc, yc), (xb, yb)),
        "precision": precision,
        "preferred_element_type": None if dtype is None else np.dtype(dtype),
    }


MATRIX = dims((1,), (0,))
SAMPLES = {
    "dot_general": [
        Sample((rand(2, 3), rand(3, 4, seed=1)), MATRIX, ALL),
        Sample((rand(2, 3), rand(3, 4, seed=1)), dims((1,), (0,), dtype="float64")),
        Sample(
            (rand(2, 3), rand(3, 4, seed=1)),
            dims((1,), (0,), dtype="float32"),
            ALL[1:4],
            grad=False,
        ),
        Sample((rand(2, 3), rand(3, 4)), dims((1,), (0,), precision=HIGHEST)),
        Sample((rand(3), rand(3, seed=1)), dims((0,), (0,)), ALL[:4]),
        Sample((rand(), rand(3)), dims()),
        Sample((rand(2), rand(3)), dims()),
        Sample((rand(2, 1), rand(1, 3)), MATRIX),
        Sample((rand(2, 0), rand(0, 3)), MATRIX),
        Sample((rand(0, 2), rand(2, 3)), MATRIX),
        Sample((rand(5, 2, 3), rand(5, 3, 4)), dims((2,), (1,), (0,), (0,)), ALL[:3]),
        Sample((rand(2, 5, 3), rand(4, 3, 5)), dims((2,), (1,), (1,), (2,))),
        Sample((rand(2, 3, 4), rand(4, 5, 2)), dims((0, 2), (2, 0))),
        Sample((rand(2, 3, 4, 5), rand(5, 3, 2)), dims((3,), (0,), (1, 0), (1, 2))),
        Sample((rand(2, 3), rand(2, 3, seed=1)), dims((), (), (0, 1), (0, 1))),
        Sample((ints(2, 3), ints(3, 4, seed=1)), MATRIX, INT),
        Sample((ints(2, 3), ints(3, 4)), dims((1,), (0,), dtype="int32"), ("int8",)),
        Sample((bools(2, 3), bools(3, 4)), MATRIX, ("float32",)),
        Sample(
            (rand(2, 3), rand(3, 4).astype(dtypes.bfloat16)),
            MATRIX,
            ("float32",),
            grad=False,
        ),
    ]
}
BAD = {
    "dot_general": [
        Bad((rand(2, 3), rand(2, 3)), MATRIX, ShapeError, "sizes agree"),
        Bad((rand(2, 3), rand(3)), dims((2,), (0,)), ShapeError, "in range"),
        Bad((rand(2, 3), rand(3)), dims((1, 1), (0, 0)), ShapeError, "distinct"),
        Bad((rand(2, 3), rand(3)), dims((1,), ()), ShapeError, "pairwise"),
    ]
}
