"""linearize and transpose: one pass, linear programs, no zeros, work done once."""

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback.compile.executable import simplified
from pullback.core.check import check_jaxpr
from pullback.core.jaxpr import ClosedJaxpr
from pullback.transforms.linearize import linearize_flat
from pullback.transforms.transpose import backward

X = np.linspace(0.2, 0.9, 5).astype(np.float32)


def names(closed) -> list[str]:
    return [e.primitive.name for e in closed.eqns]


def test_the_tangent_program_is_linear_and_checked():
    def f(x, y):
        return [pnp.tanh(x * y) + pnp.exp(x) / y]

    outs, jaxpr, res, live = linearize_flat(f, [X, X])
    check_jaxpr(ClosedJaxpr(jaxpr, res))
    assert live == [True]
    assert set(names(jaxpr)) <= {"mul", "neg", "sub", "div", "add_any"}
    cts = backward(jaxpr, res, [None, None], [np.ones(5, np.float32)])
    dx = (1 - np.tanh(X * X) ** 2) * X + np.exp(X) / X
    np.testing.assert_allclose(cts[0], dx, rtol=1e-5)
    np.testing.assert_allclose(outs[0], np.tanh(X * X) + np.exp(X) / X, rtol=1e-5)


def test_forward_work_is_done_once():
    closed = pullback.make_jaxpr(pullback.value_and_grad(lambda x: pnp.exp(x).sum()))(X)
    assert names(closed).count("exp") == 1


def test_unused_branches_cost_nothing():
    closed = pullback.make_jaxpr(
        pullback.grad(lambda x: (pullback.lax.stop_gradient(pnp.sin(x)) * x).sum())
    )(X)
    assert "cos" not in names(simplified(closed))


def test_transpose_adds_up_all_uses():
    assert float(pullback.grad(lambda x: x * x + x + x)(3.0)) == 8.0
    assert float(pullback.grad(lambda x: (x + x) * (x + x))(1.0)) == 8.0


@pytest.mark.parametrize("order", range(1, 6))
def test_high_orders(order):
    f = lambda x: pnp.sin(x)  # noqa: E731
    for _ in range(order):
        f = pullback.grad(f)
    want = [np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin][(order - 1) % 4]
    np.testing.assert_allclose(f(0.7), want(0.7), rtol=1e-5)


def test_mixed_modes_commute():
    def f(x):
        return pnp.sum(pnp.sin(x) * pnp.exp(x))

    t = X[::-1].copy()
    forward_over_reverse = pullback.jvp(pullback.grad(f), (X,), (t,))[1]
    reverse_over_forward = pullback.grad(lambda x: pullback.jvp(f, (x,), (t,))[1])(X)
    reverse_over_reverse = pullback.grad(lambda x: pnp.vdot(pullback.grad(f)(x), t))(X)
    np.testing.assert_allclose(forward_over_reverse, reverse_over_forward, rtol=1e-5)
    np.testing.assert_allclose(forward_over_reverse, reverse_over_reverse, rtol=1e-5)


def test_perturbations_of_nested_derivatives_are_not_confused():
    outer = pullback.grad(lambda x: x * pullback.grad(lambda y: x + y)(1.0))
    assert float(outer(2.0)) == 1.0
    d = lambda f, x: pullback.jvp(f, (x,), (1.0,))[1]  # noqa: E731
    assert float(d(lambda x: x * d(lambda y: x + y, 1.0), 1.0)) == 1.0
