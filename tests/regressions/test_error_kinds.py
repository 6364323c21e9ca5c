"""Errors that programs written for JAX catch, and what their messages advise."""

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback.errors import ConcretizationTypeError, StaticArgumentError, UserError


@pytest.mark.parametrize("shape", [(2,), (0,)])
def test_truth_of_several_elements_is_a_value_error(shape):
    with pytest.raises(ValueError, match=r"any\(\) or all\(\)"):
        bool(pnp.ones(shape))


def test_where_of_one_argument_gives_positions():
    c = pnp.array([[0, 1], [2, 0]])
    for got, want in zip(pnp.where(c), np.where(np.asarray(c)), strict=True):
        assert got.tolist() == want.tolist()
    assert [i.tolist() for i in c.nonzero()] == [[0, 1], [1, 0]]
    (filled,) = pullback.jit(lambda x: pnp.where(x, size=4, fill_value=7))(c[0])
    assert filled.tolist() == [1, 7, 7, 7]


def test_where_of_two_arguments():
    with pytest.raises(TypeError, match="both values or none"):
        pnp.where(True, 1.0)
    with pytest.raises(ValueError, match="how many positions"):
        pnp.where(True, 1.0, 2.0, size=3)


def test_take_at_floats():
    with pytest.raises(ValueError, match="integers"):
        pnp.take(pnp.arange(3), pnp.array([1.0]))
    with pytest.raises(TypeError, match="integer"):
        pnp.take_along_axis(pnp.arange(3), pnp.array([1.0]), 0)


@pytest.mark.parametrize("kind", [pullback.custom_jvp, pullback.custom_vjp])
def test_custom_functions_without_rules(kind):
    with pytest.raises(AttributeError, match="rule") as caught:
        kind(lambda x: x)(1.0)
    assert isinstance(caught.value, UserError)


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (lambda k: pnp.arange(k[0]), "static"),
        (lambda k: pnp.nonzero(k), "size="),
        (lambda k: pnp.where(k), "size="),
        (lambda k: pnp.unique(k), "size="),
        (lambda k: pnp.repeat(k, k), "total_repeat_length="),
        (lambda k: pnp.zeros(k[0]), "static"),
    ],
)
def test_traced_sizes_name_the_way_out(function, advice):
    with pytest.raises(ConcretizationTypeError, match=advice):
        pullback.jit(function)(pnp.ones(3, pnp.int32))


def test_a_traced_static_argument_is_called_that():
    g = pullback.jit(lambda x, k: x * k, static_argnums=1)
    with pytest.raises(StaticArgumentError, match=r"a traced array, f32\[\]"):
        pullback.jit(lambda k: g(1.0, k))(2.0)


def test_vmap_over_a_scalar():
    with pytest.raises(ValueError, match="a scalar has no axes"):
        pullback.vmap(lambda x: x)(1.0)
