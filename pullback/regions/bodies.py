"""Transforms of jaxprs, as the rules of regions need them; each is run once a body.

Results are kept in the body's own cache, so they live as long as the body. Bodies have
no constants: what a function closes over travels as leading operands.
"""

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, NamedTuple

from pullback.core.aval import aval_of
from pullback.core.jaxpr import ClosedJaxpr, Jaxpr, Literal, consts_as_inputs
from pullback.core.trace import eval_jaxpr, stage, state
from pullback.ops.shape import zeros
from pullback.transforms.dce import dce_jaxpr
from pullback.transforms.jvp import jvp_flat
from pullback.transforms.linearize import linearize_flat
from pullback.transforms.transpose import backward
from pullback.transforms.vmap import to_axis, vmap_flat


class Linearized(NamedTuple):
    """A body split at its residuals.

    `primal`: arguments to results and new residuals. `tangent`: residuals and live
    tangents to live output tangents. `residuals`: where each residual is found, as
    `("in", i)`: argument i, `("out", i)`: result i of `primal`.
    """

    primal: ClosedJaxpr
    tangent: ClosedJaxpr
    residuals: list[tuple[str, int]]
    out_live: list[bool]


def cached(jaxpr: ClosedJaxpr, key: tuple, make: Callable[[], Any]) -> Any:
    """`make()`, kept in the cache of `jaxpr` under `key`."""
    cache = jaxpr.jaxpr.cache
    found = cache.get(key)
    if found is None:
        found = cache[key] = make()
    return found


def staged(
    fun: Callable, in_avals: Sequence[Any], like: ClosedJaxpr
) -> tuple[ClosedJaxpr, list[Any]]:
    """`fun` as a body, dead code dropped, and the values it closes over.

    The body takes those values as its leading arguments.
    """
    jaxpr, consts = stage(fun, in_avals, like.debug_info)
    jaxpr, _ = dce_jaxpr(jaxpr)
    body = jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars])
    return ClosedJaxpr(body), consts


def closed(fun: Callable, in_avals: Sequence[Any], like: ClosedJaxpr) -> ClosedJaxpr:
    """`fun` as a closed jaxpr, dead code dropped; concrete constants stay in it."""
    jaxpr, consts = stage(fun, in_avals, like.debug_info)
    return ClosedJaxpr(dce_jaxpr(jaxpr)[0], consts)


def reordered(
    body: ClosedJaxpr, ins: Sequence[int], outs: Sequence[int] | None = None
) -> ClosedJaxpr:
    """The body with argument `ins[k]` and result `outs[k]` at place k; not cached."""
    jaxpr = body.jaxpr
    results = jaxpr.outvars if outs is None else [jaxpr.outvars[i] for i in outs]
    new = jaxpr.replace(invars=[jaxpr.invars[i] for i in ins], outvars=results)
    return ClosedJaxpr(new, body.consts)


def reading(jaxpr: Jaxpr, marked: Sequence[bool]) -> set[Any]:
    """The variables whose values depend on a marked argument."""
    found = set(compress(jaxpr.invars, marked))
    for eqn in jaxpr.eqns:
        if any(v in found for v in eqn.invars if type(v) is not Literal):
            found.update(eqn.outvars)
    return found


