"""Samples of error functions and gamma functions."""

import numpy as np

from pullback.core.errors import DtypeError
from tests.rules.sample import Bad, Sample, ints, rand
from tests.rules.samples.elementwise import FLOAT, unary

ORDERS = np.array([[0.0, 1.0, 2.0], [3.0, 1.0, 5.0]])
AT = rand(2, 3, lo=0.7, hi=4.0)

SAMPLES = {
    "erf": [
        *unary(-2.0, 2.0, FLOAT, tol=4),
        Sample((np.array([-6.0, 6.0]),), dtypes=FLOAT[:2], tol=4),
    ],
    "erfc": [
        *unary(-2.0, 2.0, FLOAT, tol=4),
        Sample((np.array([-6.0, 6.0]),), dtypes=FLOAT[:2], tol=4),
    ],
    "erf_inv": unary(-0.9, 0.9, FLOAT, tol=8),
    "lgamma": unary(0.6, 4.0, FLOAT, tol=8),
    "digamma": [
        *unary(0.6, 4.0, FLOAT, tol=8),
        *unary(-1.9, -1.2, FLOAT[:2], tol=30),
    ],
    "polygamma": [
        Sample((ORDERS, AT), dtypes=FLOAT[:2], grad=(1,), tol=30, roll=False)
    ],
    "zeta": [
        Sample(
            (rand(2, 3, lo=1.5, hi=4.0), AT),
            dtypes=FLOAT[:2],
            grad=(1,),
            tol=30,
            roll=False,
        )
    ],
}

BAD = {"erf": [Bad((ints(2),), {}, DtypeError, "erf does not accept")]}
