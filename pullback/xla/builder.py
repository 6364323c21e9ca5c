"""The state of an emitter and its three primitives: an operation, a region, a place.

What the methods of the emitter share. It knows no StableHLO operation by name.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jaxlib.mlir import ir

from pullback.xla.types import Attribute, AvalLike, Context, Type, Value

Body = Callable[..., Any] | str

_create = ir.Operation.create


class Builder:
    """Appends operations to one block; regions move it and put it back."""

    __slots__ = ("_place", "avals_in", "context", "loc", "module")

    def __init__(self, context: Context, block: Any, loc: Any, module: Any = None):
        self.context = context
        self.module = module
        self.loc = loc
        self.avals_in: Sequence[AvalLike] = ()
        self._place = ir.InsertionPoint(block)

    def set_location(self, name: str, file: str, line: int, col: int = 0) -> None:
        """Gives operations from here on a name and a place in a source file."""
        self.loc = self.context.location(name, file, line, col)

    def op(
        self,
        name: str,
        result: Type,
        operands: Sequence[Value],
        attributes: dict[str, Attribute] | None = None,
    ) -> Value:
        """Appends an operation with one result of a known type."""
        return _create(
            name, (result,), operands, attributes, None, 0, self.loc, self._place
        ).result

    def inferred(
        self,
        name: str,
        operands: Sequence[Value],
        attributes: dict[str, Attribute] | None = None,
    ) -> Value:
        """Appends an operation whose result types MLIR infers; returns the first."""
        return _create(
            name, None, operands, attributes, None, 0, self.loc, self._place, True
        ).results[0]

    def many(
        self,
        name: str,
        results: Sequence[Type],
        operands: Sequence[Value],
        attributes: dict[str, Attribute] | None = None,
        regions: Sequence[tuple[Sequence[Type], Body]] = (),
    ) -> list[Value]:
        """Appends an operation with any number of results and regions.

        regions: for each, the types of its block's arguments and `body(b, *args)`
        """
        count = len(regions)
        made = _create(
            name, results, operands, attributes, None, count, self.loc, self._place
        )
        for region, (types, body) in zip(made.regions, regions, strict=True):
            self._fill(region, types, body)
        return list(made.results)

    def _fill(self, region: Any, types: Sequence[Type], body: Body) -> None:
        loc = self.loc
        block = region.blocks.append(*types, arg_locs=[loc] * len(types))
        saved = self._place, loc, self.avals_in
        self._place = ir.InsertionPoint(block)
        try:
            outs = self._run(body, block.arguments)
            self.loc = loc
            self.many("stablehlo.return", (), outs)
        finally:
            self._place, self.loc, self.avals_in = saved

    def _run(self, body: Body, arguments: Sequence[Value]) -> Sequence[Value]:
        call = getattr(type(self), body) if isinstance(body, str) else body
        outs = call(self, *arguments)
        return outs if isinstance(outs, list | tuple) else (outs,)

    def plain_attributes(self, fields: Mapping[str, Any]) -> dict[str, Attribute]:
        """Returns plain Python data as attributes."""
        plain = self.context.plain
        return {name: plain(value) for name, value in fields.items()}


def unary(name: str) -> Callable[[Any, Value], Value]:
    """Makes a method for an operation `f(x: t[*s]) -> t[*s]`."""

    def method(b: Builder, x: Value) -> Value:
        return _create(name, (x.type,), (x,), None, None, 0, b.loc, b._place).result

    return method


def binary(name: str) -> Callable[[Any, Value, Value], Value]:
    """Makes a method for an operation `f(x: t[*s], y: t[*s]) -> t[*s]`."""

    def method(b: Builder, x: Value, y: Value) -> Value:
        return _create(name, (x.type,), (x, y), None, None, 0, b.loc, b._place).result

    return method


def inferred(name: str) -> Callable[..., Value]:
    """Makes a method for an operation whose result type follows from its operands."""

    def method(b: Builder, *xs: Value) -> Value:
        return b.inferred(name, xs)

    return method
