"""Samples of conversions and identities."""

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.errors import ArgumentError, ShapeError
from tests.rules.sample import Bad, Sample, bools, ints, rand
from tests.rules.samples.elementwise import ALL, FLOAT, INT, unary

EDGES = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 0.9, -0.9, -7.5, 300.0, 5e9])
HALVES = [np.dtype(np.float16), np.dtype(dtypes.bfloat16)]


def to(dtype, weak_type=False) -> dict:
    return {"new_dtype": np.dtype(dtype), "weak_type": weak_type}


def bits(dtype) -> dict:
    return {"new_dtype": np.dtype(dtype)}


def precision(e: int, m: int) -> dict:
    return {"exponent_bits": e, "mantissa_bits": m}


SAMPLES = {
    "convert_element_type": [
        *(Sample((rand(2, 3),), to(d), ALL) for d in ("float64", "complex128")),
        *(Sample((rand(3),), to(d), ALL, False) for d in ("float32", "complex64")),
        *(Sample((rand(2, 3),), to(d), FLOAT[1:2], False) for d in HALVES),
        *(Sample((EDGES,), to(d), FLOAT[:2], grad=False) for d in ("int32", "uint8")),
        Sample((EDGES[:-1],), to("bool"), FLOAT, grad=False),
        *(Sample((ints(2, 3),), to(d), INT) for d in ("int8", "uint32", "float32")),
        Sample((bools(3),), to("float32"), ("bool",)),
        Sample((bools(3),), to("int32"), ("bool",)),
        Sample((rand(),), to("float64", True), ("float32",)),
        Sample((rand(0),), to("int32"), ("float32",)),
    ],
    "bitcast_convert_type": [
        Sample((rand(2, 3),), bits("int32"), ("float32",), grad=False),
        Sample((ints(2, 3),), bits("float32"), ("int32",), grad=False),
        Sample((rand(2, 3),), bits("uint8"), ("float32",), grad=False),
        Sample((ints(3, 4),), bits("uint32"), ("uint8",), grad=False),
        Sample((rand(),), bits("uint16"), ("bfloat16",), grad=False),
        Sample((rand(0),), bits("uint64"), ("float64",), grad=False),
    ],
    "reduce_precision": [
        *(Sample((s.args[0],), precision(8, 7), FLOAT[:2], False) for s in unary()),
        Sample((rand(5),), precision(5, 10), FLOAT[:2], grad=False),
        Sample((EDGES * 1e4,), precision(5, 2), FLOAT[:2], grad=False),
    ],
    "copy": [*unary(), Sample((ints(3),), dtypes=INT)],
    "stop_gradient": [
        *(Sample(s.args, dtypes=s.dtypes, grad=False) for s in unary()),
        Sample((ints(3),), dtypes=INT),
    ],
}

BAD = {
    "bitcast_convert_type": [
        Bad((ints(3).astype(np.uint8),), bits("uint32"), ShapeError, "last axis"),
    ],
    "reduce_precision": [
        Bad((rand(3),), precision(0, 3), ArgumentError, "exponent_bits"),
    ],
}
