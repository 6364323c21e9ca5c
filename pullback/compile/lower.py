"""Jaxpr -> StableHLO module: reads each primitive's `lower` rule.

Inner calls of one body become one private function, however often they are made.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.core.aval import ShapedArray
from pullback.core.errors import InternalError
from pullback.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from pullback.xla.builder import ModuleBuilder
from pullback.xla.emitter import Emitter


def carried(aval: ShapedArray) -> ShapedArray:
    """The type of an aval's elements in StableHLO."""
    return aval.carrier or aval


class Lowering(Emitter):
    """The emitter that lowering rules are handed: StableHLO, and bodies of regions."""

    __slots__ = ()

    def locate(self, eqn: JaxprEqn) -> None:
        """Give operations from here on the place of an equation."""
        source = eqn.source
        frame = source.user_frame() if source is not None else None
        if source is not None and frame is not None:
            name, scope = eqn.primitive.name, source.scope
            name = f"{scope}/{name}" if scope else name
            self.set_location(name, frame.file, frame.line, frame.column or 0)

    def call_body(self, body: ClosedJaxpr, name: str, args: Sequence[Any]) -> list[Any]:
        """Call `body` as a private function of the module."""
        functions = self.module.functions
        found = functions.get(body.jaxpr)
        ordered = is_ordered(body.jaxpr)
        token = [None] if ordered else []
        if found is None:
            avals = [*token, *map(carried, body.in_avals)]
            found = self.module.function(
                name, avals, lambda b, *xs: b.function_body(body, xs, ordered)
            )
            functions[body.jaxpr] = found
        outs = list(map(carried, body.out_avals))
        if not ordered:
            return self.call(found, outs, args)
        self.token, *values = self.call(found, [None, *outs], [self.token, *args])
        return values

    def function_body(self, body: ClosedJaxpr, args, ordered: bool) -> list[Any]:
        """The body of a private function; the token leads when there is one."""
        if not ordered:
            return self.inline(body, args)
        self.token, *args = args
        outs = self.inline(body, args)
        return [self.token, *outs]

    def inline(self, body: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
        """Emit the equations of `body` here."""
        consts = [
            self.constant(host_value(c, v.aval), carried(v.aval))
            for c, v in zip(body.consts, body.jaxpr.constvars, strict=True)
        ]
        return lower_jaxpr(self, body.jaxpr, consts, args)


def is_ordered(jaxpr: Jaxpr) -> bool:
    """Whether some of its effects happen in program order."""
    return any(getattr(effect, "ordered", False) for effect in jaxpr.effects)


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
        prim = eqn.primitive
        b.locate(eqn)
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


def lower_module(
    closed: ClosedJaxpr,
    name: str,
    donated=None,
    emitter: type[Lowering] = Lowering,
) -> ModuleBuilder:
    """The module of a program whose constants are leading arguments."""
    jaxpr = closed.jaxpr
    module = ModuleBuilder(_module_name(name), emitter)
    n = len(jaxpr.constvars)
    avals = [carried(v.aval) for v in (*jaxpr.constvars, *jaxpr.invars)]

    def main(b: Lowering, *xs: Any) -> list[Any]:
        if is_ordered(jaxpr):
            b.token = b.create_token()
        return lower_jaxpr(b, jaxpr, xs[:n], xs[n:])

    module.function("main", avals, main, public=True, donated=donated)
    return module


def _module_name(name: str) -> str:
    clean = "".join(c if c.isalnum() or c in "_." else "_" for c in name)
    return f"jit_{clean}"
