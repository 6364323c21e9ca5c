"""Products and linear algebra without factorizations as in jax."""

import jax
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from tests.jax_parity.same_call import check

RNG = np.random.default_rng(1)
X = RNG.standard_normal((3, 4)).astype(np.float32)
W = RNG.standard_normal((4, 5)).astype(np.float32)
T = RNG.standard_normal((2, 4, 3)).astype(np.float32)
S = X[:, :3]
WHOLE = RNG.integers(-5, 5, (3, 4)).astype(np.int32)
C = (W + 1j * W[::-1]).astype(np.complex64)
HALF = X.astype(pnp.bfloat16)
PAIRS = [
    (X, W),
    (X, X),
    (X, X.T),
    (T, X),
    (X, T),
    (X[0], W),
    (X, W[:, 0]),
    (X[0], X[0]),
    (X[0], C[:, 0]),
    (WHOLE, WHOLE.T),
    (WHOLE, W),
    (HALF, W.astype(pnp.bfloat16)),
    (3, X),
    (2, 3.0),
]


@pytest.mark.parametrize(
    "name", ["matmul", "dot", "vdot", "inner", "outer", "kron", "vecdot"]
)
def test_products(name):
    for x, y in PAIRS:
        check(name, x, y)
    if name != "kron":
        check(name, X > 0, X.T > 0)


def test_leading_axes_of_matmul_broadcast():
    for x, y in [
        ((2, 1, 3, 4), (5, 4, 6)),
        ((1, 3, 4), (5, 4, 6)),
        ((5, 3, 4), (4, 6)),
        ((3, 4), (5, 4, 6)),
        ((5, 3, 4), (4,)),
        ((4,), (5, 4, 6)),
        ((5, 3, 4), (2, 4, 6)),
        ((5, 3, 4), (3, 4, 6)),
        ((5, 3, 4), (1, 4, 6)),
    ]:
        check("matmul", RNG.random(x), RNG.random(y))


def test_precision_and_type():
    check("matmul", HALF, W.astype(pnp.bfloat16), preferred_element_type="float32")
    check("matmul", X, W, precision="highest")
    check("matmul", X, W, precision="other")
    check("dot", X, W, precision=("high", "highest"))


def test_tensordot():
    check("tensordot", T, X, axes=([1], [1]))
    check("tensordot", T, X, axes=([1, 2], [1, 0]))
    check("tensordot", T, X, axes=(1, -1))
    check("tensordot", T, X, axes=0)
    check("tensordot", X, W, axes=1)
    check("tensordot", X, W)
    check("tensordot", X, W, axes=3)
    check("tensordot", X, W, axes=([0, 1], [0]))


def test_cross_and_trace():
    for x, y in [(S, S[::-1]), (S[:, :2], S[:, 1:]), (S, S[:, :2]), (X, X)]:
        check("cross", x, y)
    check("cross", S.T, S.T, axis=0)
    for offset in (0, 1, -1, 9):
        check("trace", X, offset)
        check("trace", T, offset, 2, 0)
        check("trace", WHOLE.astype(np.int8), offset)


EINSUMS = [
    ("ij,jk->ik", (X, W)),
    ("ij,jk", (X, W)),
    ("ij->ji", (X,)),
    ("ij->", (X,)),
    ("ii->i", (S,)),
    ("ii", (S,)),
    ("...j,jk->...k", (T.swapaxes(1, 2), W)),
    ("bij,bjk->bik", (T, T.swapaxes(1, 2))),
    ("ij,jk,kl->il", (X, W, W.T)),
    ("ij,ij->i", (X, X)),
    ("ij,ij->ij", (X, X)),
    ("i,j->ij", (X[0], W[0])),
    ("ij,kj->", (X, X)),
    ("ij,jk->ik", (X, X)),
    ("ij,j", (X, X)),
    ("bij,kl->b", (T, X)),
    ("i,i,i->", (X[0], X[0], X[0])),
    ("ij,ik->kj", (WHOLE, X)),
    ("abc,abd->acd", (T, T)),
    ("iij->j", (np.stack([S] * 3),)),
    ("ij , jk -> ik", (X, W)),
    ("ij,jk->iz", (X, W)),
    (",ij->ij", (2.0, X)),
    ("ij,jk", (X[:1], W)),
]


