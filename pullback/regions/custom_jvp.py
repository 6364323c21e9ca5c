"""A call with a tangent rule of its own."""

from collections.abc import Callable, Sequence
from typing import Any

from pullback.core.derivative import Region
from pullback.core.errors import DifferentiationError
from pullback.core.primitive import Primitive
from pullback.core.trace import state
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
from pullback.regions.reference import run_reference

TangentRule = Callable[[Sequence[Any], Sequence[Any]], tuple[list, list]]


def custom_jvp_call(
    fun: Callable[..., Sequence[Any]], rule: TangentRule, args: Sequence[Any], name: str
) -> list[Any]:
    """Apply flat `fun`, differentiated by `rule(primals, tangents)`.

    The rule returns results and their tangents; None stands for a zero tangent.
    """
    return custom_jvp_call_p.bind(
        *args, call=Callee(fun, name), rule=rule, num_consts=0, name=name
    )


def check_not_closed_over(name: str, live: Sequence[bool]) -> None:
    """Raise DifferentiationError where a closed-over value has a tangent."""
    if any(live):
        raise DifferentiationError(
            f"differentiating {name} with respect to a value that it closes over",
            rule="a custom rule covers the arguments of its function only",
            fix="pass the value as an argument",
        )


def _jvp(primals, tangents, *, call, rule, num_consts, name):
    check_not_closed_over(name, [t is not None for t in tangents[:num_consts]])
    return rule(primals[num_consts:], tangents[num_consts:])


def _transpose(cts, operands, *, name, **_):
    raise DifferentiationError(
        f"transposing {name}, which has a custom jvp rule",
        rule="only functions known to be linear are transposed",
        fix="apply linear_transpose to a function without custom rules",
    )


def _batch(n, xs, ds, *, call, rule, num_consts, name):
    rule_ds, axis = ds[num_consts:], state.mapped_axis

    def batched_rule(primals, tangents):
        given, restore = split_none(tangents)
        live_ds = [d for d, t in zip(rule_ds, tangents, strict=True) if t is not None]
        found = []

        def flat(*args):
            outs, ts = rule(args[: len(primals)], restore(args[len(primals) :]))
            kept, put_back = split_none(ts)
            found[:] = [len(outs), put_back]
            return [*outs, *kept]

        args = [*primals, *given]
        both = map_to_front(flat, n, args, [*rule_ds, *live_ds], axis)
        count, put_back = found
        return both[:count], put_back(both[count:])

    outs = custom_jvp_call_p.bind(
        *xs,
        call=mapped(call, n, ds),
        rule=batched_rule,
        num_consts=num_consts,
        name=name,
    )
    return outs, [0] * len(outs)


def _record(args, *, call, rule, num_consts, name):
    body, consts = as_body(call, args)
    params = {"call": body, "rule": rule, "name": name}
    return [*consts, *args], {**params, "num_consts": num_consts + len(consts)}


custom_jvp_call_p = Primitive(
    "custom_jvp_call",
    abstract=lambda *avals, call, **_: out_avals(call, avals),
    reference=lambda *xs, call, **_: run_reference(as_body(call, xs)[0], *xs),
    lower=lambda b, outs, *xs, call, name, **_: b.call_body(call, name, xs),
    derivative=Region(
        jvp=_jvp,
        transpose=_transpose,
        run=lambda args, *, call, **_: run(call, args),
        record=_record,
    ),
    batch=_batch,
    multiple_results=True,
    effects=call_effects,
)
