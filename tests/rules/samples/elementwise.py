"""Samples of arithmetic, rounding, powers, roots and complex parts."""

import numpy as np

from pullback.core.errors import DtypeError, ShapeError
from pullback.ops.elementwise import RoundingMethod
from tests.rules.sample import Bad, Sample, bools, ints, rand

F32 = np.dtype(np.float32)
ALL = ("float64", "float32", "bfloat16", "float16", "complex64", "complex128")
FLOAT = ("float64", "float32", "bfloat16", "float16")
COMPLEX = ("complex64", "complex128")
INT = ("int32", "uint8", "int8", "uint32", "int64")
SHAPES = ((), (0,), (1,), (2, 1, 3))


def unary(lo=0.5, hi=1.5, dtypes=ALL, **more) -> list[Sample]:
    return [
        Sample(
            (rand(*s, lo=lo, hi=hi),), dtypes=dtypes if i == 3 else dtypes[:1], **more
        )
        for i, s in enumerate(SHAPES)
    ]


def pairs(lo=0.5, hi=1.5, dtypes=ALL, **more) -> list[Sample]:
    shapes = [(s, s) for s in SHAPES] + [((2, 3), ()), ((), (3,))]
    return [
        Sample(
            (rand(*s, lo=lo, hi=hi), rand(*z, lo=lo, hi=hi, seed=9)),
            dtypes=dtypes if i == 3 else dtypes[:1],
            **more,
        )
        for i, (s, z) in enumerate(shapes)
    ]


def whole(dtypes=INT, lo=-5) -> list[Sample]:
    return [
        Sample((ints(2, 3, lo=lo), ints(2, 3, lo=lo, seed=4)), dtypes=dtypes),
        Sample((ints(3, lo=lo), ints(lo=lo, seed=5)), dtypes=("int32",)),
    ]


EDGES = np.array(
    [np.iinfo(np.int32).min, -7, 0, 7, np.iinfo(np.int32).max] * 3, np.int32
)
DIVISORS = np.repeat(np.array([0, -1, 2], np.int32), 5)
HALVES = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49, 3.7])
PARTS = Sample((rand(2, 3, lo=-1.0),), dtypes=COMPLEX)

SAMPLES = {
    "neg": [*unary(lo=-1.0), Sample((ints(3),), dtypes=INT)],
    "add": [*pairs(), *whole()],
    "add_any": [*pairs()[:4], whole()[0]],
    "sub": [*pairs(), *whole()],
    "mul": [*pairs(), *whole()],
    "div": [
        *pairs(),
        *whole(),
        Sample((EDGES, DIVISORS)),
    ],
    "rem": [
        Sample((np.array([1.2, -7.3, 5.1]), np.array([0.7, 2.0, -1.3])), dtypes=FLOAT),
        Sample((rand(2, 3, lo=2.1, hi=2.4), rand(lo=0.81, hi=0.9)), dtypes=FLOAT[:2]),
        *whole(),
        Sample((EDGES, DIVISORS)),
    ],
    "floor": unary(-2.0, 2.0, FLOAT),
    "ceil": unary(-2.0, 2.0, FLOAT),
    "round": [
        *unary(-2.0, 2.0, FLOAT, params={"rounding_method": RoundingMethod(0)}),
        *unary(-2.0, 2.0, FLOAT, params={"rounding_method": RoundingMethod(1)}),
        Sample((HALVES,), {"rounding_method": RoundingMethod(0)}, FLOAT, grad=False),
        Sample((HALVES,), {"rounding_method": RoundingMethod(1)}, FLOAT, grad=False),
    ],
    "is_finite": [
        *unary(dtypes=FLOAT),
        Sample((np.array([0.0, np.inf, -np.inf, np.nan]),), dtypes=FLOAT, grad=False),
    ],
    "nextafter": [
        Sample((rand(3), rand(3, seed=5)), dtypes=FLOAT[:3], grad=False),
        Sample((rand(), rand(seed=5)), dtypes=FLOAT[:2], grad=False),
    ],
    "integer_pow": [
        *(Sample((rand(2, 3),), {"y": y}, ALL, tol=4) for y in (0, 1, 2, 3, 7, -1, -3)),
        Sample((rand(),), {"y": 2}),
        Sample((rand(0),), {"y": -2}),
        *(Sample((ints(2, 3),), {"y": y}, INT) for y in (0, 1, 2, 3, 5)),
    ],
    "pow": [
        *pairs(tol=4),
        Sample((rand(2, 3), ints(2, 3, lo=-3, hi=4)), dtypes=FLOAT, tol=4),
        Sample((rand(3, lo=-1.5, hi=-0.5), ints()), dtypes=FLOAT[:2], tol=4),
    ],
    "square": [*unary(lo=-1.0), Sample((ints(3),), dtypes=INT)],
    "sqrt": unary(tol=4),
    "rsqrt": unary(tol=8),
    "cbrt": [*unary(dtypes=FLOAT), *unary(-1.5, -0.5, FLOAT)],
    "real": [PARTS, Sample((rand(),), dtypes=COMPLEX[:1])],
    "imag": [PARTS, Sample((rand(),), dtypes=COMPLEX[:1])],
    "complex": [
        Sample((rand(2, 3), rand(2, 3, seed=2)), dtypes=("float32", "float64")),
        Sample((rand(), rand(3, seed=2)), dtypes=("float32", "float64")),
        Sample((rand(0), rand(0)), dtypes=("float32",)),
    ],
    "conj": [
        Sample((rand(2, 3),), {"input_dtype": np.dtype(d)}, (d,))
        for d in ("complex64", "complex128", "float32", "float64")
    ],
    "abs": [
        *unary(-1.5, -0.5),
        *unary(),
        Sample((ints(3),), dtypes=INT),
        Sample((np.array([0j]),), dtypes=COMPLEX[:1], grad=False),
    ],
    "sign": [
        *unary(-1.5, -0.5, tol=4),
        *unary(),
        Sample((ints(3),), dtypes=INT),
        Sample((np.array([0.0, -0.0, np.inf]),), dtypes=FLOAT, grad=False),
        Sample((np.array([0j]),), dtypes=COMPLEX[:1], grad=False),
    ],
}

BAD = {
    "add": [
        Bad((rand(2), rand(3)), {}, ShapeError, "same shape"),
        Bad((rand(2), ints(2)), {}, DtypeError, "same dtype"),
        Bad((bools(2), bools(2)), {}, DtypeError, "dtype bool"),
    ],
    "neg": [Bad((bools(2),), {}, DtypeError, "neg does not accept")],
    "floor": [Bad((ints(2),), {}, DtypeError, "floor does not accept")],
    "rem": [Bad((rand(2) + 0j, rand(2) + 0j), {}, DtypeError, "complex")],
    "integer_pow": [Bad((ints(2),), {"y": -1}, DtypeError, "negative powers")],
    "pow": [
        Bad((ints(2), ints(2)), {}, DtypeError, "pow does not accept"),
        Bad((rand(2), np.ones(2, F32)), {}, DtypeError, "dtype of the base"),
    ],
    "real": [Bad((rand(2),), {}, DtypeError, "real does not accept")],
    "round": [
        Bad((ints(2),), {"rounding_method": RoundingMethod(0)}, DtypeError, "round")
    ],
    "sqrt": [Bad((ints(2),), {}, DtypeError, "sqrt does not accept")],
}
