"""Transformations of random programs commute and agree with loops and differences.

Everything runs in the NumPy interpreter: nothing is compiled.
"""

import os

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pullback
from pullback.core import config
from pullback.core.check import check_jaxpr
from pullback.core.trace import in_charge
from pullback.debug.interpreter import interpret
from pullback.debug.numpy_trace import NumpyTrace
from tests.compose.growing import function, inputs, loss, programs

FULL = os.environ.get("PULLBACK_TEST_FULL", "0") not in ("", "0")
STEP = 1e-5
MEMBERS = 3


@pytest.fixture(autouse=True)
def _in_numpy():
    with config.enable_x64(True), in_charge(NumpyTrace()):
        yield


def each_program(examples):
    def decorate(test):
        run = given(programs, st.integers(0, 3))(test)
        return settings(max_examples=examples * (10 if FULL else 1))(run)

    return decorate


def close(got, want, rtol=1e-9, atol=1e-10):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol, atol)


def tangents(xs, seed=5):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, x.shape) for x in xs]


def batch(xs):
    scales = np.linspace(0.8, 1.2, MEMBERS)
    return [np.stack([x * s for s in scales]) for x in xs]


def stacked(f, xs):
    return np.stack([np.asarray(f(*(x[i] for x in xs))) for i in range(MEMBERS)])


@each_program(250)
def test_the_traced_program_is_the_program(program, seed):
    f, xs = function(program), inputs(seed)
    check_jaxpr(pullback.make_jaxpr(f)(*xs))
    want = f(*xs)
    close(interpret(f)(*xs), want)
    close(pullback.jit(f)(*xs), want)


@each_program(250)
def test_jvp_is_linearize_and_the_central_difference(program, seed):
    f, xs = function(program), inputs(seed)
    ts = tangents(xs)
    out, t = pullback.jvp(f, tuple(xs), tuple(ts))
    close(out, f(*xs))
    up = f(*(x + STEP * t for x, t in zip(xs, ts, strict=True)))
    down = f(*(x - STEP * t for x, t in zip(xs, ts, strict=True)))
    close(t, (np.asarray(up) - np.asarray(down)) / (2 * STEP), 1e-5, 1e-6)
    value, linear = pullback.linearize(f, *xs)
    close(value, out)
    close(linear(*ts), t)


@each_program(250)
def test_vjp_is_the_adjoint_of_jvp(program, seed):
    f, xs = function(program), inputs(seed)
    ts = tangents(xs)
    out, t = pullback.jvp(f, tuple(xs), tuple(ts))
    ct = tangents([np.asarray(out)], 11)[0]
    _, back = pullback.vjp(f, *xs)
    pairs = zip(back(ct), ts, strict=True)
    close(sum(np.vdot(a, b) for a, b in pairs), np.vdot(ct, t), 1e-8, 1e-9)


@pytest.mark.slow
@each_program(250)
def test_vmap_is_a_loop(program, seed):
    f, xs = function(program), inputs(seed)
    many = batch(xs)
    close(pullback.vmap(f)(*many), stacked(f, many))
    close(pullback.vmap(f, (0, None))(many[0], xs[1]), partly(f, many[0], xs[1]))
    last = [np.moveaxis(x, 0, -1) for x in many]
    mapped = pullback.vmap(f, -1, 0)
    close(mapped(*last), stacked(f, many))


def partly(f, many, x):
    return np.stack([np.asarray(f(many[i], x)) for i in range(MEMBERS)])


@pytest.mark.slow
@each_program(150)
def test_vmap_of_grad_is_a_loop_of_grad(program, seed):
    g = pullback.grad(loss(program), (0, 1))
    many = batch(inputs(seed))
    got = pullback.vmap(g)(*many)
    for i in range(2):
        close(got[i], stacked(lambda *xs, i=i: g(*xs)[i], many), 1e-8, 1e-9)


@each_program(150)
def test_grad_of_vmap_is_vmap_of_grad(program, seed):
    f, many = loss(program), batch(inputs(seed))
    total = pullback.grad(lambda *xs: pullback.vmap(f)(*xs).sum(), (0, 1))
    got, want = total(*many), pullback.vmap(pullback.grad(f, (0, 1)))(*many)
    for a, b in zip(got, want, strict=True):
        close(a, b, 1e-8, 1e-9)


@pytest.mark.slow
@each_program(150)
def test_grad_of_jit_is_jit_of_grad(program, seed):
    f, xs = loss(program), inputs(seed)
    plain = pullback.grad(f, (0, 1))(*xs)
    outer = pullback.jit(pullback.grad(f, (0, 1)))
    inner = pullback.grad(pullback.jit(f), (0, 1))
    for got in (outer(*xs), inner(*xs)):
        for a, b in zip(got, plain, strict=True):
            close(a, b, 1e-8, 1e-9)
    check_jaxpr(pullback.make_jaxpr(outer)(*xs))
    check_jaxpr(pullback.make_jaxpr(inner)(*xs))


@pytest.mark.slow
@each_program(100)
def test_second_order_in_every_mode(program, seed):
    """Forward over reverse, reverse over forward and reverse over reverse."""
    f, xs = loss(program), inputs(seed)
    x, t = xs[0], tangents(xs)[0]

    def at(x):
        return f(x, xs[1])

    g = pullback.grad(at)
    forward = pullback.jvp(g, (x,), (t,))[1]
    close(forward, pullback.grad(lambda x: pullback.jvp(at, (x,), (t,))[1])(x), 1e-7)
    close(forward, pullback.grad(lambda x: (g(x) * t).sum())(x), 1e-7)
    down, up = np.asarray(g(x - STEP * t)), np.asarray(g(x + STEP * t))
    close(forward, (up - down) / (2 * STEP), 1e-4, 1e-5)


@each_program(150)
def test_jvp_of_vmap_is_vmap_of_jvp(program, seed):
    f, many = function(program), batch(inputs(seed))
    ts = tangents(many)

    def both(xs, ts):
        return pullback.jvp(f, tuple(xs), tuple(ts))

    got = pullback.jvp(pullback.vmap(f), tuple(many), tuple(ts))
    want = pullback.vmap(both)(many, ts)
    for a, b in zip(got, want, strict=True):
        close(a, b)


@each_program(100)
def test_vmap_of_vmap_is_two_loops(program, seed):
    f, xs = function(program), inputs(seed)
    many = batch(xs)
    nested = batch(many)
    twice = pullback.vmap(pullback.vmap(f))
    close(twice(*nested), stacked(lambda *xs: stacked(f, xs), nested))
