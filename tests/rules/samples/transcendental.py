"""Samples of exponentials, logarithms, circular and hyperbolic functions."""

import numpy as np

from pullback.core.errors import DtypeError
from tests.rules.sample import Bad, Sample, ints
from tests.rules.samples.elementwise import ALL, FLOAT, pairs, unary

TAILS = np.array([-80.0, -30.0, -10.0, 10.0, 30.0, 80.0])


def tails(tol: float = 1.0) -> Sample:
    return Sample((TAILS,), dtypes=("float64", "float32"), tol=tol)


SAMPLES = {
    "exp": unary(-1.5, 1.5, ALL),
    "exp2": unary(-1.5, 1.5, ALL),
    "expm1": unary(-1.0, 1.0, ALL, tol=4),
    "log": unary(),
    "log1p": unary(-0.5, 1.0, ALL, tol=4),
    "logistic": [*unary(-2.0, 2.0), tails()],
    "tanh": [*unary(-1.5, 1.5), tails()],
    "sin": unary(-1.5, 1.5),
    "cos": unary(-1.5, 1.5),
    "tan": unary(-1.0, 1.0, tol=2),
    "sinh": unary(-1.5, 1.5, tol=2),
    "cosh": unary(-1.5, 1.5, tol=2),
    "asin": unary(-0.9, 0.9, tol=4),
    "acos": unary(-0.9, 0.9, tol=4),
    "atan": unary(-1.5, 1.5, tol=4),
    "asinh": [
        *unary(-1.5, 1.5, tol=4),
        Sample((np.array([-1e30, 1e30]),), dtypes=("float64",), grad=False),
    ],
    "acosh": unary(1.2, 2.0, tol=4),
    "atanh": unary(-0.8, 0.8, tol=4),
    "atan2": [*pairs(dtypes=FLOAT, tol=2), *pairs(-1.5, -0.5, FLOAT, tol=2)],
    "logaddexp": [
        *pairs(-2.0, 2.0, FLOAT, tol=2),
        Sample((TAILS, TAILS[::-1].copy()), dtypes=FLOAT[:2]),
        Sample((TAILS, TAILS), dtypes=FLOAT[:2], grad=False),
    ],
}

BAD = {
    name: [Bad((ints(2),), {}, DtypeError, f"{name} does not accept")]
    for name in ("sin", "exp", "log1p", "tanh", "acosh")
}
