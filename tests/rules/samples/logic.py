"""Samples of comparisons, extremes, Boolean operations, choices and bits."""

import numpy as np

from pullback.core.errors import ArgumentTypeError, DtypeError, ShapeError
from tests.rules.sample import Bad, Sample, bools, ints, rand
from tests.rules.samples.elementwise import ALL, FLOAT, INT, pairs, whole

EDGES = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0])
FIRST, SECOND = map(np.ravel, np.meshgrid(EDGES, EDGES))
CORNERS = Sample((FIRST, SECOND), dtypes=FLOAT, grad=False)
BITS = [
    *whole(),
    Sample((ints(3), ints(3, lo=-2, hi=40, seed=2)), dtypes=INT),
    Sample((ints(0), ints(0)), dtypes=("int32",)),
]
BOOLS = [
    Sample((bools(2, 3), bools(2, 3, seed=1)), dtypes=("bool",)),
    Sample((bools(), bools(3, seed=1)), dtypes=("bool",)),
]


def comparison(dtypes=FLOAT) -> list[Sample]:
    return [*pairs(dtypes=dtypes), *whole(), *BOOLS, CORNERS]


def which(*shape: int, n: int = 3, seed: int = 0) -> np.ndarray:
    return ints(*shape, lo=0, hi=n, seed=seed).astype(np.int32)


def branches(*shape: int, n: int = 2) -> tuple:
    return tuple(rand(*shape, seed=i) for i in range(n))


SAMPLES = {
    "eq": comparison(ALL),
    "ne": comparison(ALL),
    "lt": comparison(),
    "le": comparison(),
    "gt": comparison(),
    "ge": comparison(),
    "max": comparison(ALL),
    "min": comparison(ALL),
    "and": [*BOOLS, *BITS],
    "or": [*BOOLS, *BITS],
    "xor": [*BOOLS, *BITS],
    "not": [Sample((bools(3),), dtypes=("bool",)), Sample((ints(3),), dtypes=INT)],
    "select_n": [
        Sample((bools(2, 3), *branches(2, 3)), dtypes=ALL),
        Sample((bools(), *branches(2, 3))),
        Sample((bools(), *branches())),
        Sample((bools(0), *branches(0))),
        Sample((bools(1, 3), ints(1, 3), ints(1, 3, seed=1)), dtypes=INT),
        Sample((which(2, 3), *branches(2, 3, n=3))),
        Sample((which(), *branches(3, n=3))),
        Sample((which(3, n=2), *branches(3, n=1))),
        Sample((bools(3), bools(3, seed=1), bools(3, seed=2)), dtypes=("bool",)),
    ],
    "clamp": [
        Sample((rand(2, 3, hi=0.6), rand(2, 3), rand(2, 3, lo=1.2)), dtypes=FLOAT),
        Sample((np.array(0.8), rand(2, 3), np.array(1.2))),
        Sample((np.array(0.8), rand(), np.array(1.2))),
        Sample((np.array(0.8), rand(3), rand(3, lo=1.2))),
        Sample((np.array(-2), ints(3), np.array(2)), dtypes=("int32", "int8")),
    ],
    "shift_left": BITS,
    "shift_right_arithmetic": BITS,
    "shift_right_logical": BITS,
    "population_count": [Sample((ints(7),), dtypes=INT)],
    "clz": [Sample((ints(7),), dtypes=INT)],
}

BAD = {
    "lt": [Bad((rand(2) + 0j, rand(2) + 0j), {}, DtypeError, "lt does not accept")],
    "and": [Bad((rand(2), rand(2)), {}, DtypeError, "and does not accept")],
    "shift_left": [Bad((bools(2), bools(2)), {}, DtypeError, "shift_left does not")],
    "select_n": [
        Bad((bools(2), rand(3), rand(3)), {}, ShapeError, "must be scalar or"),
        Bad((bools(), rand(3), rand(2)), {}, ShapeError, "same shapes"),
        Bad((rand(3), rand(3), rand(3)), {}, DtypeError, "boolean or int32"),
        Bad((bools(3), *branches(3, n=3)), {}, ArgumentTypeError, "two cases"),
        Bad((bools(3), rand(3), ints(3)), {}, DtypeError, "same dtype"),
    ],
    "clamp": [
        Bad((rand(2), rand(3), rand(2)), {}, ShapeError, "same shape"),
        Bad((rand(2), rand(), rand(2)), {}, ShapeError, "shape of the operand"),
        Bad((ints(), rand(3), ints()), {}, DtypeError, "same dtype"),
    ],
}
