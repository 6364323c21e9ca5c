"""What the methods of an emitter share, and the module that functions are added to.

It knows no StableHLO operation by name.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

from pullback.xla.types import Attribute, AvalLike, Context, Type, Value

Body = Callable[..., Any] | str
FunctionBody = Callable[..., Sequence[Value]]

_create = ir.Operation.create


class Builder:
    """Appends operations to one block; regions move it and put it back."""

    __slots__ = ("_place", "avals_in", "context", "known", "loc", "module", "token")

    def __init__(self, context: Context, block: Any, loc: Any, module: Any = None):
        self.context = context
        self.module = module
        self.loc = loc
        self.avals_in: Sequence[AvalLike] = ()
        self.token: Value | None = None  # where ordered effects have come to
        self.known: dict[Any, Value] = {}  # what the block need not compute again
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
        saved = self._place, loc, self.avals_in, self.known
        self._place, self.known = ir.InsertionPoint(block), {}
        try:
            outs = self._run(body, block.arguments)
            self.loc = loc
            self.many("stablehlo.return", (), outs)
        finally:
            self._place, self.loc, self.avals_in, self.known = saved

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


class ModuleBuilder:
    """A StableHLO module in the making; bodies are handed an `emitter`."""

    __slots__ = (
        "_names",
        "_place",
        "callbacks",
        "context",
        "emitter",
        "functions",
        "raw",
    )

    def __init__(self, name: str, emitter: type[Builder]):
        """`emitter`: what bodies are handed; `functions`: free for the caller's use.

        `callbacks`: the Python functions that its operations call, by index.
        """
        self.context, self.emitter = Context(), emitter
        self.functions: dict[Any, Any] = {}
        self.callbacks: list[Callable[..., Any]] = []
        self.raw = ir.Module.create(self.context.unknown)
        self.raw.operation.attributes["sym_name"] = self.context.string(name)
        self._place = ir.InsertionPoint(self.raw.body)
        self._names: dict[str, int] = {}

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        """Sets attributes of the module from plain data (`mhlo.num_partitions`)."""
        target = self.raw.operation.attributes
        for name, value in attributes.items():
            target[name] = self.context.plain(value)

    def function(
        self,
        name: str,
        in_avals: Sequence[AvalLike],
        body: FunctionBody,
        *,
        public: bool = False,
        arg_names: Sequence[str] | None = None,
        arg_attributes: Sequence[Mapping[str, Any] | None] | None = None,
        result_attributes: Sequence[Mapping[str, Any] | None] | None = None,
        donated: Mapping[int, int | None] | None = None,
    ) -> str:
        """Adds a function; may be called while another one is being built.

        body: `body(b, *arguments) -> list of values`
        donated: for an argument whose memory may be reused, the index of the result
        that takes it, or None where XLA is to choose

        Returns: its name, `name` made unique; XLA runs the one named `main`.
        """
        c = self.context
        unique = self._unique(name)
        made = ir.Operation.create(
            "func.func", (), (), {}, None, 1, c.unknown, self._place
        )
        types = c.tensors(in_avals)
        locations = self._argument_locations(arg_names, len(types))
        block = made.regions[0].blocks.append(*types, arg_locs=locations)
        b = self.emitter(c, block, c.unknown, self)
        outs = body(b, *block.arguments)
        b.loc = c.unknown
        b.many("func.return", (), outs)
        fields = made.attributes
        fields["sym_name"] = c.string(unique)
        fields["sym_visibility"] = c.string("public" if public else "private")
        fields["function_type"] = self._signature(types, [x.type for x in outs])
        arguments = _donate(arg_attributes, donated, len(types))
        if arguments is not None:
            fields["arg_attrs"] = self._dictionaries(arguments)
        if result_attributes is not None:
            fields["res_attrs"] = self._dictionaries(result_attributes)
        return unique

    def _unique(self, name: str) -> str:
        seen = self._names.get(name)
        if seen is None:
            self._names[name] = 0
            return name
        self._names[name] = seen + 1
        return self._unique(f"{name}_{seen}")

    def _signature(self, ins: Sequence[Type], outs: Sequence[Type]) -> Attribute:
        signature = ir.FunctionType.get(ins, outs, context=self.context.raw)
        return ir.TypeAttr.get(signature, context=self.context.raw)

    def _argument_locations(self, names: Sequence[str] | None, count: int) -> list[Any]:
        if names is None:
            return [self.context.unknown] * count
        raw = self.context.raw
        return [ir.Location.name(name, context=raw) for name in names]

    def _dictionaries(
        self, attributes: Sequence[Mapping[str, Any] | None]
    ) -> Attribute:
        return self.context.array([self.context.plain(x or {}) for x in attributes])

    def text(self, locations: bool = False) -> str:
        """Returns the MLIR text, with `loc(...)` when asked for."""
        return str(self.raw.operation.get_asm(enable_debug_info=locations))

    def bytecode(self) -> bytes:
        """Returns what `compile_module` takes and any thread may hold."""
        return _bytecode(self.raw.operation)

    def meaning(self) -> bytes:
        """Returns the bytecode without locations: equal for equal programs."""
        bare = self.raw.operation.clone()
        with self.context.raw:
            PassManager.parse("builtin.module(strip-debuginfo)").run(bare)
        return _bytecode(bare)

    def verify(self) -> None:
        """Raises ValueError where an operation breaks its rules (for tests)."""
        try:
            self.raw.operation.verify()
        except ir.MLIRError as error:
            raise ValueError(str(error)) from None


def _bytecode(operation: Any) -> bytes:
    out = io.BytesIO()
    operation.write_bytecode(out)
    return out.getvalue()


def _donate(
    attributes: Sequence[Mapping[str, Any] | None] | None,
    donated: Mapping[int, int | None] | None,
    count: int,
) -> list[dict[str, Any]] | None:
    if attributes is None and not donated:
        return None
    fields = [dict(x or {}) for x in attributes or [None] * count]
    for argument, output in (donated or {}).items():
        if output is None:
            fields[argument]["jax.buffer_donor"] = True
        else:
            fields[argument]["tf.aliasing_output"] = np.int32(output)
    return fields
