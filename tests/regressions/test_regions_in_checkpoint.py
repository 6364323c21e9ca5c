"""A rematerialized function may use the results of regions in nonlinear ways."""

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback import lax


def scanned(x):
    return lax.scan(lambda c, _: (pnp.sin(c) * x, None), x, None, length=3)[0]


def custom(x):
    @pullback.custom_jvp
    def f(x):
        return pnp.sin(x)

    f.defjvps(lambda t, out, x: t * pnp.cos(x))
    return f(x)


REGIONS = {
    "jit": pullback.jit(pnp.sin),
    "scan": scanned,
    "fori_loop": lambda x: lax.fori_loop(0, 3, lambda i, c: pnp.sin(c), x),
    "cond": lambda x: lax.cond(x > 0, pnp.sin, pnp.cos, x),
    "checkpoint": pullback.checkpoint(pnp.sin),
    "custom_jvp": custom,
}

POLICIES = {
    "none": None,
    "dots": pullback.checkpoint_policies.dots_saveable,
}


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", REGIONS)
def test_derivatives_are_those_of_the_function(name, policy):
    def f(x):
        return pnp.exp(REGIONS[name](pnp.tanh(x)))

    g, x = pullback.checkpoint(f, policy=POLICIES[policy]), pnp.asarray(0.4)
    second = [pullback.grad(pullback.grad(h))(x) for h in (f, g)]
    np.testing.assert_allclose(second[1], second[0], rtol=1e-5)
    batched = [pullback.vmap(pullback.grad(h))(x[None]) for h in (f, g)]
    np.testing.assert_allclose(batched[1], batched[0], rtol=1e-5)
