"""Every program with control flow against Python loops and central differences."""

import numpy as np
import pytest

from pullback.api.tracing import make_jaxpr
from pullback.core import config
from pullback.core.check import check_jaxpr
from pullback.regions.reference import run_reference
from tests.regions.namespaces import PULLBACK as P
from tests.regions.programs import ALL, PLAIN, REVERSIBLE, operands

STEP = 1e-6

pytestmark = pytest.mark.usefixtures("wide")


@pytest.fixture
def wide():
    with config.scoped(enable_x64=True):
        yield


def close(got, want, tol=1.0):
    np.testing.assert_allclose(np.asarray(got), want, rtol=2e-6 * tol, atol=2e-7 * tol)


def slope(f, w, direction):
    """The central difference of `f` along a direction."""
    ahead, behind = f(w + STEP * direction), f(w - STEP * direction)
    return (np.asarray(ahead) - np.asarray(behind)) / (2 * STEP)


def meaning(fun, *args):
    """`fun` traced, checked and run by the NumPy references: no compilation."""
    closed = make_jaxpr(fun)(*args)
    check_jaxpr(closed)
    (out,) = run_reference(closed, *args)
    return out


@pytest.mark.parametrize("program", ALL, ids=lambda f: f.__name__)
def test_value(program):
    w, x = operands()
    want = program(PLAIN, w, x)
    close(meaning(lambda w, x: program(P, w, x), w, x), want)
    close(P.jit(lambda w, x: program(P, w, x))(w, x), want)
    close(program(P, w, x), want)


@pytest.mark.parametrize("program", ALL, ids=lambda f: f.__name__)
def test_forward_derivative(program):
    w, x = operands()
    t = np.array([0.5, -1.0, 0.25])
    want = slope(lambda w: program(PLAIN, w, x), w, t)
    close(
        meaning(lambda w, t: P.jvp(lambda w: program(P, w, x), (w,), (t,))[1], w, t),
        want,
    )
    out, linear = P.linearize(lambda w: program(P, w, x), w)
    close(out, program(PLAIN, w, x))
    close(linear(t), want)


@pytest.mark.parametrize("program", REVERSIBLE, ids=lambda f: f.__name__)
def test_gradient(program):
    w, x = operands()
    want_w = [slope(lambda w: program(PLAIN, w, x), w, e) for e in np.eye(3)]
    rows = np.eye(12).reshape(12, 4, 3)
    want_x = [slope(lambda x: program(PLAIN, w, x), x, e) for e in rows]
    grad_x = P.grad(lambda x, w: program(P, w, x))
    close(meaning(P.grad(lambda w: program(P, w, x)), w), want_w)
    close(P.jit(P.grad(lambda w: program(P, w, x)))(w), want_w)
    close(meaning(grad_x, x, w), np.reshape(want_x, (4, 3)))


@pytest.mark.parametrize("program", REVERSIBLE, ids=lambda f: f.__name__)
def test_second_derivatives(program):
    w, x = operands()
    t = np.array([0.5, -1.0, 0.25])
    first = P.grad(lambda w: program(P, w, x))
    want = slope(lambda w: meaning(first, w), w, t)

    def forward_over_reverse(w, t):
        return P.jvp(first, (w,), (t,))[1]

    def reverse_over_forward(w, t):
        return P.grad(lambda w: P.jvp(lambda w: program(P, w, x), (w,), (t,))[1])(w)

    def reverse_over_reverse(w, t):
        return P.grad(lambda w: P.total(first(w) * t))(w)

    for second in (forward_over_reverse, reverse_over_forward, reverse_over_reverse):
        close(meaning(second, w, t), want)


@pytest.mark.parametrize("program", REVERSIBLE, ids=lambda f: f.__name__)
def test_third_derivative(program):
    w, x = operands()
    t = np.array([0.5, -1.0, 0.25])

    def second(w):
        return P.grad(lambda w: P.total(P.grad(lambda w: program(P, w, x))(w) * t))(w)

    def third(w):
        return P.grad(lambda w: P.total(second(w) * t))(w)

    want = [slope(lambda w: np.sum(meaning(second, w) * t), w, e) for e in np.eye(3)]
    close(meaning(third, w), want, tol=10)


@pytest.mark.parametrize("mapped", ["w", "x", "both"])
@pytest.mark.parametrize("program", ALL, ids=lambda f: f.__name__)
def test_vmap(program, mapped):
    ws, xs = map(np.stack, zip(*(operands(i) for i in range(3)), strict=True))
    w, x = operands()
    ds = (0 if mapped != "x" else None, 0 if mapped != "w" else None)
    args = (ws if ds[0] == 0 else w, xs if ds[1] == 0 else x)
    pairs = [
        (args[0][i] if ds[0] == 0 else w, args[1][i] if ds[1] == 0 else x)
        for i in range(3)
    ]

    def f(w, x):
        return program(P, w, x)

    want = [program(PLAIN, *pair) for pair in pairs]
    close(meaning(P.vmap(f, ds), *args), want)
    t = np.array([0.5, -1.0, 0.25])

    def tangent(w, x):
        return P.jvp(lambda w: f(w, x), (w,), (t,))[1]

    want = [slope(lambda w, x=x: program(PLAIN, w, x), w, t) for w, x in pairs]
    close(meaning(P.vmap(tangent, ds), *args), want)


@pytest.mark.parametrize("program", REVERSIBLE, ids=lambda f: f.__name__)
def test_orders_of_vmap_and_grad(program):
    ws, xs = map(np.stack, zip(*(operands(i) for i in range(3)), strict=True))

    def f(w, x):
        return program(P, w, x)

    grads = [
        [slope(lambda w, x=x: program(PLAIN, w, x), w, e) for e in np.eye(3)]
        for w, x in zip(ws, xs, strict=True)
    ]
    close(meaning(P.vmap(P.grad(f)), ws, xs), grads)
    close(meaning(P.grad(lambda ws, xs: P.total(P.vmap(f)(ws, xs))), ws, xs), grads)
    close(P.jit(P.vmap(P.grad(P.jit(f))))(ws, xs), grads)


@pytest.mark.parametrize("program", REVERSIBLE, ids=lambda f: f.__name__)
def test_jacobians_agree(program):
    w, x = operands()
    f = P.grad(lambda w: program(P, w, x))
    rows, columns = meaning(P.jacrev(f), w), meaning(P.jacfwd(f), w)
    close(rows, columns)
    close(rows, rows.T)
