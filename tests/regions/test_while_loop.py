"""while_loop and fori_loop: batches, forward derivatives, static bounds, errors."""

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
    DifferentiationError,
    DtypeError,
    ShapeError,
    TreeError,
)
from pullback.core.jaxpr import all_eqns
from pullback.ops.logic import lt
from pullback.transforms.dce import dce_jaxpr
from tests.regions.namespaces import PULLBACK as P

X = np.arange(1, 4, dtype=np.float32)


def names(fun, *args):
    closed = make_jaxpr(fun)(*args)
    check_jaxpr(closed)
    return [e.primitive.name for e in all_eqns(closed.jaxpr)]


def doubled(x, limit):
    """The first of x, 2 x, 4 x, ... that is not below the limit, and how many."""
    return lax.while_loop(
        lambda s: lt(s[0], limit), lambda s: (s[0] * 2.0, s[1] + 1), (x, 0)
    )


def test_values_and_types():
    x, n = doubled(np.float32(3), np.float32(100))
    assert (x, n) == (192, 6)
    assert n.weak_type
    out = lax.while_loop(lambda x: lt(x, np.float32(3)), lambda x: x * X[0] + X[0], 0)
    assert (out, out.dtype) == (3, np.float32)
    assert lax.while_loop(lambda x: False, lambda x: x, ()) == ()


def test_second_eager_call_does_not_compile(monkeypatch):
    compiled = []
    compile_jaxpr = eager.compile_jaxpr

    def counted(*args):
        compiled.append(args)
        return compile_jaxpr(*args)

    monkeypatch.setattr(eager, "compile_jaxpr", counted)

    def more(x):
        return lt(x, np.float32(100))

    def step(i, x):
        return x * 2.0 + i

    for _ in range(3):
        lax.while_loop(more, lambda x: x * 2.0, np.float32(3))
    per_lambda = len(compiled)
    assert per_lambda == 3
    for _ in range(3):
        lax.fori_loop(0, 3, step, np.float32(3))
        lax.fori_loop(0, 4, step, np.float32(3))
    assert len(compiled) == per_lambda + 2


@pytest.mark.parametrize("mapped", [(0, None), (None, 0), (0, 0)])
def test_batches(mapped):
    x = np.array([1, 3, 200], np.float32)
    limit = np.array([50, 100, 10], np.float32)
    args = [a if d == 0 else a[0] for a, d in zip((x, limit), mapped, strict=True)]
    got = pullback.vmap(doubled, mapped)(*args)
    for i in range(3):
        a, b = (a[i] if d == 0 else a for a, d in zip(args, mapped, strict=True))
        n = 0
        while a < b:
            a, n = a * 2, n + 1
        assert (got[0][i], got[1][i]) == (a, n)


def test_batch_with_a_shared_condition():
    """Only the values are mapped: the condition stays one number."""

    def f(x):
        return lax.while_loop(
            lambda s: lt(s[0], 5),
            lambda s: (s[0] + 1, s[1] * x, s[2] + x[0]),
            (0, x, 1.0),
        )[1:]

    xs = np.stack([X, X + 1])
    closed = make_jaxpr(pullback.vmap(f))(xs)
    check_jaxpr(closed)
    (loop,) = [e for e in closed.jaxpr.eqns if e.primitive.name == "while"]
    assert [v.aval.shape for v in loop.outvars] == [(), (2, 3), (2,)]
    a, b = pullback.vmap(f)(xs)
    np.testing.assert_array_equal(np.asarray(a), xs**6)
    np.testing.assert_array_equal(np.asarray(b), 1 + 5 * xs[:, 0])


def test_forward_derivative_of_a_batch():
    def f(x):
        return doubled(x, np.float32(100))[0]

    x = np.array([1, 3, 200], np.float32)
    out, t = pullback.jvp(pullback.vmap(f), (x,), (np.ones_like(x),))
    np.testing.assert_array_equal(np.asarray(t), np.asarray(out) / x)
    assert pullback.jacfwd(f)(np.float32(3)) == 64


def test_reverse_mode_is_an_error_that_says_what_to_do():
    def f(x):
        return doubled(x, np.float32(100))[0]

    with pytest.raises(DifferentiationError, match=r"(?s)while_loop.*fix:.*scan.*jvp"):
        pullback.grad(f)(np.float32(3))
    with pytest.raises(ValueError, match="fori_loop"):
        pullback.jit(pullback.grad(f))(np.float32(3))
    counted = pullback.grad(lambda x: doubled(x, np.float32(100))[1] * 1.0 + x)
    assert counted(np.float32(3)) == 1  # no derivative goes through the loop


