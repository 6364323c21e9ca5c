"""Factorizations and equations as in jax, NumPy and SciPy."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
import pytest
import scipy.linalg

import pullback
import pullback.numpy as pnp
from pullback import lax
from pullback.core import config
from pullback.scipy import linalg as psl
from tests.jax_parity.same_call import check

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(5)
A = RNG.standard_normal((3, 3)).astype(np.float32)
B = RNG.standard_normal((2, 3, 3)).astype(np.float32)
T = RNG.standard_normal((2, 4, 3)).astype(np.float32)
P = (A @ A.T + np.eye(3)).astype(np.float32)
C = (A + 1j * A.T).astype(np.complex64)
H = (C @ C.conj().T + np.eye(3)).astype(np.complex64)
S = np.asarray([[1, 2], [2, 4]], np.float32)


def close(got, want, tol=1e-4):
    for x, y in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(x, y, tol, tol)


def test_factorizations():
    check("linalg.cholesky", P)
    check("linalg.cholesky", H, upper=True)
    check("linalg.cholesky", -P)
    check("linalg.cholesky", np.eye(3, dtype=np.int32))
    for x in (P, H):
        check("linalg.eigh", x, tol=1e-4)
        check("linalg.eigvalsh", x, "U", tol=1e-4)
    check("linalg.eigh", P, "X")
    check("linalg.eig", B, tol=1e-4)
    check("linalg.eigvals", C, tol=1e-4)
    for mode in ("reduced", "complete", "r", "raw", "full"):
        check("linalg.qr", T, mode)
    check("linalg.qr", C)
    check("linalg.svd", T, tol=1e-4)
    check("linalg.svd", C, full_matrices=False, tol=1e-4)
    check("linalg.svd", A + A.T, hermitian=True, tol=1e-3)
    check("linalg.svdvals", T, tol=1e-4)
    check("linalg.svdvals", np.full((2, 2), np.nan, np.float32))


def test_equations():
    for b in (A[0], A, B, A[:, :2], B[0, 0, :2], np.float32(1)):
        check("linalg.solve", A, b, tol=1e-3)
        check("linalg.solve", B, b, tol=1e-3)
    check("linalg.solve", S, S[0])
    check("linalg.solve", C, A, tol=1e-3)
    for x in (B, C):
        check("linalg.inv", x, tol=1e-3)
        check("linalg.det", x)
        check("linalg.slogdet", x)
    for x in (np.eye(4, dtype=np.int32), np.zeros((0, 0)), np.zeros((3, 3)), S[:1, :1]):
        check("linalg.det", x)
        check("linalg.slogdet", x)
    for x in (T, T[0].T, S, np.zeros((0, 3))):
        check("linalg.pinv", x, tol=1e-3)
    check("linalg.pinv", P, hermitian=True, tol=1e-3)
    for b in (T[0, :, 0], T[0], T[0, :2]):
        check("linalg.lstsq", T[1], b, tol=1e-3)
    check("linalg.lstsq", T[0].T, A, numpy_resid=True, tol=1e-3)
    check("linalg.tensorsolve", RNG.random((2, 3, 6)), np.ones((2, 3)), tol=1e-3)
    for ind in (2, 1, 0):
        check("linalg.tensorinv", RNG.random((2, 3, 6)), ind, tol=1e-2)
    check("linalg.matrix_power", P, -2, tol=1e-3)


def test_norms_and_ranks():
    for order in (2, -2, "nuc"):
        check("linalg.norm", A, order, tol=1e-4)
        check("linalg.norm", T, order, axis=(2, 0), keepdims=True, tol=1e-4)
    for p in (None, 2, -2, "fro", "nuc", 1, np.inf):
        check("linalg.cond", P, p, tol=1e-3)
    check("linalg.cond", T, tol=1e-3)
    check("linalg.cond", T, 1)
    for x in (T, S, np.ones(3), np.zeros(3), np.zeros((2, 2))):
        check("linalg.matrix_rank", x)
    check("linalg.matrix_rank", P, tol=np.float32(1.5))
    check("linalg.diagonal", T)


@pytest.mark.parametrize(
    "name", ["cholesky", "eigh", "eig", "inv", "det", "slogdet", "solve"]
)
def test_what_is_not_square_is_named(name):
    more = (T,) if name == "solve" else ()
    check(f"linalg.{name}", T, *more)
    with pytest.raises(pullback.errors.ShapeError) as caught:
        getattr(pnp.linalg, name)(T, *more)
    text = str(caught.value)
    assert text.startswith(f"linalg.{name} of f32[2,4,3]")
    assert "rule: the last two axes are equally long" in text


def loss_of(name, module, *args):
    """A function of all results that no sign of a vector changes."""

    def f(*xs):
        out = getattr(module.linalg, name)(*xs, *args)
        outs = out if isinstance(out, tuple) else (out,)
        return sum((module.abs(y) ** 3).sum() for y in outs)

    return f


GRADIENTS = {
    "cholesky": (P,),
    "eigvalsh": (P,),
    "eigh": (P,),
    "svd": (B, False),
    "svdvals": (T,),
    "qr": (T,),
    "inv": (B,),
    "solve": (P, A),
    "det": (B,),
    "slogdet": (P,),
    "pinv": (T,),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    args = GRADIENTS[name]
    xs = [x for x in args if isinstance(x, np.ndarray)]
    more = args[len(xs) :]
    want = jax.jit(jax.grad(loss_of(name, jnp, *more), tuple(range(len(xs)))))(*xs)
    take = pullback.grad(loss_of(name, pnp, *more), tuple(range(len(xs))))
    close(pullback.jit(take)(*xs), want, 2e-2)


@pytest.mark.parametrize("name", ["cholesky", "eigvalsh", "svdvals", "inv", "eigvals"])
def test_complex_gradients(name):
    want = jax.grad(loss_of(name, jnp))(H)
    close(pullback.grad(loss_of(name, pnp))(H), want, 2e-2)


def test_mapped_as_by_itself():
    got = pullback.vmap(pnp.linalg.solve, in_axes=(None, 0))(P, B)
    close(got, jnp.linalg.solve(P, B), 1e-3)
    got = pullback.vmap(pnp.linalg.solve, in_axes=(0, None))(B, P)
    close(got, jnp.linalg.solve(B, P), 1e-3)
    got = pullback.vmap(pullback.grad(lambda x: pnp.linalg.slogdet(x)[1]))(B)
    close(got, jnp.swapaxes(jnp.linalg.inv(B), 1, 2), 1e-3)


# ---- what jax does not do, or not at such points ----


def central(f, x, t, h=1e-6):
    return (np.asarray(f(x + h * t)) - np.asarray(f(x - h * t))) / (2 * h)


@pytest.mark.parametrize("rank", [4, 3, 2])
def test_gradient_of_det_where_rank_is_missing(rank):
    with config.enable_x64(True):
        u = np.linalg.qr(RNG.standard_normal((4, 4)))[0]
        x = (u * ([1.0, 2.0, 3.0, 4.0][:rank] + [0.0] * (4 - rank))) @ u.T
        got = np.asarray(pullback.grad(pnp.linalg.det)(x))
        minors = [
            [
                (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1))
                for j in range(4)
            ]
            for i in range(4)
        ]
    np.testing.assert_allclose(got, minors, 1e-6, 1e-6)


def test_equal_singular_values_do_not_spoil_gradients():
    with config.enable_x64(True):
        x, t = np.eye(3), RNG.standard_normal((3, 3))
        b = RNG.standard_normal(3)
        for f in (
            lambda x: (pnp.linalg.pinv(x) ** 2).sum(),
            lambda x: (pnp.linalg.lstsq(x, b)[0] ** 2).sum(),
            lambda x: pnp.linalg.norm(x, "nuc"),
        ):
            _, got = pullback.jvp(f, (x,), (t,))
            np.testing.assert_allclose(float(got), central(f, x, t), 1e-6)


def test_second_order_through_solve_is_exact():
    with config.enable_x64(True):
        x, t = B[0].astype(float) + 3 * np.eye(3), RNG.standard_normal((3, 3))

        def first(x):
            return pullback.grad(lambda x: pnp.linalg.solve(x, A[0]).sum() ** 2)(x)

        _, got = pullback.jvp(first, (x,), (t,))
        np.testing.assert_allclose(np.asarray(got), central(first, x, t), 1e-5, 1e-7)


def test_real_eigenvectors_have_a_derivative():
    with config.enable_x64(True):
        x = np.asarray([[2.0, 1.0, 0.3], [0.5, 3.0, 0.2], [0.1, 0.4, 5.0]])
        t = RNG.standard_normal((3, 3))
        _, got = pullback.jvp(lambda x: tuple(pnp.linalg.eig(x)), (x,), (t,))
        for i in range(2):
            want = central(lambda x, i=i: pnp.linalg.eig(x)[i], x, t)
            np.testing.assert_allclose(np.asarray(got[i]), want, 1e-6, 1e-7)


@pytest.mark.parametrize(
    "shape", [(1, 1), (0, 0), (3, 0), (0, 3), (2, 0, 0), (0, 2, 2)]
)
def test_sizes_of_none_and_one(shape):
    x = np.ones(shape, np.float32)
    for name in ("qr", "svd", "pinv"):
        close(getattr(pnp.linalg, name)(x), getattr(np.linalg, name)(x))
    if shape[-1] == shape[-2]:
        for name in ("cholesky", "inv", "det"):
            close(getattr(pnp.linalg, name)(x), getattr(np.linalg, name)(x))
        close(pnp.linalg.slogdet(x), tuple(np.linalg.slogdet(x)))


def test_nearly_singular_solutions_have_small_residuals():
    with config.enable_x64(True):
        x = scipy.linalg.hilbert(10)  # condition 1.6e13
        b = x @ np.ones(10)
        y = np.asarray(pnp.linalg.solve(x, b))
        assert np.abs(x @ y - b).max() < 1e-14


# ---- scipy.linalg ----


def test_scipy_forms():
    x = T[0]
    for call in (
        lambda m: m.cholesky(P),
        lambda m: m.cholesky(P, lower=True),
        lambda m: m.cho_solve(m.cho_factor(H), C[0]),
        lambda m: m.cho_solve(m.cho_factor(P, lower=True), A),
        lambda m: m.solve(P, A[0], assume_a="pos"),
        lambda m: m.solve(A, A[0]),
        lambda m: m.solve_triangular(A, A[0], trans="T"),
        lambda m: m.solve_triangular(C, C[0], trans=2, lower=True),
        lambda m: m.solve_triangular(A, P, unit_diagonal=True),
        lambda m: m.lu(x),
        lambda m: m.lu(x.T, permute_l=True),
        lambda m: m.lu_solve(m.lu_factor(A), A[0]),
        lambda m: m.lu_solve(m.lu_factor(C), C, trans=1),
        lambda m: m.lu_solve(m.lu_factor(C), C[0], trans=2),
        lambda m: m.qr(x),
        lambda m: m.qr(x, mode="economic"),
        lambda m: m.qr(x, mode="r"),
        lambda m: m.svd(x, compute_uv=False),
        lambda m: m.eigh(P, eigvals_only=True),
        lambda m: m.det(A),
        lambda m: m.inv(A),
        lambda m: m.block_diag(A, A[0], 3.0),
        lambda m: m.toeplitz(A[0], A[1]),
        lambda m: m.toeplitz(C[0]),
    ):
        close(call(psl), call(jsl), 1e-3)
    close(psl.toeplitz(A), jsl.toeplitz(A))
    close(psl.lu(x), scipy.linalg.lu(x))


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_exponentials(scale):
    with config.enable_x64(True):
        for x in (B.astype(float), C.astype(complex), np.triu(A).astype(float)):
            got = psl.expm(scale * x, upper_triangular=x.ndim == 2 and not x[1, 0])
            np.testing.assert_allclose(
                np.asarray(got), scipy.linalg.expm(scale * x), 1e-9, 1e-12
            )
        x, t = A.astype(float), RNG.standard_normal((3, 3))
        _, got = pullback.jvp(psl.expm, (x,), (t,))
        want = scipy.linalg.expm_frechet(x, t, compute_expm=False)
        np.testing.assert_allclose(np.asarray(got), want, 1e-10, 1e-10)
    close(psl.expm(0.3 * A), jsl.expm(0.3 * A), 1e-5)
    assert np.isnan(np.asarray(psl.expm(1e6 * A, max_squarings=2))).all()


def test_scipy_refusals():
    for call in (
        lambda: psl.solve(A, A, assume_a="other"),
        lambda: psl.solve_triangular(A, A, trans=5),
        lambda: psl.lu_solve(psl.lu_factor(A), A, trans=4),
        lambda: psl.cho_solve((A, True), A[:2]),
        lambda: psl.eigh(A, A),
        lambda: psl.qr(A, mode="other"),
        lambda: psl.qr(A, pivoting=True),
        lambda: psl.block_diag(B),
    ):
        with pytest.raises(pullback.errors.UserError, match="rule:"):
            call()


def test_lax_forms():
    for call in (
        lambda m: m.linalg.lu(T),
        lambda m: m.linalg.triangular_solve(A, P, lower=True),
        lambda m: m.linalg.triangular_solve(A, A[0], left_side=True),
        lambda m: m.linalg.householder_product(T, T[:, 0]),
        lambda m: m.linalg.eigh(P, lower=False),
        lambda m: m.linalg.eig(A),
        lambda m: m.linalg.lu_pivots_to_permutation(np.int32([[2, 2, 2]]), 4),
    ):
        close(call(lax), call(jax.lax), 1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_reconstruction(dtype):
    with config.enable_x64(True):
        x = RNG.standard_normal((3, 6, 4)) + 1j * RNG.standard_normal((3, 6, 4))
        x = (x if dtype[0] == "c" else x.real).astype(dtype)
        tol = 1e-4 if dtype in ("float32", "complex64") else 1e-12
        q, r = map(np.asarray, pnp.linalg.qr(x))
        np.testing.assert_allclose(q @ r, x, tol, tol)
        np.testing.assert_allclose(
            q.conj().swapaxes(1, 2) @ q, np.broadcast_to(np.eye(4), (3, 4, 4)), tol, tol
        )
        u, s, vh = map(np.asarray, pnp.linalg.svd(x, full_matrices=False))
        np.testing.assert_allclose((u * s[:, None]) @ vh, x, tol, tol)
        g = x.conj().swapaxes(1, 2) @ x
        low = np.asarray(pnp.linalg.cholesky(g))
        np.testing.assert_allclose(low @ low.conj().swapaxes(1, 2), g, tol, 10 * tol)
        w, v = map(np.asarray, pnp.linalg.eigh(g))
        np.testing.assert_allclose(g @ v, v * w[:, None], tol, 30 * tol)
        w, v = map(np.asarray, pnp.linalg.eig(g[:, ::-1]))
        np.testing.assert_allclose(g[:, ::-1] @ v, v * w[:, None], tol, 30 * tol)
        p, low, u = map(np.asarray, psl.lu(x))
        np.testing.assert_allclose(p @ low @ u, x, tol, tol)
