"""Operations that make, move and index arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxlib.mlir._mlir_libs import _stablehlo

from pullback.xla.builder import Body, Builder
from pullback.xla.types import AvalLike, Value


class Shapes(Builder):
    """Methods are named as the operations; `out` is the aval of the result."""

    __slots__ = ()

    def constant(self, value: Any, aval: AvalLike | None = None) -> Value:
        """Emits an array; `aval` fixes its element type, and its shape if 0-d."""
        array = np.asarray(value, None if aval is None else aval.dtype)
        c = self.context
        out = c.tensor(array if aval is None else aval)
        return self.op("stablehlo.constant", out, (), {"value": c.elements(array, out)})

    def full(self, value: Any, out: AvalLike) -> Value:
        """Emits an array whose elements are all `value`."""
        return self.constant(value, out)

    def iota(self, out: AvalLike, dim: int) -> Value:
        """Counts from 0 along a dimension."""
        c = self.context
        fields = {"iota_dimension": c.integer(dim)}
        return self.op("stablehlo.iota", c.tensor(out), (), fields)

    def broadcast_in_dim(self, out: AvalLike, x: Value, dims: Sequence[int]) -> Value:
        """Dimension i of `x` becomes dimension `dims[i]` of the result."""
        c = self.context
        fields = {"broadcast_dimensions": c.ints(dims)}
        return self.op("stablehlo.broadcast_in_dim", c.tensor(out), (x,), fields)

    def reshape(self, out: AvalLike, x: Value) -> Value:
        """Keeps the elements in row-major order."""
        return self.op("stablehlo.reshape", self.context.tensor(out), (x,))

    def transpose(self, out: AvalLike, x: Value, perm: Sequence[int]) -> Value:
        """Dimension i of the result is dimension `perm[i]` of `x`."""
        c = self.context
        fields = {"permutation": c.ints(perm)}
        return self.op("stablehlo.transpose", c.tensor(out), (x,), fields)

    def concatenate(self, xs: Sequence[Value], dim: int) -> Value:
        """Joins along a dimension."""
        fields = {"dimension": self.context.integer(dim)}
        return self.inferred("stablehlo.concatenate", tuple(xs), fields)

    def pad(
        self,
        x: Value,
        value: Value,
        low: Sequence[int],
        high: Sequence[int],
        interior: Sequence[int],
    ) -> Value:
        """Adds (or, when negative, drops) elements at the edges and in between."""
        ints = self.context.ints
        fields = {
            "edge_padding_low": ints(low),
            "edge_padding_high": ints(high),
            "interior_padding": ints(interior),
        }
        return self.inferred("stablehlo.pad", (x, value), fields)

    def slice(
        self,
        x: Value,
        start: Sequence[int],
        limit: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> Value:
        """Takes `x[start:limit:strides]` in each dimension."""
        ints = self.context.ints
        fields = {
            "start_indices": ints(start),
            "limit_indices": ints(limit),
            "strides": ints([1] * len(start) if strides is None else strides),
        }
        return self.inferred("stablehlo.slice", (x,), fields)

    def dynamic_slice(
        self, x: Value, starts: Sequence[Value], sizes: Sequence[int]
    ) -> Value:
        """starts: one scalar a dimension, clamped into range"""
        fields = {"slice_sizes": self.context.ints(sizes)}
        return self.inferred("stablehlo.dynamic_slice", (x, *starts), fields)

    def dynamic_update_slice(
        self, x: Value, update: Value, starts: Sequence[Value]
    ) -> Value:
        """starts: one scalar a dimension, clamped into range"""
        name = "stablehlo.dynamic_update_slice"
        return self.op(name, x.type, (x, update, *starts))

    def reverse(self, x: Value, dims: Sequence[int]) -> Value:
        """Reverses the order along dimensions."""
        fields = {"dimensions": self.context.ints(dims)}
        return self.op("stablehlo.reverse", x.type, (x,), fields)

    def gather(
        self,
        out: AvalLike,
        x: Value,
        indices: Value,
        *,
        offset_dims: Sequence[int],
        collapsed_slice_dims: Sequence[int],
        operand_batching_dims: Sequence[int] = (),
        start_indices_batching_dims: Sequence[int] = (),
        start_index_map: Sequence[int],
        index_vector_dim: int,
        slice_sizes: Sequence[int],
        indices_are_sorted: bool = False,
    ) -> Value:
        """Takes slices at `indices`, clamped into range. Source: StableHLO gather."""
        c = self.context
        fields = {
            "dimension_numbers": _stablehlo.GatherDimensionNumbers.get(
                list(offset_dims),
                list(collapsed_slice_dims),
                list(operand_batching_dims),
                list(start_indices_batching_dims),
                list(start_index_map),
                index_vector_dim,
                context=c.raw,
            ),
            "slice_sizes": c.ints(slice_sizes),
            "indices_are_sorted": c.boolean(indices_are_sorted),
        }
        return self.op("stablehlo.gather", c.tensor(out), (x, indices), fields)

    def scatter(
        self,
        outs: Sequence[AvalLike],
        xs: Sequence[Value],
        indices: Value,
        updates: Sequence[Value],
        body: Body,
        *,
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        input_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
        scattered_dims_to_operand_dims: Sequence[int],
        index_vector_dim: int,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
    ) -> list[Value]:
        """Combines updates into `xs` at `indices`; those out of range are dropped.

        body: `body(b, *olds, *news) -> list` on scalars
        """
        c = self.context
        fields = {
            "scatter_dimension_numbers": _stablehlo.ScatterDimensionNumbers.get(
                list(update_window_dims),
                list(inserted_window_dims),
                list(input_batching_dims),
                list(scatter_indices_batching_dims),
                list(scattered_dims_to_operand_dims),
                index_vector_dim,
                context=c.raw,
            ),
            "indices_are_sorted": c.boolean(indices_are_sorted),
            "unique_indices": c.boolean(unique_indices),
        }
        scalars = c.scalars_of(outs)
        return self.many(
            "stablehlo.scatter",
            c.tensors(outs),
            (*xs, indices, *updates),
            fields,
            [(scalars * 2, body)],
        )
