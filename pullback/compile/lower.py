"""Jaxpr -> StableHLO module: reads each primitive's `lower` rule.

Inner calls of one body become one private function, however often they are made.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.core.aval import ShapedArray
from pullback.core.errors import InternalError
from pullback.core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from pullback.core.provenance import Origin
from pullback.xla.builder import ModuleBuilder
from pullback.xla.emitter import Emitter


def carried(aval: ShapedArray) -> ShapedArray:
    """The type of an aval's elements in StableHLO."""
    return aval.carrier or aval


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
                list(map(carried, body.in_avals)),
                lambda b, *xs: b.inline(body, xs),
            )
            functions[body.jaxpr] = found
        return self.call(found, list(map(carried, body.out_avals)), args)

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
    for eqn in jaxpr.eqns:
        prim, source = eqn.primitive, eqn.source
        if source is not None:
            _locate(b, prim.name, source)
        xs, b.avals_in = [], []
        for v in eqn.invars:
            xs.append(env[v] if type(v) is not Literal else _literal(b, v))
            b.avals_in.append(carried(v.aval))
        outvars = eqn.outvars
        if prim.multiple_results:
            outs = [v.aval.carrier or v.aval for v in outvars]
            values = prim.lower(b, outs, *xs, **eqn.params)
            if len(values) != len(outs):
                raise InternalError(f"{prim.name}: its lowering gives {len(values)}")
            env.update(zip(outvars, values, strict=True))
        else:
            out = outvars[0].aval
            out = out.carrier or out
            env[outvars[0]] = prim.lower(b, out, *xs, **eqn.params)
    b.loc = outer
    return [_literal(b, v) if type(v) is Literal else env[v] for v in jaxpr.outvars]


def _literal(b: Lowering, v: Literal) -> Any:
    return b.constant(host_value(v.val, v.aval), carried(v.aval))


def _locate(b: Lowering, name: str, source: Origin) -> None:
    frame = source.user_frame()
    if frame is not None:
        b.set_location(name, frame.file, frame.line, frame.column or 0)


def lower_module(closed: ClosedJaxpr, name: str, donated=None) -> ModuleBuilder:
    """The module of a program whose constants are leading arguments."""
    jaxpr = closed.jaxpr
    module = ModuleBuilder(_module_name(name), Lowering)
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
