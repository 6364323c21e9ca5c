"""The bodies of transformed scans, as plain functions of the body of the original.

Arguments of a body are constants, carry and slices; results are carry and slices. Which
carries a transformation reaches is a fixpoint: one that an iteration makes live, mapped
or needed is so from the start. Everything is cached with the body; nothing is run here.
"""

from collections.abc import Sequence
from itertools import accumulate, compress
from typing import Any, NamedTuple

from pullback.core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from pullback.ops.elementwise import add_any
from pullback.regions.bodies import (
    Linearized,
    batch_body,
    cached,
    closed,
    jvp_body,
    linearize_body,
    reading,
    reordered,
    run,
    transpose_body,
)
from pullback.transforms.dce import dce_jaxpr

Flags = tuple[bool, ...]


class Plan(NamedTuple):
    """A transformed body, its counts, and which arguments and results take part."""

    body: ClosedJaxpr
    num_consts: int
    num_carry: int
    ins: Flags
    outs: Flags


class Split(NamedTuple):
    """A scan split at its residuals.

    `primal`: the body forwards, its results followed by residuals to stack. `fixed`:
    arguments to residuals that no iteration changes, computed once. `tangent`: fixed
    residuals and live tangents of constants; live carry tangents; stacked residuals and
    live tangents of slices. `stacks`: where each stacked residual is found, `("in", i)`
    or `("out", i)`.
    """

    primal: ClosedJaxpr
    fixed: ClosedJaxpr
    tangent: ClosedJaxpr
    stacks: list[tuple[str, int]]
    ins: Flags
    outs: Flags


class Backward(NamedTuple):
    """A linear scan turned around.

    `known_carry`: carries that depend on nothing linear; `forward`, a scan of known
    arguments, stacks them. `body` takes known constants; sums of cotangents of
    constants, cotangents of carries; known slices, stacked carries, cotangents of
    results. It returns the sums, cotangents of carries, and those of slices.
    """

    body: ClosedJaxpr
    forward: ClosedJaxpr | None
    known_carry: Flags
    ct_consts: Flags
    ct_carry: Flags
    ct_slices: Flags


def parts(items: Sequence[Any], *counts: int) -> list[list[Any]]:
    """`items` cut after each of `counts`, and the rest."""
    ends = list(accumulate(counts))
    pairs = zip([0, *ends], [*ends, len(items)], strict=True)
    return [list(items[a:b]) for a, b in pairs]


def interleaved(groups: Sequence[int], live: Sequence[bool]) -> list[int]:
    """Places of all items and, at the end of each group, of its live companions.

    Items stand first, the companions of the live ones after all of them.
    """
    ranks = accumulate(live, initial=len(live))
    order: list[int] = []
    for group in parts(list(enumerate(zip(live, ranks, strict=False))), *groups):
        order += [i for i, _ in group]
        order += [place for _, (on, place) in group if on]
    return order


def grow(flags: Sequence[bool], start: int, found: Sequence[bool]) -> Flags:
    """`flags`, with those from `start` on that are `found` set as well."""
    new = list(flags)
    for i, on in enumerate(found, start):
        new[i] = new[i] or on
    return tuple(new)


# ---- forward mode ----


def jvp_plan(body: ClosedJaxpr, live: Flags, num_consts: int, num_carry: int) -> Plan:
    """The body on primals and live tangents, group by group."""

    def make():
        n_out, flags = len(body.jaxpr.outvars), live
        while True:
            carry = flags[num_consts : num_consts + num_carry]
            want = (*carry, *(False,) * (n_out - num_carry))
            new, out_live = jvp_body(body, flags, want)
            grown = grow(flags, num_consts, out_live[:num_carry])
            if grown == flags:
                break
            flags = grown
        ins = interleaved((num_consts, num_carry), flags)
        outs = interleaved((num_carry,), out_live)
        consts = num_consts + sum(flags[:num_consts])
        return Plan(
            reordered(new, ins, outs),
            consts,
            num_carry + sum(carry),
            flags,
            tuple(out_live),
        )

    return cached(body, ("scan jvp", live, num_consts, num_carry), make)


# ---- linearization ----


def split(body: ClosedJaxpr, live: Flags, num_consts: int, num_carry: int) -> Split:
    """The body split at its residuals."""

    def make():
        n_out, flags = len(body.jaxpr.outvars), live
        while True:
            carry = flags[num_consts : num_consts + num_carry]
            want = (*carry, *(False,) * (n_out - num_carry))
            halves = linearize_body(body, flags, want)
            grown = grow(flags, num_consts, halves.out_live[:num_carry])
            if grown == flags:
                return _placed(halves, flags, num_consts, num_carry)
            flags = grown

    return cached(body, ("scan split", live, num_consts, num_carry), make)


