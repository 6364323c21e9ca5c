"""reduce_window: the fold of every window of an array, from a start value.

Its rules are those of the program of scans and slices that `monoid_windows` makes.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from pullback.core.aval import aval_of
from pullback.core.derivative import Region
from pullback.core.errors import InternalError
from pullback.core.jaxpr import ClosedJaxpr
from pullback.core.primitive import Primitive
from pullback.ops.elementwise import add_any, sub
from pullback.ops.shape import reduce_sum, zeros
from pullback.ops.slicing import pad, pad_p, slice as cut_out
from pullback.regions import monoid, monoid_dce
from pullback.regions.bodies import cached, closed, zeros_like
from pullback.regions.monoid import shape_of
from pullback.regions.monoid_program import linearized, transposed
from pullback.regions.monoid_windows import Windows, slide
from pullback.regions.reference import run_reference
from pullback.regions.scan_bodies import parts
from pullback.transforms.dce import RULES
from pullback.transforms.transpose import is_linear_operand
from pullback.transforms.vmap import to_axis


def reduce_window_flat(
    body: ClosedJaxpr,
    consts: Sequence[Any],
    inits: Sequence[Any],
    xs: Sequence[Any],
    windows: Windows,
    neutral: bool = False,
) -> list[Any]:
    """Every window of `xs` folded from `inits`, which padding is made of, too.

    Args:
      body: `body(*consts, *acc, *x) -> acc`, associative.
      inits: cells. xs: each `[*shape, *cell]`; windows lie in `shape`.
      neutral: the start is known to change nothing.
    """
    return reduce_window_p.bind(
        *consts,
        *inits,
        *xs,
        jaxpr=body,
        num_consts=len(consts),
        windows=windows,
        neutral=neutral,
    )


def _abstract(*avals, jaxpr, num_consts, windows, neutral):
    cells = monoid.state_avals(jaxpr)
    ns, ndim = len(cells), len(windows.dimensions)
    _, inits, xs = parts(avals, num_consts, ns)
    if len(xs) != ns or any(
        i.shape != c.shape or x.shape[ndim:] != c.shape
        for i, x, c in zip(inits, xs, cells, strict=True)
    ):
        raise InternalError(f"reduce_window of {xs} from {inits} with cells {cells}")
    counts = windows.counts(xs[0].shape[:ndim])
    return [c.update(shape=(*counts, *c.shape)) for c in cells]


def _reference(*args, jaxpr, num_consts, windows: Windows, neutral):
    consts, inits, xs = parts(args, num_consts, monoid.state_size(jaxpr))
    ndim = len(windows.dimensions)
    counts = windows.counts(xs[0].shape[:ndim])
    acc = [np.broadcast_to(i, (*counts, *np.shape(i))) for i in inits]
    if 0 in counts:
        return acc
    step = monoid.over(jaxpr, counts)
    whole = [_padded(x, i, windows) for x, i in zip(xs, inits, strict=True)]
    for place in product(*map(range, windows.dimensions)):
        at = tuple(
            slice(i * d, i * d + (m - 1) * s + 1, s)
            for i, d, m, s in zip(
                place, windows.window_dilation, counts, windows.strides, strict=True
            )
        )
        acc = run_reference(step, *consts, *acc, *(x[at] for x in whole))
    return acc


def _padded(x: np.ndarray, value: np.ndarray, windows: Windows) -> np.ndarray:
    inner = zip(windows.padding, windows.base_dilation, strict=True)
    config = [(low, high, d - 1) for (low, high), d in inner]
    config += [(0, 0, 0)] * value.ndim
    at = pad_p.reference(np.ones(x.shape, bool), False, padding_config=config)
    out = pad_p.reference(x, np.zeros((), x.dtype), padding_config=config)
    return np.where(at, out, value)


def _program(
    avals, jaxpr, num_consts, windows, neutral, differentiated: bool = False
) -> ClosedJaxpr:
    """The windows as a program of scans and slices."""
    ns = monoid.state_size(jaxpr)

    def fun(*args):
        consts, inits, xs = parts(args, num_consts, ns)
        return slide(jaxpr, consts, inits, xs, windows, neutral, differentiated)

    key = ("reduce_window", tuple(avals), windows, neutral, differentiated)
    return cached(jaxpr, key, lambda: closed(fun, avals, jaxpr))


# ---- rules ----


def _jvp(primals, tangents, *, jaxpr, num_consts, windows, neutral):
    ns = monoid.state_size(jaxpr)
    body = monoid.first_of_ties(jaxpr)
    pair = monoid.dual_operands(body, primals, tangents, num_consts, ns)
    neutral = neutral and not pair.moving
    outs = reduce_window_flat(pair.body, pair.consts, *pair.groups, windows, neutral)
    return monoid.undual(outs, pair.states)


def _is_sum(jaxpr: ClosedJaxpr) -> bool:
    """Whether windows are added up, which is linear."""
    return monoid.lone(jaxpr) == "add" and monoid.elementwise(jaxpr)


def _sum_linearize(primals, live, jaxpr, windows, neutral):
    outs = reduce_window_flat(jaxpr, [], primals[:1], primals[1:], windows, neutral)

    def linear(tangents):
        given = iter(tangents)
        pairs = zip(primals, live, strict=True)
        init, x = (next(given) if on else zeros_like(x) for x, on in pairs)
        still = not live[0]
        return reduce_window_flat(jaxpr, [], [init], [x], windows, still)

    return outs, [True], linear


def _sum_transpose(ct, operands, jaxpr, windows: Windows, neutral):
    init, x = operands
    shape = shape_of(x)
    zero = zeros(aval_of(ct).update(shape=()))
    turned = windows.turned(shape)
    (whole,) = reduce_window_flat(jaxpr, [], [zero], [ct], turned, True)
    crop = [(-low, -high, 0) for low, high in windows.padding]
    inner = pad(whole, zero, crop)
    steps = windows.base_dilation
    inner = cut_out(inner, (0,) * len(shape), shape_of(inner), steps)
    if not is_linear_operand(init):
        return [None, inner]
    axes = range(len(shape))
    padding = sub(reduce_sum(whole, axes), reduce_sum(inner, axes))
    if neutral:
        return [padding, inner]
    return [add_any(padding, reduce_sum(ct, axes)), inner]


def _linearize(primals, live, *, jaxpr, num_consts, windows, neutral):
    if _is_sum(jaxpr):
        return _sum_linearize(primals, live, jaxpr, windows, neutral)
    avals = [aval_of(x).strong() for x in primals]
    ns = monoid.state_size(jaxpr)
    neutral = neutral and not any(live[num_consts : num_consts + ns])
    body = monoid.first_of_ties(jaxpr)
    program = _program(avals, body, num_consts, windows, neutral, True)
    return linearized(program, primals, live, "reduce_window")


def _transpose(cts, operands, **params):
    shape = shape_of(operands[-1])
    if _is_sum(params["jaxpr"]) and 0 not in params["windows"].counts(shape):
        how = params["jaxpr"], params["windows"], params["neutral"]
        ct_init, ct_x = _sum_transpose(cts[0], operands, *how)
        return [ct_init, ct_x if is_linear_operand(operands[1]) else None]
    avals = [aval_of(x).strong() for x in operands]
    program = _program(avals, **params, differentiated=True)
    return transposed(program, cts, operands, "reduce_window")


def _batch(n, xs, ds, *, jaxpr, num_consts, windows, neutral):
    ns, ndim = monoid.state_size(jaxpr), len(windows.dimensions)
    groups = parts(list(zip(xs, ds, strict=True)), num_consts, ns)
    consts, inits, rows = groups
    if all(d is None for _, d in (*consts, *inits)):
        new = [to_axis(x, d, n, 0) for x, d in rows]
        plain = [x for x, _ in consts], [x for x, _ in inits]
        moved = windows.with_front()
        return reduce_window_flat(jaxpr, *plain, new, moved, neutral), [0] * ns
    body = monoid.mapped(jaxpr, n, tuple(d is not None for _, d in consts))
    outs = reduce_window_flat(
        body,
        monoid.moved(consts, n),
        [to_axis(x, d, n, 0) for x, d in inits],
        [to_axis(x, d, n, ndim) for x, d in rows],
        windows,
        neutral,
    )
    return outs, [ndim] * ns


def _lower(b, outs, *xs, jaxpr, num_consts, windows, neutral):
    program = _program(b.avals_in, jaxpr, num_consts, windows, neutral)
    return b.call_body(program, "reduce_window", xs)


reduce_window_p = Primitive(
    "reduce_window",
    abstract=_abstract,
    reference=_reference,
    lower=_lower,
    derivative=Region(jvp=_jvp, linearize=_linearize, transpose=_transpose),
    batch=_batch,
    multiple_results=True,
    effects=lambda *avals, jaxpr, **params: jaxpr.effects,
)
RULES["reduce_window"] = monoid_dce.rule(2)
