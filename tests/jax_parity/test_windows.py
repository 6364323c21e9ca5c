"""reduce, reduce_window and associative_scan as in jax, where jax can do it."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback import lax

RANDOM = np.random.default_rng(0)
FLOATS = RANDOM.normal(size=(5, 6)).astype(np.float32)
INTS = RANDOM.integers(0, 9, (5, 6)).astype(np.int32)
BOOLS = INTS > 4
NAMED = {
    "add": (0, FLOATS),
    "mul": (1, FLOATS),
    "max": (-np.inf, FLOATS),
    "min": (np.inf, FLOATS),
    "bitwise_and": (-1, INTS),
    "bitwise_or": (0, INTS),
    "bitwise_xor": (0, INTS),
}
PADDINGS = ["VALID", "SAME", "SAME_LOWER", ((1, 0), (2, 3)), ((-1, 1), (0, -2))]


def same(got, want, tol=1e-5):
    for x, y in zip(pullback.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        a, b = (np.asarray(v).astype(np.complex64) for v in (x, y))
        np.testing.assert_allclose(a, b, tol, tol)


@pytest.mark.parametrize("name", NAMED)
def test_named_combiners(name):
    init, x = NAMED[name]
    ours, theirs = getattr(lax, name), getattr(jax.lax, name)
    start = x.dtype.type(init)
    for axes in ((0,), (1, 0), ()):
        same(lax.reduce(x, start, ours, axes), jax.lax.reduce(x, start, theirs, axes))
    odd = x.dtype.type(3)  # not the identity
    same(lax.reduce(x, odd, ours, (1,)), jax.lax.reduce(x, odd, theirs, (1,)))
    where = (2, 3), (1, 2), "SAME"
    same(
        lax.reduce_window(x, start, ours, *where),
        jax.lax.reduce_window(x, start, theirs, *where),
    )
    for reverse in (False, True):
        same(
            lax.associative_scan(ours, x, reverse=reverse, axis=1),
            jax.lax.associative_scan(theirs, x, reverse=reverse, axis=1),
        )


@pytest.mark.parametrize("padding", PADDINGS, ids=str)
@pytest.mark.parametrize("dilations", [(None, None), ((2, 1), (1, 2))], ids=str)
def test_geometry(padding, dilations):
    where = (3, 2), (2, 1), padding, *dilations
    same(
        lax.reduce_window(FLOATS, np.float32(-np.inf), lax.max, *where),
        jax.lax.reduce_window(FLOATS, np.float32(-np.inf), jax.lax.max, *where),
    )


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "int8", "uint32", "bool", "complex64"]
)
def test_dtypes(dtype):
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    x = (INTS > 4) if dtype == "bool" else INTS.astype(kind)
    zero = np.zeros((), kind)
    ours, theirs = (lax.bitwise_or, jax.lax.bitwise_or)
    if dtype != "bool":
        ours, theirs = lax.add, jax.lax.add
    where = (2, 2), (1, 1), "VALID"
    same(
        lax.reduce_window(x, zero, ours, *where),
        jax.lax.reduce_window(x, zero, theirs, *where),
        1e-2,
    )
    same(lax.reduce(x, zero, ours, (0, 1)), jax.lax.reduce(x, zero, theirs, (0, 1)))


def test_half_precision_is_accumulated_in_float32():
    for kind in (np.float16, ml_dtypes.bfloat16):
        x = np.full(4096, 1.0, kind)
        for k in (3000, 4096):
            out = lax.reduce_window(x, np.zeros((), kind), lax.add, (k,), (1,), "VALID")
            assert out.dtype == kind
            assert float(out[0]) == float(kind(k))
        assert float(lax.reduce(x, np.zeros((), kind), lax.add, (0,))) == 4096.0


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["max", "min", "add"])
def test_gradients_with_ties(mode):
    x = np.asarray(RANDOM.integers(0, 3, 30), np.float32)
    start = {"max": -np.inf, "min": np.inf, "add": 0.0}[mode]
    w = np.cos(np.arange(30)).astype(np.float32)
    for k, s in ((3, 1), (7, 2), (12, 1)):

        def loss(module, x, k=k, s=s):
            f = getattr(module.lax, mode)
            y = module.lax.reduce_window(x, np.float32(start), f, (k,), (s,), "SAME")
            return (y * w[: y.shape[0]]).sum()

        same(
            pullback.grad(lambda x: loss(pullback, x))(x),
            jax.grad(lambda x: loss(jax, x))(jnp.asarray(x)),
        )
    same(
        pullback.grad(
            lambda x: (lax.associative_scan(getattr(lax, mode), x) * w).sum()
        )(x),
        jax.grad(
            lambda x: (jax.lax.associative_scan(getattr(jax.lax, mode), x) * w).sum()
        )(jnp.asarray(x)),
    )


def test_trees_of_mixed_dtypes():
    def pick(module):
        def f(p, q):
            keep = (p["v"] > q["v"]) | ((p["v"] == q["v"]) & (p["i"] <= q["i"]))
            return {k: module.where(keep, p[k], q[k]) for k in p}

        return f

    index = np.arange(30, dtype=np.int32).reshape(5, 6)
    xs = {"v": FLOATS, "i": index}
    start = {"v": np.float32(-np.inf), "i": np.int32(2**31 - 1)}
    same(
        lax.reduce(xs, start, pick(pnp), (1,)),
        jax.lax.reduce(xs, start, pick(jnp), (1,)),
    )
    same(
        lax.associative_scan(pick(pnp), xs, axis=1),
        jax.lax.associative_scan(pick(jnp), xs, axis=1),
    )
    where = (1, 3), (1, 1), "VALID"
    same(
        lax.reduce_window(xs, start, pick(pnp), *where),
        jax.lax.reduce_window(xs, start, pick(jnp), *where),
    )


def test_matrices_in_an_associative_scan():
    x = RANDOM.normal(size=(7, 2, 2)).astype(np.float32)
    same(lax.associative_scan(pnp.matmul, x), jax.lax.associative_scan(jnp.matmul, x))


def test_rank_zero_and_empty():
    three = np.float32(3)
    same(
        lax.reduce(three, np.float32(0), lax.add, ()),
        jax.lax.reduce(three, np.float32(0), jax.lax.add, ()),
    )
    same(
        lax.reduce_window(three, np.float32(0), lax.add, (), (), ()),
        jax.lax.reduce_window(three, np.float32(0), jax.lax.add, (), (), ()),
    )
    none = np.zeros((0, 3), np.float32)
    same(
        lax.reduce(none, np.float32(5), lax.add, (0,)),
        jax.lax.reduce(none, np.float32(5), jax.lax.add, (0,)),
    )
    same(lax.associative_scan(lambda x, y: x * y + 0.0, none), none)
