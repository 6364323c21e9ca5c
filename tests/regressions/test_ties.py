"""Higher derivatives of logaddexp and its kin where the operands are equal."""

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback import lax, nn

SUMS = {
    "logaddexp": lambda x: pnp.logaddexp(x, 2 * x),
    "logaddexp2": lambda x: pnp.logaddexp2(x, 2 * x) * np.log(2),
    "logsumexp": lambda x: nn.logsumexp(pnp.stack([x, 2 * x])),
    "cumlogsumexp": lambda x: lax.cumlogsumexp(pnp.stack([x, 2 * x]))[1],
    "softplus": lambda x: x + nn.softplus(x),
}


@pytest.mark.parametrize("name", SUMS)
def test_derivatives_at_a_tie(name):
    """log(exp(x) + exp(2x)) = x + log(1 + exp(x)), and its derivatives at 0."""
    f, scale = SUMS[name], np.log(2) if name == "logaddexp2" else 1.0
    for order, want in enumerate([1.5, 0.25, 0.0, -0.125], 1):
        f = pullback.grad(f)
        want = want * scale**order
        np.testing.assert_allclose(f(0.0), want, atol=1e-5)


@pytest.mark.parametrize("x", [-np.inf, np.inf])
def test_equal_infinities_have_finite_shares(x):
    gradient = pullback.grad(pnp.logaddexp, (0, 1))(x, x)
    np.testing.assert_allclose(gradient, [0.5, 0.5])
