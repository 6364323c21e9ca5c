"""Sets, windows, grids, partition and mapping along axes, as in JAX."""

import jax.numpy as jnp
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp

A = np.array([[3, 1, 4, 1], [5, 9, 2, 6]], np.int32)
B = np.array([1, 2, 3, 7], np.int32)
X = np.linspace(-2, 2, 6, dtype=np.float32)


def both(function):
    got, want = function(pnp), function(jnp)
    many = isinstance(want, tuple | list)
    for g, w in zip(got if many else [got], want if many else [want], strict=True):
        assert (g.dtype, g.shape) == (w.dtype, w.shape)
        np.testing.assert_allclose(np.asarray(g), np.asarray(w), 2e-6, 1e-6)


CALLS = {
    "isin": lambda m: m.isin(m.array(A), B),
    "not in": lambda m: m.isin(A, m.array(B), invert=True),
    "isin float": lambda m: m.isin(m.array(X), np.array([np.nan, 2.0])),
    "isin none": lambda m: m.isin(m.array(A), m.array([], int)),
    "union1d": lambda m: m.union1d(A, B),
    "union1d size": lambda m: m.union1d(A, B, size=10, fill_value=-1),
    "intersect1d": lambda m: m.intersect1d(A, B),
    "intersect1d places": lambda m: m.intersect1d(A, B, return_indices=True),
    "setdiff1d": lambda m: m.setdiff1d(A, B),
    "setxor1d": lambda m: m.setxor1d(A, B),
    "bartlett": lambda m: m.bartlett(7),
    "blackman": lambda m: m.blackman(7),
    "hamming": lambda m: m.hamming(7),
    "hanning": lambda m: m.hanning(7),
    "kaiser": lambda m: m.kaiser(7, 3.0),
    "along": lambda m: m.apply_along_axis(lambda x: m.cumsum(x)[:2], 0, A),
    "along last": lambda m: m.apply_along_axis(lambda x: x[:2], 1, A),
    "over": lambda m: m.apply_over_axes(m.sum, m.array(A), (0, 1)),
    "piecewise": lambda m: m.piecewise(
        m.array(X), [X < -1, X > 1], [lambda x: -x, 3.0, lambda x: x * x]
    ),
    "partition": lambda m: m.partition(m.array(A), 2)[:, 2],
    "mgrid": lambda m: m.mgrid[0:2, 1:4],
    "ogrid": lambda m: m.ogrid[0:2, 0:1:3j],
    "gradient": lambda m: m.gradient(m.array(A), 2.0, 0.5),
    "gradient axis": lambda m: m.gradient(m.array(X), axis=0),
    "unwrap": lambda m: m.unwrap(m.array(X) ** 3),
    "unwrap period": lambda m: m.unwrap(m.array([0.0, 2, 4, 7, 5]), period=4.0),
    "unwrap rows": lambda m: m.unwrap(m.array(A) * 1.5, axis=0),
    "bool": lambda m: m.zeros(2, m.bool),
    "vectorize": lambda m: m.vectorize(lambda x, y: m.where(x > 2, x, y))(
        m.array(A), B[:1]
    ),
    "vectorize core": lambda m: m.vectorize(m.dot, signature="(n,m),(m)->(n)")(
        m.ones((3, 1, 2, 4), m.int32), m.array(A)
    ),
    "vectorize several": lambda m: m.vectorize(
        lambda k, x, y: (x[:k], y + x[0]), excluded={0}, signature="(n),()->(k),()"
    )(2, m.array(A), m.array([1, 2])),
    "gcd": lambda m: m.gcd(m.array(A) * 6, np.int32([4, 0, -9, 15])),
    "gcd zero": lambda m: m.gcd(m.array([0, 0]), m.array([0, -5])),
    "lcm": lambda m: m.lcm(m.array(A) * 6, np.int32([4, 0, -9, 15])),
    "lcm unsigned": lambda m: m.lcm(m.array([4, 0], m.uint8), m.array([6, 0], m.uint8)),
    "cumulative_sum": lambda m: m.cumulative_sum(m.array(A), axis=1),
    "cumulative_prod": lambda m: m.cumulative_prod(
        m.array(A), axis=0, include_initial=True
    ),
    "allclose": lambda m: m.allclose(m.array(X), X + 1e-7),
}


@pytest.mark.parametrize("name", CALLS)
def test_same_as_jax(name):
    both(CALLS[name])


def test_index_expressions_and_argpartition():
    assert pnp.s_[1:2, ...] == (slice(1, 2), ...)
    assert pnp.index_exp[3] == (3,)
    places = pnp.argpartition(A, 1)
    assert (np.take_along_axis(A, np.asarray(places), 1)[:, 1] == [1, 5]).all()


def test_sets_of_traced_arrays_say_what_is_missing():
    with pytest.raises(TypeError, match="outside of the traced function"):
        pullback.jit(lambda x: pnp.setdiff1d(x, B))(A)


def test_vectorize_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="not a valid gufunc signature"):
        pnp.vectorize(pnp.dot, signature="n->n")
    with pytest.raises(ValueError, match="axis n of size"):
        pnp.vectorize(pnp.dot, signature="(n),(n)->()")(pnp.ones(2), pnp.ones(3))
