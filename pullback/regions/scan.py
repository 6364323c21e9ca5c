"""scan: a loop of known length that carries values along and stacks what it makes.

Its rules are transforms of its body (`scan_bodies`) and the same loop around the
result.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np

from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Region
from pullback.core.errors import InternalError
from pullback.core.jaxpr import ClosedJaxpr, JaxprEqn
from pullback.core.primitive import Primitive
from pullback.ops.shape import zeros
from pullback.regions import scan_bodies as bodies
from pullback.regions.bodies import run, zeros_like
from pullback.regions.reference import run_reference
from pullback.regions.scan_bodies import parts
from pullback.regions.scan_lower import ScanLowering
from pullback.transforms.dce import RULES
from pullback.transforms.transpose import is_linear_operand
from pullback.transforms.vmap import to_axis


def scan_flat(
    body: ClosedJaxpr,
    consts: Sequence[Any],
    carry: Sequence[Any],
    xs: Sequence[Any],
    *,
    length: int,
    reverse: bool = False,
    unroll: int = 1,
) -> list[Any]:
    """Apply `body(*consts, *carry, *slices) -> [*carry, *rows]` `length` times.

    Args:
      body: its carry arguments and carry results have the same types.
      xs: each `[length, *s]`; iteration i reads row i.
      reverse: iterations run from the last row to the first.
      unroll: iterations in one step of the compiled loop.

    Returns:
      The last carry, and the rows of all iterations stacked.
    """
    return scan_p.bind(
        *consts,
        *carry,
        *xs,
        jaxpr=body,
        length=length,
        reverse=reverse,
        num_consts=len(consts),
        num_carry=len(carry),
        unroll=unroll,
    )


# ---- types, meaning, lowering ----


def _same(a: ShapedArray, b: ShapedArray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype


def _abstract(*avals, jaxpr, length, num_consts, num_carry, **params):
    first = num_consts + num_carry
    rows = [a.update(shape=a.shape[1:]) for a in avals[first:]]
    ins, outs = [*avals[:first], *rows], jaxpr.out_avals
    carry = zip(jaxpr.in_avals[num_consts:first], outs[:num_carry], strict=True)
    if (
        len(ins) != len(jaxpr.in_avals)
        or not all(map(_same, ins, jaxpr.in_avals))
        or not all(_same(a, b) for a, b in carry)
        or any(a.shape[:1] != (length,) for a in avals[first:])
    ):
        raise InternalError(
            f"scan of {list(avals)} over {length} with a body "
            f"{jaxpr.in_avals} -> {jaxpr.out_avals}"
        )
    stacks = [a.update(shape=(length, *a.shape)) for a in outs[num_carry:]]
    return [*outs[:num_carry], *stacks]


def _reference(*args, jaxpr, length, reverse, num_consts, num_carry, unroll):
    consts, carry, xs = parts(args, num_consts, num_carry)
    rows: list[list[np.ndarray]] = []
    steps = range(length)
    for i in reversed(steps) if reverse else steps:
        outs = run_reference(jaxpr, *consts, *carry, *(x[i] for x in xs))
        carry = outs[:num_carry]
        rows.append(outs[num_carry:])
    if not length:
        shapes = [(0, *a.shape) for a in jaxpr.out_avals[num_carry:]]
        return [*carry, *map(np.zeros, shapes)]
    stacks = map(np.stack, zip(*(rows[::-1] if reverse else rows), strict=True))
    return [*carry, *stacks]


def _lower(b, outs, *xs, unroll, **params):
    return ScanLowering(b, outs, xs, params).run(max(unroll, 1))


# ---- derivatives ----


def _instantiated(xs: Sequence[Any], ts: Sequence[Any], live: Sequence[bool]):
    """The live tangents; zeros where one becomes live only in a later iteration."""
    return [
        zeros_like(x) if t is None else t
        for x, t, on in zip(xs, ts, live, strict=True)
        if on
    ]


def _jvp(primals, tangents, *, jaxpr, num_consts, num_carry, **loop):
    live = tuple(t is not None for t in tangents)
    plan = bodies.jvp_plan(jaxpr, live, num_consts, num_carry)
    args = [*primals, *_instantiated(primals, tangents, plan.ins)]
    order = bodies.interleaved((num_consts, num_carry), plan.ins)
    args = [args[i] for i in order]
    outs = scan_flat(plan.body, *parts(args, plan.num_consts, plan.num_carry), **loop)
    places = bodies.interleaved((num_carry,), plan.outs)
    flat = dict(zip(places, outs, strict=True))
    n = len(plan.outs)
    ts = (flat[i] for i in range(n, len(flat)))
    return [flat[i] for i in range(n)], [next(ts) if on else None for on in plan.outs]


def _linearize(primals, live, *, jaxpr, num_consts, num_carry, **loop):
    split = bodies.split(jaxpr, tuple(live), num_consts, num_carry)
    counts = num_consts, num_carry
    outs = scan_flat(split.primal, *parts(primals, *counts), **loop)
    fixed = run(split.fixed, primals)
    stacks = [primals[i] if at == "in" else outs[i] for at, i in split.stacks]

    def linear(tangents):
        given = iter(tangents)
        ts = [next(given) if on else None for on in live]
        groups = zip(
            parts(primals, *counts),
            parts(ts, *counts),
            parts(split.ins, *counts),
            strict=True,
        )
        t_consts, t_carry, t_xs = [_instantiated(*group) for group in groups]
        return scan_flat(
            split.tangent, [*fixed, *t_consts], t_carry, [*stacks, *t_xs], **loop
        )

    return outs[: len(split.outs)], split.outs, linear


def _transpose(cts, operands, *, jaxpr, length, reverse, num_consts, num_carry, unroll):
    linear = tuple(map(is_linear_operand, operands))
    ct_live = tuple(ct is not None for ct in cts)
    plan = bodies.backward_plan(jaxpr, linear, ct_live, num_consts, num_carry)
    loop = {"length": length, "unroll": unroll}
    consts, carry, xs = parts(
        [None if lin else x for x, lin in zip(operands, linear, strict=True)],
        num_consts,
        num_carry,
    )
    avals = list(map(aval_of, operands))
    known = [x for x in consts if x is not None], [x for x in xs if x is not None]
    stacks: list[Any] = []
    if plan.forward is not None:
        begin = list(compress(carry, plan.known_carry))
        outs = scan_flat(
            plan.forward, known[0], begin, known[1], reverse=reverse, **loop
        )
        stacks = outs[len(begin) :]
    sums = _zeros(compress(compress(avals, linear[:num_consts]), plan.ct_consts))
    moving = [not k for k in plan.known_carry]
    carry_cts = list(compress(cts, moving))
    carry_avals = list(compress(avals[num_consts:][:num_carry], moving))
    begin = [
        zeros(a.strong()) if ct is None else ct
        for ct, a, on in zip(carry_cts, carry_avals, plan.ct_carry, strict=True)
        if on
    ]
    back = scan_flat(
        plan.body,
        known[0],
        [*sums, *begin],
        [*known[1], *stacks, *(ct for ct in cts[num_carry:] if ct is not None)],
        reverse=not reverse,
        **loop,
    )
    return _placed(back, linear, plan, num_consts, num_carry)


def _zeros(avals) -> list[Any]:
    return [zeros(a.strong()) for a in avals]


def _placed(back, linear, plan: bodies.Backward, num_consts: int, num_carry: int):
    """Cotangents of all operands from the results of the reverse scan."""
    given = iter(back)
    consts, carry, slices = parts(linear, num_consts, num_carry)
    out: list[Any] = []
    for lin, ct_given in (
        (consts, plan.ct_consts),
        ([not k for k in plan.known_carry], plan.ct_carry),
        (slices, plan.ct_slices),
    ):
        flags = iter(ct_given)
        out += [next(given) if f and next(flags) else None for f in lin]
    for i, lin in enumerate(carry, num_consts):
        if not lin:  # a known start, such as zeros
            out[i] = None
    return out


# ---- vectorization, dead code ----


def _batch(n, xs, ds, *, jaxpr, num_consts, num_carry, **loop):
    mapped = tuple(d is not None for d in ds)
    plan = bodies.batch_plan(jaxpr, n, mapped, num_consts, num_carry)
    first = num_consts + num_carry
    args = []
    for i, (x, d, m) in enumerate(zip(xs, ds, plan.ins, strict=True)):
        at = 0 if i < first else 1
        args.append(to_axis(x, d, n, at) if m else x)
    outs = scan_flat(plan.body, *parts(args, num_consts, num_carry), **loop)
    places = [0] * num_carry + [1] * (len(outs) - num_carry)
    return outs, [p if m else None for p, m in zip(places, plan.outs, strict=True)]


def _dce(used: list[bool], eqn: JaxprEqn) -> JaxprEqn:
    params = eqn.params
    counts = params["num_consts"], params["num_carry"]
    plan = bodies.needed_plan(params["jaxpr"], tuple(used), *counts)
    if plan is None:
        return eqn
    return eqn.replace(
        invars=list(compress(eqn.invars, plan.ins)),
        outvars=list(compress(eqn.outvars, plan.outs)),
        params={
            **params,
            "jaxpr": plan.body,
            "num_consts": plan.num_consts,
            "num_carry": plan.num_carry,
        },
        effects=plan.body.effects,
    )


scan_p = Primitive(
    "scan",
    abstract=_abstract,
    reference=_reference,
    lower=_lower,
    derivative=Region(jvp=_jvp, linearize=_linearize, transpose=_transpose),
    batch=_batch,
    multiple_results=True,
    effects=lambda *avals, jaxpr, **params: jaxpr.effects,
)
RULES["scan"] = _dce
