"""Nodes of the IR: copies, walks, and the constants as inputs."""

import numpy as np

from pullback.compile.jit import jit
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.jaxpr import (
    ClosedJaxpr,
    DebugInfo,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    all_eqns,
    consts_as_inputs,
    effects_of,
    subjaxprs,
)
from pullback.core.trace import eval_jaxpr, stage
from pullback.ops.elementwise import mul, neg

X = np.arange(3, dtype=np.float32)


def program():
    twice = jit(lambda x: jit(neg)(mul(x, x)))
    return ClosedJaxpr(*stage(lambda x: [mul(twice(x), X)], [aval_of(X)]))


def test_attributes_are_those_that_tools_know():
    closed = program()
    assert [e.primitive.name for e in closed.eqns] == ["jit", "mul"]
    assert closed.jaxpr.eqns is closed.eqns
    assert closed.in_avals == closed.out_avals == [aval_of(X)]
    assert closed.consts[0] is X
    assert closed.literals is closed.consts
    assert closed.effects == frozenset()


def test_a_copy_has_an_empty_cache_and_its_own_lists():
    jaxpr = program().jaxpr
    jaxpr.cache["key"] = 1
    other = jaxpr.replace(effects=frozenset({"io"}))
    assert other.cache == {}
    assert other.eqns == jaxpr.eqns
    assert other.eqns is not jaxpr.eqns
    assert other.effects == {"io"}


def test_an_equation_with_changes_keeps_the_rest():
    eqn = program().eqns[1]
    other = eqn.replace(params={"a": 1})
    assert other.params == {"a": 1}
    assert (other.invars, other.source) == (eqn.invars, eqn.source)


def test_every_equation_is_met_outermost_first():
    names = [e.primitive.name for e in all_eqns(program().jaxpr)]
    assert names == ["jit", "mul", "jit", "neg", "mul"]


def test_jaxprs_in_parameters_are_found():
    x = Var(ShapedArray((), np.dtype("float32")))
    inner = Jaxpr([], [x], [x], [])
    params = {"one": inner, "two": (ClosedJaxpr(inner), 3), "three": "text"}
    eqn = JaxprEqn(None, [x], [], params)
    assert list(subjaxprs(eqn)) == [inner, inner]


def test_constants_become_leading_arguments():
    closed = program()
    jaxpr = consts_as_inputs(closed.jaxpr)
    assert not jaxpr.constvars
    assert len(jaxpr.invars) == 2
    (want,) = eval_jaxpr(closed.jaxpr, closed.consts, [X])
    (got,) = eval_jaxpr(jaxpr, [], [X, X])
    np.testing.assert_array_equal(got, want)
    assert consts_as_inputs(jaxpr) is jaxpr


def test_effects_are_joined():
    eqns = [JaxprEqn(None, [], [], {}, frozenset({e})) for e in ("a", "b", "a")]
    assert effects_of(eqns) == {"a", "b"}
    assert effects_of([]) == frozenset()


def test_arguments_are_named_in_words():
    info = DebugInfo("f", lambda: ["x", "y[0]"])
    assert info.argument(1) == "argument y[0]"
    assert info.argument(5) == "argument 5"
    assert DebugInfo().argument(0) == "argument 0"


def test_variables_are_compared_by_identity():
    aval = ShapedArray((), np.dtype("float32"))
    assert Var(aval) != Var(aval)
    assert "f32[]" in repr(Var(aval))
    assert repr(Literal(2.0, aval)) == "2.0:f32[]"
