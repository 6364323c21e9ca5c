"""Samples of linear algebra. Batch members are scaled, never permuted: `roll=False`."""

import numpy as np

from pullback.core.errors import DtypeError, ShapeError
from tests.rules.sample import Bad, Sample, rand

FLOAT = ("float64", "float32")
COMPLEX = ("complex128", "complex64")
BOTH = (*FLOAT, *COMPLEX)
PIVOTS = np.asarray([[2, 1, 2], [1, 2, 2], [0, 1, 2]], np.int32)
TALL, WIDE, SQUARE = (4, 3), (3, 5), (4, 4)


def general(*shape: int, seed: int = 0) -> np.ndarray:
    """Matrices with distinct singular values, far from singular."""
    x = rand(*shape, lo=-1, hi=1, seed=seed)
    m, n = shape[-2:]
    k = min(m, n)
    x[..., range(k), range(k)] += 2 + np.arange(k)
    return x


def definite(*shape: int, seed: int = 0) -> np.ndarray:
    """Positive definite matrices with distinct eigenvalues; the upper triangle is off."""
    x = 0.2 * rand(*shape, lo=-1, hi=1, seed=seed)
    n = shape[-1]
    x[..., range(n), range(n)] = 1.5 + np.arange(n)
    return x


def by(left=True, lower=True, transpose=False, conjugate=False, unit=False) -> dict:
    return {
        "left_side": left,
        "lower": lower,
        "transpose_a": transpose,
        "conjugate_a": conjugate,
        "unit_diagonal": unit,
    }


def solves(left: bool) -> list[Sample]:
    b = rand(3, 2) if left else rand(2, 3)
    kinds = [(lower, t, u) for lower in (0, 1) for t in (0, 1) for u in (0, 1)]
    return [
        Sample((general(3, 3), b), by(left, bool(lo), bool(t), False, bool(u)), FLOAT)
        for lo, t, u in kinds
    ]


def turned(*shape: int, seed: int = 0) -> np.ndarray:
    x = general(*shape, seed=seed)
    return x + 0.3j * rand(*shape, lo=-1, hi=1, seed=seed + 7)


SAMPLES = {
    "cholesky": [
        Sample((definite(3, 3),), {}, FLOAT, roll=False),
        Sample((definite(2, 4, 4) + 0j,), {}, COMPLEX, roll=False),
        Sample((definite(3, 3) + 0.1j,), {}, COMPLEX, roll=False),
        Sample((rand(1, 1),), {}, FLOAT, roll=False),
        Sample((rand(0, 0),), {}, FLOAT, roll=False),
        Sample((rand(0, 2, 2),), {}, FLOAT, roll=False),
        Sample((-definite(2, 2),), {}, FLOAT, grad=False, roll=False),
    ],
    "triangular_solve": [
        *solves(True),
        *solves(False),
        Sample((turned(2, 3, 3), turned(2, 3, 2)), by(conjugate=True), COMPLEX),
        Sample(
            (turned(2, 2, 2), turned(2, 3, 2)), by(False, True, True, True), COMPLEX
        ),
        Sample((turned(2, 2), turned(2, 2, seed=1)), by(True, False, True), COMPLEX),
        Sample((general(1, 1), rand(1, 1)), by(), FLOAT),
        Sample((rand(0, 0), rand(0, 2)), by(), FLOAT),
        Sample((general(2, 2), rand(2, 0)), by(), FLOAT),
    ],
    "lu": [
        Sample((general(*SQUARE)[::-1].copy(),), {}, BOTH, roll=False),
        Sample((general(2, *TALL),), {}, FLOAT, roll=False),
        Sample((turned(2, *WIDE),), {}, COMPLEX, roll=False),
        Sample((general(*WIDE),), {}, FLOAT, roll=False),
        Sample((rand(1, 1),), {}, FLOAT, roll=False),
        Sample((rand(2, 0, 3),), {}, FLOAT, roll=False),
        Sample((rand(0, 2, 2),), {}, FLOAT, roll=False),
        Sample((rand(3, 0),), {}, FLOAT, roll=False),
        Sample((np.zeros((2, 2)),), {}, FLOAT, grad=False, roll=False),
    ],
    "lu_pivots_to_permutation": [
        Sample((PIVOTS,), {"permutation_size": 3}),
        Sample((PIVOTS[:, :2],), {"permutation_size": 5}),
        Sample((PIVOTS[0],), {"permutation_size": 4}),
        Sample((PIVOTS[:0],), {"permutation_size": 3}),
        Sample((PIVOTS[:, :0],), {"permutation_size": 2}),
    ],
}
BAD = {
    "cholesky": [
        Bad((rand(2, 3),), {}, ShapeError, r"f64\[2,3\](.|\n)*equally long"),
        Bad((rand(2, 2).astype(np.float16),), {}, DtypeError, "float32"),
    ],
    "triangular_solve": [
        Bad((rand(2, 2), rand(3, 2)), by(), ShapeError, "as long as a"),
        Bad((rand(2, 2), rand(2, 2).astype("f")), by(), DtypeError, "same dtype"),
    ],
}
