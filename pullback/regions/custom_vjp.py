"""A call with a pullback of its own.

Linearizing runs the forward rule; its residuals feed one linear equation whose
transpose is the backward rule.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.derivative import Region
from pullback.core.errors import DifferentiationError
from pullback.core.primitive import Primitive
from pullback.core.trace import state
from pullback.ops.shape import moveaxis, reduce_sum
from pullback.regions.callee import (
    Callee,
    as_body,
    call_effects,
    map_to_front,
    mapped,
    out_avals,
    run,
    split_none,
)
from pullback.regions.custom_jvp import check_not_closed_over
from pullback.regions.reference import run_reference

ForwardRule = Callable[[Sequence[Any], Sequence[bool]], tuple[list, list]]
BackwardRule = Callable[[Sequence[Any], Sequence[Any]], list]


def custom_vjp_call(
    fun: Callable[..., Sequence[Any]],
    fwd: ForwardRule,
    bwd: BackwardRule,
    args: Sequence[Any],
    name: str,
) -> list[Any]:
    """Apply flat `fun`, pulled back by `fwd` and `bwd`.

    `fwd(primals, live)` returns results and residuals; `bwd(residuals, cts)` returns a
    cotangent or None for each argument. A cotangent that is zero is None.
    """
    return custom_vjp_call_p.bind(
        *args, call=Callee(fun, name), fwd=fwd, bwd=bwd, num_consts=0, name=name
    )


def _no_forward_mode(name: str) -> DifferentiationError:
    return DifferentiationError(
        f"jvp, forward-mode differentiation, of {name}, a custom_vjp function",
        rule="it has a rule for reverse mode only",
        fix="use custom_jvp, which serves both modes, or grad and vjp",
    )


def _jvp(primals, tangents, *, name, **_):
    raise _no_forward_mode(name)


def _linearize(primals, live, *, call, fwd, bwd, num_consts, name):
    check_not_closed_over(name, live[:num_consts])
    args = primals[num_consts:]
    outs, res = fwd(args, live[num_consts:])
    about = tuple(aval_of(x) for x in outs)
    out_live = [dtypes.is_inexact(a.dtype) for a in about]
    places = tuple(i for i, on in enumerate(live[num_consts:]) if on)

    def linear(tangents):
        return custom_lin_p.bind(
            *res,
            *tangents,
            bwd=bwd,
            num_res=len(res),
            places=places,
            outs=tuple(a for a, on in zip(about, out_live, strict=True) if on),
            out_live=tuple(out_live),
            name=name,
        )

    return outs, out_live, linear


def _batch(n, xs, ds, *, call, fwd, bwd, num_consts, name):
    arg_ds, axis = ds[num_consts:], state.mapped_axis

    def batched_fwd(primals, live):
        count = []

        def flat(*args):
            outs, res = fwd(args, live)
            count[:] = [len(outs)]
            return [*outs, *res]

        both = map_to_front(flat, n, primals, arg_ds, axis)
        return both[: count[0]], both[count[0] :]

    def batched_bwd(res, cts):
        given, restore = split_none(cts)
        put_back = []

        def flat(*args):
            back = bwd(args[: len(res)], restore(args[len(res) :]))
            kept, back_in_place = split_none(back)
            put_back[:] = [back_in_place]
            return kept

        args = [*res, *given]
        kept = map_to_front(flat, n, args, [0] * len(args), axis)
        return [
            ct if ct is None else _unmapped(ct, d)
            for ct, d in zip(put_back[0](kept), arg_ds, strict=True)
        ]

    outs = custom_vjp_call_p.bind(
        *xs,
        call=mapped(call, n, ds),
        fwd=batched_fwd,
        bwd=batched_bwd,
        num_consts=num_consts,
        name=name,
    )
    return outs, [0] * len(outs)


def _unmapped(ct, d: int | None):
    """A batch of cotangents as the cotangent of an argument mapped at `d` or shared."""
    return reduce_sum(ct, (0,)) if d is None else moveaxis(ct, 0, d)


def _record(args, *, call, num_consts, **rest):
    body, consts = as_body(call, args)
    params = {**rest, "call": body, "num_consts": num_consts + len(consts)}
    return [*consts, *args], params


def _transpose(cts, operands, *, name, **_):
    raise DifferentiationError(
        f"transposing {name}, which has a custom vjp rule",
        rule="only functions known to be linear are transposed",
        fix="apply linear_transpose to a function without custom rules",
    )


custom_vjp_call_p = Primitive(
    "custom_vjp_call",
    abstract=lambda *avals, call, **_: out_avals(call, avals),
    reference=lambda *xs, call, **_: run_reference(as_body(call, xs)[0], *xs),
    lower=lambda b, outs, *xs, call, name, **_: b.call_body(call, name, xs),
    derivative=Region(
        jvp=_jvp,
        transpose=_transpose,
        linearize=_linearize,
        run=lambda args, *, call, **_: run(call, args),
        record=_record,
    ),
    batch=_batch,
    multiple_results=True,
    effects=call_effects,
)


# ---- the linear equation that stands for the pullback ----


def _lin_transpose(cts, operands, *, bwd, num_res, places, out_live, **_):
    given = iter(cts)
    full = [next(given) if on else None for on in out_live]
    back = bwd(operands[:num_res], full)
    return [None] * num_res + [back[i] for i in places]


def _lin_error(*args, name, **_):
    raise _no_forward_mode(name)


custom_lin_p = Primitive(
    "custom_lin",
    abstract=lambda *avals, outs, **_: list(outs),
    reference=_lin_error,
    lower=_lin_error,
    derivative=Region(
        jvp=lambda primals, tangents, *, name, **_: _lin_error(name=name),
        transpose=_lin_transpose,
        run=lambda args, *, name, **_: _lin_error(name=name),
    ),
    batch=_lin_error,
    multiple_results=True,
)
