"""cond and switch: choices, shared constants and residuals, batches, errors."""

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
from pullback.ops.logic import gt
from pullback.transforms.dce import dce_jaxpr
from tests.regions.namespaces import PULLBACK as P

X = np.arange(1, 4, dtype=np.float32)


def conds(closed):
    check_jaxpr(closed)
    return [e for e in all_eqns(closed.jaxpr) if e.primitive.name == "cond"]


@pytest.mark.parametrize(
    ("pred", "taken"),
    [
        (True, 1), (False, 0), (2, 1), (0, 0), (0.5, 1), (-0.0, 0),
        (np.float32("nan"), 1), (np.bool_(True), 1), (np.uint8(0), 0),
    ],
)  # fmt: skip
def test_predicates(pred, taken):
    assert lax.cond(pred, lambda: 1, lambda: 0) == taken
    assert pullback.jit(lambda p: lax.cond(p, lambda: 1, lambda: 0))(pred) == taken


@pytest.mark.parametrize("index", [-7, 0, 1, 2, 3, 200])
@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint8, np.int16])
def test_index_is_clamped(index, dtype):
    if not np.iinfo(dtype).min <= index <= np.iinfo(dtype).max:
        pytest.skip("out of range of the dtype")
    branches = [lambda x: x, lambda x: x * 2.0, lambda x: x * 3.0]
    want = X * (min(max(index, 0), 2) + 1)
    got = lax.switch(dtype(index), branches, X)
    np.testing.assert_array_equal(np.asarray(got), want)


def test_forms_of_operands():
    assert lax.cond(True, lambda x: x * 2, lambda x: x, operand=3) == 6
    assert lax.cond(False, 3, lambda x: x * 2, 5, lambda y: -y) == -5
    assert lax.cond(True, lambda x: None, lambda x: None, None) is None
    assert lax.switch(0, [lambda x: x + x], 4) == 8
    out = lax.cond(True, lambda d: {"a": d["b"]}, lambda d: {"a": d["b"] * 2}, {"b": 1})
    assert out == {"a": 1}


def test_weak_types_are_joined():
    out = lax.cond(True, lambda: 1.0, lambda: np.float32(2))
    assert not out.weak_type
    assert lax.cond(True, lambda: 1.0, lambda: 2.0).weak_type


def test_a_concrete_predicate_is_staged_and_compiled_once(monkeypatch):
    traced, compiled = [], []
    compile_jaxpr = eager.compile_jaxpr

    def up(x):
        traced.append(1)
        return x * 2.0

    def down(x):
        traced.append(1)
        return x

    def counted(*args):
        compiled.append(args)
        return compile_jaxpr(*args)

    monkeypatch.setattr(eager, "compile_jaxpr", counted)
    for _ in range(3):
        lax.cond(True, up, down, X)
        assert len(traced) == 2
    assert len(compiled) <= 2  # the choice, and the conversion of the predicate
    assert len(conds(make_jaxpr(lambda x: lax.cond(True, up, down, x))(X))) == 1


def test_constants_of_branches_are_shared():
    def f(x, w, v):
        return lax.cond(gt(P.total(x), np.float32(0)), lambda: x * w, lambda: w * v)

    closed = make_jaxpr(f)(X, X, X)
    (eqn,) = conds(closed)
    assert len(eqn.invars) == 1 + 3
    assert all(not body.consts for body in eqn.params["branches"])
    grads = pullback.grad(lambda *a: P.total(f(*a)), (0, 1, 2))(X, 2 * X, 3 * X)
    for g, want in zip(grads, (2 * X, X, 0 * X), strict=True):
        np.testing.assert_array_equal(np.asarray(g), want)


def test_residuals_of_one_type_share_a_slot():
    """Each branch needs one residual of its own; together they take one result."""

    def f(x):
        return lax.switch(
            0, [lambda x: P.tanh(P.tanh(x)), lambda x: P.tanh(x * x) * 2.0], x
        )

    def first(x):
        return P.total(f(x))

    closed = make_jaxpr(pullback.grad(first))(X)
    forward = conds(closed)[0]
    assert len(forward.outvars) <= 1 + 2
    got = pullback.grad(first)(X)
    t = np.tanh(X)
    want = (1 - np.tanh(t) ** 2) * (1 - t**2)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-4)


