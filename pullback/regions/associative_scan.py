"""associative_scan: states combined from one end of an axis to each of its places.

A short or wide scan is a loop. A long one is cut into blocks whose scans advance
together; the totals of the blocks are scanned in turn. Either does O(n) work, and a
derivative keeps the states, nothing else.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np

from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Region
from pullback.core.errors import InternalError
from pullback.core.jaxpr import ClosedJaxpr
from pullback.core.primitive import Primitive
from pullback.ops.joining import concatenate
from pullback.ops.logic import select_n
from pullback.ops.shape import reshape, transpose, zeros
from pullback.ops.slicing import rev, slice_in_dim
from pullback.regions import monoid, monoid_dce
from pullback.regions.bodies import cached, closed, run
from pullback.regions.monoid import cut, in_turn, joined, shape_of
from pullback.regions.monoid_cost import cost_of, scan_block, scan_in_pairs
from pullback.regions.monoid_program import linearized, transposed
from pullback.regions.reference import run_reference
from pullback.regions.scan import scan_flat
from pullback.regions.scan_bodies import parts
from pullback.regions.scan_lower import ScanLowering, index
from pullback.transforms.dce import RULES
from pullback.transforms.vmap import to_axis


def associative_scan(
    body: ClosedJaxpr, consts: Sequence[Any], xs: Sequence[Any], reverse: bool = False
) -> list[Any]:
    """Row i: rows 0 ... i of `xs` combined in order; `reverse`: rows n-1 ... i.

    Args:
      body: `body(*consts, *acc, *x) -> acc`, associative; `x` is the new row.
      xs: each `[n, *cell]`.
    """
    return associative_scan_p.bind(
        *consts, *xs, jaxpr=body, num_consts=len(consts), reverse=reverse
    )


def _abstract(*avals, jaxpr, num_consts, reverse):
    cells = monoid.state_avals(jaxpr)
    xs = [a.strong() for a in avals[num_consts:]]
    if len(xs) != len(cells) or any(
        x.shape[1:] != c.shape or x.dtype != c.dtype
        for x, c in zip(xs, cells, strict=True)
    ):
        raise InternalError(f"associative_scan of {xs} with cells {cells}")
    return xs


def _reference(*args, jaxpr, num_consts, reverse):
    consts, xs = parts(args, num_consts)
    n = len(xs[0])
    if not n:
        return xs
    order = range(n - 1, -1, -1) if reverse else range(n)
    acc = [x[order[0]] for x in xs]
    rows = [acc]
    for i in order[1:]:
        acc = run_reference(jaxpr, *consts, *acc, *(x[i] for x in xs))
        rows.append(acc)
    if reverse:
        rows.reverse()
    columns = zip(*rows, strict=True)
    return list(map(np.stack, columns))


# ---- the algorithm, as a program ----


def _block(avals: Sequence[ShapedArray], num_consts: int) -> int | None:
    x = max(avals[num_consts:], key=lambda a: a.size)
    n = x.shape[0]
    return scan_block(n, x.size // n) if n else None


def _program(avals, jaxpr, num_consts, reverse) -> ClosedJaxpr:
    """The scan written with smaller scans, or with a loop."""

    def fun(*args):
        consts, xs = parts(args, num_consts)
        if block is None:
            return _loop(jaxpr, consts, xs, reverse)
        if reverse:
            xs = [rev(x, (0,)) for x in xs]
        if scan_in_pairs(cost_of(jaxpr)):
            ys = in_pairs(jaxpr, consts, xs)
        else:
            ys = in_blocks(jaxpr, consts, xs, block)
        return [rev(y, (0,)) for y in ys] if reverse else ys

    block = _block(avals, num_consts)
    key = ("associative_scan", tuple(avals), reverse, block)
    return cached(jaxpr, key, lambda: closed(fun, avals, jaxpr))


def in_pairs(body: ClosedJaxpr, consts: Sequence, xs: Sequence) -> list[Any]:
    """A scan by the half as long scan of pairs, from which the others follow."""
    n = shape_of(xs[0])[0]
    avals = list(map(aval_of, xs))
    if _block(avals, 0) is None:
        return associative_scan(body, consts, xs)
    half = n // 2
    left = cut(xs, 0, n - 1, 2)
    right = cut(xs, 1, n, 2)
    pairs = monoid.combined(body, consts, left, right, (half,))
    odd = in_pairs(body, consts, pairs)
    later = cut(xs, 2, n, 2)
    count = (n - 1) // 2
    before = cut(odd, 0, count)
    even = monoid.combined(body, consts, before, later, (count,))
    even = joined(cut(xs, 0, 1), even)
    return list(map(in_turn, even, odd))


def in_blocks(body: ClosedJaxpr, consts: Sequence, xs: Sequence, length: int) -> list:
    """A scan as scans of blocks of `length` cells, and of their totals."""
    n = shape_of(xs[0])[0]
    count = -(-n // length)
    rows = [_stacked(filled(x, count * length), count, length) for x in xs]
    inner = associative_scan(monoid.over(body, (count,)), consts, rows)
    totals = [last_row(y, count - 1) for y in inner]
    before = associative_scan(body, consts, totals)
    before = [monoid.spread_rows(t, length) for t in before]
    later = cut(inner, 1, count, axis=1)
    later = monoid.combined(body, consts, before, later, (length, count - 1))
    whole = joined(cut(inner, 0, 1, axis=1), later, axis=1)
    return cut([_unstacked(y) for y in whole], 0, n)


def filled(x: Any, n: int, axis: int = 0) -> Any:
    """`x` brought to size `n` along an axis by copies of its last row."""
    aval = aval_of(x)
    size = aval.shape[axis]
    if n == size:
        return x
    last = slice_in_dim(x, size - 1, size, axis=axis)
    shape = (*aval.shape[:axis], n - size, *aval.shape[axis + 1 :])
    more = monoid.stretched(last, shape)
    return concatenate([x, more], axis)


def last_row(x: Any, count: int) -> Any:
    """The last row of a stack: its first `count` cells."""
    shape = shape_of(x)
    row = slice_in_dim(x, shape[0] - 1, shape[0])
    return slice_in_dim(reshape(row, shape[1:]), 0, count)


def _stacked(x: Any, count: int, length: int) -> Any:
    """`[count * length, *cell] -> [length, count, *cell]`."""
    cell = shape_of(x)[1:]
    return _exchanged(reshape(x, (count, length, *cell)))


def _unstacked(x: Any) -> Any:
    """`[length, count, *cell] -> [count * length, *cell]`."""
    length, count, *cell = shape_of(x)
    return reshape(_exchanged(x), (count * length, *cell))


def _exchanged(x: Any) -> Any:
    """The first two axes exchanged."""
    rest = range(2, aval_of(x).ndim)
    return transpose(x, (1, 0, *rest))


def _loop(body: ClosedJaxpr, consts, xs, reverse: bool) -> list[Any]:
    """A scan as a loop over rows, the first of which is where it starts."""
    n = shape_of(xs[0])[0]
    if n < 2:
        return list(xs)
    ns = len(xs)
    halves = [_divided(x, n, reverse) for x in xs]
    begin, rest = zip(*halves, strict=True)
    acc = [reshape(x, shape_of(x)[1:]) for x in begin]
    outs = scan_flat(_emitting(body), consts, acc, rest, length=n - 1, reverse=reverse)
    return _joined(begin, outs[ns:], reverse)


def _divided(x: Any, n: int, reverse: bool):
    """The row where a scan starts, and the others."""
    at = n - 1 if reverse else 0
    rest = (0, n - 1) if reverse else (1, n)
    return slice_in_dim(x, at, at + 1), slice_in_dim(x, *rest)


def _joined(begin, rest, reverse: bool) -> list[Any]:
    return joined(rest, begin) if reverse else joined(begin, rest)


def _emitting(body: ClosedJaxpr) -> ClosedJaxpr:
    """The combiner as the body of a loop that also stacks what it carries."""

    def make():
        outs = body.jaxpr.outvars
        jaxpr = body.jaxpr.replace(outvars=[*outs, *outs])
        return ClosedJaxpr(jaxpr, body.consts)

    return cached(body, ("monoid emitting",), make)


# ---- derivatives ----


def _jvp(primals, tangents, *, jaxpr, num_consts, reverse):
    consts, xs = parts(primals, num_consts)
    t_consts, ts = parts(tangents, num_consts)
    live = tuple(t is not None for t in t_consts)
    plan = monoid.dual(jaxpr, live, monoid.any_live([ts]))
    outs = associative_scan(
        plan.body,
        [*consts, *(t for t in t_consts if t is not None)],
        monoid.dual_states(xs, ts, plan.states),
        reverse,
    )
    return monoid.undual(outs, plan.states)


def _linearize(primals, live, *, jaxpr, num_consts, reverse):
    avals = [aval_of(x).strong() for x in primals]
    if _block(avals, num_consts) is not None:
        program = _program(avals, jaxpr, num_consts, reverse)
        return linearized(program, primals, live, "associative_scan")
    consts, xs = parts(primals, num_consts)
    ys = associative_scan(jaxpr, consts, xs, reverse)
    of_consts, of_xs = parts(live, num_consts)
    plan = monoid.tangent(jaxpr, tuple(of_consts), tuple(of_xs))

    def linear(tangents):
        given = iter(tangents)
        ts = [next(given) if on else None for on in live]
        t_consts = [t for t in ts[:num_consts] if t is not None]
        both = monoid.dual_states(xs, ts[num_consts:], plan.states)
        t_xs = both[len(xs) :]
        return _tangents(plan, [*consts, *t_consts], xs, ys, t_xs, reverse)

    return ys, list(plan.states), linear


def _tangents(plan: monoid.Tangent, consts, xs, ys, ts, reverse: bool) -> list[Any]:
    """The linear recurrence that tangents of a scan follow.

    It takes all rows, so that no stack is copied but that of the states before; in the
    first row, which combines nothing, the state before is a stand-in.
    """
    n = shape_of(xs[0])[0]
    if n < 2 or not ts:
        return list(ts)
    starts, befores = [list(compress(zs, plan.acc)) for zs in (xs, ys)]
    rows = _shifted(starts, befores, n, reverse)
    rows += [*compress(xs, plan.x), *ts]
    first = np.arange(n) == (n - 1 if reverse else 0)
    rows_of = [aval_of(t) for t in ts]
    begin = [zeros(a.update(shape=a.shape[1:])) for a in rows_of]
    body = _starting(plan.body, len(consts), len(ts))
    stacks = [first, *rows]
    outs = scan_flat(body, consts, begin, stacks, length=n, reverse=reverse)
    return outs[len(ts) :]


def _shifted(xs, ys, n: int, reverse: bool) -> list[Any]:
    """Row i: the states before those of row i of `ys`."""
    if reverse:
        return joined(cut(ys, 1, n), cut(xs, n - 1, n))
    return joined(cut(xs, 0, 1), cut(ys, 0, n - 1))


def _starting(body: ClosedJaxpr, nc: int, nt: int) -> ClosedJaxpr:
    """The step of a recurrence that takes a flag: the tangents start in this row."""

    def make():
        ins = body.in_avals

        def fun(*args):
            before, (flag, *rest) = args[: nc + nt], args[nc + nt :]
            outs = run(body, [*before, *rest])[:nt]
            news = rest[len(rest) - nt :]
            pairs = zip(outs, news, strict=True)
            ts = [select_n(flag, y, t) for y, t in pairs]
            return [*ts, *ts]

        flag = ShapedArray((), np.dtype(bool))
        avals = [*ins[: nc + nt], flag, *ins[nc + nt :]]
        return closed(fun, avals, body)

    return cached(body, ("monoid starting", nc, nt), make)


def _transpose(cts, operands, *, jaxpr, num_consts, reverse):
    avals = [aval_of(x).strong() for x in operands]
    program = _program(avals, jaxpr, num_consts, reverse)
    return transposed(program, cts, operands, "associative_scan")


def _batch(n, xs, ds, *, jaxpr, num_consts, reverse):
    mapped = tuple(d is not None for d in ds[:num_consts])
    body = monoid.mapped(jaxpr, n, mapped)
    pairs = list(zip(xs, ds, strict=True))
    consts = monoid.moved(pairs[:num_consts], n)
    rows = [to_axis(x, d, n, 1) for x, d in pairs[num_consts:]]
    outs = associative_scan(body, consts, rows, reverse)
    return outs, [1] * len(outs)


# ---- lowering ----


def _lower(b, outs, *xs, jaxpr, num_consts, reverse):
    avals = b.avals_in
    if outs[0].shape[0] < 2:
        return list(xs[num_consts:])
    if _block(avals, num_consts) is not None:
        program = _program(avals, jaxpr, num_consts, reverse)
        return b.inline(program, xs)
    consts, rows = parts(xs, num_consts)
    cells = [a.update(shape=a.shape[1:]) for a in outs]
    b.avals_in = [*avals[:num_consts], *cells, *outs]
    loop = {
        "jaxpr": _emitting(jaxpr),
        "length": outs[0].shape[0],
        "reverse": reverse,
        "num_consts": num_consts,
        "num_carry": len(outs),
    }
    operands = (*consts, *rows, *rows)
    return _Rows(b, [*cells, *outs], operands, loop).replaced()


class _Rows(ScanLowering):
    """The loop: the results start as the operands, and rows are replaced in place."""

    def replaced(self) -> list[Any]:
        """The stacked results."""
        b = self.b
        start = index(b, self.length - 1 if self.reverse else 0)
        pairs = zip(self.xs, self.x_avals, strict=True)
        acc = [self.row(x, aval, start) for x, aval in pairs]
        state = [index(b, 1), *acc, *self.xs]
        return b.while_loop(state, self.more, self.step)[1 + len(acc) :]

    def more(self, b, i, *state):
        """Whether rows are left."""
        end = index(b, self.length)
        return b.compare(i, end, "LT")

    def step(self, b, i, *state):
        """The next row."""
        given = self.xs
        # A single row is read where it is replaced; else others still need the old one.
        if self.num_carry == 1:
            self.xs = state[1:]
        new = self.filling(i, list(state))
        self.xs = given
        return [b.add(i, index(b, 1)), *new]


associative_scan_p = Primitive(
    "associative_scan",
    abstract=_abstract,
    reference=_reference,
    lower=_lower,
    derivative=Region(jvp=_jvp, linearize=_linearize, transpose=_transpose),
    batch=_batch,
    multiple_results=True,
    effects=lambda *avals, jaxpr, **params: jaxpr.effects,
)
RULES["associative_scan"] = monoid_dce.rule(1)
