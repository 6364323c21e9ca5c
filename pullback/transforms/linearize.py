"""f, x -> f(x) and the jaxpr of the linear map t -> Df(x) t, in one pass.

Primal operations run in the parent as they are met; tangent operations on tangents are
recorded, all others run too, so the recorded program is linear, equation by equation,
and its constants are the residuals.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pullback.core.aval import aval_of
from pullback.core.derivative import Region
from pullback.core.jaxpr import Jaxpr
from pullback.core.trace import StageTrace, StageTracer, Trace, state
from pullback.ops.shape import zeros
from pullback.transforms.jvp import JVPTrace, JVPTracer, unwrap


class TangentTrace(StageTrace):
    """Records operations on tangents; hands operations on known values to `parent`."""

    __slots__ = ("parent",)

    def __init__(self, parent: Trace):
        super().__init__()
        self.parent = parent

    def process(self, prim, args, params):
        """Apply `prim`; see `Trace`."""
        for a in args:
            if type(a) is StageTracer and a.owner is self:
                return super().process(prim, args, params)
        state.trace = self.parent
        try:
            return self.parent.process(prim, args, params)
        finally:
            state.trace = self


class LinearizeTrace(JVPTrace):
    """The jvp interpreter over a `TangentTrace`."""

    __slots__ = ()

    def region(self, fact: Region, primals, ts, params):
        """Its own rule for linearizing, or its jvp with recorded tangents."""
        if fact.linearize is None:
            state.trace = self.tangents
            return fact.jvp(primals, ts, **params)
        live = [t is not None for t in ts]
        outs, out_live, linear = fact.linearize(primals, live, **params)
        state.trace = self.tangents
        tangents = iter(linear([t for t in ts if t is not None]))
        return outs, [next(tangents) if a else None for a in out_live]


def linearize_flat(
    fun: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    live: Sequence[bool] | None = None,
    want: Sequence[bool] | None = None,
) -> tuple[list[Any], Jaxpr, list[Any], list[bool]]:
    """Linearize `fun`, flat values to a flat sequence, at `primals`.

    `live[i]`: differentiate with respect to argument i. `want[i]`: give the tangent of
    output i even where it is zero. Returns the results; the linear
    jaxpr from live tangents to the live output tangents; the values of its constants
    (the residuals); and which outputs are live.
    """
    parent = state.trace
    tangents = TangentTrace(parent)
    trace = LinearizeTrace(parent, tangents)
    ins = []
    for i, x in enumerate(primals):
        if live is None or live[i]:
            t = tangents.new_input(aval_of(x))
            ins.append(JVPTracer(trace, x, t))
        else:
            ins.append(x)
    state.trace = trace
    try:
        outs = fun(*ins)
    finally:
        state.trace = parent
        trace.alive = False
    values, ts = unwrap(trace, outs)
    if want is not None:
        ts = [
            zeros(aval_of(x)) if t is None and w else t
            for x, t, w in zip(values, ts, want, strict=True)
        ]
    jaxpr = tangents.jaxpr([t for t in ts if t is not None])
    tangents.alive = False
    return values, jaxpr, tangents.consts, [t is not None for t in ts]
