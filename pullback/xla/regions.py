"""Operations that hold regions. Bodies are Python callables `body(b, *arguments)`.

A body returns a list of values, or one value; a string names a method: `"add"`.
"""

from collections.abc import Sequence

from jaxlib.mlir import ir

from pullback.xla.builder import Body, Builder
from pullback.xla.types import AvalLike, Type, Value


class Regions(Builder):
    """Inside a body, `b` is the same emitter; after it, all is as it was."""

    __slots__ = ()

    def reduce(
        self,
        outs: Sequence[AvalLike],
        xs: Sequence[Value],
        inits: Sequence[Value],
        axes: Sequence[int],
        body: Body,
    ) -> list[Value]:
        """body: `body(b, *accumulated, *elements) -> list` on scalars"""
        c = self.context
        return self.many(
            "stablehlo.reduce",
            c.tensors(outs),
            (*xs, *inits),
            {"dimensions": c.ints(axes)},
            [(c.scalars_of(outs) * 2, body)],
        )

    def reduce_window(
        self,
        outs: Sequence[AvalLike],
        xs: Sequence[Value],
        inits: Sequence[Value],
        body: Body,
        *,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int],
        base_dilations: Sequence[int],
        window_dilations: Sequence[int],
        padding: Sequence[tuple[int, int]],
    ) -> list[Value]:
        """body: `body(b, *accumulated, *elements) -> list` on scalars"""
        c = self.context
        fields = {
            "window_dimensions": c.ints(window_dimensions),
            "window_strides": c.ints(window_strides),
            "base_dilations": c.ints(base_dilations),
            "window_dilations": c.ints(window_dilations),
            "padding": c.matrix(padding, 2),
        }
        return self.many(
            "stablehlo.reduce_window",
            c.tensors(outs),
            (*xs, *inits),
            fields,
            [(c.scalars_of(outs) * 2, body)],
        )

    def select_and_scatter(
        self,
        out: AvalLike,
        x: Value,
        source: Value,
        init: Value,
        select: Body,
        scatter: Body,
        *,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int],
        padding: Sequence[tuple[int, int]],
    ) -> Value:
        """Adds each element of `source` where `select` picks in its window of `x`."""
        c = self.context
        fields = {
            "window_dimensions": c.ints(window_dimensions),
            "window_strides": c.ints(window_strides),
            "padding": c.matrix(padding, 2),
        }
        pair = c.scalars_of([out]) * 2
        return self.many(
            "stablehlo.select_and_scatter",
            [c.tensor(out)],
            (x, source, init),
            fields,
            [(pair, select), (pair, scatter)],
        )[0]

    def sort(
        self, xs: Sequence[Value], dim: int, comparator: Body, stable: bool = True
    ) -> list[Value]:
        """comparator: `comparator(b, x0, y0, x1, y1, ...) -> bool[]`, x before y"""
        c = self.context
        fields = {"dimension": c.integer(dim), "is_stable": c.boolean(stable)}
        types = [x.type for x in xs]
        pairs = [self._scalar_type(t) for t in types for _ in range(2)]
        return self.many("stablehlo.sort", types, xs, fields, [(pairs, comparator)])

    def _scalar_type(self, tensor: Type) -> Type:
        return ir.RankedTensorType.get(
            (), tensor.element_type, loc=self.context.unknown
        )

    def top_k(self, x: Value, k: int) -> tuple[Value, Value]:
        """Returns the k largest of the last dimension, and their int32 positions."""
        made = ir.Operation.create(
            "chlo.top_k",
            None,
            (x,),
            {"k": self.context.integer(k)},
            None,
            0,
            self.loc,
            self._place,
            True,
        )
        values, positions = made.results
        return values, positions

    def while_loop(self, inits: Sequence[Value], cond: Body, body: Body) -> list[Value]:
        """`cond(b, *state) -> bool[]`, `body(b, *state) -> list`; values outside may
        be used inside"""
        if self.token is not None:
            return self._ordered_while(inits, cond, body)
        types = [x.type for x in inits]
        regions = [(types, cond), (types, body)]
        return self.many("stablehlo.while", types, inits, None, regions)

    def _ordered_while(self, inits, cond: Body, body: Body) -> list[Value]:
        """A loop that hands on the token."""
        state = [*inits, self.token]

        def test(b: Regions, *xs: Value) -> Sequence[Value]:
            b.token = xs[-1]
            return b._run(cond, xs[:-1])

        def step(b: Regions, *xs: Value) -> Sequence[Value]:
            b.token = xs[-1]
            return [*b._run(body, xs[:-1]), b.token]

        types = [x.type for x in state]
        regions = [(types, test), (types, step)]
        *outs, self.token = self.many("stablehlo.while", types, state, None, regions)
        return outs

    def case(
        self,
        index: Value,
        branches: Sequence[Body],
        outs: Sequence[AvalLike],
    ) -> list[Value]:
        """Runs `branches[index](b) -> list`, the last when `index` is out of range.

        index: int32[]; branches take no arguments and use values from outside
        """
        return self._branch("stablehlo.case", index, branches, outs)

    def if_(
        self, pred: Value, on_true: Body, on_false: Body, outs: Sequence[AvalLike]
    ) -> list[Value]:
        """pred: bool[]; branches as in `case`"""
        return self._branch("stablehlo.if", pred, (on_true, on_false), outs)

    def _branch(self, name: str, chosen: Value, branches, outs) -> list[Value]:
        token = self.token
        if token is None:
            regions = [((), branch) for branch in branches]
            results = self.context.tensors(outs)
            return self.many(name, results, (chosen,), None, regions)

        def ordered(branch: Body) -> Body:
            def run(b: Regions) -> Sequence[Value]:
                b.token = token
                return [*b._run(branch, ()), b.token]

            return run

        regions = [((), ordered(branch)) for branch in branches]
        results = self.context.tensors([*outs, None])
        *values, self.token = self.many(name, results, (chosen,), None, regions)
        return values
