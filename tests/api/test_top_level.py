"""Names of the top level: flat trees, types, settings; and sorting by keys."""

import jax.flatten_util
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback import lax
from pullback.flatten_util import ravel_pytree


def test_ravel_pytree_as_in_jax():
    tree = {"a": np.ones((2, 2), np.float32), "b": (np.int32(3), np.arange(2.0))}
    got, back = ravel_pytree(tree)
    want, _ = jax.flatten_util.ravel_pytree(tree)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    again = back(got)
    assert again["b"][0].dtype == np.int32
    np.testing.assert_array_equal(again["a"], tree["a"])
    with pytest.raises(ValueError, match="a vector of 7 elements"):
        back(pnp.ones(3))


def test_gradients_pass_through_ravel():
    def loss(tree):
        vector, _ = ravel_pytree(tree)
        return (vector**2).sum()

    assert pullback.grad(loss)({"a": 3.0})["a"].item() == 6.0
    assert ravel_pytree({})[0].shape == (0,)


def test_settings_hold_within_a_block():
    with (
        pullback.numpy_dtype_promotion("strict"),
        pytest.raises(TypeError, match="in common"),
    ):
        pnp.ones(2) + pnp.arange(2)
    with pullback.default_matmul_precision("highest"):
        assert pullback.config.default_matmul_precision == "highest"
    assert pullback.config.default_matmul_precision is None


def test_version_types_and_float0():
    assert pullback.__version_info__ == (0, 1, 0)
    assert pullback.float0 == pullback.dtypes.float0
    assert isinstance(pnp.ones(2), pullback.typing.ArrayLike)


def test_sort_key_val():
    keys, values = lax.sort_key_val(pnp.array([3, 1, 2]), pnp.arange(3))
    assert (keys.tolist(), values.tolist()) == ([1, 2, 3], [1, 2, 0])
