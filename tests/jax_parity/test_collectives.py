"""Collectives over the named axis of vmap: values, derivatives and errors as JAX's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp

X = np.arange(6, dtype=np.float32).reshape(3, 2) + 1
S = np.arange(9, dtype=np.float32).reshape(3, 3)
T = np.arange(36, dtype=np.float32).reshape(3, 6, 2)
RING = [(0, 1), (1, 2), (2, 0)]


def calls(lax, np_):
    return {
        "psum": (lambda x: lax.psum(x, "i"), X),
        "psum tree": (lambda x: lax.psum({"a": x, "b": x[0]}, "i"), X),
        "psum constant": (lambda x: x * lax.psum(1, "i"), X),
        "pmean": (lambda x: lax.pmean(x, "i"), X),
        "pmax": (lambda x: lax.pmax(x, "i"), X),
        "pmin": (lambda x: lax.pmin(x, "i"), X),
        "axis_index": (lambda x: x + lax.axis_index("i"), X),
        "all_gather": (lambda x: lax.all_gather(x, "i"), X),
        "all_gather axis": (lambda x: lax.all_gather(x, "i", axis=1), X),
        "all_gather tiled": (lambda x: lax.all_gather(x, "i", tiled=True), X),
        "ppermute": (lambda x: lax.ppermute(x, "i", RING), X),
        "pshuffle": (lambda x: lax.pshuffle(x, "i", [2, 0, 1]), X),
        "psum_scatter": (lambda x: lax.psum_scatter(x, "i"), S),
        "psum_scatter tiled": (lambda x: lax.psum_scatter(x, "i", tiled=True), T),
        "all_to_all": (lambda x: lax.all_to_all(x, "i", 0, 0), S),
        "all_to_all moved": (lambda x: lax.all_to_all(x, "i", 0, 1), T[:, :3]),
        "all_to_all tiled": (lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True), T),
    }


NAMES = list(calls(pullback.lax, pnp))
SMOOTH = [n for n in NAMES if n not in ("pmax", "pmin", "psum tree")]


JAX_FAILS = ("all_to_all moved", True)


def same(ours, theirs):
    for x, y in zip(pullback.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-5)


def both(run):
    same(run(pullback, pnp), run(jax, jnp))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("jit", [False, True])
def test_value(name, jit):
    def run(pkg, np_):
        f, x = calls(pkg.lax, np_)[name]
        f = pkg.jit(f) if jit else f
        return pkg.vmap(f, axis_name="i")(x)

    both(run)


def test_transposed_all_to_all_with_other_axes_is_adjoint():
    """JAX fails here, so the oracle is <ct, f(x)> = <f^T(ct), x> over the axis."""
    f = lambda x: pullback.lax.all_to_all(x, "i", 0, 1)  # noqa: E731
    x = T[:, :3]
    y = pullback.vmap(f, axis_name="i")(x)
    ct = np.asarray(y)[::-1] * 0.5
    back = pullback.vmap(
        lambda c: pullback.linear_transpose(f, x[0])(c)[0], axis_name="i"
    )(ct)
    np.testing.assert_allclose(np.vdot(ct, y), np.vdot(back, x), rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "inside"),
    [(n, i) for n in SMOOTH for i in (False, True) if (n, i) != JAX_FAILS],
)
def test_gradient(name, inside):
    def run(pkg, np_):
        f, x = calls(pkg.lax, np_)[name]
        if inside:
            return pkg.vmap(pkg.grad(lambda y: np_.sum(f(y) ** 2)), axis_name="i")(x)
        g = pkg.vmap(f, axis_name="i")
        return pkg.grad(lambda y: np_.sum(g(y) ** 2))(x)

    both(run)


@pytest.mark.parametrize("name", NAMES)
def test_under_another_vmap(name):
    def run(pkg, np_):
        f, x = calls(pkg.lax, np_)[name]
        twice = np_.stack([x, x * 2])
        return pkg.vmap(pkg.vmap(f, axis_name="i"))(twice)

    both(run)


def test_inside_control_flow_and_unmapped():
    def run(pkg, np_):
        def f(x):
            total, _ = pkg.lax.scan(
                lambda c, a: (c + pkg.lax.psum(a, "i"), None), 0.0, x
            )
            return total + pkg.lax.psum(2.0 * np_.ones(()), "i")

        return pkg.vmap(f, axis_name="i")(X), pkg.vmap(pkg.jit(f), axis_name="i")(X)

    both(run)


def test_two_axes():
    def run(pkg, np_):
        def f(x):
            return pkg.lax.psum(x, ("i", "j")) + pkg.lax.axis_index("j")

        return pkg.vmap(pkg.vmap(f, axis_name="j"), axis_name="i")(X)

    both(run)


def test_same_function_over_axes_of_two_sizes():
    f = pullback.jit(lambda x: x / pullback.lax.psum(1, "i"))
    assert pullback.vmap(f, axis_name="i")(np.ones(2, np.float32)).tolist() == [0.5] * 2
    assert (
        pullback.vmap(f, axis_name="i")(np.ones(4, np.float32)).tolist() == [0.25] * 4
    )


def test_unknown_name():
    with pytest.raises(NameError, match="no axis named 'k'"):
        pullback.vmap(lambda x: pullback.lax.psum(x, "k"), axis_name="i")(X)
    with pytest.raises(NameError, match="no axis named"):
        pullback.lax.axis_index("i")


def test_bad_permutation_and_sizes():
    with pytest.raises(ValueError, match="distinct"):
        pullback.vmap(
            lambda x: pullback.lax.ppermute(x, "i", [(0, 1), (2, 1)]), axis_name="i"
        )(X)
    with pytest.raises(ValueError, match="psum_scatter"):
        pullback.vmap(lambda x: pullback.lax.psum_scatter(x, "i"), axis_name="i")(X)
