"""Reductions, statistics, sorting and searching as in jax."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from tests.jax_parity.same_call import check

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 4)).astype(np.float32)
WHOLE = RNG.integers(-5, 5, (3, 4)).astype(np.int32)
B = X > 0
HALF = X.astype(pnp.bfloat16)
C = (X + 1j * X[::-1]).astype(np.complex64)
N = np.where(X > 0.5, np.nan, X)
N[:, 0] = np.nan
CUBE = RNG.standard_normal((2, 3, 3)).astype(np.float32)
W = RNG.random((3, 4)).astype(np.float32)
KINDS = [X, WHOLE, B, HALF, C, WHOLE.astype(np.uint8), 3.0, 3]

REDUCE = [
    "sum",
    "prod",
    "mean",
    "max",
    "min",
    "all",
    "any",
    "var",
    "std",
    "ptp",
    "argmax",
    "argmin",
]
RUNNING = ["sort", "argsort", "cumsum", "cumprod"]
NAN = [
    "nansum",
    "nanprod",
    "nanmean",
    "nanmax",
    "nanmin",
    "nanargmax",
    "nanargmin",
    "nanvar",
    "nanstd",
]
AXES = [{"axis": a} for a in (0, 1, -1, (0, 1), 2, None, (0, 0))]
MORE = [
    {"keepdims": True, "axis": 1},
    {"where": B},
    {"where": B, "axis": 0, "initial": 1},
    {"dtype": "float16"},
    {"initial": 2},
    {"out": X},
    {"descending": True},
]


@pytest.mark.parametrize("name", REDUCE + RUNNING)
def test_every_type(name):
    for x in KINDS:
        if x is C and name.startswith("argm"):
            continue  # jax has no order of complex numbers here
        check(name, x)


@pytest.mark.slow
@pytest.mark.parametrize("name", REDUCE + RUNNING)
def test_every_axis_and_option(name):
    for options in AXES:
        check(name, X, **options)
    for options in MORE:
        if name not in RUNNING or "keepdims" not in options:
            check(name, X, **options, tol=1e-2 if "dtype" in options else 1e-5)
    for axis in (None, 0, 1):
        check(name, X[:0], axis=axis)


@pytest.mark.parametrize("name", [*NAN, "count_nonzero", "nancumsum", "nancumprod"])
def test_nan_is_skipped(name):
    for x in (X, WHOLE, B, N):
        check(name, x)
        check(name, x, axis=0)


def test_variance():
    for options in (
        {"ddof": 1},
        {"correction": 1},
        {"ddof": 13},
        {"ddof": 4, "axis": 1},
    ):
        check("var", X, **options)
        check("std", X, **options)
    check("var", X, ddof=1, correction=2)
    check("var", X, where=B, axis=0)
    check("var", C, dtype="float32")


def test_lists_are_refused():
    for name in ("sum", "max", "mean", "sort", "cumsum"):
        check(name, [1, 2])


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_median(name):
    for x in (X, N, WHOLE, HALF, 3.0):
        check(name, x)
    check(name, N, axis=0)
    check(name, CUBE, axis=(0, 2), keepdims=True)
    check(name, X, axis=5)


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantile(method):
    fractions = np.array([0.1, 0.26, 0.5, 1, 0], np.float32)
    for name in ("quantile", "nanquantile"):
        check(name, N, 0.3, method=method)
        check(name, X, fractions, axis=1, method=method)
    check("percentile", X, 100 * fractions, axis=1, method=method)


def test_quantile_refusals_and_shapes():
    check("quantile", X, 0.3, method="other")
    check("quantile", C, 0.3)
    check("quantile", CUBE, np.array([0.1, 0.5]), axis=(0, 1), keepdims=True)
    check("nanpercentile", N, 30.5)


def test_weighted_means():
    for options in (
        {},
        {"axis": 0},
        {"weights": W},
        {"weights": W[0], "axis": 1},
        {"weights": W[0]},
        {"returned": True, "axis": 0},
        {"weights": W, "returned": True, "keepdims": True, "axis": 0},
    ):
        check("average", X, **options)
        check("average", WHOLE, **options)


def test_covariance():
    f = np.array([1, 2, 1, 3])
    for options in (
        {},
        {"rowvar": False},
        {"bias": True},
        {"ddof": 0},
        {"y": W},
        {"fweights": f},
        {"aweights": W[0]},
        {"aweights": W[0], "fweights": f, "ddof": 2},
    ):
        check("cov", X, **options)
    for x in (X[0], WHOLE, C, CUBE):
        check("cov", x, tol=1e-4)
    check("corrcoef", X, W)
    check("corrcoef", X[0])


def test_order_of_special_values():
    x = np.array([0.0, -0.0, np.nan, 3, 3, -np.inf, np.inf, -np.nan], np.float32)
    for descending in (False, True):
        check("argsort", x, descending=descending)
    got, want = np.asarray(pnp.sort(x)), np.asarray(jnp.sort(x))
    assert got[:-2].tobytes() == want[:-2].tobytes()  # zeros keep their signs
    for order in ("stable", "other"):
        with pytest.raises(ValueError, match="no fields"):
            pnp.sort(x, order=order)
    for keepdims in (False, True):
        check("argmax", x.reshape(2, 4), axis=1, keepdims=keepdims)


def test_searching():
    a = np.sort(RNG.integers(0, 9, 11)).astype(np.float32)
    v = np.array([[0, 3, 4.5, np.nan], [9, 8, 100, np.inf]], np.float32)
    for side in ("left", "right", "middle"):
        for edges in (a, np.array([1, 2, 2, np.nan, np.nan], np.float32), a[:0]):
            check("searchsorted", edges, v, side)
    check("searchsorted", v, a)
    for edges in ([0.0, 1, 4, 8], [8.0, 4, 1, 0], [2.0]):
        for right in (False, True):
            check("digitize", v, np.array(edges), right)
    keys = RNG.integers(0, 3, (3, 20)).astype(np.int32)
    check("lexsort", tuple(keys))
    check("lexsort", keys)


def test_unique():
    keys = RNG.integers(0, 5, (3, 7)).astype(np.int32)
    for x in (keys, keys[0], N):
        check("unique", x, True, True, True)
        check("unique", x, True, True, True, size=4)
        check("unique", x, False, True, True, size=12, fill_value=-1)
    check("unique", keys, axis=0)
    for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
        check(name, keys)
    with pytest.raises(pullback.errors.ConcretizationTypeError, match="size="):
        pullback.jit(pnp.unique)(keys)


def test_histograms():
    k = RNG.integers(0, 5, 20).astype(np.int32)
    check("bincount", k)
    check("bincount", k, weights=RNG.random(20).astype(np.float32), minlength=7)
    check("bincount", k, length=2)
    check("bincount", X[0])
    for x in (X, np.ones(3, np.float32), k):
        check("histogram", x)
    check("histogram", X, bins=4, range=(-1, 1), density=True)
    check("histogram", X, bins=np.array([-1, 0, 2.0]), weights=W)


def test_differences():
    for x in (X, WHOLE, B):
        check("diff", x)
        check("diff", x, 2, 0)
    check("diff", X, 9)
    check("diff", X, prepend=1, append=X[:, :2])
    check("diff", 3)
    check("ediff1d", X, to_end=np.array([1, 2.0]), to_begin=3)
    check("trapezoid", X, dx=0.5, axis=0)
    check("trapezoid", X, x=np.array([0, 1, 3.0]), axis=0)
    check("trapezoid", WHOLE, x=X)
    check("polyval", X[0], CUBE)


def test_interp():
    xp = np.array([0, 1, 3, 4], np.float32)
    q = np.array([[-1, 0, 0.5, 3], [8, 3.9, 1, 2]], np.float32)
    for options in (
        {},
        {"left": 9, "right": -9},
        {"left": "extrapolate", "right": "extrapolate"},
        {"period": 5},
        {"left": "other"},
    ):
        check("interp", q, xp, X[0], **options)
    check("interp", q, xp, X[0, :2])


TIES = np.array([1, 3, 3, 0, 0, 2, 3], np.float32)
GRADS = {
    "max": lambda np_, x: np_.max(x),
    "min": lambda np_, x: np_.min(x),
    "prod": lambda np_, x: np_.prod(x),
    "prod of one": lambda np_, x: np_.prod(x + 1),
    "cumprod": lambda np_, x: np_.sum(np_.cumprod(x) * W.ravel()[:7]),
    "std": lambda np_, x: np_.std(x),
    "sort": lambda np_, x: np_.sum(np_.sort(x) * W.ravel()[:7]),
    "median": lambda np_, x: np_.median(x),
    "norm": lambda np_, x: np_.linalg.norm(x),
    "norm at zero": lambda np_, x: np_.linalg.norm(0 * x),
    "interp": lambda np_, x: np_.sum(np_.interp(x, np_.arange(4.0), W[0])),
    "unique": lambda np_, x: np_.sum(np_.unique(x, size=3) ** 2),
    "nanmean": lambda np_, x: np_.nanmean(np_.where(x > 2, np_.nan, x)),
}


@pytest.mark.parametrize("name", GRADS)
def test_gradients_at_ties_and_zeros(name):
    f = GRADS[name]
    got = pullback.grad(lambda x: f(pnp, x))(TIES)
    want = jax.grad(lambda x: f(jnp, x))(TIES)
    np.testing.assert_allclose(np.asarray(got), want, 1e-5, 1e-6)
