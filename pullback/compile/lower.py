"""Jaxpr -> StableHLO module: reads each primitive's `lower` rule.

Inner calls of one body become one private function, however often they are made.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray
from pullback.core.errors import InternalError
from pullback.core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from pullback.core.provenance import Origin
from pullback.xla.emitter import Emitter, Module

CARRIER = np.dtype(np.uint64)


def carried(aval: ShapedArray) -> ShapedArray:
    """The type that carries an aval in StableHLO: a PRNG key is one 64-bit word."""
    if isinstance(aval.dtype, dtypes.ExtendedDType):
        return ShapedArray(aval.shape, CARRIER, False, aval.vary)
    return aval


class Lowering(Emitter):
    """The emitter that lowering rules are handed: StableHLO, and bodies of regions."""

    __slots__ = ()

    def call_body(self, body: ClosedJaxpr, name: str, args: Sequence[Any]) -> list[Any]:
        """Call `body` as a private function of the module."""
        functions = self.module.functions
        found = functions.get(body.jaxpr)
        if found is None:
            found = self.module.function(
                name,
                [carried(a) for a in body.in_avals],
                lambda b, *xs: b.inline(body, xs),
            )
            functions[body.jaxpr] = found
        return self.call(found, [carried(a) for a in body.out_avals], args)

    def inline(self, body: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
        """Emit the equations of `body` here."""
        consts = [
            self.constant(host_value(c, v.aval), carried(v.aval))
            for c, v in zip(body.consts, body.jaxpr.constvars, strict=True)
        ]
        return lower_jaxpr(self, body.jaxpr, consts, args)


def host_value(x: Any, aval: ShapedArray) -> np.ndarray:
    """A constant of the program, in the dtype that carries it."""
    host = getattr(x, "host", None)
    if host is not None:
        return host()
    return np.asarray(x, dtype=carried(aval).dtype)


def lower_jaxpr(
    b: Lowering, jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any]
) -> list[Any]:
    """Emit every equation of `jaxpr`; returns the values of its results."""
    env: dict = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    outer = b.loc

    def read(v):
        if type(v) is Literal:
            return b.constant(host_value(v.val, v.aval), carried(v.aval))
        return env[v]

    for eqn in jaxpr.eqns:
        prim = eqn.primitive
        _locate(b, prim.name, eqn.source)
        xs = [read(v) for v in eqn.invars]
        b.avals_in = [carried(v.aval) for v in eqn.invars]
        outs = [carried(v.aval) for v in eqn.outvars]
        if prim.multiple_results:
            values = prim.lower(b, outs, *xs, **eqn.params)
            if len(values) != len(outs):
                raise InternalError(f"{prim.name}: its lowering gives {len(values)}")
            env.update(zip(eqn.outvars, values, strict=True))
        else:
            env[eqn.outvars[0]] = prim.lower(b, outs[0], *xs, **eqn.params)
    b.loc = outer
    return [read(v) for v in jaxpr.outvars]


def _locate(b: Lowering, name: str, source: Origin | None) -> None:
    frame = source.user_frame() if source is not None else None
    if frame is not None:
        b.set_location(name, frame.file, frame.line, frame.column or 0)


def lower_module(closed: ClosedJaxpr, name: str, donated=None) -> Module:
    """The module of a program whose constants are leading arguments."""
    jaxpr = closed.jaxpr
    module = Module(_module_name(name), Lowering)
    n = len(jaxpr.constvars)
    avals = [carried(v.aval) for v in (*jaxpr.constvars, *jaxpr.invars)]
    module.function(
        "main",
        avals,
        lambda b, *xs: lower_jaxpr(b, jaxpr, xs[:n], xs[n:]),
        public=True,
        donated=donated,
    )
    return module


def _module_name(name: str) -> str:
    clean = "".join(c if c.isalnum() or c in "_." else "_" for c in name)
    return f"jit_{clean}"
