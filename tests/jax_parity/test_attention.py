"""dot_product_attention as in JAX, with shared heads, masks and derivatives."""

import jax
import numpy as np
import pytest

import pullback
from pullback import nn

RNG = np.random.default_rng(0)
Q = RNG.normal(size=(2, 5, 4, 3)).astype(np.float32)
K, V = RNG.normal(size=(2, 2, 6, 2, 3)).astype(np.float32)
BIAS = RNG.normal(size=(1, 4, 5, 6)).astype(np.float32)
MASK = RNG.uniform(size=(2, 1, 5, 6)) > 0.3


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"is_causal": True},
        {"bias": BIAS, "mask": MASK, "scale": 0.3},
        {"mask": MASK, "is_causal": True},
    ],
    ids=["plain", "causal", "bias and mask", "causal mask"],
)
def test_values_and_derivatives(options):
    def loss(nn):
        return lambda q, k, v: (nn.dot_product_attention(q, k, v, **options) ** 2).sum()

    got = nn.dot_product_attention(Q, K, V, **options)
    want = jax.nn.dot_product_attention(Q, K, V, **options)
    np.testing.assert_allclose(got, want, 1e-5, 1e-5)
    got = pullback.grad(loss(nn), (0, 1, 2))(Q, K, V)
    want = jax.grad(loss(jax.nn), (0, 1, 2))(Q, K, V)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, 1e-4, 1e-4)


def test_without_a_batch_and_shapes_that_do_not_fit():
    got = nn.dot_product_attention(Q[0], K[0], V[0])
    want = jax.nn.dot_product_attention(Q[0], K[0], V[0])
    np.testing.assert_allclose(got, want, 1e-5, 1e-5)
    with pytest.raises(ValueError, match="k divides h"):
        nn.dot_product_attention(Q[:, :, :3], K, V)
