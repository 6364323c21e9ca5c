"""reduce: states combined over axes, in row-major order, after a start value.

XLA reduces with a combiner of scalars itself. Other combiners, and derivatives, run a
program of scans over blocks.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Region
from pullback.core.errors import InternalError
from pullback.core.jaxpr import ClosedJaxpr
from pullback.core.primitive import Primitive
from pullback.ops.shape import reshape, transpose
from pullback.ops.slicing import slice_in_dim
from pullback.regions import monoid, monoid_dce
from pullback.regions.associative_scan import associative_scan, last_row
from pullback.regions.bodies import cached, closed
from pullback.regions.monoid import cut, shape_of
from pullback.regions.monoid_cost import scan_block
from pullback.regions.monoid_program import linearized, transposed
from pullback.regions.reference import run_reference
from pullback.regions.scan_bodies import parts
from pullback.transforms.dce import RULES
from pullback.transforms.vmap import to_axis


def reduce_flat(
    body: ClosedJaxpr,
    consts: Sequence[Any],
    inits: Sequence[Any],
    xs: Sequence[Any],
    axes: Sequence[int],
    neutral: bool = False,
) -> list[Any]:
    """`xs` folded over `axes`, from `inits`.

    Args:
      body: `body(*consts, *acc, *x) -> acc`, associative.
      inits: cells. xs: each `[*shape, *cell]`; `axes` are among those of `shape`.
      neutral: the start is known to change nothing.
    """
    return reduce_p.bind(
        *consts,
        *inits,
        *xs,
        jaxpr=body,
        num_consts=len(consts),
        axes=tuple(axes),
        neutral=neutral,
    )


def _sizes(body: ClosedJaxpr, shape: Sequence[int], axes) -> tuple[list[int], int]:
    """The sizes of the axes that stay, those of the cell left out; and the count."""
    ndim = len(shape) - len(body.out_avals[0].shape)
    rest = [shape[i] for i in range(ndim) if i not in axes]
    return rest, int(np.prod([shape[i] for i in axes], dtype=np.int64))


def _abstract(*avals, jaxpr, num_consts, axes, neutral):
    cells = monoid.state_avals(jaxpr)
    ns = len(cells)
    _, inits, xs = parts(avals, num_consts, ns)
    if len(xs) != ns or any(
        i.shape != c.shape or x.shape[x.ndim - c.ndim :] != c.shape
        for i, x, c in zip(inits, xs, cells, strict=True)
    ):
        raise InternalError(f"reduce of {xs} from {inits} with cells {cells}")
    return [
        c.update(shape=(*_sizes(jaxpr, xs[0].shape, axes)[0], *c.shape)) for c in cells
    ]


def _rows(x: Any, axes: Sequence[int]) -> Any:
    """`[count, *rest, *cell]`."""
    shape = shape_of(x)
    kept = [i for i in range(len(shape)) if i not in axes]
    count = int(np.prod([shape[i] for i in axes], dtype=np.int64))
    perm = [*axes, *kept]
    if perm != list(range(len(shape))):
        x = transpose(x, perm)
    return reshape(x, (count, *(shape[i] for i in kept)))


def _reference(*args, jaxpr, num_consts, axes, neutral):
    consts, acc, xs = parts(args, num_consts, monoid.state_size(jaxpr))
    rest, count = _sizes(jaxpr, xs[0].shape, axes)
    acc = [np.broadcast_to(a, (*rest, *np.shape(a))) for a in acc]
    step = monoid.over(jaxpr, rest)
    xs = [np.moveaxis(x, axes, range(len(axes))) for x in xs]
    xs = [x.reshape((count, *x.shape[len(axes) :])) for x in xs]
    for i in range(count):
        acc = run_reference(step, *consts, *acc, *(x[i] for x in xs))
    return acc


# ---- the algorithm, as a program ----


def fold(body: ClosedJaxpr, consts: Sequence, xs: Sequence, rest: Sequence) -> list:
    """`[count, *rest, *cell]` folded over axis 0, of at least one row."""
    count = shape_of(xs[0])[0]
    if count <= 4:
        acc = [row_at(x, 0) for x in xs]
        for i in range(1, count):
            row = [row_at(x, i) for x in xs]
            acc = monoid.combined(body, consts, acc, row, rest)
        return acc
    width = max(aval_of(x).size // count for x in xs)
    length = scan_block(count, width)
    if length is None:
        ys = associative_scan(monoid.over(body, rest), consts, xs)
        return [row_at(y, count - 1) for y in ys]
    blocks = count // length
    whole = [_blocks(x, blocks, length) for x in xs]
    ys = associative_scan(monoid.over(body, (blocks, *rest)), consts, whole)
    total = fold(body, consts, [last_row(y, blocks) for y in ys], rest)
    if blocks * length == count:
        return total
    left = cut(xs, blocks * length, count)
    last = fold(body, consts, left, rest)
    return monoid.combined(body, consts, total, last, rest)


def row_at(x: Any, i: int) -> Any:
    """Row `i` of a stack."""
    shape = shape_of(x)
    return reshape(slice_in_dim(x, i, i + 1), shape[1:])


def _blocks(x: Any, count: int, length: int) -> Any:
    """The first rows of `x` as `[length, count, ...]`."""
    rest = shape_of(x)[1:]
    x = reshape(slice_in_dim(x, 0, count * length), (count, length, *rest))
    return transpose(x, (1, 0, *range(2, 2 + len(rest))))


def _program(avals, jaxpr, num_consts, axes, neutral) -> ClosedJaxpr:
    """The reduction as a program of scans."""
    ns = monoid.state_size(jaxpr)

    def fun(*args):
        consts, inits, xs = parts(args, num_consts, ns)
        rest, count = _sizes(jaxpr, shape_of(xs[0]), axes)
        begin = [monoid.spread(i, rest) for i in inits]
        if not count or 0 in rest:
            return begin
        rows = [_rows(x, axes) for x in xs]
        out = fold(jaxpr, consts, rows, rest)
        return out if neutral else monoid.combined(jaxpr, consts, begin, out, rest)

    key = ("reduce", tuple(avals), axes, neutral)
    return cached(jaxpr, key, lambda: closed(fun, avals, jaxpr))


# ---- rules ----


def _jvp(primals, tangents, *, jaxpr, num_consts, axes, neutral):
    ns = monoid.state_size(jaxpr)
    pair = monoid.dual_operands(jaxpr, primals, tangents, num_consts, ns)
    neutral = neutral and not pair.moving
    outs = reduce_flat(pair.body, pair.consts, *pair.groups, axes, neutral)
    return monoid.undual(outs, pair.states)


def _linearize(primals, live, *, num_consts, neutral, **params):
    avals = [aval_of(x).strong() for x in primals]
    ns = monoid.state_size(params["jaxpr"])
    neutral = neutral and not any(live[num_consts : num_consts + ns])
    program = _program(avals, num_consts=num_consts, neutral=neutral, **params)
    return linearized(program, primals, live, "reduce")


def _transpose(cts, operands, **params):
    avals = [aval_of(x).strong() for x in operands]
    program = _program(avals, **params)
    return transposed(program, cts, operands, "reduce")


def _batch(n, xs, ds, *, jaxpr, num_consts, axes, neutral):
    ns = monoid.state_size(jaxpr)
    groups = parts(list(zip(xs, ds, strict=True)), num_consts, ns)
    consts, inits, rows = groups
    ndim = aval_of(xs[-1]).ndim - jaxpr.out_avals[-1].ndim - (ds[-1] is not None)
    if all(d is None for _, d in (*consts, *inits)):
        new = [to_axis(x, d, n, 0) for x, d in rows]
        moved = [i + 1 for i in axes]
        plain = [x for x, _ in consts], [x for x, _ in inits]
        return reduce_flat(jaxpr, *plain, new, moved, neutral), [0] * ns
    body = monoid.mapped(jaxpr, n, tuple(d is not None for _, d in consts))
    outs = reduce_flat(
        body,
        monoid.moved(consts, n),
        [to_axis(x, d, n, 0) for x, d in inits],
        [to_axis(x, d, n, ndim) for x, d in rows],
        axes,
        neutral,
    )
    return outs, [ndim - len(axes)] * ns


def _lower(b, outs, *xs, jaxpr, num_consts, axes, neutral):
    if not monoid.elementwise(jaxpr):
        avals = b.avals_in
        program = _program(avals, jaxpr, num_consts, axes, neutral)
        return b.call_body(program, "reduce", xs)
    ns = len(outs)
    cells = [ShapedArray((), a.dtype) for a in outs]
    step = monoid.inlined(jaxpr)

    def body(b, *states):
        b.avals_in = [*cells, *cells]
        return b.inline(step, states)

    return b.reduce(outs, xs[ns:], xs[:ns], axes, body)


reduce_p = Primitive(
    "reduce",
    abstract=_abstract,
    reference=_reference,
    lower=_lower,
    derivative=Region(jvp=_jvp, linearize=_linearize, transpose=_transpose),
    batch=_batch,
    multiple_results=True,
    effects=lambda *avals, jaxpr, **params: jaxpr.effects,
)
RULES["reduce"] = monoid_dce.rule(2)
