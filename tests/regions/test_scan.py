"""scan: types, residuals, dead code, caches, edge lengths, errors."""

import gc
import sys
import weakref

import numpy as np
import pytest

import pullback
from pullback import lax, random
from pullback.api.tracing import make_jaxpr
from pullback.compile import eager
from pullback.core import config
from pullback.core.check import check_jaxpr
from pullback.core.errors import (
    ArgumentError,
)
from pullback.core.jaxpr import all_eqns
from pullback.core.trace import Tracer
from pullback.regions.scan_bodies import split
from pullback.transforms.dce import dce_jaxpr
from tests.regions.namespaces import PULLBACK as P

ROWS = np.arange(1, 5, dtype=np.float32)


def scans(closed):
    check_jaxpr(closed)
    return [e for e in all_eqns(closed.jaxpr) if e.primitive.name == "scan"]


def test_trees_go_through():
    def f(c, x):
        a, b = c["a"], c["b"]
        return {"a": a + x["u"], "b": b}, (a, {"k": x["v"], "none": None})

    xs = {"u": ROWS, "v": np.ones((4, 2), np.int32)}
    c, (a, rest) = lax.scan(f, {"a": np.float32(0), "b": (1, None)}, xs)
    assert c["a"] == 10
    assert c["b"][1] is None
    np.testing.assert_array_equal(np.asarray(a), [0, 1, 3, 6])
    assert rest["k"].shape == (4, 2)
    assert rest["none"] is None


@pytest.mark.parametrize("unroll", [1, 2, 3, 4, 7, True, 0])
@pytest.mark.parametrize("reverse", [False, True])
def test_order_of_rows(unroll, reverse):
    def f(c, x):
        return c * 2 + x, c - x

    c, ys = np.float32(1), []
    for x in ROWS[::-1] if reverse else ROWS:
        c, y = f(c, x)
        ys.append(y)
    got, rows = lax.scan(f, np.float32(1), ROWS, reverse=reverse, unroll=unroll)
    assert got == c
    np.testing.assert_array_equal(np.asarray(rows), ys[::-1] if reverse else ys)


def test_length_zero():
    f = lambda c, x: (c + x[0], x * 2.0)  # noqa: E731
    xs = np.ones((0, 3), np.float32)
    c, ys = lax.scan(f, np.float32(2), xs)
    assert c == 2
    assert ys.shape == (0, 3)
    grad = pullback.grad(lambda c: lax.scan(f, c, xs)[0])
    assert grad(np.float32(2)) == 1
    c, ys = lax.scan(lambda c, x: (c, c), 1.0, None, length=0)
    assert ys.shape == (0,)


def test_weak_start_becomes_strong():
    c, ys = lax.scan(lambda c, x: (c + x, c), 0.0, ROWS)
    assert not c.weak_type
    assert c.dtype == np.float32
    c, ys = lax.scan(lambda c, x: (c + x, c), 0, ROWS)
    assert (c.dtype, ys.dtype) == (np.float32, np.float32)
    c, _ = lax.scan(lambda c, x: (c * 2, None), 1.0, None, length=2)
    assert c.weak_type


def test_constants_are_leading_operands():
    w = pullback.jit(lambda: 1.0 * np.ones(3, np.float32))()
    closed = make_jaxpr(lambda c: lax.scan(lambda c, x: (c * w, None), c, ROWS)[0])(w)
    (eqn,) = scans(closed)
    assert (eqn.params["num_consts"], eqn.params["num_carry"]) == (1, 1)
    assert set(eqn.params) == {
        "jaxpr", "length", "num_carry", "num_consts", "reverse", "unroll",
    }  # fmt: skip
    assert not eqn.params["jaxpr"].consts


# ---- residuals ----


def forward_scan(fun, *args):
    """The scan of the forward half of a gradient."""
    closed = make_jaxpr(pullback.grad(fun))(*args)
    return scans(closed)[0], closed


def test_loop_invariants_are_not_stacked():
    """w * 2 and tanh'(w) are the same in all iterations: no stack, computed once."""

    def loss(w, c):
        c, _ = lax.scan(lambda c, _: (c * P.tanh(w * 2.0), None), c, None, length=5)
        return P.total(c)

    w = c = np.ones(3, np.float32)
    forward, closed = forward_scan(loss, w, c)
    # the only stack is the carry, which d(tanh(w)) multiplies
    assert len(forward.outvars) - forward.params["num_carry"] == 1
    outside = [e for e in closed.jaxpr.eqns if e.primitive.name == "tanh"]
    inside = list(all_eqns(forward.params["jaxpr"].jaxpr))
    assert len(outside) == 1
    assert [e.primitive.name for e in inside].count("tanh") <= 1


