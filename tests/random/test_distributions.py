"""Draws have the distributions that they are named after (Kolmogorov and Smirnov)."""

import numpy as np
import pytest
from scipy import stats

import pullback
from pullback import random

COUNT = 5000
CASES = {
    "uniform": ((), stats.uniform()),
    "normal": ((), stats.norm()),
    "exponential": ((), stats.expon()),
    "gumbel": ((), stats.gumbel_r()),
    "laplace": ((), stats.laplace()),
    "logistic": ((), stats.logistic()),
    "cauchy": ((), stats.cauchy()),
    "maxwell": ((), stats.maxwell()),
    "rayleigh": ((2.0,), stats.rayleigh(scale=2)),
    "weibull_min": ((2.0, 1.5), stats.weibull_min(1.5, scale=2)),
    "pareto": ((1.5,), stats.pareto(1.5)),
    "gamma": ((0.7,), stats.gamma(0.7)),
    "beta": ((0.7, 2.0), stats.beta(0.7, 2)),
    "t": ((3.0,), stats.t(3)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_distribution(name):
    args, wanted = CASES[name]
    draws = getattr(random, name)(random.key(11), *args, shape=(COUNT,))
    assert stats.kstest(np.asarray(draws), wanted.cdf).pvalue > 1e-3


def test_every_integer_is_drawn_equally_often():
    draws = random.randint(random.key(2), (COUNT,), -3, 7)
    counts = np.bincount(np.asarray(draws) + 3)
    assert stats.chisquare(counts).pvalue > 1e-3


def test_permutation_keeps_every_element():
    drawn = random.permutation(random.key(2), 500)
    assert sorted(np.asarray(drawn).tolist()) == list(range(500))


def test_draws_do_not_depend_on_who_calls():
    key = random.key(4)
    eager = random.normal(key, (100,))
    within = pullback.jit(lambda k: random.normal(k, (100,)))(key)
    mapped = pullback.vmap(lambda k: random.normal(k, (100,)))(key[None])[0]
    np.testing.assert_array_equal(eager, within)
    np.testing.assert_array_equal(eager, mapped)


def test_gamma_refuses_the_derivative_that_it_lacks():
    with pytest.raises(pullback.errors.DifferentiationError, match="implicit"):
        pullback.grad(lambda a: random.gamma(random.key(0), a))(1.5)
