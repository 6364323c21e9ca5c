"""Ties, what equations look like, and compiled compositions of reductions."""

import numpy as np
import pytest

import pullback
from pullback import lax
from pullback.core import config
from pullback.core.jaxpr import all_eqns
from pullback.core.trace import in_charge
from pullback.debug.numpy_trace import NumpyTrace
from pullback.regions.monoid_cost import Cost, digits, scan_block, window_strategy
from pullback.transforms.dce import dce_jaxpr
from tests.regions.monoids import (
    C,
)
from tests.regions.reduced import (
    close,
    slope,
    traced,
    weighed,
)


@pytest.fixture(autouse=True)
def wide():
    with config.scoped(enable_x64=True):
        yield


@pytest.fixture
def in_numpy():
    with in_charge(NumpyTrace()):
        yield


# ---- ties ----


@pytest.mark.usefixtures("in_numpy")
@pytest.mark.parametrize("mode", ["max", "min"])
def test_ties_follow_jax(mode):
    f, bound = getattr(lax, mode), -np.inf if mode == "max" else np.inf
    x = np.ones(3)
    third = pullback.grad(lambda x: lax.reduce(x, bound, f, (0,)))(x)
    np.testing.assert_allclose(np.asarray(third), [1 / 3] * 3)
    window = lambda x: lax.reduce_window(x, bound, f, (3,), (1,), "VALID")[0]  # noqa: E731
    np.testing.assert_array_equal(np.asarray(pullback.grad(window)(x)), [1, 0, 0])
    scan = lambda x: lax.associative_scan(f, x)[2]  # noqa: E731
    np.testing.assert_array_equal(np.asarray(pullback.grad(scan)(x)), [0.25, 0.25, 0.5])
    cumulative = getattr(lax, f"cum{mode}")
    np.testing.assert_array_equal(
        np.asarray(pullback.grad(lambda x: cumulative(x)[2])(x)), [0.25, 0.25, 0.5]
    )


@pytest.mark.usefixtures("in_numpy")
@pytest.mark.parametrize("k", [3, 11])
def test_windowed_max_gives_everything_to_the_first_of_ties(k):
    x = np.random.default_rng(0).integers(0, 3, 40).astype(float)
    w = np.cos(np.arange(41 - k))
    window = lambda x: lax.reduce_window(x, -np.inf, lax.max, (k,), (1,), "VALID")  # noqa: E731
    want = np.zeros(40)
    for i in range(41 - k):
        want[i + np.argmax(x[i : i + k])] += w[i]
    got = pullback.grad(lambda x: (window(x) * w).sum())(x)
    np.testing.assert_allclose(np.asarray(got), want, atol=1e-12)
    t = np.random.default_rng(1).normal(size=40)
    tangent = pullback.jvp(window, (x,), (t,))[1]
    np.testing.assert_allclose(np.asarray(tangent) @ w, want @ t)


# ---- structure ----


def test_jvp_keeps_one_primitive_and_leaves_zero_tangents_out():
    f = lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1], p[2] + q[2])  # noqa: E731

    def run(x):
        xs = (x, x, np.arange(5, dtype=np.int32))
        return lax.reduce_window(xs, (1.0, 0.0, 0), f, (2,), (1,), "VALID")

    x = np.ones(5)
    closed = pullback.make_jaxpr(lambda x, t: pullback.jvp(run, (x,), (t,))[1][:2])(
        x, x
    )
    names = [e.primitive.name for e in closed.jaxpr.eqns]
    assert names.count("reduce_window") == 1
    (eqn,) = [e for e in closed.jaxpr.eqns if e.primitive.name == "reduce_window"]
    assert [v.aval.shape for v in eqn.outvars] == [(4,)] * 5


def test_components_that_nothing_reads_are_dropped():
    def f(p, q):
        return p[0] * q[0], p[1] * q[0] + q[1], p[2] + q[2]

    def last(x, keep):
        return lax.associative_scan(f, (x, x, x))[keep]

    for keep, count in ((0, 1), (1, 2), (2, 1)):
        closed = pullback.make_jaxpr(lambda x, k=keep: last(x, k))(np.ones(3))
        jaxpr, _ = dce_jaxpr(closed.jaxpr)
        (eqn,) = [e for e in all_eqns(jaxpr) if e.primitive.name == "associative_scan"]
        assert len(eqn.invars) == len(eqn.outvars) == count


