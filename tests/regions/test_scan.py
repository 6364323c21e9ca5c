"""scan: types, residuals, dead code, caches, edge lengths, errors."""

import gc
import weakref

import numpy as np
import pytest

import pullback
from pullback import lax
from pullback.api.tracing import make_jaxpr
from pullback.compile import eager
from pullback.core import config
from pullback.core.check import check_jaxpr
from pullback.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    ShapeError,
    TreeError,
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
    inside = [e for e in all_eqns(forward.params["jaxpr"].jaxpr)]
    assert len(outside) == 1
    assert [e.primitive.name for e in inside].count("tanh") <= 1


def test_no_stack_at_all_for_invariants():
    def loss(c):
        w = np.full(3, 0.5, np.float32)
        c, _ = lax.scan(lambda c, _: (c * P.tanh(w * 2.0), None), c, None, length=5)
        return P.total(c)

    closed = make_jaxpr(pullback.grad(loss))(np.ones(3, np.float32))
    stacks = [
        len(e.outvars) - e.params["num_carry"]
        for e in scans(closed)
    ]
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


# ---- errors ----


def raises(error, *parts):
    return pytest.raises(error, match="(?s)" + ".*".join(parts))


def test_carry_types():
    init = {"a": np.ones(3, np.float32), "b": 1.0}
    with raises(DtypeError, r"init\['a'\] is f32\[3\]", r"i32\[3\]", r"fix: .*float32"):
        lax.scan(lambda c, x: ({**c, "a": np.ones(3, np.int32)}, x), init, ROWS)
    with raises(ShapeError, r"init\['b'\] is f32\[\]", r"f32\[4\]", "fix"):
        lax.scan(lambda c, x: ({**c, "b": ROWS}, x), init, ROWS)
    with raises(TreeError, r"\['b'\]", "a leaf against list of length 1"):
        lax.scan(lambda c, x: ({**c, "b": [1.0]}, x), init, ROWS)


def test_lengths():
    with raises(ArgumentError, r"xs\['a'\] has 4", r"xs\['b'\] has 3"):
        lax.scan(lambda c, x: (c, x), 1.0, {"a": ROWS, "b": ROWS[1:]})
    with raises(ArgumentError, "xs has 4", "length is 3"):
        lax.scan(lambda c, x: (c, x), 1.0, ROWS, length=3)
    with raises(ArgumentError, "no length"):
        lax.scan(lambda c, x: (c, x), 1.0)
    with raises(ArgumentError, "xs is f32", "leading axis"):
        lax.scan(lambda c, x: (c, x), 1.0, 3.0)
    with raises(ArgumentError, "not negative"):
        lax.scan(lambda c, x: (c, x), 1.0, length=-1)
    with raises(ArgumentTypeError, "integer"):
        lax.scan(lambda c, x: (c, x), 1.0, length=2.5)
    with raises(ArgumentError, "unroll"):
        lax.scan(lambda c, x: (c, x), 1.0, ROWS, unroll=-1)


def test_results():
    with raises(ArgumentTypeError, r"f32\[\]", "pair"):
        lax.scan(lambda c, x: c, 1.0, ROWS)
    with raises(ArgumentTypeError, "'text'", r"result\[1\]"):
        lax.scan(lambda c, x: (c, "text"), 1.0, ROWS)
    with raises(ArgumentTypeError, r"init\['k'\] is 'text'"):
        lax.scan(lambda c, x: (c, x), {"k": "text"}, ROWS)
    with raises(ArgumentTypeError, "function"):
        lax.scan(3, 1.0, ROWS)


def test_traced_values_are_named_by_argument():
    with pytest.raises(TypeError, match=r"carry\['w'\] of step"):

        def step(c, x):
            return (c if c["w"] else c), x

        lax.scan(step, {"w": 1.0}, ROWS)
