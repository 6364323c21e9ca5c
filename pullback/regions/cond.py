"""cond: one of several bodies, chosen by an integer when the program runs.

Its rules transform every branch alike: what one branch makes live, the others give as
zeros. A choice that differs along a mapped axis runs all branches and selects.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Region
from pullback.core.errors import InternalError
from pullback.core.jaxpr import NO_EFFECTS, ClosedJaxpr, JaxprEqn
from pullback.core.primitive import Primitive
from pullback.ops.convert import convert
from pullback.ops.logic import select_n
from pullback.ops.shape import broadcast_in_dim, zeros
from pullback.regions.bodies import (
    Linearized,
    batch_body,
    cached,
    closed,
    jvp_body,
    linearize_body,
    run,
    transpose_body,
)
from pullback.regions.reference import run_reference
from pullback.transforms.dce import RULES, dce_jaxpr
from pullback.transforms.transpose import is_linear_operand
from pullback.transforms.vmap import to_axis

Branches = tuple[ClosedJaxpr, ...]


def cond_flat(index: Any, branches: Sequence[ClosedJaxpr], args: Sequence[Any]):
    """The results of `branches[index](*args)`.

    index: `int32[]`, at least 0; the last branch also stands for larger values
    """
    return cond_p.bind(index, *args, branches=tuple(branches))


def united(flags: Sequence[Sequence[bool]]) -> tuple[bool, ...]:
    """Where any of several equally long lists of flags is set."""
    return tuple(map(any, zip(*flags, strict=True)))


# ---- types, meaning, lowering ----


def _abstract(index, *avals, branches):
    first = branches[0]
    for body in branches:
        ins = zip(avals, body.in_avals, strict=True)
        outs = zip(first.out_avals, body.out_avals, strict=True)
        if any(
            a.shape != b.shape or a.dtype != b.dtype
            for pairs in (ins, outs)
            for a, b in pairs
        ):
            raise InternalError(
                f"cond of {list(avals)} with a branch "
                f"{body.in_avals} -> {body.out_avals}"
            )
    every = zip(*(body.out_avals for body in branches), strict=True)
    return [
        a if a.weak_type and all(x.weak_type for x in (a, *rest)) else a.strong()
        for a, *rest in every
    ]


def _reference(index, *args, branches):
    i = min(max(int(index), 0), len(branches) - 1)
    return run_reference(branches[i], *args)


def _lower(b, outs, index, *args, branches):
    bodies = [lambda b, body=body: b.inline(body, args) for body in branches]
    return b.case(index, bodies, outs)


# ---- derivatives ----


def _jvp(primals, tangents, *, branches):
    index, *args = primals
    live = tuple(t is not None for t in tangents[1:])
    want = united([jvp_body(body, live)[1] for body in branches])
    bodies = [jvp_body(body, live, want)[0] for body in branches]
    given = [t for t in tangents[1:] if t is not None]
    outs = cond_flat(index, bodies, [*args, *given])
    n = len(want)
    ts = iter(outs[n:])
    return outs[:n], [next(ts) if on else None for on in want]


class _Split(NamedTuple):
    """`residuals`: where each argument of the tangent branches is found."""

    primals: Branches
    tangents: Branches
    residuals: list[tuple[str, int]]
    out_live: tuple[bool, ...]


def _split(branches: Branches, live: tuple[bool, ...]) -> _Split:
    """Branches split at their residuals; residuals of equal types share a result."""
    want = united([linearize_body(body, live).out_live for body in branches])
    halves = [linearize_body(body, live, want) for body in branches]
    slots, places = _slots(halves, len(want))
    residuals = list(dict.fromkeys(p for branch in places for p in branch))
    primals = [
        _filled(half.primal, len(want), slots, mine)
        for half, mine in zip(halves, places, strict=True)
    ]
    avals = [
        branches[0].in_avals[i]
        if at == "in"
        else (*branches[0].out_avals, *slots)[i].strong()
        for at, i in residuals
    ]
    tangents = [
        _picking(half.tangent, [residuals.index(p) for p in mine], avals)
        for half, mine in zip(halves, places, strict=True)
    ]
    return _Split(tuple(primals), tuple(tangents), residuals, want)


def _slots(halves: Sequence[Linearized], n_out: int):
    """Types of the shared residual results, and where each branch finds its residuals.

    A residual is a new result, `("out", n_out + slot)`, or as it was.
    """
    slots: list[ShapedArray] = []
    places = []
    for half in halves:
        free = list(range(len(slots)))
        taken: dict[int, int] = {}
        mine = []
        for at, i in half.residuals:
            if at == "out" and i >= n_out:
                if i not in taken:
                    aval = half.primal.out_avals[i].strong()
                    taken[i] = _slot(slots, free, aval)
                i = n_out + taken[i]
            mine.append((at, i))
        places.append(mine)
    return slots, places


def _slot(slots: list[ShapedArray], free: list[int], aval: ShapedArray) -> int:
    for k in free:
        if slots[k] is aval:
            free.remove(k)
            return k
    slots.append(aval)
    return len(slots) - 1


def _filled(body: ClosedJaxpr, n_out: int, slots, places) -> ClosedJaxpr:
    """A branch that returns its residuals in their slots, zeros in those of others."""
    new = [i - n_out for at, i in places if at == "out" and i >= n_out]
    own = list(dict.fromkeys(new))

    def fun(*args):
        outs = run(body, args)
        values = dict(zip(own, outs[n_out:], strict=True))
        rest = [values[k] if k in values else zeros(a) for k, a in enumerate(slots)]
        return [*outs[:n_out], *rest]

    return closed(fun, body.in_avals, body)


def _picking(body: ClosedJaxpr, picks: list[int], avals) -> ClosedJaxpr:
    """A tangent branch that reads its residuals among those of all branches."""
    n = len(avals)

    def fun(*args):
        return run(body, [*(args[k] for k in picks), *args[n:]])

    return closed(fun, [*avals, *body.in_avals[len(picks) :]], body)


def _linearize(primals, live, *, branches):
    index, *args = primals
    live = tuple(live[1:])
    first = branches[0]
    split = cached(
        first, ("cond split", branches, live), lambda: _split(branches, live)
    )
    outs = cond_flat(index, split.primals, args)
    res = [args[i] if at == "in" else outs[i] for at, i in split.residuals]

    def linear(tangents):
        return cond_flat(index, split.tangents, [*res, *tangents])

    return outs[: len(split.out_live)], split.out_live, linear


def _transpose(cts, operands, *, branches):
    index, *args = operands
    linear = tuple(map(is_linear_operand, args))
    ct_live = tuple(ct is not None for ct in cts)
    want = united([transpose_body(body, linear, ct_live)[1] for body in branches])
    bodies = [transpose_body(body, linear, ct_live, want)[0] for body in branches]
    known = [x for x, lin in zip(args, linear, strict=True) if not lin]
    outs = iter(cond_flat(index, bodies, [*known, *(c for c in cts if c is not None)]))
    back = iter([next(outs) if on else None for on in want])
    return [None, *(next(back) if lin else None for lin in linear)]


# ---- vectorization, dead code ----


def _batch(n, xs, ds, *, branches):
    index, *args = xs
    args = [
        x if d is None else to_axis(x, d, n, 0)
        for x, d in zip(args, ds[1:], strict=True)
    ]
    mapped = tuple(d is not None for d in ds[1:])
    if ds[0] is not None:
        return _selected(n, index, args, mapped, branches)
    want = united([batch_body(body, n, mapped)[1] for body in branches])
    bodies = [batch_body(body, n, mapped, want)[0] for body in branches]
    return cond_flat(index, bodies, args), [0 if m else None for m in want]


def _selected(n: int, index, args, mapped, branches):
    """All branches run; each example takes the results of its own."""
    results = [
        run(batch_body(body, n, mapped, want=True)[0], args) for body in branches
    ]
    if len(branches) == 2:
        index = convert(index, dtypes.bool_)
    outs = [_chosen(index, cases) for cases in zip(*results, strict=True)]
    return outs, [0] * len(outs)


def _chosen(index, cases):
    aval = aval_of(cases[0])
    which = index if aval.ndim == 1 else broadcast_in_dim(index, aval.shape, (0,))
    return select_n(which, *cases)


def _dce(used: list[bool], eqn: JaxprEqn) -> JaxprEqn:
    branches: Branches = eqn.params["branches"]

    def make():
        trimmed = [dce_jaxpr(body.jaxpr, used) for body in branches]
        read = united([flags for _, flags in trimmed])
        bodies = tuple(
            ClosedJaxpr(
                jaxpr.replace(invars=list(compress(jaxpr.invars, read))), body.consts
            )
            for (jaxpr, _), body in zip(trimmed, branches, strict=True)
        )
        return bodies, read

    bodies, read = cached(branches[0], ("cond dce", branches, tuple(used)), make)
    same = all(
        len(a.eqns) == len(b.eqns) for a, b in zip(bodies, branches, strict=True)
    )
    if same and all(read) and all(used):
        return eqn
    return eqn.replace(
        invars=[eqn.invars[0], *compress(eqn.invars[1:], read)],
        outvars=list(compress(eqn.outvars, used)),
        params={"branches": bodies},
        effects=_effects(branches=bodies),
    )


def _effects(*avals, branches):
    return NO_EFFECTS.union(*(body.effects for body in branches))


cond_p = Primitive(
    "cond",
    abstract=_abstract,
    reference=_reference,
    lower=_lower,
    derivative=Region(jvp=_jvp, linearize=_linearize, transpose=_transpose),
    batch=_batch,
    multiple_results=True,
    effects=_effects,
)
RULES["cond"] = _dce
