"""Convolutions as in jax: values, shapes, gradients, kinds of error."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax as jlax

import pullback
import pullback.numpy as pnp
from pullback import lax
from tests.jax_parity.same_call import check

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(3)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


X, K = normal(2, 4, 7, 6), normal(6, 4, 3, 2)
NHWC = ("NHWC", "HWIO", "NHWC")
CASES = {
    "plain": (X, K, (1, 1), "VALID", {}),
    "same": (X, K, (1, 1), "SAME", {}),
    "same by 2": (X, K, (2, 3), "SAME", {}),
    "same lower": (X, K, (2, 1), "SAME_LOWER", {}),
    "crop": (X, K, (1, 2), [(-1, 2), (3, -1)], {}),
    "wide": (X, K, (1, 1), "SAME", {"rhs_dilation": (2, 3)}),
    "spread": (X, K, (1, 2), [(1, 2), (0, 1)], {"lhs_dilation": (2, 3)}),
    "groups": (X, normal(6, 2, 3, 2), (1, 1), "SAME", {"feature_group_count": 2}),
    "batches": (X, K, (1, 1), "SAME", {"batch_group_count": 2}),
    "last": (
        normal(2, 7, 6, 4),
        normal(3, 2, 4, 6),
        (2, 1),
        "SAME",
        {"dimension_numbers": NHWC},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name):
    x, k, strides, padding, options = CASES[name]

    def loss(module):
        def f(x, k):
            y = module.conv_general_dilated(x, k, strides, padding, **options)
            return (y * y).sum()

        return f

    want = jax.jit(jax.value_and_grad(loss(jlax), (0, 1)))(x, k)
    got = pullback.jit(pullback.value_and_grad(loss(lax), (0, 1)))(x, k)
    for p, q in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(np.asarray(p), q, 2e-4, 2e-3)


def test_shorter_forms():
    x, k = normal(2, 3, 8), normal(4, 3, 3)
    for call in (
        lambda m: m.conv(x, k, (2,), "SAME"),
        lambda m: m.conv_with_general_padding(x, k, (1,), [(1, 2)], (2,), (2,)),
        lambda m: m.conv_general_dilated_patches(x, (3,), (1,), "SAME"),
        lambda m: m.conv_general_dilated_patches(
            X, (2, 3), (2, 1), "VALID", dimension_numbers=("NHWC", "OIHW", "NHWC")
        ),
    ):
        np.testing.assert_allclose(np.asarray(call(lax)), call(jlax), 1e-4, 1e-4)


@pytest.mark.parametrize("padding", ["SAME", "VALID", [(1, 2), (0, 3)]])
def test_transposed(padding):
    x, k = normal(2, 5, 4, 3), normal(3, 2, 3, 6)
    for strides in ((1, 1), (2, 3), (4, 1)):
        for options in (
            {},
            {"rhs_dilation": (2, 1)},
            {"use_consistent_padding": True},
        ):
            want = jlax.conv_transpose(x, k, strides, padding, **options)
            got = lax.conv_transpose(x, k, strides, padding, **options)
            np.testing.assert_allclose(np.asarray(got), want, 1e-4, 1e-4)
    k = normal(3, 2, 6, 3)
    want = jlax.conv_transpose(x, k, (2, 2), padding, transpose_kernel=True)
    got = lax.conv_transpose(x, k, (2, 2), padding, transpose_kernel=True)
    np.testing.assert_allclose(np.asarray(got), want, 1e-4, 1e-4)


def test_transposed_kernel_is_the_gradient():
    x, k = normal(1, 9, 3), normal(4, 3, 2)
    numbers = ("NHC", "HIO", "NHC")

    def f(x):
        return lax.conv_general_dilated(x, k, (2,), "VALID", dimension_numbers=numbers)

    y, back = pullback.vjp(f, x)
    ct = np.asarray(y)
    got = lax.conv_transpose(ct, k, (2,), "VALID", transpose_kernel=True)
    np.testing.assert_allclose(np.asarray(got)[:, :8], back(y)[0][:, :8], 1e-4, 1e-4)


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", ["full", "same", "valid", "other"])
def test_vectors(name, mode):
    for n, m in ((5, 3), (5, 4), (6, 3), (6, 4), (3, 5), (4, 6), (1, 1)):
        x, y = normal(n), normal(m)
        check(name, x, y, mode, tol=1e-4)
        check(name, x + 1j * normal(n), y - 1j * normal(m), mode, tol=1e-4)
    check(name, np.arange(5), np.arange(3), mode)
    check(name, np.arange(0.0), np.arange(3), mode)
    check(name, normal(2, 2), normal(3), mode)


def test_refusals():
    bad = [
        lambda m, np_: m.conv(np_.ones((1, 2, 4)), np_.ones((1, 3, 2)), (1,), "SAME"),
        lambda m, np_: m.conv(np_.ones((1, 2, 4)), np_.ones((1, 2)), (1,), "SAME"),
        lambda m, np_: m.conv_with_general_padding(
            np_.ones((1, 2, 4)), np_.ones((1, 2, 2)), (1,), "SAME", (2,), (1,)
        ),
        lambda m, np_: m.conv_general_dilated(
            np_.ones((1, 2, 4)),
            np_.ones((1, 2, 2)),
            (1,),
            "SAME",
            dimension_numbers=("NCX", "OIH", "NCH"),
        ),
        lambda m, np_: m.conv(
            np_.ones((1, 2, 4)), np_.ones((1, 2, 2), np_.int32), (1,), "SAME"
        ),
    ]
    for call in bad:
        with pytest.raises((TypeError, ValueError)) as want:
            call(jlax, jnp)
        kind = TypeError if isinstance(want.value, TypeError) else ValueError
        with pytest.raises(pullback.errors.UserError) as got:
            call(lax, pnp)
        assert isinstance(got.value, kind)
        assert "rule:" in str(got.value)


def test_unknown_padding():
    x, k = pnp.ones((1, 2, 4)), pnp.ones((1, 2, 2))
    with pytest.raises(pullback.errors.ArgumentError, match="SAME_LOWER"):
        lax.conv(x, k, (1,), "OTHER")


def test_third_order():
    x = normal(1, 1, 5)

    def f(module, lib):
        def g(k):
            y = module.conv_general_dilated(lib.asarray(x), k, (1,), "SAME")
            return (y**3).sum()

        return g

    k = normal(1, 1, 2)
    want = jax.grad(lambda k: jax.hessian(f(jlax, jnp))(k).sum())(k)
    got = pullback.grad(lambda k: pullback.hessian(f(lax, pnp))(k).sum())(k)
    np.testing.assert_allclose(np.asarray(got), want, 1e-3, 1e-3)