def test_values_closed_over_are_operands():
    def run(c, x):
        return lax.reduce_window(
            x, 0.0, lambda p, q: p + q * c / c, (2,), (1,), "VALID"
        )

    closed = pullback.make_jaxpr(run)(2.0, np.ones(5))
    (eqn,) = [e for e in closed.jaxpr.eqns if e.primitive.name == "reduce_window"]
    assert closed.jaxpr.invars[0] in eqn.invars
    assert not eqn.params["jaxpr"].consts


def test_the_choice_of_a_strategy():
    cheap, costly = Cost(1.0, 1, 1), Cost(300.0, 1, 1)
    branching = Cost(12.0, 4, 2)
    for k, cost, differentiated, want in (
        (2, cheap, False, "chain"),
        (256, cheap, False, "doubling"),
        (256, cheap, True, "blocks"),
        (8, costly, False, "blocks"),
        (8, branching, False, "chain"),
        (256, branching, False, "doubling"),
        (4096, branching, True, "blocks"),
    ):
        assert window_strategy(k, 10**6, cost, differentiated) == want
    assert digits(0o4321, 8) == (4, [3, 2, 1])
    assert scan_block(60, 1) is None
    assert scan_block(10**6, 4096) is None
    assert scan_block(10**6, 1) == 488


@pytest.mark.usefixtures("in_numpy")
def test_transpose_of_a_combiner_linear_in_the_tangents():
    x = np.linspace(0.5, 1.5, 6)
    f = lambda p, q: (p[0] * q[0], p[1] * q[0] + p[0] * q[1])  # noqa: E731

    def linear(t):
        window = lax.reduce_window((x, t), (1.0, 0.0), f, (3,), (1,), ((1, 1),))
        return window[1]

    t, ct = np.cos(np.arange(6.0)), np.sin(np.arange(6.0))
    (back,) = pullback.linear_transpose(linear, t)(ct)
    close(np.asarray(back) @ t, np.asarray(linear(t)) @ ct)


@pytest.mark.usefixtures("in_numpy")
def test_a_combiner_uses_custom_rules():
    @pullback.custom_jvp
    def product(x, y):
        return x * y

    @product.defjvp
    def rule(primals, tangents):
        (x, y), (t, u) = primals, tangents
        return x * y, 2.0 * (t * y + x * u)

    x = np.array([0.5, 1.5, 2.0])
    f = lambda x: lax.reduce_window(x, 1.0, product, (2,), (1,), "VALID").sum()  # noqa: E731
    # f(init, f(x0, x1)): the rule doubles the tangent in each of two applications.
    close(pullback.grad(f)(x), 4 * np.array([1.5, 2.5, 1.5]))


@pytest.mark.slow
def test_compiled_and_composed():
    """jit, checkpoint, scan, cond around and inside; and the compiled gradient."""
    run, loop, xs, init = traced("tempered", "window")
    loss = lambda c, x: weighed(run((x,), init, c))  # noqa: E731
    x = xs[0]
    want = slope(lambda c: weighed(loop(xs, init, c)), C, 1.0)
    close(pullback.jit(loss)(C, x), weighed(loop(xs, init, C)))
    close(pullback.jit(pullback.grad(loss))(C, x), want, 10)
    close(pullback.grad(pullback.checkpoint(loss))(C, x), want, 10)

    def looped(c):
        return lax.scan(lambda s, r: (s + loss(c, r), None), 0.0, np.stack([x, x]))[0]

    close(pullback.jit(pullback.grad(looped))(C), 2 * want, 10)
    branch = lambda c: lax.cond(c > 1, lambda c: loss(c, x), lambda c: c, c)  # noqa: E731
    close(pullback.jit(pullback.grad(branch))(C), want, 10)
    batch = pullback.jit(pullback.vmap(pullback.grad(loss), (0, None)))
    close(batch(np.array([C, C]), x), [want, want], 10)


@pytest.mark.slow
@pytest.mark.parametrize("function", ["reduce", "scan", "reverse"])
@pytest.mark.parametrize("n", [9, 150, 3001])
def test_compiled_gradients(function, n):
    run, loop, xs, init = traced("affine", function, n)
    xs = (np.full(n, 0.9), xs[1])
    f = lambda x: weighed(run((x, xs[1]), init, C))  # noqa: E731
    t = np.random.default_rng(1).normal(size=n)
    value, got = pullback.jit(pullback.value_and_grad(f))(xs[0])
    close(value, weighed(loop(xs, init, C)), 10)
    want = slope(lambda x: weighed(loop((x, xs[1]), init, C)), xs[0], t)
    close(np.asarray(got) @ t, want, 100)
