"""Values and derivatives of scipy.special as jax.scipy.special gives them."""

import jax
import jax.numpy as jnp
import jax.scipy.special as theirs
import numpy as np
import pytest

import pullback
from pullback import numpy as pnp
from pullback.scipy import special as ours

pytestmark = pytest.mark.slow

INF = np.inf
CASES = {
    "erf": [-3, -0.5, 0, 1e-5, 2, 9],
    "erfc": [-3, -0.5, 0, 1e-5, 2, 9],
    "erfinv": [-0.99, -0.5, 0, 0.3, 0.999],
    "expit": [-100, -3, 0, 2, 100],
    "logit": [1e-20, 0.1, 0.5, 0.9, 0, 1],
    "gammaln": [0.3, 1, 2.5, 40],
    "gamma": [0.3, 1, 2.5, 10, -0.5, -2.3],
    "digamma": [0.3, 1, 2.5, 40],
    "entr": [0, 0.5, 1, 3],
    "ndtr": [-10, -5, -0.3, 0, 2, 6, 10],
    "log_ndtr": [-30, -10, -9.9, -5, 0, 4.9, 5, 6, 10],
    "factorial": [0, 3, 5.5],
}
PAIRS = {
    "xlogy": ([0, 0, 1, 2, 0.5], [2, 0, 0, 3, 0.1]),
    "xlog1py": ([0, 0, 1, 2, 0.5], [2, -1, 0, 3, 0.1]),
    "rel_entr": ([0.5, 1, 2, 0.1], [0.3, 1, 0.5, 5]),
    "kl_div": ([0.5, 1, 2, 0.1], [0.3, 1, 0.5, 5]),
    "zeta": ([2, 3.5], [1, 0.7]),
}


def close(got, want):
    assert str(got.dtype) == str(want.dtype)
    np.testing.assert_allclose(got, want, rtol=3e-5, atol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_of_one_argument(name):
    x = np.float32(CASES[name])
    f, g = getattr(ours, name), getattr(theirs, name)
    close(f(x), g(x))
    close(
        pullback.grad(lambda x: pnp.sum(f(x)))(x), jax.grad(lambda x: jnp.sum(g(x)))(x)
    )


@pytest.mark.parametrize("name", PAIRS)
def test_of_two_arguments(name):
    x, y = map(np.float32, PAIRS[name])
    f, g = getattr(ours, name), getattr(theirs, name)
    close(f(x, y), g(x, y))
    for i in range(2):
        if name == "zeta" and i == 0:
            continue
        close(
            pullback.grad(lambda *a: pnp.sum(f(*a)), i)(x, y),
            jax.grad(lambda *a: jnp.sum(g(*a)), i)(x, y),
        )


def test_at_the_edges():
    close(ours.entr(np.float32(-1)), theirs.entr(np.float32(-1)))
    edges = np.float32([0, -0.0, -1, -0.5, INF])
    close(ours.gammasgn(edges), theirs.gammasgn(edges))
    x, y = np.float32([0, 0, 1]), np.float32([-1, 0, -1])
    close(ours.rel_entr(x, y), theirs.rel_entr(x, y))
    close(ours.polygamma(2, np.float32(1.5)), theirs.polygamma(2, np.float32(1.5)))
    close(ours.softmax(x), theirs.softmax(x))
    close(ours.log_softmax(x, axis=0), theirs.log_softmax(x, axis=0))
    close(ours.logsumexp(x), theirs.logsumexp(x))
