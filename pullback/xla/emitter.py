"""StableHLO modules: functions, and the emitter that lowering rules are handed.

A module and its values belong to one thread at a time; its bytecode to anyone.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxlib.mlir import ir

from pullback.xla.calls import Calls
from pullback.xla.contractions import Contractions
from pullback.xla.elementwise import Elementwise
from pullback.xla.regions import Regions
from pullback.xla.shapes import Shapes
from pullback.xla.types import Attribute, AvalLike, Context, Type, Value

FunctionBody = Callable[..., Sequence[Value]]


class Emitter(Elementwise, Shapes, Contractions, Regions, Calls):
    """What a lowering rule may call: one method a StableHLO operation.

    `avals_in` holds the avals of the operands of the equation being lowered, `loc`
    the location that operations get, `module` the module for inner functions.
    """

    __slots__ = ()


class Module:
    """A StableHLO module in the making."""

    __slots__ = ("_names", "_place", "_raw", "context", "emitter", "functions")

    def __init__(self, name: str = "main", emitter: type[Emitter] = Emitter):
        """`emitter`: what bodies are handed; `functions`: free for the caller's use."""
        self.context, self.emitter = Context(), emitter
        self.functions: dict[Any, Any] = {}
        self._raw = ir.Module.create(self.context.unknown)
        self._raw.operation.attributes["sym_name"] = self.context.string(name)
        self._place = ir.InsertionPoint(self._raw.body)
        self._names: dict[str, int] = {}

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        """Sets attributes of the module from plain data (`mhlo.num_partitions`)."""
        target = self._raw.operation.attributes
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
        return str(self._raw.operation.get_asm(enable_debug_info=locations))

    def bytecode(self) -> bytes:
        """Returns what `compile_module` takes and any thread may hold."""
        out = io.BytesIO()
        self._raw.operation.write_bytecode(out)
        return out.getvalue()

    def verify(self) -> None:
        """Raises ValueError where an operation breaks its rules (for tests)."""
        try:
            self._raw.operation.verify()
        except ir.MLIRError as error:
            raise ValueError(str(error)) from None


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