def test_a_branch_without_derivative_gives_zeros():
    def f(p, x):
        return P.total(lax.cond(p, lambda x: x * x, lambda x: np.ones(3, x.dtype), x))

    grad = pullback.grad(f, 1)
    np.testing.assert_array_equal(np.asarray(grad(True, X)), 2 * X)
    np.testing.assert_array_equal(np.asarray(grad(False, X)), 0 * X)
    out, t = pullback.jvp(lambda x: f(False, x), (X,), (X,))
    assert (out, t) == (3, 0)


def test_batches():
    def f(p, x):
        return lax.cond(p, lambda x: x * 2.0, lambda x: x * x, x)

    xs = np.stack([X, X + 1])
    unmapped = make_jaxpr(pullback.vmap(f, (None, 0)))(True, xs)
    assert len(conds(unmapped)) == 1
    mapped = make_jaxpr(pullback.vmap(f))(np.array([True, False]), xs)
    assert not conds(mapped)
    got = pullback.vmap(f)(np.array([True, False]), xs)
    np.testing.assert_array_equal(np.asarray(got), [X * 2, (X + 1) ** 2])
    index = np.array([2, 0, 1], np.int32)
    branches = [lambda x: x, lambda x: x * 2.0, lambda x: x[0] * np.ones(3, x.dtype)]
    got = pullback.vmap(lambda i: lax.switch(i, branches, X))(index)
    np.testing.assert_array_equal(np.asarray(got), [X[0] * np.ones(3), X, X * 2])
    constant = pullback.vmap(lambda p: lax.cond(p, lambda: 1.0, lambda: 2.0))
    np.testing.assert_array_equal(np.asarray(constant(index > 0)), [1, 2, 1])


def test_dead_results_and_operands_go():
    def f(p, x, y):
        return lax.cond(p, lambda x, y: (x, y * x), lambda x, y: (x * 2.0, y), x, y)[0]

    closed = make_jaxpr(f)(True, X, X)
    jaxpr, read = dce_jaxpr(closed.jaxpr)
    check_jaxpr(jaxpr)
    assert read == [True, True, False]
    assert len(jaxpr.eqns[-1].outvars) == 1


def test_disable_jit_takes_the_branch():
    with config.scoped(disable_jit=True):
        assert lax.cond(True, lambda: 1, lambda: [2]) == 1
        assert lax.switch(9, [lambda: 1, lambda: [2]]) == [2]


# ---- errors ----


def raises(error, *parts):
    return pytest.raises(error, match="(?s)" + ".*".join(parts))


def test_results_of_branches():
    with raises(TreeError, "true_fun|false_fun", r"\['a'\]", "tuple of length 2"):
        lax.cond(True, lambda x: {"a": x}, lambda x: {"a": (x, x)}, X)
    with raises(ShapeError, r"result\['a'\] is f32\[\] from false_fun", r"f32\[3\]"):
        lax.cond(True, lambda x: {"a": x}, lambda x: {"a": P.total(x)}, X)
    with raises(DtypeError, r"result is i32\[\] from branch 0", "branch 1", "astype"):
        lax.switch(0, [lambda: 1, lambda: 1.0])
    with raises(ArgumentTypeError, "'text'", r"result\['a'\]"):
        lax.cond(True, lambda: {"a": "text"}, lambda: {"a": 1})


@pytest.mark.parametrize("pred", [X, "text", 1j, None])
def test_bad_predicates(pred):
    with raises(ArgumentTypeError, "Pred"):
        lax.cond(pred, lambda: 1, lambda: 2)


def test_bad_arguments():
    with raises(ArgumentTypeError, "function"):
        lax.cond(True, 1, lambda x: x, X)
    with raises(ArgumentTypeError, "operand"):
        lax.cond(True, lambda x: x, lambda x: x, X, operand=1)
    with raises(ArgumentError, "Empty"):
        lax.switch(0, [])
    for index in (1.0, True, X.astype(np.int32)):
        with raises(ArgumentTypeError, "ndex"):
            lax.switch(index, [lambda: 1, lambda: 2])
