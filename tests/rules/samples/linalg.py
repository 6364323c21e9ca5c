"""Samples of linear algebra. Batch members are scaled, never permuted: `roll=False`."""

import numpy as np

from pullback.core.errors import DtypeError, ShapeError
from pullback.ops.linalg_lu import lu_p
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
    """Positive definite, with distinct eigenvalues, by the lower triangle."""
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


def decompositions(name: str, value: bool, **more) -> list[Sample]:
    """Of matrices of all forms."""
    matrices = [general(2, *TALL), general(*WIDE), general(*SQUARE), rand(1, 1)]
    matrices += [rand(2, 0, 3), rand(2, 0), rand(0, 2, 2)]
    return [
        Sample((x,), {name: value, **more}, FLOAT, roll=False, tol=2.0)
        for x in matrices
    ]


def eigen(left: bool, right: bool) -> dict:
    return {"compute_left_eigenvectors": left, "compute_right_eigenvectors": right}


def factored(x: np.ndarray) -> tuple:
    """A matrix with its LU decomposition."""
    factors, _, permutation = lu_p.reference(x)
    return x, factors, permutation


ROTATING = np.asarray([[0.9, -1.0, 0.2], [1.0, 0.8, 0.1], [0.3, 0.1, 2.5]])
STRAIGHT, TURNED = {"transpose_a": False}, {"transpose_a": True}
OUTER = (0, 3)
VECTORS = {"full_matrices": True, "compute_uv": True}
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
    "qr": [
        *decompositions("full_matrices", False),
        Sample((general(*SQUARE),), {"full_matrices": True}, FLOAT, roll=False),
        Sample((general(*WIDE),), {"full_matrices": True}, FLOAT, roll=False),
        Sample((turned(2, *TALL),), {"full_matrices": False}, COMPLEX, roll=False),
        Sample((turned(2, *WIDE),), {"full_matrices": True}, COMPLEX, roll=False),
        Sample(
            (general(*TALL),), {"full_matrices": True}, FLOAT, grad=False, roll=False
        ),
    ],
    "geqrf": [
        Sample((general(2, *TALL),), {}, FLOAT, roll=False),
        Sample((turned(*WIDE),), {}, COMPLEX, roll=False),
        Sample((rand(0, 2),), {}, FLOAT, roll=False),
    ],
    "householder_product": [
        Sample((0.3 * general(2, *TALL), rand(2, 3)), {}, FLOAT, roll=False),
        Sample((0.3 * turned(4, 3), turned(1, 2)[0]), {}, COMPLEX, roll=False),
        Sample((rand(3, 0), rand(0)), {}, FLOAT, roll=False),
    ],
    "eigh": [
        Sample((definite(3, 3),), {"lower": True}, FLOAT, roll=False),
        Sample((definite(2, 4, 4),), {"lower": False}, FLOAT, roll=False),
        Sample((turned(3, 3),), {"lower": True}, COMPLEX, grad=False, roll=False),
        Sample((rand(1, 1),), {"lower": True}, FLOAT, roll=False),
        Sample((rand(0, 0),), {"lower": True}, FLOAT, roll=False),
        Sample((rand(0, 2, 2),), {"lower": True}, FLOAT, roll=False),
    ],
    "svd": [
        *decompositions("full_matrices", False, compute_uv=True),
        *decompositions("full_matrices", False, compute_uv=False),
        Sample((general(*SQUARE),), {**VECTORS}, FLOAT, roll=False),
        Sample((turned(*TALL),), {**VECTORS}, COMPLEX, grad=False, roll=False),
        Sample((general(*WIDE),), {**VECTORS}, FLOAT, grad=False, roll=False),
        Sample((np.full((2, 2), np.nan),), {**VECTORS}, FLOAT, grad=False, roll=False),
    ],
    "eig": [
        Sample((general(2, 4, 4),), eigen(False, False), BOTH, roll=False, tol=3.0),
        Sample((ROTATING,), eigen(False, False), FLOAT, roll=False, tol=3.0),
        # the signs of real vectors are those of the library that NumPy was built with
        Sample((turned(4, 4),), eigen(True, True), COMPLEX, tol=3.0, roll=False),
        Sample((turned(3, 3),), eigen(True, False), COMPLEX, tol=3.0, roll=False),
        Sample((ROTATING + 0j,), eigen(False, True), COMPLEX, False, 3.0, False),
        Sample((rand(0, 0),), eigen(False, True), FLOAT, roll=False),
        Sample((rand(0, 2, 2),), eigen(False, False), FLOAT, roll=False),
    ],
    "lu_solve": [
        Sample((*factored(general(*SQUARE)), rand(4, 2)), STRAIGHT, FLOAT, OUTER),
        Sample((*factored(general(2, 3, 3)), rand(2, 3, 2)), TURNED, FLOAT, OUTER),
        Sample((*factored(turned(2, 3, 3)), turned(2, 3, 2)), TURNED, COMPLEX, OUTER),
        Sample((*factored(turned(3, 3)[::-1]), turned(3, 2)), STRAIGHT, COMPLEX, OUTER),
        Sample((*factored(rand(1, 1)), rand(1, 0)), STRAIGHT, FLOAT, OUTER),
        Sample((*factored(rand(0, 0)), rand(0, 2)), STRAIGHT, FLOAT, OUTER),
    ],
    "det": [
        Sample((*factored(general(4, 4)), np.ones(())), {}, FLOAT, (0,)),
        Sample((*factored(turned(2, 3, 3)), np.ones(2) + 0j), {}, COMPLEX, (0,)),
        Sample((*factored(rand(1, 1)), np.ones(())), {}, FLOAT, (0,)),
        Sample((*factored(rand(0, 2, 2)), rand(0)), {}, FLOAT, (0,)),
    ],
    "slogdet": [
        Sample((*factored(-general(4, 4)), np.ones(())), {}, FLOAT, (0,)),
        Sample((*factored(turned(2, 3, 3)), np.ones(2) + 0j), {}, COMPLEX, (0,)),
        Sample((*factored(rand(0, 0)), np.ones(())), {}, FLOAT, (0,)),
    ],
    "pinv": [
        *(
            Sample((x, np.linalg.pinv(x)), {}, FLOAT, (0,), roll=False)
            for x in (general(2, *TALL), general(*WIDE), general(*SQUARE), np.eye(3))
        ),
        Sample((turned(*TALL), np.linalg.pinv(turned(*TALL))), {}, COMPLEX, (0,)),
        Sample((rand(2, 0), rand(0, 2)), {}, FLOAT, (0,)),
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
