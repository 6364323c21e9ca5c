"""Factorizations of matrices and equations with them, one a primitive."""

from pullback.ops.linalg_eig import eig as eig
from pullback.ops.linalg_lu import (
    lu as lu,
    lu_pivots_to_permutation as lu_pivots_to_permutation,
)
from pullback.ops.linalg_qr import (
    geqrf as geqrf,
    householder_product as householder_product,
    qr as qr,
)
from pullback.ops.linalg_spectral import eigh as eigh, svd as svd
from pullback.ops.linalg_triangular import (
    cholesky as cholesky,
    triangular_solve as triangular_solve,
)
