"""Samples of reductions and of positions of extrema. `reduce_sum` is in shape."""

import numpy as np

from pullback.core.errors import ArgumentError, DtypeError, ShapeError
from tests.rules.sample import Bad, Sample, bools, ints, rand

ALL = ("float64", "float32", "bfloat16", "float16", "complex64")
FLOAT = ALL[:4]
INT = ("int32", "uint8", "int8", "uint32", "int64")
EDGES = np.array([[np.nan, 1.0, -np.inf], [np.inf, 2.0, -1.0]])
TIES = np.array([[2.0, 1.0, 2.0], [0.5, 0.5, 0.5]])
ZEROS = np.array([[0.0, 1.5, 2.0], [0.0, 0.0, 3.0], [1.2, 0.7, 0.9]])


def over(*axes: int) -> dict:
    return {"axes": axes}


def position(axis: int, dtype="int32") -> dict:
    return {"axes": (axis,), "index_dtype": np.dtype(dtype)}


def reductions(dtypes=ALL) -> list[Sample]:
    return [
        Sample((rand(2, 3, 4),), over(0, 2), dtypes),
        Sample((rand(2, 3),), over(0), dtypes[:2]),
        Sample((rand(2, 3),), over(1)),
        Sample((rand(2, 3),), over()),
        Sample((rand(),), over()),
        Sample((rand(3, 1),), over(1)),
        Sample((rand(5),), over(0)),
        Sample((rand(0, 3),), over(0), grad=False),
        Sample((rand(3, 0),), over(0)),
        Sample((ints(2, 3, 4),), over(1), INT),
        Sample((ints(0, 3),), over(0), INT),
    ]


EXTREMA = [
    *reductions(FLOAT),
    Sample((rand(2, 3),), over(1), ALL[4:], grad=False),
    Sample((EDGES,), over(1), FLOAT, grad=False),
    Sample((EDGES,), over(0), FLOAT, grad=False),
    Sample((TIES,), over(1), grad=False),
    Sample((bools(3, 4),), over(0), ("float32",)),
]
LOGIC = [
    Sample((bools(3, 4),), over(0), ("float32",)),
    Sample((bools(2, 3, 4),), over(0, 2), ("float32",)),
    Sample((bools(0, 2),), over(0), ("float32",)),
    Sample((ints(3, 4, lo=0),), over(1), INT),
    Sample((ints(0, 2),), over(0), INT),
    Sample((ints(3),), over(), INT),
]
POSITIONS = [
    Sample((rand(2, 3, 4),), position(1), FLOAT),
    Sample((rand(3),), position(0, "int64")),
    Sample((rand(3, 1),), position(1)),
    Sample((rand(0, 2),), position(1)),
    Sample((EDGES,), position(0), FLOAT),
    Sample((EDGES,), position(1), FLOAT),
    Sample((TIES,), position(1)),
    Sample((np.array([np.nan, 3.0, np.nan]),), position(0)),
    Sample((ints(3, 4),), position(0), INT),
    Sample((bools(3, 4),), position(1), ("float32",)),
    Sample((np.full((2, 3), -np.inf),), position(1)),
]

SAMPLES = {
    "reduce_max": EXTREMA,
    "reduce_min": EXTREMA,
    "reduce_prod": [
        *reductions(),
        Sample((ZEROS,), over(0)),
        Sample((ZEROS,), over(1)),
        Sample((ZEROS,), over(0, 1)),
    ],
    "reduce_and": LOGIC,
    "reduce_or": LOGIC,
    "reduce_xor": LOGIC,
    "argmax": POSITIONS,
    "argmin": POSITIONS,
}

AXES = [
    Bad((rand(2, 3),), over(2), ShapeError, "distinct"),
    Bad((rand(2, 3),), over(0, 0), ShapeError, "distinct"),
]
NO_POSITION = [
    Bad((rand(0, 3),), position(0), ArgumentError, "empty sequence"),
    Bad((rand(2, 3),), position(2), ShapeError, "lie in"),
]
BAD = {
    "reduce_max": AXES,
    "reduce_min": AXES,
    "reduce_prod": AXES,
    "reduce_and": [Bad((rand(2),), over(0), DtypeError, "takes int, bool")],
    "reduce_or": [Bad((rand(2),), over(0), DtypeError, "takes int, bool")],
    "reduce_xor": [Bad((rand(2),), over(0), DtypeError, "takes int, bool")],
    "argmax": NO_POSITION,
    "argmin": NO_POSITION,
}