def _placed(halves: Linearized, ins: Flags, num_consts: int, num_carry: int) -> Split:
    """Sort residuals: unchanged by iterations, at hand as a stack, or to be stacked."""
    jaxpr = halves.primal.jaxpr
    res = [
        jaxpr.invars[i] if at == "in" else jaxpr.outvars[i]
        for at, i in halves.residuals
    ]
    fixed = _unchanging(jaxpr, num_consts, num_carry)
    first = num_consts + num_carry
    n_out = len(halves.out_live)
    at_hand: dict[Any, tuple[str, int]] = {
        v: ("out", i)
        for i, v in enumerate(jaxpr.outvars[:n_out])
        if i >= num_carry and type(v) is not Literal
    }
    at_hand.update((v, ("in", i)) for i, v in enumerate(jaxpr.invars) if i >= first)
    extra: list[Any] = []
    kept, moving, stacks = [], [], []
    for k, v in enumerate(res):
        if type(v) is Literal or v in fixed.bound:
            kept.append(k)
            continue
        if v not in at_hand:
            at_hand[v] = ("out", n_out + len(extra))
            extra.append(v)
        moving.append(k)
        stacks.append(at_hand[v])
    once = fixed.jaxpr.replace(outvars=[res[k] for k in kept])
    primal = jaxpr.replace(outvars=[*jaxpr.outvars[:n_out], *extra])
    consts = halves.primal.consts
    n_live = [sum(g) for g in parts(ins, num_consts, num_carry)]
    t_in = parts(range(len(res), len(res) + sum(n_live)), *n_live[:2])
    order = [*kept, *t_in[0], *t_in[1], *moving, *t_in[2]]
    return Split(
        ClosedJaxpr(dce_jaxpr(primal)[0], consts),
        ClosedJaxpr(dce_jaxpr(once)[0], consts),
        reordered(halves.tangent, order),
        stacks,
        ins,
        tuple(halves.out_live),
    )


class _Fixed(NamedTuple):
    jaxpr: Jaxpr
    bound: set[Any]


def _unchanging(jaxpr: Jaxpr, num_consts: int, num_carry: int) -> _Fixed:
    """The equations, and variables, that are the same in every iteration."""
    carry = jaxpr.invars[num_consts : num_consts + num_carry]
    bound: set[Any] = {*jaxpr.constvars, *jaxpr.invars[:num_consts]}
    bound.update(
        v for v, w in zip(carry, jaxpr.outvars[:num_carry], strict=True) if v is w
    )
    eqns = []
    for eqn in jaxpr.eqns:
        known = all(type(v) is Literal or v in bound for v in eqn.invars)
        if known and not eqn.effects:
            bound.update(eqn.outvars)
            eqns.append(eqn)
    return _Fixed(jaxpr.replace(eqns=eqns, effects=frozenset()), bound)


# ---- transposition ----


def backward_plan(
    body: ClosedJaxpr, linear: Flags, ct_live: Flags, num_consts: int, num_carry: int
) -> Backward:
    """The body of the reverse scan. `linear`: by argument; `ct_live`: by result."""

    def make():
        flags = _linear_fixpoint(body.jaxpr, linear, num_consts, num_carry)
        known = tuple(not f for f in flags[num_consts : num_consts + num_carry])
        forward = _stacking(body, flags, num_consts, num_carry) if any(known) else None
        moved, lin = _known_last(body, flags, num_consts, num_carry)
        carry = num_carry - sum(known)
        cts = (*compress(ct_live, [not k for k in known]), *ct_live[num_carry:])
        return _turned(moved, lin, cts, num_consts, carry)._replace(
            forward=forward, known_carry=known
        )

    key = ("scan transpose", linear, ct_live, num_consts, num_carry)
    return cached(body, key, make)


def _linear_fixpoint(jaxpr: Jaxpr, linear: Flags, num_consts: int, num_carry: int):
    while True:
        found = reading(jaxpr, linear)
        out = [v in found for v in jaxpr.outvars[:num_carry]]
        grown = grow(linear, num_consts, out)
        if grown == linear:
            return linear
        linear = grown