@pytest.mark.parametrize("i", range(len(EINSUMS)))
def test_einsum(i):
    subscripts, operands = EINSUMS[i]
    check("einsum", subscripts, *operands)


def test_einsum_options():
    check("einsum", X, [0, 1], W, [1, 2], [0, 2])
    check("einsum", "ij,jk,kl", X, W, W.T, optimize=False)
    half = (HALF, W.astype(pnp.bfloat16))
    check("einsum", "ij,jk", *half, preferred_element_type="float32")


@pytest.mark.slow
def test_norms():
    for order in (None, 0, 1, 2, 3, -1, -2, 0.5, np.inf, -np.inf, "fro", "other"):
        check("linalg.norm", X[0], order)
        check("linalg.norm", X, order, axis=1)
        check("linalg.vector_norm", X, ord=order)
        check("linalg.norm", X, order, keepdims=True)
        check("linalg.norm", T, order, axis=(2, 0))
    for x in (WHOLE, HALF, C, 3.0, X[:, :0]):
        check("linalg.norm", x)


def test_linear_algebra():
    for n in (1, 2, 5):
        check("linalg.matrix_power", np.stack([S, S]), n, tol=1e-3)
    check("linalg.matrix_power", X, 2)
    check("linalg.multi_dot", [X, X.T, X, X[0]])
    check("linalg.multi_dot", [X[:, 0], X, X[0]])
    check("linalg.matrix_norm", T, ord=1, keepdims=True)
    check("linalg.trace", T)
    check("linalg.outer", X[0], W[0])
    check("linalg.outer", X, W[0])
    check("linalg.cross", S, S[::-1])
    check("linalg.cross", X, X)
    check("linalg.matrix_transpose", T)


def square_sum(module, name):
    return lambda a, b: (getattr(module, name)(a, b) ** 2).sum()


def test_gradients_of_products():
    for x, y in [(X, W), (T, X), (X[0], W), (T, T.swapaxes(1, 2))]:
        for name in ("matmul", "dot") if y is not W or x is X else ("matmul",):
            got = pullback.grad(square_sum(pnp, name), (0, 1))(x, y)
            want = jax.grad(square_sum(jax.numpy, name), (0, 1))(x, y)
            for p, q in zip(got, want, strict=True):
                np.testing.assert_allclose(np.asarray(p), q, 1e-4, 1e-4)


def test_half_operands_with_a_wide_result():
    y = W.astype(pnp.bfloat16)
    got = pullback.grad(
        lambda a: pnp.matmul(a, y, preferred_element_type=np.float32).sum()
    )(HALF)
    want = jax.grad(
        lambda a: jax.numpy.matmul(a, y, preferred_element_type=np.float32).sum()
    )(HALF)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(
        np.asarray(got, np.float32), np.asarray(want, np.float32), 2e-2
    )


def test_mismatch_names_both_axes_and_a_remedy():
    a, b = pnp.asarray(X), pnp.asarray(W)
    with pytest.raises(pullback.errors.ShapeError) as caught:
        a @ a
    text = str(caught.value)
    assert text.startswith("x @ y: x is f32[3,4], y is f32[3,4]")
    assert "the last axis of x (4) and the second-last axis of y (3)" in text
    assert "x @ y.T" in text
    with pytest.raises(pullback.errors.ShapeError, match="y @ x"):
        b @ a.reshape(3, 4)[:, :4]
    with pytest.raises(pullback.errors.ShapeError, match=r"x \* y"):
        pnp.matmul(a, 2.0)
    with pytest.raises(ValueError, match="sum: axis 3 is out of bounds"):
        a.sum(3)
