"""LAPACK routines: registered under our names, lazily, and right for each type."""

import subprocess
import sys

import numpy as np
import pytest

from pullback.xla.lapack import target
from tests.xla.modules import aval, evaluate

X = np.asarray([[4.0, 2.0], [2.0, 5.0]])


@pytest.mark.parametrize(
    ("dtype", "routine", "name"),
    [
        ("float32", "potrf", "pullback_lapack_spotrf_ffi"),
        ("complex128", "syevd", "pullback_lapack_zheevd_ffi"),
        ("complex64", "orgqr", "pullback_lapack_cungqr_ffi"),
    ],
)
def test_names(dtype, routine, name):
    assert target(routine, np.dtype(dtype)) == name
    assert target(routine, np.dtype(dtype)) == name  # again is fine


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_a_batch_of_matrices(dtype):
    x = np.stack([X, 4 * X]).astype(dtype)
    outs = [aval(x), aval(np.zeros(2, np.int32))]

    def emit(b, value):
        return b.lapack("potrf", outs, [value], dtype=x.dtype, batch=1, uplo="L")

    factor, info = evaluate(emit, [x], outs)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(x), 1e-6)
    assert not info.any()


def test_nothing_of_scipy_is_loaded_before_it_is_needed():
    code = "import sys, pullback.xla.emitter; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