def _stacking(body: ClosedJaxpr, linear: Flags, num_consts: int, num_carry: int):
    """The body on known arguments: steps the known carries and stacks their values."""
    jaxpr = body.jaxpr
    known = [not f for f in linear]
    carry = slice(num_consts, num_consts + num_carry)
    steps = compress(jaxpr.outvars[:num_carry], known[carry])
    values = compress(jaxpr.invars[carry], known[carry])
    new, _ = dce_jaxpr(jaxpr.replace(outvars=[*steps, *values]))
    return ClosedJaxpr(
        new.replace(invars=list(compress(new.invars, known))), body.consts
    )


def _known_last(body: ClosedJaxpr, linear: Flags, num_consts: int, num_carry: int):
    """The body with known carries as its last slices, and no longer among results."""
    places = list(enumerate(linear))
    consts, carry, xs = parts(places, num_consts, num_carry)
    moved = [p for p in carry if not p[1]]
    order = [*consts, *(p for p in carry if p[1]), *xs, *moved]
    outs = [i - num_consts for i, lin in carry if lin]
    outs += range(num_carry, len(body.jaxpr.outvars))
    ins = [i for i, _ in order]
    return reordered(body, ins, outs), tuple(lin for _, lin in order)


def _turned(
    body: ClosedJaxpr, linear: Flags, ct_live: Flags, num_consts: int, num_carry: int
) -> Backward:
    """The reverse step of a body all of whose carries are linear."""
    lin_consts = sum(linear[:num_consts])
    while True:
        step, given = transpose_body(body, linear, ct_live)
        consts, carry, slices = parts(given, lin_consts, num_carry)
        grown = grow(ct_live, 0, carry)
        if grown == ct_live:
            break
        ct_live = grown
    want = (*consts, *ct_live[:num_carry], *slices)
    step, _ = transpose_body(body, linear, ct_live, want)
    n_sums, n_carry = sum(consts), sum(ct_live[:num_carry])
    known = [not f for f in linear]
    counts = (
        sum(known[:num_consts]),
        n_sums,
        n_carry,
        sum(known[num_consts:]),
    )

    def fun(*args):
        fixed, sums, carry_cts, slices, cts = parts(args, *counts)
        back = run(step, [*fixed, *slices, *carry_cts, *cts])
        return [*map(add_any, sums, back), *back[n_sums:]]

    avals = body.in_avals
    outs = [a.strong() for a in compress(body.out_avals, ct_live)]
    sums = [a for a, f in zip(avals[:num_consts], linear, strict=False) if f]
    ins = [
        *compress(avals[:num_consts], known),
        *(a.strong() for a in compress(sums, consts)),
        *outs[:n_carry],
        *compress(avals[num_consts:], known[num_consts:]),
        *outs[n_carry:],
    ]
    new = closed(fun, ins, body)
    flags = tuple(consts), tuple(ct_live[:num_carry]), tuple(slices)
    return Backward(new, None, (), *flags)


# ---- vectorization ----


def batch_plan(
    body: ClosedJaxpr, n: int, mapped: Flags, num_consts: int, num_carry: int
) -> Plan:
    """The body over a leading axis of the mapped arguments."""

    def make():
        n_out, flags = len(body.jaxpr.outvars), mapped
        while True:
            carry = flags[num_consts : num_consts + num_carry]
            want = (*carry, *(False,) * (n_out - num_carry))
            new, outs = batch_body(body, n, flags, want)
            grown = grow(flags, num_consts, outs[:num_carry])
            if grown == flags:
                return Plan(new, num_consts, num_carry, flags, tuple(outs))
            flags = grown

    return cached(body, ("scan batch", n, mapped, num_consts, num_carry), make)


# ---- dead code ----


def needed_plan(
    body: ClosedJaxpr, used: Flags, num_consts: int, num_carry: int
) -> Plan | None:
    """The body without results, carries and arguments that nothing needs.

    None: everything is needed.
    """

    def make():
        flags = used
        while True:
            jaxpr, read = dce_jaxpr(body.jaxpr, flags)
            grown = grow(flags, 0, read[num_consts : num_consts + num_carry])
            if grown == flags:
                break
            flags = grown
        ins = (
            *read[:num_consts],
            *flags[:num_carry],
            *read[num_consts + num_carry :],
        )
        kept = jaxpr.replace(invars=list(compress(jaxpr.invars, ins)))
        counts = sum(ins[:num_consts]), sum(flags[:num_carry])
        return Plan(ClosedJaxpr(kept, body.consts), *counts, ins, flags)

    plan = cached(body, ("scan dce", used, num_consts, num_carry), make)
    same = len(plan.body.eqns) == len(body.eqns)
    return None if same and all(plan.ins) and all(plan.outs) else plan