def test_no_stack_at_all_for_invariants():
    def loss(c):
        w = np.full(3, 0.5, np.float32)
        c, _ = lax.scan(lambda c, _: (c * P.tanh(w * 2.0), None), c, None, length=5)
        return P.total(c)

    closed = make_jaxpr(pullback.grad(loss))(np.ones(3, np.float32))
    stacks = [len(e.outvars) - e.params["num_carry"] for e in scans(closed)]
    assert sum(stacks) == 0


def test_inputs_and_outputs_are_their_own_stacks():
    """x is an input and the new carry an output; neither is stacked again."""

    def loss(c, xs):
        c, ys = lax.scan(lambda c, x: (c * x, c * x), c, xs)
        return P.total(ys * 1.0) + c

    forward, _ = forward_scan(loss, np.float32(1), ROWS)
    assert len(forward.outvars) == 2


def test_carry_that_never_changes_is_an_invariant():
    def loss(w):
        def f(c, _):
            w, a = c
            return (w, a * w * w), None

        (_, a), _ = lax.scan(f, (w, 1.0), None, length=3)
        return a

    closed = make_jaxpr(pullback.grad(loss))(np.float32(2))
    forward = scans(closed)[0]
    body = forward.params["jaxpr"].jaxpr
    assert len(forward.outvars) - forward.params["num_carry"] <= 2
    assert pullback.grad(loss)(np.float32(2)) == 6 * 2**5
    assert len(body.invars) <= 3


def test_split_is_made_once():
    closed = make_jaxpr(lambda c: lax.scan(lambda c, x: (c * x, None), c, ROWS)[0])(1.0)
    (eqn,) = scans(closed)
    body = eqn.params["jaxpr"]
    assert split(body, (True, False), 0, 1) is split(body, (True, False), 0, 1)


# ---- dead code ----


def test_dead_results_and_carries_go():
    def f(c, x):
        a, b = c
        return (a * x, b + x * 3.0), (a, b)

    def g(a, b, xs):
        (a, _), (ys, _) = lax.scan(f, (a, b), xs)
        return ys

    closed = make_jaxpr(g)(np.float32(1), np.float32(2), ROWS)
    jaxpr, read = dce_jaxpr(closed.jaxpr)
    check_jaxpr(jaxpr)
    (eqn,) = [e for e in jaxpr.eqns if e.primitive.name == "scan"]
    assert read == [True, False, True]
    assert eqn.params["num_carry"] == 1
    assert len(eqn.outvars) == 2
    assert dce_jaxpr(jaxpr)[0].eqns[-1].params["jaxpr"] is eqn.params["jaxpr"]


# ---- caches and origins ----


def test_second_eager_call_neither_traces_nor_compiles(monkeypatch):
    traced, compiled = [], []
    compile_jaxpr = eager.compile_jaxpr

    def counted(*args):
        compiled.append(args)
        return compile_jaxpr(*args)

    def f(c, x):
        traced.append(1)
        return c * x, c

    monkeypatch.setattr(eager, "compile_jaxpr", counted)
    for _ in range(3):
        lax.scan(f, np.float32(2), ROWS)
        assert (len(traced), len(compiled)) == (1, 1)
    slope = pullback.grad(lambda c: lax.scan(f, c, ROWS)[0])
    slope(np.float32(2))
    count = len(compiled)
    slope(np.float32(3))
    assert (len(traced), len(compiled)) == (1, count)


def test_traces_die_with_their_function():
    def f(c, x):
        return c * x, None

    lax.scan(f, np.float32(2), ROWS)
    ref = weakref.ref(f)
    del f
    gc.collect()
    assert ref() is None


def test_a_trace_that_closes_over_tracers_is_not_kept():
    seen = []

    def outer(w):
        def f(c, x):
            seen.append(isinstance(w, Tracer))
            return c * w, None

        return lax.scan(f, w, ROWS)[0]

    for _ in range(2):
        assert pullback.grad(outer)(np.float32(1)) == 5
    assert seen == [True, True]


def test_equations_of_bodies_keep_their_origins():
    def f(c, x):
        return P.tanh(c * x), None  # the line

    closed = make_jaxpr(pullback.grad(lambda c: lax.scan(f, c, ROWS)[0]))(1.0)
    for eqn in scans(closed):
        lines = {
            e.source.user_frame().text
            for e in all_eqns(eqn.params["jaxpr"].jaxpr)
            if e.primitive.name in ("tanh", "mul")
        }
        assert "return P.tanh(c * x), None  # the line" in lines


