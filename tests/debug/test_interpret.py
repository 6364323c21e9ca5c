"""interpret: values of jit, without a compiler, and a look at every equation."""

import numpy as np
import pytest

import pullback
from pullback import lax, numpy as pnp
from pullback.core.errors import ArgumentTypeError
from pullback.core.trace import in_charge
from pullback.debug import NumpyTrace, interpret
from pullback.xla import client

X = np.arange(3, dtype=np.float32)


def loss(x, scale=2.0):
    carry, ys = lax.scan(lambda c, x: (c + lax.sin(x), c), 0.0, x)
    return {"carry": carry * scale, "ys": pullback.jit(lambda y: y * y)(ys)}


@pytest.fixture
def _no_compiler(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("compiled")

    monkeypatch.setattr(client, "compile_module", refuse)


@pytest.mark.usefixtures("_no_compiler")
def test_values_trees_and_types_are_those_of_the_function():
    out = interpret(loss)(X, scale=3.0)
    np.testing.assert_allclose(out["carry"], 3 * np.sin(X).sum(), 1e-6)
    want = (np.cumsum(np.sin(X)) - np.sin(X)) ** 2
    np.testing.assert_allclose(out["ys"], want, 1e-6)
    assert out["ys"].dtype == np.float32
    assert isinstance(out["ys"], pullback.Array)


@pytest.mark.usefixtures("_no_compiler")
def test_transformed_functions_run_too():
    got = interpret(pullback.grad(lambda x: pnp.sum(lax.sin(x) ** 2)))(X)
    np.testing.assert_allclose(got, 2 * np.sin(X) * np.cos(X), 1e-5)


def test_every_equation_is_observed():
    seen = []
    interpret(loss, observe=lambda eqn, outs: seen.append((eqn, outs)))(X)
    names = [eqn.primitive.name for eqn, _ in seen]
    assert names.count("sin") == 3
    assert names.index("sin") < names.index("scan") < names.index("jit")
    for eqn, outs in seen:
        for var, x in zip(eqn.outvars, outs, strict=True):
            assert isinstance(x, np.ndarray)
            assert (x.shape, x.dtype) == (var.aval.shape, var.aval.dtype)


def test_an_observer_may_stop_the_program():
    def no_nan(eqn, outs):
        if any(np.isnan(x).any() for x in outs):
            raise FloatingPointError(eqn.primitive.name)

    with pytest.raises(FloatingPointError, match="log"):
        interpret(lambda x: lax.sin(lax.log(x - 1)), observe=no_nan)(X)
    interpret(lambda x: lax.log(x - 1))(X)  # nobody watches any more


def test_arguments_are_checked():
    with pytest.raises(ArgumentTypeError, match="argument x"):
        interpret(lambda x: x)("text")


@pytest.mark.usefixtures("_no_compiler")
def test_numpy_in_charge_runs_python_control_flow():
    with in_charge(NumpyTrace()):
        x = pnp.asarray(X)
        out = pullback.grad(lambda x: pnp.sum(x * x) if x[2] > 1 else x[0])(x)
        assert isinstance(out, pullback.Array)
        np.testing.assert_array_equal(out, 2 * X)


def test_results_are_read_only():
    out = np.asarray(interpret(lambda x: x * 2)(X))
    with pytest.raises(ValueError, match="read-only"):
        out[0] = 1
