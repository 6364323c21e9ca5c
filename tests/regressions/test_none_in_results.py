"""None in the result of a function is a node without leaves, for every derivative."""

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback import tree
from pullback.core.errors import TreeError


def function(x):
    return {"s": pnp.sin(x), "n": (x * 2.0, None), "none": None}


@pytest.mark.parametrize("name", ["jacfwd", "jacrev"])
def test_jacobians(name):
    x = pnp.arange(3.0)
    got = getattr(pullback, name)(function)(x)
    assert got["none"] is None
    assert got["n"][1] is None
    np.testing.assert_allclose(got["s"], np.diag(np.cos(x)), rtol=1e-6)
    np.testing.assert_allclose(got["n"][0], 2 * np.eye(3))


def test_cotangents_in_a_tree_with_none():
    x = pnp.arange(3.0)
    y, pull = pullback.vjp(function, x)
    (both,) = pull(tree.map(pnp.ones_like, y))
    np.testing.assert_allclose(both, np.cos(x) + 2, rtol=1e-6)
    (one,) = pull({"s": None, "n": (pnp.ones(3), None), "none": None})
    np.testing.assert_allclose(one, 2 * np.ones(3))
    for wrong in ({"s": x, "n": (x, x), "none": None}, {"s": x, "n": (x, None)}, x):
        with pytest.raises(TreeError, match="the cotangent is"):
            pull(wrong)
