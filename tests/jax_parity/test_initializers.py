"""Initial values of parameters, from the same random numbers as in jax."""

import jax
import ml_dtypes
import numpy as np
import pytest

import pullback
from pullback import nn

BIT_FOR_BIT = True
INITIALIZERS = [
    *("glorot_uniform", "glorot_normal", "lecun_uniform", "lecun_normal"),
    *("he_uniform", "he_normal", "xavier_normal", "kaiming_uniform"),
]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "complex64"])
@pytest.mark.parametrize("name", INITIALIZERS)
def test_initializer(name, dtype):
    shape, axes = (3, 8, 4), {"in_axis": -2, "out_axis": -1}
    ours = getattr(nn.initializers, name)(**axes)(pullback.random.key(1), shape, dtype)
    theirs = getattr(jax.nn.initializers, name)(**axes)(jax.random.key(1), shape, dtype)
    assert str(ours.dtype) == str(theirs.dtype)
    ours, theirs = (
        np.asarray(x).astype(np.complex64 if dtype == "complex64" else np.float32)
        for x in (ours, theirs)
    )
    tol = 1e-2 if dtype == "bfloat16" else 1e-6
    np.testing.assert_allclose(ours, theirs, rtol=tol, atol=tol)


@pytest.mark.parametrize(
    ("name", "args"),
    [("uniform", (2.0,)), ("normal", (0.5,)), ("truncated_normal", (0.5, None, -1, 3))],
)
def test_plain_initializer(name, args):
    ours = getattr(nn.initializers, name)(*args)(pullback.random.key(1), (5, 3))
    theirs = getattr(jax.nn.initializers, name)(*args)(jax.random.key(1), (5, 3))
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


@pytest.mark.parametrize("mode", ["fan_in", "fan_out", "fan_avg", "fan_geo_avg"])
def test_modes_of_variance_scaling(mode):
    args = (2.0, mode, "normal", (0, 1), 2, 3)
    ours = nn.initializers.variance_scaling(*args)(pullback.random.key(1), (2, 3, 4, 5))
    theirs = jax.nn.initializers.variance_scaling(*args)(
        jax.random.key(1), (2, 3, 4, 5)
    )
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


def test_constant_initializers():
    for name in ("zeros", "ones"):
        ours = getattr(nn.initializers, name)(None, (2, 3), "bfloat16")
        assert ours.dtype == ml_dtypes.bfloat16
        assert ours.shape == (2, 3)
    ours = nn.initializers.constant(2.5)(None, (2,))
    np.testing.assert_array_equal(np.asarray(ours), [2.5, 2.5])
