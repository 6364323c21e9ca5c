"""Rematerialization: a call whose derivative computes its residuals again.

The policy says which intermediate values of the forward pass are kept instead.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pullback.core.derivative import Linear, Region
from pullback.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from pullback.core.primitive import Primitive
from pullback.core.trace import StageTrace, eval_jaxpr, state
from pullback.ops.shape import moveaxis
from pullback.regions.bodies import (
    batch_body,
    cached,
    closed,
    jvp_body,
    linearize_body,
    run,
    transpose_body,
)
from pullback.regions.jit import dce_call
from pullback.regions.reference import run_reference
from pullback.transforms.dce import RULES, dce_jaxpr
from pullback.transforms.transpose import is_linear_operand

Policy = Callable[..., bool]


class Settings(NamedTuple):
    """How a body is rematerialized.

    `policy(primitive, *avals, **params)`: keep the results of such an equation (None:
    keep nothing). `prevent_cse`: keep XLA from merging the second computation with the
    first. `differentiated`: whether this is a second computation.
    """

    policy: Policy | None = None
    prevent_cse: bool = True
    differentiated: bool = False


def bind(body: ClosedJaxpr, args: Sequence[Any], name: str, how: Settings) -> list[Any]:
    """Apply `body` under the interpreter in charge."""
    return checkpoint_p.bind(*args, jaxpr=body, name=name, **how._asdict())


def _settings(params: dict) -> Settings:
    return Settings(*(params[field] for field in Settings._fields))


def _jvp(primals, tangents, *, jaxpr, name, **params):
    live = tuple(t is not None for t in tangents)
    body, out_live = jvp_body(jaxpr, live)
    given = [t for t in tangents if t is not None]
    outs = bind(body, [*primals, *given], name, _settings(params))
    n = len(out_live)
    ts = iter(outs[n:])
    return outs[:n], [next(ts) if on else None for on in out_live]


class Split(NamedTuple):
    """A body and its derivative, with the values that the policy keeps.

    `forward`: arguments to results and kept values. `tangent`: kept values, arguments
    and live tangents to live output tangents.
    """

    forward: ClosedJaxpr
    tangent: ClosedJaxpr
    out_live: list[bool]


def _linearize(primals, live, *, jaxpr, name, **params):
    how = _settings(params)
    key = ("checkpoint", tuple(live), how.policy)
    split = cached(jaxpr, key, lambda: _split(jaxpr, tuple(live), how.policy))
    n = len(split.out_live)
    outs = bind(split.forward, primals, name, how)

    def linear(tangents):
        args = [*outs[n:], *primals, *tangents]
        return bind(split.tangent, args, name, how._replace(differentiated=True))

    return outs[:n], split.out_live, linear


def _split(body: ClosedJaxpr, live: tuple[bool, ...], policy: Policy | None) -> Split:
    both, out_live = _unmixed(body, live)
    jaxpr, consts = (both.jaxpr, both.consts)
    if policy is not None:
        jaxpr, consts = inlined(both)
    n_in, n_out = len(live), len(out_live)
    known = _known(jaxpr, jaxpr.invars[:n_in])
    saved = _saved(jaxpr, known, policy)
    forward = jaxpr.replace(
        invars=jaxpr.invars[:n_in], outvars=[*jaxpr.outvars[:n_out], *saved]
    )
    kept = set(saved)
    rest = [e for e in jaxpr.eqns if not (e.outvars and kept.issuperset(e.outvars))]
    tangent = jaxpr.replace(
        invars=[*saved, *jaxpr.invars], outvars=jaxpr.outvars[n_out:], eqns=rest
    )
    return Split(
        ClosedJaxpr(dce_jaxpr(forward)[0], consts),
        ClosedJaxpr(dce_jaxpr(tangent)[0], consts),
        out_live,
    )


def _unmixed(body: ClosedJaxpr, live: tuple[bool, ...]) -> tuple[ClosedJaxpr, list]:
    """As `jvp_body`, but no equation has both primal and tangent results."""
    halves = linearize_body(body, live)
    n_in, n_out = len(live), len(halves.out_live)

    def fun(*args):
        outs = run(halves.primal, args[:n_in])
        at = {"in": args, "out": outs}
        residuals = [at[where][i] for where, i in halves.residuals]
        return [*outs[:n_out], *run(halves.tangent, [*residuals, *args[n_in:]])]

    avals = body.in_avals
    ins = [*avals, *(a for a, on in zip(avals, live, strict=True) if on)]
    return closed(fun, ins, body), halves.out_live


def _known(jaxpr: Jaxpr, primals: Sequence[Any]) -> list[JaxprEqn]:
    """The equations that depend on no tangent."""
    known = {*jaxpr.constvars, *primals}
    eqns = []
    for eqn in jaxpr.eqns:
        if all(type(v) is Literal or v in known for v in eqn.invars):
            known.update(eqn.outvars)
            eqns.append(eqn)
    return eqns


def _saved(jaxpr: Jaxpr, known: list[JaxprEqn], policy: Policy | None) -> list[Any]:
    """What the policy keeps, as far as the derivative reads it."""
    if policy is None:
        return []
    read = {v for e in jaxpr.eqns for v in e.invars if type(v) is not Literal}
    return [
        v
        for eqn in known
        if policy(eqn.primitive, *(x.aval for x in eqn.invars), **eqn.params)
        for v in eqn.outvars
        if v in read
    ]


class _InliningTrace(StageTrace):
    """Records a program with the bodies of `jit` in place of their calls."""

    __slots__ = ()

    def process(self, prim, args, params):
        """Apply `prim`; see `Trace`."""
        if prim.name == "jit":
            body = params["jaxpr"]
            return eval_jaxpr(body.jaxpr, body.consts, args)
        return super().process(prim, args, params)


def inlined(closed: ClosedJaxpr) -> tuple[Jaxpr, list[Any]]:
    """The program with the bodies of `jit` in place of their calls, and constants."""
    trace = _InliningTrace(closed.debug_info)
    args = [trace.new_input(a) for a in closed.in_avals]
    saved, state.trace = state.trace, trace
    try:
        jaxpr = trace.jaxpr(eval_jaxpr(closed.jaxpr, closed.consts, args))
    finally:
        state.trace = saved
        trace.alive = False
    return jaxpr, trace.consts


def _transpose(cts, operands, *, jaxpr, name, **params):
    linear = tuple(map(is_linear_operand, operands))
    ct_live = tuple(ct is not None for ct in cts)
    body, given = transpose_body(jaxpr, linear, ct_live)
    known = [x for x, lin in zip(operands, linear, strict=True) if not lin]
    args = [*known, *(ct for ct in cts if ct is not None)]
    outs = iter(bind(body, args, name, _settings(params)))
    back = iter([next(outs) if on else None for on in given])
    return [next(back) if lin else None for lin in linear]


def _batch(n, xs, ds, *, jaxpr, name, **params):
    body, out_mapped = batch_body(jaxpr, n, tuple(d is not None for d in ds))
    args = [moveaxis(x, d, 0) if d else x for x, d in zip(xs, ds, strict=True)]
    outs = bind(body, args, name, _settings(params))
    return outs, [0 if m else None for m in out_mapped]


def _lower(b, outs, *xs, jaxpr, name, prevent_cse, differentiated, policy):
    if differentiated and prevent_cse and xs:
        xs = b.optimization_barrier(xs)
    return b.call_body(jaxpr, name, xs)


checkpoint_p = Primitive(
    "checkpoint",
    abstract=lambda *avals, jaxpr, **_: list(jaxpr.out_avals),
    reference=lambda *xs, jaxpr, **_: run_reference(jaxpr, *xs),
    lower=_lower,
    derivative=Region(jvp=_jvp, linearize=_linearize, transpose=_transpose),
    batch=_batch,
    multiple_results=True,
    effects=lambda *avals, jaxpr, **_: jaxpr.effects,
)
RULES["checkpoint"] = dce_call


def checkpoint_name(x: Any, name: str) -> Any:
    """`x`, known to policies as `name`."""
    return name_p.bind(x, name=name)


name_p = Primitive(
    "name",
    abstract=lambda x, *, name: x,
    reference=lambda x, *, name: x,
    lower=lambda b, out, x, *, name: x,
    derivative=Linear((lambda ct, x, *, name: ct,)),
    batch=lambda n, xs, ds, *, name: (name_p.bind(xs[0], name=name), ds[0]),
)
