"""Dispatch: interpreters in charge, staging, constants, tracers that outlive them."""

import copy
import pickle
import threading

import numpy as np
import pytest

import pullback.compile.jit  # the base interpreter
from pullback.core.aval import aval_of
from pullback.core.errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)
from pullback.core.jaxpr import ClosedJaxpr, DebugInfo, Literal
from pullback.core.trace import Trace, eval_jaxpr, in_charge, stage, state
from pullback.ops.elementwise import add, mul, neg

X = np.arange(3, dtype=np.float32)


class Counting(Trace):
    """Hands everything to the interpreter below, and counts."""

    def __init__(self, parent):
        super().__init__()
        self.parent, self.names = parent, []

    def process(self, prim, args, params):
        self.names.append(prim.name)
        return self.parent.process(prim, args, params)


def test_the_interpreter_in_charge_gets_every_application():
    counting = Counting(state.trace)
    before = state.trace
    with in_charge(counting):
        out = add(mul(X, X), X)
    assert counting.names == ["mul", "add"]
    np.testing.assert_array_equal(out, X * X + X)
    assert state.trace is before


def test_the_interpreter_is_put_back_after_an_error():
    before = state.trace
    with pytest.raises(RuntimeError, match="stop"), in_charge(Counting(before)):
        raise RuntimeError("stop")
    assert state.trace is before
    with pytest.raises(RuntimeError, match="stop"):
        stage(stopping, [aval_of(X)])
    assert state.trace is before


def stopping(x):
    raise RuntimeError("stop")


def test_each_thread_has_its_own_interpreter():
    seen = []
    with in_charge(Counting(state.trace)) as mine:
        thread = threading.Thread(target=lambda: seen.append(state.trace))
        thread.start()
        thread.join()
        assert state.trace is mine
    assert seen[0] is not mine


def test_staging_records_instead_of_running():
    jaxpr, consts = stage(lambda x, y: [mul(neg(x), y)], [aval_of(X)] * 2)
    assert [e.primitive.name for e in jaxpr.eqns] == ["neg", "mul"]
    assert jaxpr.eqns[1].invars == [jaxpr.eqns[0].outvars[0], jaxpr.invars[1]]
    assert consts == []


def test_arrays_from_outside_are_constants_once_and_scalars_literals():
    jaxpr, consts = stage(lambda x: [add(mul(x, X), mul(X, 2.0))], [aval_of(X)])
    assert len(consts) == len(jaxpr.constvars) == 1
    assert consts[0] is X
    literal = jaxpr.eqns[1].invars[1]
    assert isinstance(literal, Literal)
    assert literal.val == 2.0
    assert literal.aval.weak_type


def test_results_may_be_arguments_constants_or_literals():
    jaxpr, consts = stage(lambda x: [x, X, 1.0], [aval_of(X)])
    assert jaxpr.outvars[:2] == [jaxpr.invars[0], jaxpr.constvars[0]]
    assert jaxpr.outvars[2].val == 1.0
    got = eval_jaxpr(jaxpr, consts, [-X])
    np.testing.assert_array_equal(got[0], -X)
    np.testing.assert_array_equal(got[1], X)


def test_an_inner_program_may_close_over_an_outer_value():
    def outer(x):
        jaxpr, consts = stage(lambda y: [mul(x, y)], [aval_of(X)])
        assert consts[0] is x
        return eval_jaxpr(jaxpr, consts, [neg(x)])

    closed = ClosedJaxpr(*stage(outer, [aval_of(X)]))
    (got,) = eval_jaxpr(closed.jaxpr, closed.consts, [X])
    np.testing.assert_array_equal(got, -X * X)


def test_evaluation_keeps_the_origin_of_equations():
    jaxpr, _ = stage(lambda x: [neg(x)], [aval_of(X)])
    again, _ = stage(lambda x: eval_jaxpr(jaxpr, [], [x]), [aval_of(X)])
    assert again.eqns[0].source.user_frame() == jaxpr.eqns[0].source.user_frame()


def leaked():
    kept = []
    stage(lambda x: [kept.append(neg(x)) or x], [aval_of(X)], DebugInfo("owner"))
    return kept[0]


def test_a_tracer_that_outlives_its_function():
    x = leaked()
    with pytest.raises(UnexpectedTracerError, match="has left its function"):
        neg(x)
    with pytest.raises(UnexpectedTracerError, match=r"f32\[3\].*test_trace.py.*owner"):
        stage(lambda y: [mul(x, y)], [aval_of(X)], DebugInfo("user"))


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (bool, TracerBoolConversionError),
        (int, ConcretizationTypeError),
        (float, ConcretizationTypeError),
        (complex, ConcretizationTypeError),
        (lambda x: [0, 1][x], TracerIntegerConversionError),
        (np.asarray, TracerArrayConversionError),
        (lambda x: x.item(), ConcretizationTypeError),
        (lambda x: x.tolist(), ConcretizationTypeError),
        (pickle.dumps, ConcretizationTypeError),
    ],
)
def test_the_value_of_a_traced_array_is_not_to_be_had(use, error):
    with pytest.raises(error, match="traced array"):
        stage(lambda x: [use(x)], [aval_of(X)], DebugInfo("f", lambda: ["x"]))


def test_the_message_names_the_argument():
    with pytest.raises(TracerBoolConversionError, match="argument x of f"):
        stage(bool, [aval_of(X)], DebugInfo("f", lambda: ["x"]))


def test_copies_of_a_tracer_are_itself():
    def same(x):
        assert copy.copy(x) is x
        assert copy.deepcopy({"a": x})["a"] is x
        return [x]

    stage(same, [aval_of(X)])


def test_the_base_interpreter_is_installed():
    assert pullback.compile.jit.EAGER is state.trace