def test_python_loop_under_disable_jit():
    values = []

    def f(c, x):
        if config.current().disable_jit:
            values.append(float(c))
        return c + x, c * x

    want = lax.scan(f, np.float32(1), ROWS, reverse=True)
    with config.scoped(disable_jit=True):
        got = lax.scan(f, np.float32(1), ROWS, reverse=True)
        assert values == [1.0, 5.0, 8.0, 10.0]
        with pytest.raises(ArgumentError, match="length 0"):
            lax.scan(f, np.float32(1), ROWS[:0])
    assert got[0] == want[0]
    np.testing.assert_array_equal(np.asarray(got[1]), np.asarray(want[1]))


# ---- map ----


@pytest.mark.parametrize("batch_size", [None, 1, 2, 3, 4, 9])
def test_map(batch_size):
    xs = {"a": ROWS, "b": np.ones((4, 2), np.float32)}
    out = lax.map(lambda x: (x["a"] * 2.0, x["b"]), xs, batch_size=batch_size)
    np.testing.assert_array_equal(np.asarray(out[0]), ROWS * 2)
    assert out[1].shape == (4, 2)


# ---- what else a carry may be ----


def test_linear_transpose_steps_known_carries_first():
    """A counter and a decaying factor do not depend on the linear argument."""

    def linear(x):
        def step(c, row):
            i, k, a = c
            return (i + 1, k * 0.5, a * k + row * (i * 2.0)), a

        (_, _, a), ys = lax.scan(step, (0, np.float32(1), np.zeros(3, np.float32)), x)
        return a, ys

    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    cts = X3 * 2, np.ones((4, 3), np.float32)
    transposed = pullback.linear_transpose(linear, x)
    check_jaxpr(make_jaxpr(transposed)(cts))
    (ct,) = transposed(cts)
    out = linear(x)
    want = sum(np.sum(np.asarray(y) * ct) for y, ct in zip(out, cts, strict=True))
    np.testing.assert_allclose(np.sum(np.asarray(ct) * x), want, rtol=1e-6)


X3 = np.arange(1, 4, dtype=np.float32)


def test_keys_are_carried_and_stacked():
    def step(key, _):
        key, sub = random.split(key)
        return key, (random.uniform(sub, (2,)), sub)

    key, (rows, subs) = lax.scan(step, random.key(7), None, length=3)
    want, keys = random.key(7), []
    for i in range(3):
        want, (row, sub) = step(want, None)
        keys.append(np.asarray(random.key_data(sub)))
        np.testing.assert_array_equal(np.asarray(rows[i]), np.asarray(row))
    assert (random.key_data(key) == random.key_data(want)).all()
    np.testing.assert_array_equal(np.asarray(random.key_data(subs)), keys)
    batch = pullback.vmap(lambda k: lax.scan(step, k, None, length=3)[1][0])
    both = random.split(random.key(7))
    np.testing.assert_array_equal(
        np.asarray(batch(both)[1]),
        np.asarray(lax.scan(step, both[1], None, length=3)[1][0]),
    )


def test_rules_of_the_user_inside_a_body():
    square = pullback.custom_jvp(lambda x: x * x)
    square.defjvp(lambda x, t: (x[0] * x[0], 3.0 * x[0] * t[0]))
    again = pullback.custom_vjp(lambda x: x * x)
    again.defvjp(lambda x: (x * x, x), lambda x, ct: (5.0 * x * ct,))
    for f, want in ((square, 3 * 4 * 3 * 2), (again, 5 * 4 * 5 * 2)):
        slope = pullback.grad(
            lambda x, f=f: lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0]
        )
        assert slope(2.0) == want


def test_cost_of_nesting_is_not_exponential():
    """Bodies are transformed once a body, not once a fixpoint of every level above."""

    def level(depth):
        if not depth:
            return lambda c, _: (P.tanh(c * 0.5), None)
        inner = level(depth - 1)
        return lambda c, _: (lax.scan(inner, (c * 0.9), None, length=2)[0], None)

    def calls(depth):
        f = level(depth)
        slope = pullback.grad(lambda c: lax.scan(f, c, None, length=2)[0])
        counter = [0]

        def count(frame, event, arg):
            counter[0] += event == "call"

        sys.setprofile(count)
        try:
            make_jaxpr(slope)(np.float32(1))
        finally:
            sys.setprofile(None)
        return counter[0]

    calls(0)
    one, three = calls(1), calls(3)
    assert three < 4 * one
