"""Compiled random programs compute what the NumPy interpreter computes."""

import os

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pullback
from pullback.core import config
from pullback.core.trace import in_charge
from pullback.debug.interpreter import interpret
from pullback.debug.numpy_trace import NumpyTrace
from tests.compose.growing import function, inputs, loss, programs

FULL = os.environ.get("PULLBACK_TEST_FULL", "0") not in ("", "0")


@pytest.fixture(autouse=True)
def _x64():
    with config.enable_x64(True):
        yield


def close(got, want):
    assert got.shape == want.shape
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, 1e-8, 1e-9)


@settings(max_examples=300 if FULL else 15)
@given(programs, st.integers(0, 3))
def test_jit_is_interpret(program, seed):
    f, xs = function(program), inputs(seed)
    close(pullback.jit(f)(*xs), interpret(f)(*xs))


@pytest.mark.slow
@settings(max_examples=300 if FULL else 15)
@given(programs, st.integers(0, 3))
def test_eager_is_interpret(program, seed):
    f, xs = function(program), inputs(seed)
    close(f(*map(pullback.numpy.asarray, xs)), interpret(f)(*xs))


@pytest.mark.slow
@settings(max_examples=300 if FULL else 12)
@given(programs, st.integers(0, 3))
def test_jit_of_vmap_of_grad(program, seed):
    g = pullback.vmap(pullback.value_and_grad(loss(program), (0, 1)), (0, None))
    x, y = inputs(seed)
    many = np.stack([x, x * 0.9])
    value, grads = pullback.jit(g)(many, y)
    with in_charge(NumpyTrace()):
        want, want_grads = g(many, y)
    close(value, want)
    for a, b in zip(grads, want_grads, strict=True):
        close(a, b)


@settings(max_examples=100 if FULL else 8)
@given(programs, st.integers(0, 3))
def test_grad_without_jit(program, seed):
    f, xs = loss(program), inputs(seed)
    got = pullback.grad(f)(*xs)
    with in_charge(NumpyTrace()):
        close(got, pullback.grad(f)(*xs))
