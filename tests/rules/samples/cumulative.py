"""Samples of running sums, products, extrema and log-sum-exps."""

import numpy as np

from pullback.core.errors import ArgumentError, DtypeError
from tests.rules.sample import Bad, Sample, bools, ints, rand

ALL = ("float64", "float32", "bfloat16", "float16", "complex64")
INT = ("int32", "uint8", "int8", "uint32", "int64")
EDGES = np.array([-np.inf, -np.inf, 1.0, np.inf, 2.0, np.nan, 0.0])
ZEROS = np.array([1.5, 0.0, 2.0, 0.0, 3.0])


def along(axis: int = 0, reverse: bool = False) -> dict:
    return {"axis": axis, "reverse": reverse}


def running(dtypes=ALL) -> list[Sample]:
    return [
        Sample((rand(3, 5),), along(1), dtypes),
        Sample((rand(2, 4, 3),), along(1, True), dtypes[:2]),
        *(Sample((rand(n),), along()) for n in (0, 1, 2, 3, 6, 9)),
        Sample((rand(8),), along(0, True)),
        Sample((rand(2, 0),), along(0)),
    ]


WHOLE = [
    Sample((ints(3, 5),), along(1), INT),
    Sample((ints(2, 4, lo=1, hi=3),), along(1, True), INT),
]

SAMPLES = {
    "cumsum": [*running(), *WHOLE],
    "cumprod": [*running(), *WHOLE, Sample((ZEROS,), along())],
    "cummax": [*running(ALL[:4]), *WHOLE, Sample((EDGES,), along(), grad=False)],
    "cummin": [*running(ALL[:4]), *WHOLE, Sample((EDGES,), along(), grad=False)],
    "cumlogsumexp": [
        *running(ALL[:4]),
        Sample((EDGES,), along(), grad=False),
        Sample((EDGES,), along(0, True), grad=False),
        Sample((rand(4, lo=-1e3, hi=1e3),), along(), grad=False),
    ],
}

REFUSED = [
    Bad((rand(3),), along(1), ArgumentError, "out of bounds"),
    Bad((bools(3),), along(), DtypeError, "does not accept"),
]
BAD = dict.fromkeys(SAMPLES, REFUSED)
