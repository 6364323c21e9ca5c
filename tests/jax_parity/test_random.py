"""The same numbers as jax.random, bit for bit, and the same kinds of errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback
from pullback import random
from pullback.tree import map as tree_map

pytestmark = pytest.mark.slow

BIT_FOR_BIT = True
SEEDS = [0, 1, -7, 2**31, 2**32 - 1, 2**40 + 3, np.int8(-3), np.uint32(2**32 - 1)]
FLOATS = ["float32", "bfloat16", "float16"]


def same(got, want):
    """Equal dtype, shape and bits."""
    if jnp.issubdtype(want.dtype, jax.dtypes.prng_key):
        assert str(got.dtype) == str(want.dtype)
        got, want = random.key_data(got), jax.random.key_data(want)
    got, want = np.asarray(got), np.asarray(want)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(got, want)


def both(name, *args, seed=7, **kwargs):
    """Compare a sampler on typed keys of one seed."""
    ours = getattr(random, name)(random.key(seed), *args, **kwargs)
    same(ours, getattr(jax.random, name)(jax.random.key(seed), *args, **kwargs))


@pytest.mark.parametrize("seed", SEEDS)
def test_keys(seed):
    same(random.key(seed), jax.random.key(seed))
    same(random.PRNGKey(seed), jax.random.PRNGKey(seed))


@pytest.mark.parametrize("num", [0, 1, 2, 3, (), (2, 3), np.int32(4), (300, 7)])
def test_split(num):
    both("split", num)
    same(
        random.split(random.PRNGKey(3), num),
        jax.random.split(jax.random.PRNGKey(3), num),
    )


@pytest.mark.parametrize(
    "data", [0, 1, 2**32 - 1, True, np.int64(-1), np.int8(-2), np.float32(2.5)]
)
def test_fold_in(data):
    both("fold_in", data)
    same(
        random.fold_in(random.PRNGKey(3), data),
        jax.random.fold_in(jax.random.PRNGKey(3), data),
    )


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", None])
@pytest.mark.parametrize("shape", [(), (3,), (0,), (40, 50)])
def test_bits(shape, dtype):
    both("bits", shape, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3)])
def test_uniform_and_normal(shape, dtype):
    both("uniform", shape, dtype)
    both("uniform", shape, dtype, -3.5, 2.25)
    both("normal", shape, dtype)


def test_many_normal_numbers():
    both("normal", (100, 1000), seed=123)


def test_complex_normal_numbers():
    both("normal", (50,), "complex64")


def test_uniform_with_bounds_that_broadcast():
    low, high = np.float32([1, 2, 3]), np.float32([[4], [5]])
    both("uniform", (2, 3), None, low, high)


CONTINUOUS = ["exponential", "gumbel", "laplace", "logistic", "cauchy"]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name, dtype):
    both(name, (1000,), dtype)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("gumbel", ((100,), None, "high")),
        ("truncated_normal", (-2.0, 1.5, (100,))),
        ("truncated_normal", (np.zeros(3, "f"), 1, None, "bfloat16")),
        ("rayleigh", (1.5, (100,))),
        ("weibull_min", (1.5, 0.7, (100,))),
        ("pareto", (1.5, (100,))),
        ("triangular", (1.0, 2.0, 4.0, (100,))),
        ("lognormal", (0.5, (100,))),
        ("wald", (1.5, (100,))),
        ("rademacher", ((100,),)),
        ("rademacher", ((100,), "float32")),
        ("geometric", (0.3, (100,))),
    ],
)
def test_with_parameters(name, args):
    both(name, *args)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", None])
@pytest.mark.parametrize("bounds", [(0, 10), (-3, 300), (3, 3), (5, 1)])
def test_randint(bounds, dtype):
    both("randint", (200,), *bounds, dtype)


def test_randint_over_all_values():
    both("randint", (200,), -(2**31), 2**31 - 1)
    both("randint", (200,), np.int32(0), np.uint32(2**31))
    both("randint", (2, 3), np.int32([0, 5, 9]), np.int32([[10], [20]]))
    both("randint", (3,), 0.5, 3)


def test_bernoulli():
    both("bernoulli", 0.3, (500,))
    both("bernoulli", np.float32([0.1, 0.5, 0.9]))
    both("bernoulli", np.float32([0.1, 0.5, 0.9]), (4, 3), "high")
    both("bernoulli", jnp.asarray(0.25, "bfloat16").__array__(), (50,))


def test_categorical():
    logits = np.random.default_rng(0).normal(size=(4, 5)).astype("f")
    both("categorical", logits)
    both("categorical", logits, 0)
    both("categorical", logits, shape=(20, 4))
    both("categorical", logits, 1, (3, 4), False)
    both("categorical", logits[0], shape=(3,), replace=False)
    both("categorical", logits, mode="high")


def test_permutation():
    x = np.arange(24, dtype="f").reshape(4, 6)
    both("permutation", 1000)
    both("permutation", x)
    both("permutation", x, 1)
    both("permutation", x, 1, independent=True)
    both("permutation", x[0])


def test_choice():
    x = np.arange(24, dtype="f").reshape(4, 6)
    p = np.float32([0.1, 0.2, 0.3, 0.4])
    both("choice", 10, (5,))
    both("choice", 10, (2, 5), False)
    both("choice", x, (2, 3), axis=1)
    both("choice", x, (3,), False)
    both("choice", x)
    both("choice", 4, (50,), p=p)
    both("choice", x, (3,), False, p)


@pytest.mark.parametrize("raw", [False, True])
def test_mapped_over_keys(raw):
    ours = random.PRNGKey(3) if raw else random.key(3)
    theirs = jax.random.PRNGKey(3) if raw else jax.random.key(3)
    many, their_many = random.split(ours, 4), jax.random.split(theirs, 4)
    for name in ("normal", "uniform", "bits"):
        f, g = getattr(random, name), getattr(jax.random, name)
        same(
            pullback.vmap(lambda k, f=f: f(k, (3,)))(many),
            jax.vmap(lambda k, g=g: g(k, (3,)))(their_many),
        )
    same(
        pullback.vmap(lambda k: random.split(k, 3))(many),
        jax.vmap(lambda k: jax.random.split(k, 3))(their_many),
    )
    same(
        pullback.vmap(random.fold_in, (None, 0))(ours, np.arange(3)),
        jax.vmap(jax.random.fold_in, (None, 0))(theirs, np.arange(3)),
    )


def test_seeds_mapped():
    seeds = np.arange(4)
    same(pullback.vmap(random.key)(seeds), jax.vmap(jax.random.key)(seeds))


def test_within_a_compiled_function():
    def program(r):
        def run(seed):
            a, b = r.split(r.key(seed))
            return (
                r.normal(a, (5,)) * 2,
                r.randint(b, (4,), 0, 100),
                r.permutation(b, 6),
            )

        return run

    ours = pullback.jit(program(random))(np.int32(5))
    theirs = jax.jit(program(jax.random))(np.int32(5))
    tree_map(same, ours, theirs)


def test_with_64_bits():
    with pullback.enable_x64(), jax.enable_x64(True):
        for seed in (-1, 2**40 + 3, np.int64(-(2**40)), np.uint64(2**63 + 5)):
            same(random.key(seed), jax.random.key(seed))
        both("bits", (3,))
        both("normal", (100,))
        both("uniform", (100,), "float64", -1.0, 3.0)
        both("randint", (100,), -(2**40), 2**50)
        both("permutation", 30)


def test_gradients_with_respect_to_parameters():
    def loss(r, low):
        k = r.key(1)
        return r.uniform(k, (), "float32", low, 3.0) + r.truncated_normal(k, low, 2.0)

    for low in (-1.0, 0.5):
        ours = pullback.grad(lambda x: loss(random, x))(low)
        theirs = jax.grad(lambda x: loss(jax.random, x))(low)
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("gamma", (np.float32([0.1, 0.9, 1, 2.5, 30]), (7, 5))),
        ("gamma", (2.5, (50,), "bfloat16")),
        ("loggamma", (np.float32([1e-3, 0.9, 1, 2.5, 30]), (7, 5))),
        ("beta", (0.5, 2.5, (30,))),
        ("dirichlet", (np.float32([0.5, 1, 3]), (7,))),
        ("chisquare", (3.0, (30,))),
        ("f", (3.0, 5.0, (30,))),
        ("t", (3.0, (30,))),
        ("generalized_normal", (1.5, (30,))),
        ("ball", (3, 2.5, (9,))),
        ("maxwell", ((1000,),)),
        ("double_sided_maxwell", (1.0, 2.0, (100,))),
    ],
)
def test_to_the_last_places(name, args):
    """Sums and rejections: XLA contracts their products as it likes."""
    ours = getattr(random, name)(random.key(7), *args)
    theirs = getattr(jax.random, name)(jax.random.key(7), *args)
    assert str(ours.dtype) == str(theirs.dtype)
    ours, theirs = (np.asarray(x).astype(np.float32) for x in (ours, theirs))
    tol = 1e-2 if args[-1] == "bfloat16" else 2e-6
    np.testing.assert_allclose(ours, theirs, rtol=tol, atol=tol)


def test_poisson():
    both("poisson", np.float32([0, 0.5, 3, 9.9, 10, 50, 1e4]), (20, 7))
    both("poisson", 4.0)


ERRORS = [
    (ValueError, lambda r: r.split(r.split(r.key(0)))),
    (ValueError, lambda r: r.normal(r.split(r.key(0)))),
    (ValueError, lambda r: r.split(np.zeros((2, 2), "uint32"))),
    (TypeError, lambda r: r.split(np.zeros(3, "uint32"))),
    (TypeError, lambda r: r.split(np.zeros(2, "int32"))),
    (TypeError, lambda r: r.split([0, 1])),
    (TypeError, lambda r: r.normal(None)),
    (TypeError, lambda r: r.split(r.key(0), 2.5)),
    (ValueError, lambda r: r.normal(r.key(0), (), int)),
    (ValueError, lambda r: r.uniform(r.key(0), (), "int32")),
    (TypeError, lambda r: r.uniform(r.key(0), (2.0,))),
    (ValueError, lambda r: r.bits(r.key(0), (), "int32")),
    (TypeError, lambda r: r.uniform(r.key(0), (2, 3), None, np.ones(2, "f"))),
    (TypeError, lambda r: r.randint(r.key(0), (2,), 0, 3, "float32")),
    (TypeError, lambda r: r.randint(r.key(0), (2,), 0, 3, bool)),
    (OverflowError, lambda r: r.randint(r.key(0), (2,), 0, 2**33)),
    (TypeError, lambda r: r.key(1.5)),
    (TypeError, lambda r: r.key(np.arange(2))),
    (OverflowError, lambda r: r.key(2**63)),
    (ValueError, lambda r: r.key(0, impl="nope")),
    (OverflowError, lambda r: r.fold_in(r.key(0), -1)),
    (OverflowError, lambda r: r.fold_in(r.key(0), 2**32)),
    (TypeError, lambda r: r.fold_in(r.key(0), np.arange(2))),
    (TypeError, lambda r: r.wrap_key_data(np.zeros(3, "uint32"))),
    (TypeError, lambda r: r.wrap_key_data(np.zeros(2, "int32"))),
    (TypeError, lambda r: r.bernoulli(r.key(0), 1)),
    (ValueError, lambda r: r.bernoulli(r.key(0), np.ones(3, "f"), (2,))),
    (ValueError, lambda r: r.bernoulli(r.key(0), 0.3, (3,), "x")),
    (ValueError, lambda r: r.categorical(r.key(0), np.ones((2, 3), "f"), shape=(5,))),
    (ValueError, lambda r: r.categorical(r.key(0), np.ones(3, int))),
    (TypeError, lambda r: r.categorical(r.key(0), [1.0, 2.0])),
    (ValueError, lambda r: r.choice(r.key(0), 3, (5,), False)),
    (ValueError, lambda r: r.choice(r.key(0), 3, (5,), p=np.ones(2, "f"))),
    (ValueError, lambda r: r.choice(r.key(0), 0, (5,))),
    (TypeError, lambda r: r.key(0) + 1),
    (TypeError, lambda r: r.key(0) < r.key(0)),
    (TypeError, lambda r: np.asarray(r.key(0))),
]


@pytest.mark.parametrize("index", range(len(ERRORS)))
def test_errors_are_of_the_same_kind(index):
    kind, call = ERRORS[index]
    for module in (jax.random, random):
        with pytest.raises(kind, match=r"\w"):
            call(module)


def test_arrays_of_keys():
    ours, theirs = (
        random.split(random.key(2), (3, 2)),
        jax.random.split(jax.random.key(2), (3, 2)),
    )
    assert (ours.shape, ours.ndim, ours.size) == (theirs.shape, 2, 6)
    assert (ours.itemsize, ours.nbytes) == (theirs.itemsize, theirs.nbytes)
    assert repr(ours) == repr(theirs)
    assert repr(ours.dtype) == repr(theirs.dtype)
    same(ours[1], theirs[1])
    same(ours[:, 0], theirs[:, 0])
    same(ours.reshape(6), theirs.reshape(6))
    for a, b in zip(ours[0], theirs[0], strict=True):
        same(a, b)
    same(ours == ours[0, 0], theirs == theirs[0, 0])
    assert random.key_impl(ours) == jax.random.key_impl(theirs)
    same(random.wrap_key_data(random.key_data(ours)), theirs)
