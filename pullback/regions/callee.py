"""The function in a custom call: a Python function until it is recorded.

Applied to values it runs as Python, so that control flow in it sees them; recorded in a
program it is a body, whose leading operands are what the function closes over.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pullback.core.aval import ShapedArray, aval_of
from pullback.core.jaxpr import (
    NO_EFFECTS,
    ClosedJaxpr,
    DebugInfo,
    consts_as_inputs,
)
from pullback.core.trace import eval_jaxpr, stage, state
from pullback.transforms.vmap import to_axis, vmap_flat

FlatFunction = Callable[..., Sequence[Any]]


class Callee:
    """A flat function not yet recorded."""

    __slots__ = ("fun", "name")

    def __init__(self, fun: FlatFunction, name: str):
        self.fun, self.name = fun, name

    def __call__(self, *args: Any) -> list[Any]:
        """Run as Python under the interpreter in charge."""
        return list(self.fun(*args))

    def out_avals(self, avals: Sequence[ShapedArray]) -> list[ShapedArray]:
        """Types of the results for arguments of the given types."""
        return stage(self.fun, avals)[0].out_avals


def run(call: Callee | ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
    """Apply either form under the interpreter in charge."""
    if isinstance(call, ClosedJaxpr):
        return eval_jaxpr(call.jaxpr, call.consts, args)
    return call(*args)


def out_avals(call: Callee | ClosedJaxpr, avals) -> list[ShapedArray]:
    """Types of the results of either form."""
    if isinstance(call, ClosedJaxpr):
        return list(call.out_avals)
    return call.out_avals(avals)


def call_effects(*avals: ShapedArray, call: Callee | ClosedJaxpr, **_: Any):
    """The effects of a recorded callee."""
    return call.effects if isinstance(call, ClosedJaxpr) else NO_EFFECTS


def as_body(call: Callee | ClosedJaxpr, args) -> tuple[ClosedJaxpr, list[Any]]:
    """The callee as a body for arguments of these types, and what it closes over."""
    if isinstance(call, ClosedJaxpr):
        return call, []
    jaxpr, consts = stage(call.fun, list(map(aval_of, args)), DebugInfo(call.name))
    return ClosedJaxpr(consts_as_inputs(jaxpr)), consts


def mapped(call: Callee | ClosedJaxpr, n: int, ds: Sequence[int | None]) -> Callee:
    """The callee over axis `ds[i]` of each argument; every result gets axis 0."""
    name = state.mapped_axis

    def fun(*args):
        return map_to_front(lambda *xs: run(call, xs), n, args, ds, name)

    return Callee(fun, getattr(call, "name", "f"))


def map_to_front(
    fun: FlatFunction,
    n: int,
    args: Sequence[Any],
    ds: Sequence[int | None],
    axis_name: Any,
) -> list[Any]:
    """`vmap_flat` with the mapped axis of every result in front."""
    outs, out_ds = vmap_flat(fun, n, args, ds, axis_name)
    return [to_axis(x, d, n, 0) for x, d in zip(outs, out_ds, strict=True)]


def split_none(xs: Sequence[Any]) -> tuple[list[Any], Callable[[Sequence], list[Any]]]:
    """What is not None in `xs`, and the function that puts such values back."""
    given = [x is not None for x in xs]

    def restore(values: Sequence[Any]) -> list[Any]:
        it = iter(values)
        return [next(it) if g else None for g in given]

    return [x for x in xs if x is not None], restore
