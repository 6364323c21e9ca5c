"""Forward-mode differentiation: values travel with tangents.

The derivative fact of a primitive is read here and nowhere else: `linearize` is this
interpreter with its tangents recorded instead of run. A tangent that is known to be
zero is None and costs nothing.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.derivative import Linear, Multilinear, NotDifferentiable, Region
from pullback.core.errors import DifferentiationError
from pullback.core.provenance import Origin, here
from pullback.core.trace import Trace, Tracer, state
from pullback.ops.elementwise import add_any
from pullback.ops.shape import zeros


class JVPTracer(Tracer):
    """A primal value with its tangent."""

    __slots__ = ("primal", "tangent")

    def __init__(self, trace: "JVPTrace", primal: Any, tangent: Any):
        self.owner, self.primal, self.tangent = trace, primal, tangent
        self.aval = aval_of(primal)

    def concrete(self) -> Any:
        """The primal value, where it is known."""
        value = self.primal
        return value.concrete() if isinstance(value, Tracer) else value

    def origin(self):
        """Where the primal value was made."""
        value = self.primal
        return value.origin() if isinstance(value, Tracer) else None


class JVPTrace(Trace):
    """Primal operations go to `parent`, tangent operations to `tangents`."""

    __slots__ = ("parent", "step", "tangents")

    def __init__(self, parent: Trace, tangents: Trace, step: str = "jvp"):
        self.alive, self.parent, self.tangents = True, parent, tangents
        self.step = step

    def process(self, prim, args, params):
        """Apply `prim`; see `Trace`."""
        primals, ts, live = [], [], False
        for a in args:
            if type(a) is JVPTracer and a.owner is self:
                primals.append(a.primal)
                ts.append(a.tangent)
                live = True
            else:
                primals.append(a)
                ts.append(None)
        saved, origin = state.trace, state.origin
        state.trace = self.parent
        try:
            if not live:
                return self.parent.process(prim, primals, params)
            state.origin = born = origin or here()
            outs, out_ts = self.apply(prim, primals, ts, params, born.step(self.step))
        finally:
            state.trace, state.origin = saved, origin
        if prim.multiple_results:
            return list(map(self.wrap, outs, out_ts))
        return self.wrap(outs, out_ts)

    def apply(self, prim, primals, ts, params, derived: Origin) -> tuple[Any, Any]:
        """Results and their tangents; `state.trace` is the parent."""
        fact = prim.derivative
        if type(fact) is Region:
            state.origin = derived
            return self.region(fact, primals, ts, params)
        outs = self.parent.process(prim, primals, params)
        state.trace, state.origin = self.tangents, derived
        return outs, tangent_out(prim, outs, primals, ts, params)

    def region(self, fact: Region, primals, ts, params):
        """A primitive that holds jaxprs: its own rule."""
        return fact.jvp(primals, ts, **params)

    def wrap(self, out, t):
        """A tracer, or the bare value when its tangent is zero."""
        return out if t is None else JVPTracer(self, out, t)


def tangent_out(prim, out, primals, ts, params):
    """Tangent(s) of the result(s) of `prim`, read off its derivative fact."""
    fact = prim.derivative
    kind = type(fact)
    if kind is NotDifferentiable:
        return _no_tangent(prim, out, primals, fact)
    if not prim.multiple_results and aval_of(out).dtype not in dtypes.INEXACT:
        return None
    if kind is Linear:
        return prim.bind(*_instantiated(fact, primals, ts), **params)
    if kind is Multilinear:
        return _sum_over(prim, (None,) * len(primals), out, primals, ts, params)
    if callable(fact.tangent):
        return fact.tangent(ts, out, *primals, **params)
    return _sum_over(prim, fact.tangent, out, primals, ts, params)


def _sum_over(prim, rules, out, primals, ts, params):
    total = None
    for i, (rule, t) in enumerate(zip(rules, ts, strict=True)):
        if t is None:
            continue
        if rule is None:
            term = prim.bind(*primals[:i], t, *primals[i + 1 :], **params)
        else:
            term = rule(t, out, *primals, **params)
        if term is not None:
            total = term if total is None else add_any(total, term)
    return total


def _instantiated(fact: Linear, primals, ts):
    """Operands of a linear map applied to tangents: zeros where a tangent is zero."""
    rules = fact.transpose
    operands = []
    for i, (x, t) in enumerate(zip(primals, ts, strict=True)):
        if t is not None:
            operands.append(t)
        elif isinstance(rules, tuple) and rules[i] is None:
            operands.append(x)
        else:
            aval = aval_of(x)
            operands.append(zeros(aval) if dtypes.is_inexact(aval.dtype) else x)
    return operands


def _no_tangent(prim, out, primals, fact: NotDifferentiable):
    outs = out if prim.multiple_results else [out]
    if any(dtypes.is_inexact(aval_of(x).dtype) for x in outs):
        operands = ", ".join(aval_of(x).short() for x in primals)
        raise DifferentiationError(
            f"{prim.name}({operands}) has no derivative",
            rule=fact.why,
            fix="for a zero derivative, wrap its operands in lax.stop_gradient",
        )
    return [None for _ in outs] if prim.multiple_results else None


def jvp_flat(
    fun: Callable[..., Sequence[Any]], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Values and tangents of `fun`, flat values to a flat sequence; None for zeros."""
    parent = state.trace
    trace = JVPTrace(parent, parent)
    ins = list(map(trace.wrap, primals, tangents))
    state.trace = trace
    try:
        outs = list(fun(*ins))
    finally:
        state.trace = parent
        trace.alive = False
    return unwrap(trace, outs)


def unwrap(trace: JVPTrace, outs: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Primals and tangents of the results of a function that `trace` has run."""
    mine = [type(x) is JVPTracer and x.owner is trace for x in outs]
    primals = [x.primal if m else x for x, m in zip(outs, mine, strict=True)]
    tangents = [x.tangent if m else None for x, m in zip(outs, mine, strict=True)]
    return primals, tangents
