"""The checker refuses each way in which a jaxpr can be wrong."""

import numpy as np
import pytest

from pullback.compile.jit import jit
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.check import check_jaxpr
from pullback.core.errors import InternalError
from pullback.core.jaxpr import ClosedJaxpr, Literal, Var
from pullback.core.trace import stage
from pullback.ops.elementwise import mul, neg

X = np.arange(3, dtype=np.float32)


@pytest.fixture
def closed():
    twice = jit(lambda x: mul(x, x))
    return ClosedJaxpr(*stage(lambda x: [twice(neg(x))], [aval_of(X)]))


def refused(program, match):
    with pytest.raises(InternalError, match=match):
        check_jaxpr(program)


def test_a_traced_program_is_accepted(closed):
    check_jaxpr(closed)
    check_jaxpr(closed.jaxpr)


def test_reading_before_binding(closed):
    refused(closed.jaxpr.replace(eqns=closed.eqns[::-1]), "read before it is bound")
    refused(closed.jaxpr.replace(invars=[]), "equation 0, neg: .* is read before")
    stray = Var(aval_of(X))
    refused(closed.jaxpr.replace(outvars=[stray]), "the results: .* is read before")


def test_binding_twice(closed):
    x = closed.jaxpr.invars[0]
    refused(closed.jaxpr.replace(invars=[x, x]), "the header: .* is bound twice")
    eqn = closed.eqns[0]
    refused(closed.jaxpr.replace(eqns=[eqn, eqn]), "equation 1, neg: .* bound twice")


def test_a_binder_of_another_type(closed):
    wrong = Var(ShapedArray((2,), np.dtype("float32")))
    eqn = closed.eqns[0].replace(outvars=[wrong])
    refused(
        closed.jaxpr.replace(eqns=[eqn], outvars=[]), "equation 0, neg: binders are"
    )


def test_a_binder_too_many(closed):
    extra = Var(aval_of(X))
    eqn = closed.eqns[0].replace(outvars=[*closed.eqns[0].outvars, extra])
    refused(
        closed.jaxpr.replace(eqns=[eqn], outvars=[]), "equation 0, neg: binders are"
    )


def test_weak_type_alone_is_no_difference(closed):
    weak = Var(aval_of(X).update(weak_type=True))
    eqn = closed.eqns[0].replace(outvars=[weak])
    check_jaxpr(closed.jaxpr.replace(eqns=[eqn], outvars=[weak]))


def test_inner_jaxprs_are_checked(closed):
    call = closed.eqns[1]
    body = call.params["jaxpr"].jaxpr
    broken = ClosedJaxpr(body.replace(eqns=[]))
    eqn = call.replace(params={**call.params, "jaxpr": broken})
    refused(closed.jaxpr.replace(eqns=[closed.eqns[0], eqn]), "read before")


def test_undeclared_effects(closed):
    eqn = closed.eqns[0].replace(effects=frozenset({"io"}))
    refused(closed.jaxpr.replace(eqns=[eqn], outvars=[]), "effects .* not declared")
    declared = closed.jaxpr.replace(eqns=[eqn], outvars=[], effects=frozenset({"io"}))
    check_jaxpr(declared)


def test_constants_match_their_variables(closed):
    jaxpr = closed.jaxpr.replace(constvars=[Var(aval_of(X))])
    refused(ClosedJaxpr(jaxpr, []), "1 constvars has 0 constants")


def test_literals_are_always_bound(closed):
    two = Literal(2.0, ShapedArray((), np.dtype("float32")))
    check_jaxpr(closed.jaxpr.replace(outvars=[two]))
