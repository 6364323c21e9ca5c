"""Indexing as in JAX: values, dtypes, weak types, derivatives of updates."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp

pytestmark = pytest.mark.slow

X = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
REPEATS = np.array([3, 3, 0, 4])
Y = np.abs(np.random.default_rng(1).normal(size=(4, 6))).astype(np.float32)
OPERATIONS = ["set", "add", "subtract", "multiply", "divide", "power", "min", "max"]


def same(got, want):
    assert got.dtype == want.dtype
    assert got.weak_type == want.weak_type
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), 2e-6, 1e-6)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize(
    "index", [2, np.s_[1:5], np.s_[::2], REPEATS[1:], np.s_[:, 3]], ids=str
)
def test_updates(name, index):
    x, y = np.abs(X), Y[: np.ones(5)[index].size if not isinstance(index, tuple) else 1]
    y = y[0] if isinstance(index, int) else y
    y = Y[0, :5] if isinstance(index, tuple) else y
    got = getattr(pnp.asarray(x).at[index], name)(y)
    same(got, getattr(jnp.asarray(x).at[index], name)(y))


@pytest.mark.parametrize("name", ["add", "multiply", "min", "max", "subtract"])
def test_repeats_apply_every_update(name):
    got = getattr(pnp.asarray(X).at[REPEATS], name)(Y)
    same(got, getattr(jnp.asarray(X).at[REPEATS], name)(Y))


@pytest.mark.parametrize("name", ["set", "add", "min", "max"])
def test_derivatives_with_repeats(name):
    def loss(numpy):
        def f(x, y):
            out = getattr(numpy.asarray(x).at[REPEATS], name)(y)
            return (out * numpy.asarray(X)).sum()

        return f

    y = Y.copy()
    y[0] = y[1]  # ties
    got = pullback.grad(loss(pnp), (0, 1))(X, y)
    want = jax.grad(loss(jnp), (0, 1))(X, y)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), 1e-5, 1e-6)


def test_derivative_of_multiply_by_repeated_values():
    """JAX refuses this one: the oracle is a product written out."""
    y = np.array([2.0, 0.0, 3.0, 5.0], np.float32)
    x = np.array([1.0, 2.0, 3.0], np.float32)
    places = np.array([1, 1, 0, 2])

    def loss(x, y):
        return (x.at[places].multiply(y) * np.array([1.0, 10.0, 100.0], "f")).sum()

    got = pullback.grad(loss, (0, 1))(pnp.asarray(x), pnp.asarray(y))
    assert got[0].tolist() == [3.0, 0.0, 500.0]
    assert got[1].tolist() == [0.0, 40.0, 1.0, 300.0]


@pytest.mark.parametrize("value", [1, 1.5, True, np.int8(3), np.float32(2)], ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
@pytest.mark.filterwarnings("ignore:.*:FutureWarning")
def test_types_of_values(value, dtype):
    got = pnp.ones(3, dtype).at[1].set(value)
    same(got, jnp.ones(3, dtype).at[1].set(value))


@pytest.mark.parametrize("mode", [None, "fill", "clip", "wrap"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "bool"])
def test_take(mode, dtype):
    x, places = X.astype(dtype), np.array([[0, 7], [-1, -9]])
    same(pnp.take(x, places, 1, mode=mode), jnp.take(x, places, 1, mode=mode))
    same(pnp.take(x, 3, mode=mode), jnp.take(x, 3, mode=mode))


@pytest.mark.parametrize("mode", [None, "clip", "fill"])
def test_take_along_axis(mode):
    places = np.array([[0, 5, -1], [2, 2, 9], [1, 0, 0], [3, 4, 5], [5, 5, 5]])
    got = pnp.take_along_axis(X, places, 1, mode=mode)
    same(got, jnp.take_along_axis(X, places, 1, mode=mode))
    one = np.array([[0], [5], [-1], [2], [9]])
    same(pnp.take_along_axis(X, one, 1), jnp.take_along_axis(X, one, 1))
    row = np.array([[0, 4, -1, 2, 1, 0]])
    same(pnp.take_along_axis(X, row, 0), jnp.take_along_axis(X, row, 0))


def test_put_insert_delete():
    for name, args in [
        ("insert", (2, 9.0)),
        ("insert", (np.array([1, 3]), 9.0, 1)),
        ("insert", (1, np.arange(6.0, dtype=np.float32), 0)),
        ("delete", (3,)),
        ("delete", (slice(0, 3), 1)),
        ("delete", (np.array([0, -1]), 0)),
        ("append", (Y, 0)),
        ("compress", None),
    ]:
        if args is None:
            mask = [True, False, True, True, False]
            same(pnp.compress(mask, X, 0), jnp.compress(np.array(mask), X, 0))
            continue
        got, want = getattr(pnp, name)(X, *args), getattr(jnp, name)(X, *args)
        same(got, want)
    places = np.array([[1], [0], [3], [2], [5]])
    got = pnp.put_along_axis(X, places, 7.0, 1, inplace=False)
    same(got, jnp.put_along_axis(X, places, 7.0, 1, inplace=False))
    got = pnp.put(X, [1, -1, 5], [7.0, 8.0], inplace=False)
    same(
        got, jnp.put(X, np.array([1, -1, 5]), np.array([7.0, 8.0], "f"), inplace=False)
    )


def test_positions():
    x = np.array([[0, 1, 2], [3, 0, 0]])
    for got, want in zip(pnp.nonzero(x), jnp.nonzero(x), strict=True):
        same(got, want)
    fixed = {"size": 4, "fill_value": (7, 8)}
    want = jnp.nonzero(x, **fixed)
    for got, other in zip(pnp.nonzero(x, **fixed), want, strict=True):
        same(got, other)
    traced = pullback.jit(lambda x: pnp.nonzero(x, **fixed))(x)
    for got, other in zip(traced, want, strict=True):
        same(got, other)
    same(pnp.argwhere(x), jnp.argwhere(x))
    same(pnp.flatnonzero(x), jnp.flatnonzero(x))
    flat = np.array([7, -1, 3, 99])
    for got, want in zip(
        pnp.unravel_index(flat, (2, 3)), jnp.unravel_index(flat, (2, 3)), strict=True
    ):
        same(got, want)
    pair = np.array([1, 0]), np.array([2, 1])
    same(pnp.ravel_multi_index(pair, (2, 3)), jnp.ravel_multi_index(pair, (2, 3)))
    got = pnp.ravel_multi_index(pair, (2, 2), mode="clip")
    same(got, jnp.ravel_multi_index(pair, (2, 2), mode="clip"))


PLACES = np.array([0, -1, 7, -9, 3])
OPTIONS = [
    {"mode": "clip"},
    {"mode": "drop"},
    {"mode": "fill"},
    {"mode": "clip", "wrap_negative_indices": False},
    {"mode": "drop", "wrap_negative_indices": False},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("traced", [False, True])
def test_modes_of_reads_and_updates(options, traced):
    def run(numpy, x, places):
        x = numpy.asarray(x)
        at = x.at[places if traced else PLACES]
        outs = [at.get(**options), at.add(2.0, **options), at.multiply(3.0, **options)]
        outs += [at.max(0.1, **options), at.apply(lambda y: y * 2, **options)]
        if "wrap_negative_indices" not in options:
            outs += [at.divide(2.0, **options), at.power(2.0, **options)]
        return outs

    got = pullback.jit(lambda x, i: run(pnp, x, i))(np.abs(X), PLACES)
    want = jax.jit(lambda x, i: run(jnp, x, i))(np.abs(X), PLACES)
    for ours, theirs in zip(got, want, strict=True):
        same(ours, theirs)


@pytest.mark.parametrize("mode", [None, "clip", "wrap"])
def test_put_outside(mode):
    places, values = np.array([1, -1, 50, 2]), np.array([7.0, 8.0], np.float32)
    got = pnp.put(X, places, values, mode=mode, inplace=False)
    want = jnp.put(X, places, values, mode=mode, inplace=False)
    same(got, want)


def test_rolls_and_diagonals():
    for name, args in [
        ("roll", (2,)),
        ("roll", (-2, 1)),
        ("roll", ((1, 2), (0, 1))),
        ("diag", (1,)),
        ("diagflat", ()),
        ("diagonal", (-1,)),
        ("trace", (1,)),
    ]:
        same(getattr(pnp, name)(X, *args), getattr(jnp, name)(X, *args))
    got = pnp.fill_diagonal(X, 1.0, inplace=False)
    same(got, jnp.fill_diagonal(jnp.asarray(X), 1.0, inplace=False))
    same(pnp.extract(X > 0, X), jnp.extract(X > 0, X))
