"""Vectorize over an axis: values travel with the position of theirs.

An operation on no mapped value is run once, by the parent.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pullback.core.aval import aval_of
from pullback.core.jaxpr import Jaxpr, bodies_of
from pullback.core.provenance import here
from pullback.core.trace import Trace, Tracer, state
from pullback.ops.shape import broadcast_to_axis, moveaxis


class BatchTracer(Tracer):
    """A value with a mapped axis `d` that the program does not see."""

    __slots__ = ("d", "val")

    def __init__(self, trace: "BatchTrace", val: Any, d: int):
        self.owner, self.val, self.d = trace, val, d
        aval = aval_of(val)
        self.aval = aval.update(shape=aval.shape[:d] + aval.shape[d + 1 :])

    def origin(self):
        """Where the primal value was made."""
        return self.val.origin() if isinstance(self.val, Tracer) else None


def _names_axis(prim, params: dict[str, Any], name: Any) -> bool:
    """Whether an application, or an equation in its bodies, is over the axis `name`."""
    if prim.axis_batch is not None:
        return name == params.get("axis_name") or name in params.get("axes", ())
    return any(_body_names_axis(body, name) for body in bodies_of(params))


def _body_names_axis(body: Jaxpr, name: Any) -> bool:
    key = ("names axis", name)
    if key not in body.cache:
        body.cache[key] = any(
            _names_axis(eqn.primitive, eqn.params, name) for eqn in body.eqns
        )
    return body.cache[key]


class BatchTrace(Trace):
    """Maps over an axis of size `size`, which collectives know as `axis_name`."""

    __slots__ = ("axis_name", "parent", "size")

    def __init__(self, parent: Trace, size: int, axis_name: Any = None):
        self.alive, self.parent = True, parent
        self.size, self.axis_name = size, axis_name

    def process(self, prim, args, params):
        """Apply `prim`; see `Trace`."""
        vals, ds, mapped = [], [], False
        for a in args:
            if type(a) is BatchTracer and a.owner is self:
                vals.append(a.val)
                ds.append(a.d)
                mapped = True
            else:
                vals.append(a)
                ds.append(None)
        origin = state.origin
        state.trace = self.parent
        try:
            named = self.axis_name is not None and _names_axis(
                prim, params, self.axis_name
            )
            if not mapped and not named:
                return self.parent.process(prim, vals, params)
            state.origin = (origin or here()).step("vmap")
            out, d = self.apply(prim, vals, ds, params, named)
        finally:
            state.trace, state.origin = self, origin
        if prim.multiple_results:
            return list(map(self.wrap, out, d))
        return self.wrap(out, d)

    def apply(self, prim, vals, ds, params, named: bool):
        """Results and their batch axes; `state.trace` is the parent."""
        if named and prim.axis_batch is not None:
            return prim.axis_batch(self.size, self.axis_name, vals, ds, **params)
        outer, state.mapped_axis = state.mapped_axis, self.axis_name
        try:
            return prim.batch(self.size, vals, ds, **params)
        finally:
            state.mapped_axis = outer

    def wrap(self, x, d):
        """A tracer, or the bare value when it is not mapped."""
        return x if d is None else BatchTracer(self, x, d)


def vmap_flat(
    fun: Callable[..., Sequence[Any]],
    size: int,
    args: Sequence[Any],
    ds: Sequence[int | None],
    axis_name: Any = None,
) -> tuple[list[Any], list[int | None]]:
    """Map flat `fun` over axis `ds[i]` of each argument (None: the same for all).

    Returns the results and where each carries the mapped axis (None: nowhere).
    """
    parent = state.trace
    trace = BatchTrace(parent, size, axis_name)
    ins = list(map(trace.wrap, args, ds))
    state.trace, axes = trace, state.axes
    if axis_name is not None:
        state.axes = (*axes, (axis_name, size))
    try:
        outs = list(fun(*ins))
    finally:
        state.trace, state.axes = parent, axes
        trace.alive = False
    mine = [type(x) is BatchTracer and x.owner is trace for x in outs]
    vals = [x.val if m else x for x, m in zip(outs, mine, strict=True)]
    return vals, [x.d if m else None for x, m in zip(outs, mine, strict=True)]


def to_axis(x: Any, d: int | None, size: int, want: int) -> Any:
    """`x` with its mapped axis at `want`; repeated along it when it has none."""
    if d is None:
        return broadcast_to_axis(x, size, want)
    return x if d == want else moveaxis(x, d, want)