def run(body: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
    """Evaluate a body under the interpreter in charge."""
    return eval_jaxpr(body.jaxpr, body.consts, args)


def jvp_body(
    body: ClosedJaxpr, live: tuple[bool, ...], want: tuple[bool, ...] | None = None
) -> tuple[ClosedJaxpr, list[bool]]:
    """The body on primals followed by live tangents -> results, live tangents.

    `want[i]`: give output tangent i even where it is zero. Also says which are given.
    """

    def make():
        out_live: list[bool] = []

        def fun(*args):
            primals = args[: len(live)]
            given = iter(args[len(live) :])
            tangents = [next(given) if a else None for a in live]
            outs, ts = jvp_flat(lambda *xs: run(body, xs), primals, tangents)
            ts = instantiate(outs, ts, want)
            out_live[:] = [t is not None for t in ts]
            return [*outs, *(t for t in ts if t is not None)]

        avals = body.in_avals
        ins = [*avals, *(a for a, on in zip(avals, live, strict=True) if on)]
        return closed(fun, ins, body), out_live

    return cached(body, ("jvp", live, want), make)


def instantiate(outs, tangents, want) -> list[Any]:
    """`tangents`, with zeros in place of None where wanted."""
    if want is None:
        return list(tangents)
    return [
        zeros_like(x) if t is None and w else t
        for x, t, w in zip(outs, tangents, want, strict=True)
    ]


def zeros_like(x):
    """Zeros of the type of `x`."""
    return zeros(aval_of(x))


def linearize_body(
    body: ClosedJaxpr, live: tuple[bool, ...], want: tuple[bool, ...] | None = None
) -> Linearized:
    """Split the body's derivative with respect to the live arguments."""
    return cached(body, ("linearize", live, want), lambda: _split(body, live, want))


def _split(body: ClosedJaxpr, live, want) -> Linearized:
    found: dict[str, Any] = {}

    def forward(*args):
        outs, tangent, res, out_live = linearize_flat(
            lambda *xs: run(body, xs), args, live, want
        )
        found.update(tangent=tangent, out_live=out_live)
        return [*outs, *res]

    jaxpr, consts = stage(forward, body.in_avals, body.debug_info)
    n_out = len(body.jaxpr.outvars)
    tangent, read = dce_jaxpr(consts_as_inputs(found["tangent"]))
    n_res = len(jaxpr.outvars) - n_out
    read[n_res:] = [True] * (len(read) - n_res)
    tangent = tangent.replace(invars=list(compress(tangent.invars, read)))
    used = [*jaxpr.outvars[:n_out], *compress(jaxpr.outvars[n_out:], read)]
    jaxpr, _ = dce_jaxpr(jaxpr.replace(outvars=used))
    kept, residuals = _forwarded(jaxpr, n_out)
    jaxpr = jaxpr.replace(outvars=[*jaxpr.outvars[:n_out], *kept])
    return Linearized(
        ClosedJaxpr(jaxpr, consts), ClosedJaxpr(tangent), residuals, found["out_live"]
    )


def _forwarded(jaxpr: Jaxpr, n_out: int) -> tuple[list, list[tuple[str, int]]]:
    """Residuals that need a result of their own, and where each residual is found."""
    where: dict = {v: ("in", i) for i, v in enumerate(jaxpr.invars)}
    for i, v in enumerate(jaxpr.outvars[:n_out]):
        if type(v) is not Literal:
            where.setdefault(v, ("out", i))
    kept: list = []
    residuals = []
    for v in jaxpr.outvars[n_out:]:
        place = where.get(v) if type(v) is not Literal else None
        if place is None:
            place = ("out", n_out + len(kept))
            kept.append(v)
            if type(v) is not Literal:
                where[v] = place
        residuals.append(place)
    return kept, residuals


def transpose_body(
    body: ClosedJaxpr,
    linear: tuple[bool, ...],
    ct_live: tuple[bool, ...],
    want: tuple[bool, ...] | None = None,
) -> tuple[ClosedJaxpr, list[bool]]:
    """The body backwards: known arguments, then live cotangents -> live cotangents.

    Also says which linear arguments get a cotangent. `want[k]`: give that of linear
    argument k even where it is zero.
    """

    def make():
        ct_given: list[bool] = []
        ins = [a for a, lin in zip(body.in_avals, linear, strict=True) if lin]

        def fun(*args):
            given = iter(args)
            known = [None if lin else next(given) for lin in linear]
            cts = [next(given) if on else None for on in ct_live]
            back = backward(body.jaxpr, body.consts, known, cts)
            back = [ct for ct, lin in zip(back, linear, strict=True) if lin]
            if want is not None:
                back = [
                    zeros(a.strong()) if ct is None and w else ct
                    for ct, a, w in zip(back, ins, want, strict=True)
                ]
            ct_given[:] = [ct is not None for ct in back]
            return [ct for ct in back if ct is not None]

        avals = [a for a, lin in zip(body.in_avals, linear, strict=True) if not lin]
        outs = [a for a, on in zip(body.out_avals, ct_live, strict=True) if on]
        return closed(fun, [*avals, *outs], body), ct_given

    return cached(body, ("transpose", linear, ct_live, want), make)


def batch_body(
    body: ClosedJaxpr,
    n: int,
    mapped: tuple[bool, ...],
    want: tuple[bool, ...] | bool = False,
) -> tuple[ClosedJaxpr, list[bool]]:
    """The body over a leading axis of the mapped arguments; which results have one.

    The axis has the name of the one that the batch rule in progress is mapping.

    `want`: which results get the axis even where they do not depend on it.
    """

    axis_name = state.mapped_axis

    def make():
        out_mapped: list[bool] = []

        def fun(*args):
            ds = [0 if m else None for m in mapped]
            outs, out_ds = vmap_flat(lambda *xs: run(body, xs), n, args, ds, axis_name)
            force = [want] * len(outs) if isinstance(want, bool) else want
            out_mapped[:] = [
                d is not None or w for d, w in zip(out_ds, force, strict=True)
            ]
            return [
                to_axis(x, d, n, 0) if m else x
                for x, d, m in zip(outs, out_ds, out_mapped, strict=True)
            ]

        ins = [
            a.update(shape=(n, *a.shape)) if m else a
            for a, m in zip(body.in_avals, mapped, strict=True)
        ]
        return closed(fun, ins, body), out_mapped

    return cached(body, ("batch", n, mapped, want, axis_name), make)
