"""Calls: functions of the module, custom calls, tokens, random bits, barriers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _stablehlo

from pullback.xla.builder import Builder
from pullback.xla.types import Attribute, AvalLike, Value


class Calls(Builder):
    """In lists of avals, None stands for a token."""

    __slots__ = ()

    def call(
        self,
        name: str,
        outs: Sequence[AvalLike | None],
        args: Sequence[Value],
        attributes: Mapping[str, Any] | None = None,
    ) -> list[Value]:
        """Calls the function that `Module.function` returned the name of."""
        c = self.context
        fields = self.plain_attributes(attributes or {})
        fields["callee"] = c.symbol(name)
        return self.many("func.call", c.tensors(outs), args, fields)

    def custom_call(
        self,
        target: str,
        outs: Sequence[AvalLike | None],
        args: Sequence[Value],
        *,
        backend_config: Mapping[str, Any] | str = "",
        api_version: int = 4,
        has_side_effect: bool = False,
        operand_layouts: Sequence[Sequence[int]] | None = None,
        result_layouts: Sequence[Sequence[int]] | None = None,
        aliases: Mapping[int, int] | None = None,
        called: Sequence[str] = (),
        attributes: Mapping[str, Any] | None = None,
    ) -> list[Value]:
        """Calls a function registered with XLA, or one that XLA knows by name.

        backend_config: attributes by name (api_version 4), or text (others)
        layouts: dimensions from minor to major, for each operand and result
        aliases: operand index by output index, for results that reuse its memory
        """
        c = self.context
        fields = {
            "call_target_name": c.string(target),
            "backend_config": c.plain(backend_config),
            "api_version": c.integer(api_version, 32),
            "has_side_effect": c.boolean(has_side_effect),
            **self.plain_attributes(attributes or {}),
        }
        if operand_layouts is not None:
            fields["operand_layouts"] = self._layouts(operand_layouts)
        if result_layouts is not None:
            fields["result_layouts"] = self._layouts(result_layouts)
        if aliases:
            fields["output_operand_aliases"] = self._aliases(aliases, len(outs))
        if called:
            fields["called_computations"] = c.array([c.symbol(f) for f in called])
        return self.many("stablehlo.custom_call", c.tensors(outs), args, fields)

    def _layouts(self, layouts: Sequence[Sequence[int]]) -> Attribute:
        return self.context.array([self.context.index_vector(x) for x in layouts])

    def _aliases(self, aliases: Mapping[int, int], outputs: int) -> Attribute:
        get, raw = _stablehlo.OutputOperandAlias.get, self.context.raw
        return self.context.array(
            [
                get([] if outputs == 1 else [output], operand, [], raw)
                for output, operand in aliases.items()
            ]
        )

    def python_callback(
        self,
        function: Callable[..., tuple],
        outs: Sequence[AvalLike],
        args: Sequence[Value],
        *,
        ordered: bool,
        pure: bool,
    ) -> list[Value]:
        """Calls Python when the program runs: `function(*arrays)` on NumPy arrays.

        function: returns a tuple of contiguous arrays of exactly the types `outs`;
            others end the process
        ordered: comes after the calls before it; the first argument and the first
            result are then a token, None in Python
        """
        callbacks = self.module.callbacks
        index = np.uint64(len(callbacks))
        callbacks.append(function)
        ranks = [ir.RankedTensorType(x.type).rank for x in args]
        out_ranks = [len(a.shape) for a in outs]
        first = [None] if ordered else []
        if ordered:
            args = [self.token, *args]
            ranks, out_ranks = [0, *ranks], [0, *out_ranks]
        results = self.custom_call(
            "xla_ffi_python_cpu_callback",
            [*first, *outs],
            args,
            backend_config={"index": index},
            has_side_effect=not pure,
            operand_layouts=[range(n - 1, -1, -1) for n in ranks],
            result_layouts=[range(n - 1, -1, -1) for n in out_ranks],
        )
        if ordered:
            self.token = results.pop(0)
        return results

    def rng_bit_generator(
        self,
        state_out: AvalLike,
        out: AvalLike,
        state: Value,
        algorithm: str = "DEFAULT",
    ) -> list[Value]:
        """Returns the next state and random bits.

        algorithm: THREE_FRY PHILOX DEFAULT
        """
        c = self.context
        get = _stablehlo.RngAlgorithmAttr.get
        fields = {"rng_algorithm": get(algorithm, c.raw)}
        results = c.tensors([state_out, out])
        return self.many("stablehlo.rng_bit_generator", results, (state,), fields)

    def optimization_barrier(self, xs: Sequence[Value]) -> list[Value]:
        """Returns `xs`, between which and what follows XLA moves nothing."""
        types = [x.type for x in xs]
        return self.many("stablehlo.optimization_barrier", types, xs)

    def create_token(self) -> Value:
        """Returns a token that depends on nothing."""
        return self.after_all(())

    def after_all(self, tokens: Sequence[Value]) -> Value:
        """Returns a token that comes after all of `tokens`."""
        return self.op("stablehlo.after_all", self.context.token(), tuple(tokens))
