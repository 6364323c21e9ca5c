"""The call of a traced function: one equation, kept as such by transformations."""

from typing import Any

from pullback.core.derivative import Region
from pullback.core.errors import InternalError
from pullback.core.jaxpr import ClosedJaxpr, JaxprEqn
from pullback.core.primitive import Primitive
from pullback.ops.shape import moveaxis
from pullback.regions.bodies import (
    batch_body,
    jvp_body,
    linearize_body,
    transpose_body,
)
from pullback.regions.reference import run_reference
from pullback.transforms.dce import RULES, dce_jaxpr
from pullback.transforms.transpose import is_linear_operand


def call(body: ClosedJaxpr, args, name: str) -> list[Any]:
    """Apply `body`, under the interpreter in charge."""
    return jit_p.bind(*args, jaxpr=body, name=name)


def _abstract(*avals, jaxpr, name):
    want = jaxpr.in_avals
    if len(avals) != len(want) or any(
        a.shape != w.shape or a.dtype != w.dtype
        for a, w in zip(avals, want, strict=True)
    ):
        raise InternalError(f"{name} takes {want}, got {list(avals)}")
    return list(jaxpr.out_avals)


def _jvp(primals, tangents, *, jaxpr, name):
    live = tuple(t is not None for t in tangents)
    body, out_live = jvp_body(jaxpr, live)
    given = [t for t in tangents if t is not None]
    outs = call(body, [*primals, *given], name)
    n = len(out_live)
    ts = iter(outs[n:])
    return outs[:n], [next(ts) if on else None for on in out_live]


def _linearize(primals, live, *, jaxpr, name):
    split = linearize_body(jaxpr, tuple(live))
    outs = call(split.primal, primals, name)
    res = [primals[i] if at == "in" else outs[i] for at, i in split.residuals]

    def linear(tangents):
        return call(split.tangent, [*res, *tangents], name)

    return outs[: len(split.out_live)], split.out_live, linear


def _transpose(cts, operands, *, jaxpr, name):
    linear = tuple(map(is_linear_operand, operands))
    ct_live = tuple(ct is not None for ct in cts)
    body, given = transpose_body(jaxpr, linear, ct_live)
    known = [x for x, lin in zip(operands, linear, strict=True) if not lin]
    outs = iter(call(body, [*known, *(ct for ct in cts if ct is not None)], name))
    back = iter([next(outs) if on else None for on in given])
    return [next(back) if lin else None for lin in linear]


def _batch(n, xs, ds, *, jaxpr, name):
    mapped = tuple(d is not None for d in ds)
    body, out_mapped = batch_body(jaxpr, n, mapped)
    args = [moveaxis(x, d, 0) if d else x for x, d in zip(xs, ds, strict=True)]
    return call(body, args, name), [0 if m else None for m in out_mapped]


def _reference(*args, jaxpr, name):
    return run_reference(jaxpr, *args)


def _lower(b, outs, *xs, jaxpr, name):
    return b.call_body(jaxpr, name, xs)


def dce_call(used: list[bool], eqn: JaxprEqn) -> JaxprEqn | None:
    """Drop unused results of the body, and operands that the rest does not read."""
    old: ClosedJaxpr = eqn.params["jaxpr"]
    if all(used):
        return eqn
    key = ("dce", tuple(used))
    if key not in old.jaxpr.cache:
        jaxpr, read = dce_jaxpr(old.jaxpr, used)
        kept = [v for v, r in zip(jaxpr.invars, read, strict=True) if r]
        old.jaxpr.cache[key] = ClosedJaxpr(jaxpr.replace(invars=kept), old.consts), read
    body, read = old.jaxpr.cache[key]
    return eqn.replace(
        invars=[v for v, r in zip(eqn.invars, read, strict=True) if r],
        outvars=[v for v, u in zip(eqn.outvars, used, strict=True) if u],
        params={**eqn.params, "jaxpr": body},
        effects=body.effects,
    )


jit_p = Primitive(
    "jit",
    abstract=_abstract,
    reference=_reference,
    lower=_lower,
    derivative=Region(jvp=_jvp, linearize=_linearize, transpose=_transpose),
    batch=_batch,
    multiple_results=True,
    effects=lambda *avals, jaxpr, name: jaxpr.effects,
)
RULES["jit"] = dce_call