def test_dead_carries_go():
    def f(x, y):
        return lax.while_loop(
            lambda s: lt(s[0], 3), lambda s: (s[0] + 1, s[1] * x, s[2] * y), (0, x, y)
        )[1]

    jaxpr, read = dce_jaxpr(make_jaxpr(f)(X, X).jaxpr)
    check_jaxpr(jaxpr)
    assert read == [True, False]
    assert len(jaxpr.eqns[-1].outvars) == 2


# ---- fori_loop ----


def test_static_bounds_make_a_scan():
    def f(x):
        return lax.fori_loop(0, 3, lambda i, x: x * x, x)

    assert "scan" in names(f, np.float32(2))
    assert pullback.grad(f)(np.float32(2)) == 8 * 2.0**7
    assert lax.fori_loop(3, 1, lambda i, x: x + 1, 5) == 5
    assert lax.fori_loop(0, 5, lambda i, x: x + i, 0, unroll=2) == 10


def test_traced_bounds_make_a_while():
    def f(n, x):
        return lax.fori_loop(1, n, lambda i, x: x + i, x)

    assert "while" in names(f, 4, 0)
    assert pullback.jit(f)(5, 0) == 10
    got = pullback.vmap(f, (0, None))(np.array([0, 2, 4]), 0)
    np.testing.assert_array_equal(np.asarray(got), [0, 1, 6])
    with pytest.raises(ArgumentError, match="unroll"):
        pullback.jit(lambda n: lax.fori_loop(0, n, lambda i, x: x, 0, unroll=2))(3)


def test_dtypes_of_bounds():
    seen = []

    def body(i, x):
        seen.append((i.dtype, i.weak_type))
        return x

    lax.fori_loop(np.uint8(0), 3, body, 0)
    lax.fori_loop(0, 3, body, 0)
    pullback.jit(lambda n: lax.fori_loop(np.uint8(0), n, body, 0))(np.uint8(3))
    assert seen == [(np.int32, True), (np.uint8, False)]  # the second is kept
    for bounds in ((np.int32(0), np.uint8(3)), (0.0, 3), (X, 3), ("a", 3)):
        with pytest.raises(ArgumentTypeError, match="fori_loop"):
            lax.fori_loop(*bounds, body, 0)


def test_disable_jit_loops_in_python():
    with config.scoped(disable_jit=True):
        assert lax.while_loop(lambda x: x < 10, lambda x: x * 2, 3) == 12
        assert lax.fori_loop(0, 4, lambda i, x: [*x, i], []) == [0, 1, 2, 3]


def test_disable_jit_stages_what_python_cannot_decide():
    x = np.array([1, 3, 200], np.float32)
    with config.scoped(disable_jit=True):
        got = pullback.vmap(lambda x: doubled(x, np.float32(50))[0])(x)
        np.testing.assert_array_equal(np.asarray(got), [64, 96, 200])
        choose = pullback.vmap(lambda p: lax.cond(p, lambda: 1, lambda: 2))
        np.testing.assert_array_equal(np.asarray(choose(x > 2)), [2, 1, 1])


# ---- errors ----


def raises(error, *parts):
    return pytest.raises(error, match="(?s)" + ".*".join(parts))


def test_conditions():
    for result in (1, X, np.ones(3, bool), (True,), (True, True), None):
        with raises(ArgumentTypeError, "boolean scalar"):
            lax.while_loop(lambda x, y=result: y, lambda x: x, 1.0)


def test_carries():
    with raises(TreeError, "init_val", "tuple of length 2"):
        lax.while_loop(lambda x: True, lambda x: (x, x), 1.0)
    with raises(ShapeError, r"init_val\['a'\] is f32\[\]", r"f32\[3\]"):
        lax.while_loop(lambda x: True, lambda x: {"a": X}, {"a": 1.0})
    with raises(DtypeError, r"init_val\['a'\] is f32\[\]", r"i32\[\]"):
        lax.fori_loop(0, 3, lambda i, x: {"a": i}, {"a": X[0]})
    with raises(ArgumentTypeError, "function"):
        lax.while_loop(lambda x: True, 3, 1.0)
    assert P.total(X) == 6
