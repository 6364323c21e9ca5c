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
    """One scan being lowered: `b` emits, `operands` are constants, carry and rows."""

    def __init__(self, b: Any, outs: list, operands: tuple, params: dict[str, Any]):
        self.b = b
        self.body: ClosedJaxpr = params["jaxpr"]
        self.length = params["length"]
        self.reverse = params["reverse"]
        num_consts = params["num_consts"]
        num_carry = self.num_carry = params["num_carry"]
        groups = parts(operands, num_consts, num_carry)
        self.consts, self.init, self.xs = groups
        self.x_avals = b.avals_in[num_consts + num_carry :]
        self.y_avals = outs[num_carry:]

    def run(self, unroll: int) -> list[Any]:
        """Values of the final carry and of the stacked outputs."""
        if self.length <= unroll:
            return self.straight()
        return self.looped(unroll)

    # ---- without a loop ----

    def straight(self) -> list[Any]:
        """Every iteration written out, outputs joined at the end."""
        carry = self.init
        made = []
        steps = range(self.length)
        for i in reversed(steps) if self.reverse else steps:
            carry, ys = self.iterate(carry, i)
            made.append(ys)
        if self.reverse:
            made.reverse()
        stacks = [
            self.joined([ys[k] for ys in made], aval)
            for k, aval in enumerate(self.y_avals)
        ]
        return [*carry, *stacks]

    def joined(self, rows: list[Any], aval: ShapedArray) -> Any:
        """Rows as one array."""
        if len(rows) > 1:
            return self.b.concatenate(rows, 0)
        if rows:
            return rows[0]
        return self.b.full(0, aval)

    # ---- with a loop ----

    def looped(self, unroll: int) -> list[Any]:
        """A loop of `length // unroll` steps, and the iterations left over."""
        b = self.b
        end = self.length - self.length % unroll
        empty = [b.full(0, aval) for aval in self.y_avals]

        def more(b, i, *state):
            limit = index(b, end)
            return b.compare(i, limit, "LT")

        def step(b, i, *state):
            values = list(state)
            for k in range(unroll):
                at = b.add(i, index(b, k))
                values = self.filling(at, values)
            ahead = b.add(i, index(b, unroll))
            return [ahead, *values]

        start = [index(b, 0), *self.init, *empty]
        state = b.while_loop(start, more, step)[1:]
        for i in range(end, self.length):
            state = self.filling(index(b, i), state)
        return state

    def filling(self, i: Any, state: list[Any]) -> list[Any]:
        """Carry and output stacks after iteration `i`, a computed index."""
        b = self.b
        if self.reverse:
            last = index(b, self.length - 1)
            i = b.subtract(last, i)
        carry = state[: self.num_carry]
        stacks = state[self.num_carry :]
        carry, ys = self.iterate(carry, i)
        filled = [
            b.dynamic_update_slice(stack, y, self.starts(i, aval))
            for stack, y, aval in zip(stacks, ys, self.y_avals, strict=True)
        ]
        return [*carry, *filled]

    # ---- one iteration ----

    def iterate(self, carry: list, at: Any) -> tuple[list, list]:
        """The next carry, and rows `[1, *s]`, from row `at` of the inputs."""
        b = self.b
        rows = [
            self.row(x, aval, at) for x, aval in zip(self.xs, self.x_avals, strict=True)
        ]
        operands = [*self.consts, *carry, *rows]
        outs = b.inline(self.body, operands)
        ys = [
            b.reshape(one_row(aval), y)
            for y, aval in zip(outs[self.num_carry :], self.y_avals, strict=True)
        ]
        return outs[: self.num_carry], ys

    def row(self, x: Any, aval: ShapedArray, at: Any) -> Any:
        """`x[at]`, for a static or a computed index."""
        b = self.b
        rest = aval.shape[1:]
        if isinstance(at, int):
            start = [at, *(0 for _ in rest)]
            stop = [at + 1, *rest]
            cut = b.slice(x, start, stop)
        else:
            starts = self.starts(at, aval)
            cut = b.dynamic_slice(x, starts, (1, *rest))
        out = ShapedArray(rest, aval.dtype)
        return b.reshape(out, cut)

    def starts(self, at: Any, aval: ShapedArray) -> list[Any]:
        """The start indices of row `at`."""
        zero = index(self.b, 0)
        return [at, *(zero for _ in aval.shape[1:])]


def index(b: Any, i: int) -> Any:
    """The constant `i` as an index."""
    return b.constant(i, INDEX)


def one_row(aval: ShapedArray) -> ShapedArray:
    """The type of one row of a stack."""
    shape = (1, *aval.shape[1:])
    return ShapedArray(shape, aval.dtype)
