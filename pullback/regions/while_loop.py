"""while: a loop whose length is known only when it has run.

It has a forward derivative, which runs along; its reverse would need to remember
values of a number of iterations that nobody knows beforehand.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

from pullback.core.aval import aval_of
from pullback.core.derivative import Region
from pullback.core.errors import InternalError, LoopReversalError
from pullback.core.jaxpr import ClosedJaxpr, JaxprEqn
from pullback.core.primitive import Primitive
from pullback.ops.logic import select_n
from pullback.ops.reduce import reduce_or
from pullback.ops.shape import broadcast_in_dim
from pullback.regions.bodies import (
    batch_body,
    cached,
    closed,
    jvp_body,
    reordered,
    run,
    zeros_like,
)
from pullback.regions.reference import run_reference
from pullback.regions.scan_bodies import grow, interleaved, parts
from pullback.transforms.dce import RULES, dce_jaxpr
from pullback.transforms.vmap import to_axis

Flags = tuple[bool, ...]


def while_flat(
    cond: ClosedJaxpr,
    cond_consts: Sequence[Any],
    body: ClosedJaxpr,
    body_consts: Sequence[Any],
    init: Sequence[Any],
) -> list[Any]:
    """`x = body(*body_consts, *x)` from `init` on while `cond(*cond_consts, *x)`."""
    return while_p.bind(
        *cond_consts,
        *body_consts,
        *init,
        cond_jaxpr=cond,
        cond_nconsts=len(cond_consts),
        body_jaxpr=body,
        body_nconsts=len(body_consts),
    )


# ---- types, meaning, lowering ----


def _abstract(*avals, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    cond_avals, body_avals, init = parts(avals, cond_nconsts, body_nconsts)
    for ins, body in (
        ([*cond_avals, *init], cond_jaxpr.in_avals),
        ([*body_avals, *init], body_jaxpr.in_avals),
        (init, body_jaxpr.out_avals),
    ):
        if [(a.shape, a.dtype) for a in ins] != [(a.shape, a.dtype) for a in body]:
            raise InternalError(f"while of {ins} with a body of {body}")
    return list(body_jaxpr.out_avals)


def _reference(*args, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    cond_consts, body_consts, state = parts(args, cond_nconsts, body_nconsts)
    while run_reference(cond_jaxpr, *cond_consts, *state)[0]:
        state = run_reference(body_jaxpr, *body_consts, *state)
    return state


def _lower(b, outs, *args, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    cond_consts, body_consts, init = parts(args, cond_nconsts, body_nconsts)
    return b.while_loop(
        init,
        lambda b, *state: b.inline(cond_jaxpr, [*cond_consts, *state]),
        lambda b, *state: b.inline(body_jaxpr, [*body_consts, *state]),
    )


# ---- derivatives ----


class _Tangents(NamedTuple):
    """The loop on primals and live tangents."""

    cond: ClosedJaxpr
    body: ClosedJaxpr
    consts: Flags
    carry: Flags


def _with_tangents(cond, num_cond, body, num_consts, live: Flags) -> _Tangents:
    """`live`: of the constants of the body, then of the carry."""
    num_carry, flags = len(body.jaxpr.outvars), live
    while True:
        new, out_live = jvp_body(body, flags, flags[num_consts:])
        grown = grow(flags, num_consts, out_live)
        if grown == flags:
            break
        flags = grown
    body = reordered(
        new, interleaved((num_consts,), flags), range(len(new.jaxpr.outvars))
    )
    carry = flags[num_consts:]
    extra = [a for a, on in zip(cond.in_avals[num_cond:], carry, strict=True) if on]
    n = num_cond + num_carry
    test = closed(lambda *xs: run(cond, xs[:n]), [*cond.in_avals, *extra], cond)
    return _Tangents(test, body, flags[:num_consts], carry)


def _jvp(primals, tangents, *, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    cond_consts, consts, init = parts(primals, cond_nconsts, body_nconsts)
    _, t_consts, t_init = parts(tangents, cond_nconsts, body_nconsts)
    live = tuple(t is not None for t in (*t_consts, *t_init))
    plan = cached(
        body_jaxpr,
        ("while jvp", cond_jaxpr, cond_nconsts, live),
        lambda: _with_tangents(
            cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts, live
        ),
    )
    start = [
        zeros_like(x) if t is None else t
        for x, t, on in zip(init, t_init, plan.carry, strict=True)
        if on
    ]
    outs = while_flat(
        plan.cond,
        cond_consts,
        plan.body,
        [*consts, *compress(t_consts, plan.consts)],
        [*init, *start],
    )
    ts = iter(outs[len(init) :])
    return outs[: len(init)], [next(ts) if on else None for on in plan.carry]


def _linearize(primals, live, **params):
    """The primal loop now; the linear map is the loop again, with tangents along."""
    outs = while_p.bind(*primals, **params)
    first = params["cond_nconsts"]
    flags = list(live)
    flags[:first] = [False] * first
    out_live = _out_live(tuple(flags[first:]), **params)

    def linear(tangents):
        given = iter(tangents)
        ts = [next(given) if on else None for on in live]
        return [t for t in _jvp(primals, ts, **params)[1] if t is not None]

    return outs, out_live, linear


def _out_live(live: Flags, *, body_jaxpr, body_nconsts, **params) -> Flags:
    while True:
        _, outs = jvp_body(body_jaxpr, live, live[body_nconsts:])
        grown = grow(live, body_nconsts, outs)
        if grown == live:
            return live[body_nconsts:]
        live = grown


def _transpose(cts, operands, *, body_jaxpr, **params):
    carry = ", ".join(a.short() for a in body_jaxpr.out_avals)
    raise LoopReversalError(
        f"reverse-mode derivative of a while_loop with carry ({carry})",
        rule="going backwards needs the values of every iteration, and how many there "
        "will be is not known when the program is compiled",
        fix="use lax.scan, or lax.fori_loop with Python numbers as bounds and "
        "lax.cond in the body; or take the derivative forwards with jvp or jacfwd",
    )


# ---- vectorization, dead code ----


class _Mapped(NamedTuple):
    """The loop over a mapped axis; `carry`: which carries have it."""

    cond: ClosedJaxpr
    body: ClosedJaxpr
    carry: Flags
    each: bool


def _mapped(n, cond, num_cond, body, num_consts, mapped) -> _Mapped:
    """`mapped`: of the constants of cond, those of body, and the carry."""
    cond_flags, consts, carry = map(tuple, parts(mapped, num_cond, num_consts))
    while True:
        new, outs = batch_body(body, n, (*consts, *carry), carry)
        new_cond, (each,) = batch_body(cond, n, (*cond_flags, *carry))
        grown = (True,) * len(carry) if each else grow(carry, 0, outs)
        if grown == carry:
            break
        carry = grown
    if each:
        new, new_cond = _each_until_done(new_cond, num_cond, new, num_consts)
    return _Mapped(new_cond, new, carry, each)


def _each_until_done(cond, num_cond: int, body, num_consts: int):
    """Run while any example goes on; those that are done keep their values."""
    cond_avals, _ = parts(cond.in_avals, num_cond)

    def step(*args):
        cond_consts, consts, state = parts(args, num_cond, num_consts)
        (going,) = run(cond, [*cond_consts, *state])
        new = run(body, [*consts, *state])
        return [_kept(going, y, x) for x, y in zip(state, new, strict=True)]

    new = closed(step, [*cond_avals, *body.in_avals], body)
    some = closed(lambda *xs: [reduce_or(run(cond, xs)[0], (0,))], cond.in_avals, cond)
    return new, some


def _kept(going, new, old):
    shape = aval_of(new).shape
    pred = going if len(shape) == 1 else broadcast_in_dim(going, shape, (0,))
    return select_n(pred, old, new)


def _batch(n, xs, ds, *, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    mapped = tuple(d is not None for d in ds)
    plan = cached(
        body_jaxpr,
        ("while batch", n, mapped, cond_jaxpr, cond_nconsts),
        lambda: _mapped(n, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts, mapped),
    )
    first = cond_nconsts + body_nconsts
    flags = [*mapped[:first], *plan.carry]
    args = [
        to_axis(x, d, n, 0) if m else x for x, d, m in zip(xs, ds, flags, strict=True)
    ]
    cond_consts, consts, init = parts(args, cond_nconsts, body_nconsts)
    if plan.each:
        consts = [*cond_consts, *consts]
    outs = while_flat(plan.cond, cond_consts, plan.body, consts, init)
    return outs, [0 if m else None for m in plan.carry]


def _dce(used: list[bool], eqn: JaxprEqn) -> JaxprEqn:
    """Drop carries that neither the condition nor a used result needs."""
    params = eqn.params
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    n_cond, n_body = params["cond_nconsts"], params["body_nconsts"]

    def make():
        test, cond_read = dce_jaxpr(cond.jaxpr)
        flags = grow(tuple(used), 0, cond_read[n_cond:])
        while True:
            jaxpr, read = dce_jaxpr(body.jaxpr, flags)
            grown = grow(flags, 0, read[n_body:])
            if grown == flags:
                break
            flags = grown
        cond_ins = [*cond_read[:n_cond], *flags]
        body_ins = [*read[:n_body], *flags]
        invars = list(compress(jaxpr.invars, body_ins))
        new_body = ClosedJaxpr(jaxpr.replace(invars=invars), body.consts)
        test = test.replace(invars=list(compress(test.invars, cond_ins)))
        new_cond = ClosedJaxpr(test, cond.consts)
        return new_cond, new_body, cond_ins[:n_cond], body_ins, flags

    new_cond, new_body, cond_ins, body_ins, flags = cached(
        body, ("while dce", cond, n_cond, tuple(used)), make
    )
    if all(cond_ins) and all(body_ins) and len(new_body.eqns) == len(body.eqns):
        return eqn
    return eqn.replace(
        invars=list(compress(eqn.invars, [*cond_ins, *body_ins])),
        outvars=list(compress(eqn.outvars, flags)),
        params={
            "cond_jaxpr": new_cond,
            "cond_nconsts": sum(cond_ins),
            "body_jaxpr": new_body,
            "body_nconsts": sum(body_ins[:n_body]),
        },
    )


def _effects(*avals, cond_jaxpr, body_jaxpr, **params):
    return cond_jaxpr.effects | body_jaxpr.effects


while_p = Primitive(
    "while",
    abstract=_abstract,
    reference=_reference,
    lower=_lower,
    derivative=Region(jvp=_jvp, linearize=_linearize, transpose=_transpose),
    batch=_batch,
    multiple_results=True,
    effects=_effects,
)
RULES["while"] = _dce
