"""A scan in StableHLO: a while loop that slices its inputs and fills its outputs.

`unroll` iterations make one step of the loop; those left over, and scans that are no
longer than one step, are written out without a loop.
"""

from typing import Any

import numpy as np

from pullback.core.aval import ShapedArray
from pullback.core.jaxpr import ClosedJaxpr
from pullback.regions.scan_bodies import parts

INDEX = ShapedArray((), np.dtype(np.int32))


class ScanLowering:
    """One scan being lowered: `b` emits, `xs` are stacked inputs, `outs` their types."""

    def __init__(self, b: Any, outs: list, operands: tuple, params: dict[str, Any]):
        self.b, self.body = b, params["jaxpr"]
        self.length, self.reverse = params["length"], params["reverse"]
        counts = params["num_consts"], params["num_carry"]
        self.consts, self.init, self.xs = parts(operands, *counts)
        self.x_avals = parts(b.avals_in, *counts)[2]
        self.y_avals = outs[counts[1] :]
        self.num_carry = counts[1]

    def run(self, unroll: int) -> list[Any]:
        """Values of the final carry and of the stacked outputs."""
        if self.length <= unroll:
            return self.straight()
        return self.looped(unroll)

    def straight(self) -> list[Any]:
        """Every iteration written out, outputs joined at the end."""
        b, carry = self.b, self.init
        rows: list[list[Any]] = [[] for _ in self.y_avals]
        steps = range(self.length)
        for i in reversed(steps) if self.reverse else steps:
            carry, ys = self.iterate(carry, self.rows_at(i))
            for row, y, aval in zip(rows, ys, self.y_avals, strict=True):
                row.append(b.reshape(one_row(aval), y))
        if self.reverse:
            rows = [row[::-1] for row in rows]
        stacks = map(self.joined, rows, self.y_avals)
        return [*carry, *stacks]

    def joined(self, rows: list[Any], aval: ShapedArray) -> Any:
        """Rows as one array."""
        if len(rows) > 1:
            return self.b.concatenate(rows, 0)
        return rows[0] if rows else self.b.full(0, aval)

    def looped(self, unroll: int) -> list[Any]:
        """A loop of `length // unroll` steps, and the iterations left over."""
        b = self.b
        end = self.length - self.length % unroll
        empty = [b.full(0, aval) for aval in self.y_avals]

        def more(b, i, *state):
            return b.compare(i, b.constant(end, INDEX), "LT")

        def step(b, i, *state):
            values = list(state)
            for k in range(unroll):
                values = self.iteration(self.place(b.add(i, index(b, k))), values)
            return [b.add(i, index(b, unroll)), *values]

        _, *state = b.while_loop([index(b, 0), *self.init, *empty], more, step)
        for i in range(end, self.length):
            state = self.iteration(self.place(index(b, i)), state)
        return state

    def place(self, i: Any) -> Any:
        """Where iteration `i` reads and writes."""
        if not self.reverse:
            return i
        return self.b.subtract(index(self.b, self.length - 1), i)

    def iteration(self, at: Any, state: list[Any]) -> list[Any]:
        """Carry and output stacks after one more iteration at a computed index."""
        carry, stacks = state[: self.num_carry], state[self.num_carry :]
        carry, ys = self.iterate(carry, self.rows_at(at))
        b = self.b
        stacks = [
            b.dynamic_update_slice(
                stack, b.reshape(one_row(aval), y), self.starts(at, aval)
            )
            for stack, y, aval in zip(stacks, ys, self.y_avals, strict=True)
        ]
        return [*carry, *stacks]

    def iterate(self, carry: list, rows: list) -> tuple[list, list]:
        """One run of the body."""
        body: ClosedJaxpr = self.body
        outs = self.b.inline(body, [*self.consts, *carry, *rows])
        return outs[: self.num_carry], outs[self.num_carry :]

    def rows_at(self, at: Any) -> list[Any]:
        """The slices of the inputs at an index, static or computed."""
        return [self.row(x, a, at) for x, a in zip(self.xs, self.x_avals, strict=True)]

    def row(self, x: Any, aval: ShapedArray, at: Any) -> Any:
        """`x[at]`"""
        b, rest = self.b, aval.shape[1:]
        if isinstance(at, int):
            cut = b.slice(x, [at] + [0] * len(rest), [at + 1, *rest])
        else:
            cut = b.dynamic_slice(x, self.starts(at, aval), (1, *rest))
        return b.reshape(ShapedArray(rest, aval.dtype), cut)

    def starts(self, at: Any, aval: ShapedArray) -> list[Any]:
        """The start indices of row `at`."""
        return [at] + [index(self.b, 0)] * (aval.ndim - 1)


def index(b: Any, i: int) -> Any:
    """The constant `i` as an index."""
    return b.constant(i, INDEX)


def one_row(aval: ShapedArray) -> ShapedArray:
    """The type of one row of a stack."""
    return ShapedArray((1, *aval.shape[1:]), aval.dtype)
