"""Auxiliary data leave every derivative as values: no tracer of it stays in them."""

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback import lax, tree


def function(x, ys):
    end, steps = lax.scan(lambda c, y: (c * x + y, c), 0.0, ys)
    return end, {"steps": steps, "x": x * 1.0, "given": ys, "none": None, "n": 3}


def vjp(x, ys):
    return pullback.vjp(function, x, ys, has_aux=True)[2]


def jvp(x, ys):
    return pullback.jvp(function, (x, ys), (x, ys), has_aux=True)[2]


def linearize(x, ys):
    return pullback.linearize(function, x, ys, has_aux=True)[2]


def last(transform):
    return lambda x, ys: transform(function, has_aux=True)(x, ys)[1]


DERIVATIVES = {
    "grad": last(pullback.grad),
    "value_and_grad": lambda x, ys: pullback.value_and_grad(function, has_aux=True)(
        x, ys
    )[0][1],
    "vjp": vjp,
    "jvp": jvp,
    "linearize": linearize,
    "jacfwd": last(pullback.jacfwd),
    "jacrev": last(pullback.jacrev),
}

AROUND = {
    "eager": lambda f: f,
    "jit": pullback.jit,
    "vmap": lambda f: pullback.vmap(f, in_axes=(0, None)),
    "grad": lambda f: (
        lambda x, ys: pullback.grad(
            lambda x: (f(x, ys)["steps"].sum(), f(x, ys)), has_aux=True
        )(x)[1]
    ),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", DERIVATIVES)
def test_auxiliary_data_are_values(name, around):
    ys = pnp.arange(3.0)
    x = pnp.asarray([2.0, 3.0]) if around == "vmap" else 2.0
    got = AROUND[around](DERIVATIVES[name])(x, ys)
    want = AROUND[around](lambda x, ys: function(x, ys)[1])(x, ys)
    assert tree.structure(got) == tree.structure(want)
    for a, b in zip(tree.leaves(got), tree.leaves(want), strict=True):
        assert not isinstance(a, pullback.core.Tracer)
        np.testing.assert_array_equal(a, b)
