"""Values and derivatives of nn as jax.nn gives them, kinks and tails included."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback
from pullback import nn, numpy as pnp

INF, NAN = np.inf, np.nan
POINTS = np.float32([-INF, -1e4, -90, -3.3, -3, -1, -0.5, -0.0])
POINTS = np.concatenate([POINTS, -POINTS, np.float32([0.3, 6, 2.5, 1e-8, 15, -17])])
ACTIVATIONS = [
    *("relu", "relu6", "sigmoid", "softplus", "log_sigmoid", "soft_sign", "silu"),
    *("swish", "mish", "elu", "celu", "selu", "leaky_relu", "gelu", "squareplus"),
    *("sparse_plus", "sparse_sigmoid", "hard_sigmoid", "hard_silu", "hard_swish"),
    *("hard_tanh", "identity", "tanh"),
]
TOLERANCE = {"float32": 3e-6, "bfloat16": 2e-2, "float16": 2e-3}


def close(got, want, dtype="float32", slack=1):
    assert got.shape == want.shape
    tol = slack * TOLERANCE[dtype]
    got, want = (np.asarray(x).astype(np.float64) for x in (got, want))
    np.testing.assert_allclose(got, want, rtol=tol, atol=0.1 * tol)


def alike(got, want, dtype="float32"):
    assert str(got.dtype) == str(want.dtype)
    close(got, want, dtype)


def in_double(fun, *xs):
    """What JAX computes in float64: in float32 its own rounding may be the larger."""
    with jax.enable_x64(True):
        return np.asarray(jax.jit(fun)(*(np.asarray(x).astype(np.float64) for x in xs)))


def check(call, *xs, grad=True, dtype="float32"):
    """Compare `call(module, *xs)`, and its derivatives in each argument."""
    xs = [np.asarray(x).astype(dtype) for x in xs]
    alike(call(nn, *xs), call(jax.nn, *xs), dtype)
    for i in range(len(xs) * grad):
        ours = pullback.grad(lambda *a: pnp.sum(call(nn, *a)), i)(*xs)
        theirs = jax.grad(lambda *a: jnp.sum(call(jax.nn, *a)), i)
        assert str(ours.dtype) == dtype
        close(ours, in_double(theirs, *xs), dtype, slack=8)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation(name):
    finite = POINTS[np.isfinite(POINTS)]
    check(lambda m, x: getattr(m, name)(x), finite)
    check(lambda m, x: getattr(m, name)(x), [-INF, INF, NAN], grad=False)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_in_half_precision(name, dtype):
    x = np.float32([-4, -3, -1, -0.5, 0, 0.5, 1, 3, 6, 7])
    check(lambda m, x: getattr(m, name)(x), x, dtype=dtype)


@pytest.mark.parametrize("name", ["softplus", "log_sigmoid", "silu", "gelu", "selu"])
def test_second_derivatives(name):
    theirs = jax.grad(jax.grad(getattr(jax.nn, name)))
    for x in (-30.0, -1.0, 0.0, 0.5, 20.0):
        ours = pullback.grad(pullback.grad(getattr(nn, name)))(x)
        close(ours, in_double(theirs, x), slack=8)


def test_activations_with_parameters():
    x = np.float32([[-3, -0.1, 0, 2], [1, 5, -7, 0.5]])
    check(lambda m, x: m.gelu(x, False), x)
    check(lambda m, x: m.glu(x), x)
    check(lambda m, x: m.glu(x, 0), x)
    check(lambda m, x: m.elu(x, 0.3), x)
    check(lambda m, x: m.celu(x, 0.3), x)
    check(lambda m, x: m.leaky_relu(x, 0.3), x)
    check(lambda m, x: m.squareplus(x, 1.0), x)
    check(lambda m, x: m.log1mexp(x), [1e-6, 0.3, 0.69, 0.7, 5, 80])


@pytest.mark.parametrize("name", ["relu", "softplus", "relu6", "hard_tanh"])
def test_activation_of_integers_and_numbers(name):
    for x in (np.int32([-2, 0, 3]), 2.0, 3):
        ours, theirs = getattr(nn, name)(x), getattr(jax.nn, name)(x)
        alike(ours, theirs)
        assert ours.weak_type == theirs.weak_type


@pytest.mark.parametrize("axis", [-1, 0, (0, 1)])
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "standardize"])
def test_over_an_axis(name, axis):
    x = np.float32([[-3, -0.1, 0, 2], [1000, 5, -7, 0.5]])
    weights = np.float32([[1, 2, 3, 4], [4, 1, 2, 5]])
    check(lambda m, x: getattr(m, name)(x, axis) * weights, x)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "standardize"])
def test_over_chosen_elements(name):
    x = np.float32([[-3, -0.1, 0, 2], [1000, 5, -7, 0.5]])
    where = np.array([[True, True, False, True], [False, True, True, True]])
    check(lambda m, x: getattr(m, name)(x, where=where), x, grad=name != "log_softmax")


def test_softmax_of_infinities():
    check(lambda m, x: m.softmax(x), [-INF, 1, 2])
    check(lambda m, x: m.softmax(x), [-INF, -INF], grad=False)
    check(lambda m, x: m.log_softmax(x), [-INF, 1, 2], grad=False)


def test_softmax_in_bfloat16():
    x = np.float32([[-3, -0.1, 0, 2], [100, 5, -7, 0.5]])
    check(lambda m, x: m.softmax(x), x, dtype="bfloat16")
    check(lambda m, x: m.log_softmax(x), x, dtype="bfloat16")
    check(lambda m, x: m.logsumexp(x, 1), x, dtype="bfloat16")


@pytest.mark.slow
def test_logsumexp():
    x = np.float32([[-3, -0.1, 0, 2], [1000, 5, -7, 0.5]])
    b = np.float32([[1, -2, 0, 4], [1, 2, -3, 0.5]])
    where = np.array([[True, True, False, True], [False, True, True, True]])
    check(lambda m, x: m.logsumexp(x), x)
    check(lambda m, x: m.logsumexp(x, 1, keepdims=True), x)
    check(lambda m, x: m.logsumexp(x, (0, 1)), x)
    check(lambda m, x, b: m.logsumexp(x, 1, b), x, np.abs(b) + 1)
    check(lambda m, x: m.logsumexp(x, 1, b, return_sign=True)[0], x)
    check(lambda m, x: m.logsumexp(x, 1, b, return_sign=True)[1], x)
    check(lambda m, x: m.logsumexp(x, 1, b), x, grad=False)
    check(lambda m, x: m.logsumexp(x, 1, where=where), x)
    check(lambda m, x: m.logmeanexp(x, 1), x)
    check(lambda m, x: m.logmeanexp(x, 1, where), x)


def test_logsumexp_of_infinities():
    check(lambda m, x: m.logsumexp(x), [-INF, -INF], grad=False)
    check(lambda m, x: m.logsumexp(x), [INF, 1], grad=False)
    check(lambda m, x: m.logsumexp(x), [-INF, 1, 2])
    check(lambda m, x: m.logsumexp(x), np.zeros(0, "f"), grad=False)
    check(lambda m, x: m.logsumexp(x), [NAN, 1], grad=False)


def test_logsumexp_of_complex_numbers():
    x = np.complex64([1 + 2j, -3 + 0.5j, 0.2])
    got, want = nn.logsumexp(x), jax.nn.logsumexp(x)
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis):
    x = np.int32([[0, 2, 5], [-1, 1, 0]])
    for dtype in (None, "int32", "bfloat16", bool):
        ours = nn.one_hot(x, 3, dtype=dtype, axis=axis)
        theirs = jax.nn.one_hot(x, 3, dtype=dtype, axis=axis)
        assert str(ours.dtype) == str(theirs.dtype)
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


KEY = np.zeros(2, np.uint32)
ERRORS = [
    (TypeError, lambda m: m.relu([1.0, 2.0])),
    (TypeError, lambda m: m.softmax("a")),
    (
        ValueError,
        lambda m: m.initializers.variance_scaling(1.0, "x", "normal")(KEY, (2, 2)),
    ),
    (ValueError, lambda m: m.initializers.he_normal()(None, (3,))),
]


@pytest.mark.parametrize("index", range(len(ERRORS)))
def test_errors_are_of_the_same_kind(index):
    kind, call = ERRORS[index]
    for module in (jax.nn, nn):
        with pytest.raises(kind, match=r"\w"):
            call(module)
