"""Combiners as bodies: `body(*consts, *acc, *x) -> acc`, and what is derived from them.

The state of a reduction is a tuple of cells, arrays of any shape. An axis that a
transformation adds becomes an axis of the cells; a tangent becomes one more component.
Nothing here knows along which axis, or in which order, cells are combined.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.jaxpr import ClosedJaxpr
from pullback.core.trace import Tracer
from pullback.ops.elementwise import add
from pullback.ops.joining import concatenate
from pullback.ops.logic import bitwise_or, ge, le, ne, select_n
from pullback.ops.reduce import highest, lowest
from pullback.ops.shape import broadcast_in_dim
from pullback.ops.slicing import pad, slice_in_dim
from pullback.regions import checkpoint
from pullback.regions.bodies import (
    batch_body,
    cached,
    closed,
    jvp_body,
    reordered,
    zeros_like,
)
from pullback.regions.scan_bodies import grow, interleaved, parts
from pullback.transforms.dce import dce_jaxpr
from pullback.transforms.vmap import to_axis

Flags = tuple[bool, ...]
ONCE_MORE = checkpoint.Settings(prevent_cse=False)


def state_size(body: ClosedJaxpr) -> int:
    """The number of cells in a state."""
    return len(body.jaxpr.outvars)


def state_avals(body: ClosedJaxpr) -> list[ShapedArray]:
    """The types of the cells in a state."""
    return [a.strong() for a in body.out_avals]


def swapped(body: ClosedJaxpr) -> ClosedJaxpr:
    """The combiner with its two states exchanged."""

    def make():
        ns = state_size(body)
        nc = len(body.jaxpr.invars) - 2 * ns
        order = [*range(nc), *range(nc + ns, nc + 2 * ns), *range(nc, nc + ns)]
        return reordered(body, order)

    return cached(body, ("monoid swapped",), make)


# ---- applying a combiner to many cells at once ----


def over(body: ClosedJaxpr, shape: Sequence[int]) -> ClosedJaxpr:
    """The combiner on cells with leading axes `shape`; what it closes over has none."""
    ns = state_size(body)
    nc = len(body.jaxpr.invars) - 2 * ns
    mapped = (*(False,) * nc, *(True,) * (2 * ns))
    for n in reversed(shape):
        body, _ = batch_body(body, n, mapped, True)
    return body


def combined(
    body: ClosedJaxpr, consts: Sequence, xs: Sequence, ys: Sequence, shape: Sequence
) -> list[Any]:
    """`xs` and `ys` combined cell by cell; both have leading axes `shape`.

    Their derivative is computed from the two states: nothing else is kept.
    """
    if 0 in shape:
        return list(xs)
    return checkpoint.bind(over(body, shape), [*consts, *xs, *ys], "combine", ONCE_MORE)


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of a value."""
    return aval_of(x).shape


def cut(
    xs: Sequence[Any], start: int, stop: int | None, stride: int = 1, axis: int = 0
) -> list[Any]:
    """The same slice of every array along one axis."""
    return [slice_in_dim(x, start, stop, stride, axis) for x in xs]


def joined(xs: Sequence[Any], ys: Sequence[Any], axis: int = 0) -> list[Any]:
    """Arrays and what follows each along an axis."""
    pairs = zip(xs, ys, strict=True)
    return [concatenate(pair, axis) for pair in pairs]


def in_turn(x: Any, y: Any) -> Any:
    """Rows of `x` and `y` in turn; `x` may have one more."""
    n, m = shape_of(x)[0], shape_of(y)[0]
    aval = aval_of(x)
    rest = [(0, 0, 0)] * (aval.ndim - 1)
    zero = np.zeros((), aval.dtype)
    x = pad(x, zero, [(0, 1 - (n - m), 1), *rest])
    y = pad(y, zero, [(1, n - m, 1), *rest])
    if dtypes.is_bool(aval.dtype):
        return bitwise_or(x, y)
    return add(x, y)


def spread(x: Any, shape: Sequence[int]) -> Any:
    """A cell repeated along leading axes `shape`."""
    aval = aval_of(x)
    dims = range(len(shape), len(shape) + aval.ndim)
    return broadcast_in_dim(x, (*shape, *aval.shape), tuple(dims))


def spread_rows(x: Any, length: int) -> Any:
    """`[n, *cell]` repeated along a new leading axis of size `length`."""
    shape = aval_of(x).shape
    return broadcast_in_dim(x, (length, *shape), tuple(range(1, 1 + len(shape))))


def stretched(x: Any, shape: Sequence[int]) -> Any:
    """`x` with its axes of size 1 brought to those of `shape`."""
    return broadcast_in_dim(x, shape, tuple(range(len(shape))))


# ---- tangents and mapped axes ----


class Dual(NamedTuple):
    """The combiner of pairs (primal, tangent).

    `consts`: which of the values closed over, `states`: which components have a
    tangent. The tangents follow the primals in each of the three groups.
    """

    body: ClosedJaxpr
    consts: Flags
    states: Flags


def dual(body: ClosedJaxpr, consts: Flags, states: Flags) -> Dual:
    """The derivative of a combiner is a combiner again.

    Components that become live by combining are so from the start.
    """

    def make():
        nc, flags = len(consts), states
        while True:
            new, out = jvp_body(body, (*consts, *flags, *flags), flags)
            grown = grow(flags, 0, out)
            if grown == flags:
                break
            flags = grown
        ins = interleaved((nc, len(states)), (*consts, *flags, *flags))
        return Dual(reordered(new, ins), consts, flags)

    return cached(body, ("monoid dual", consts, states), make)


def dual_states(xs: Sequence, ts: Sequence, live: Flags) -> list[Any]:
    """States followed by live tangents; zeros where one becomes live by combining."""
    given = zip(xs, ts, live, strict=True)
    return [*xs, *(zeros_like(x) if t is None else t for x, t, on in given if on)]


class Pair(NamedTuple):
    """The operands of the dual of a fold: values closed over; starts and elements.

    `states`: which components have a tangent. `moving`: whether a start has one.
    """

    body: ClosedJaxpr
    consts: list[Any]
    groups: tuple[list[Any], list[Any]]
    states: Flags
    moving: bool


def dual_operands(
    body: ClosedJaxpr, primals: Sequence, tangents: Sequence, num_consts: int, ns: int
) -> Pair:
    """Operands (closed over, starts, elements) with their tangents put among them."""
    consts, inits, xs = parts(primals, num_consts, ns)
    t_consts, t_inits, t_xs = parts(tangents, num_consts, ns)
    live = tuple(t is not None for t in t_consts)
    plan = dual(body, live, any_live([t_inits, t_xs]))
    groups = (
        dual_states(inits, t_inits, plan.states),
        dual_states(xs, t_xs, plan.states),
    )
    given = [*consts, *(t for t in t_consts if t is not None)]
    moving = any(t is not None for t in t_inits)
    return Pair(plan.body, given, groups, plan.states, moving)


def undual(outs: Sequence, live: Flags) -> tuple[list[Any], list[Any]]:
    """States and tangents of pairs; None for components without."""
    ts = iter(outs[len(live) :])
    return list(outs[: len(live)]), [next(ts) if on else None for on in live]


def any_live(groups: Sequence[Sequence[Any]]) -> Flags:
    """Which components have a tangent in one of the groups of states."""
    return tuple(any(t is not None for t in ts) for ts in zip(*groups, strict=True))


class Tangent(NamedTuple):
    """The derivative of a combiner at known states.

    `body` takes the values closed over and their live tangents, live tangents of the
    accumulated state, and those states of both that it reads, with the live tangents
    of the element last. `acc`, `x`: which states it reads.
    """

    body: ClosedJaxpr
    states: Flags
    acc: Flags
    x: Flags


def tangent(body: ClosedJaxpr, consts: Flags, states: Flags) -> Tangent:
    """The linear map from tangents of two states to that of their combination."""

    def make():
        pair, _, live = dual(body, consts, states)
        ns, nt, nc = len(live), sum(live), len(consts) + sum(consts)
        jaxpr = pair.jaxpr.replace(outvars=pair.jaxpr.outvars[ns:])
        jaxpr, read = dce_jaxpr(jaxpr)
        _, acc, _, x, _ = parts(read, nc, ns, nt, ns)
        groups = parts(range(len(read)), nc, ns, nt, ns)
        keep = [i for i, on in zip(groups[1], acc, strict=True) if on]
        keep += [i for i, on in zip(groups[3], x, strict=True) if on]
        order = [*groups[0], *groups[2], *keep, *groups[4]]
        twice = [*range(nt), *range(nt)]
        step = reordered(ClosedJaxpr(jaxpr, pair.consts), order, twice)
        return Tangent(step, live, tuple(acc), tuple(x))

    return cached(body, ("monoid tangent", consts, states), make)


def mapped(body: ClosedJaxpr, n: int, consts: Flags) -> ClosedJaxpr:
    """The combiner on cells with a leading mapped axis of size `n`.

    `consts`: which of the values closed over have that axis, too.
    """
    states = (True,) * (2 * state_size(body))
    return batch_body(body, n, (*consts, *states), True)[0]


def moved(pairs: Sequence[tuple[Any, int | None]], n: int) -> list[Any]:
    """Values with their mapped axis, those that have one, in front."""
    return [x if d is None else to_axis(x, d, n, 0) for x, d in pairs]


# ---- combiners that are one operation ----

LONE = ["add", "add_any", "mul", "max", "min", "and", "or", "xor", "logaddexp"]


def inlined(body: ClosedJaxpr) -> ClosedJaxpr:
    """The combiner with the bodies of `jit` in place of their calls."""

    def make():
        return ClosedJaxpr(*checkpoint.inlined(body))

    return cached(body, ("monoid inlined",), make)


def lone(body: ClosedJaxpr) -> str | None:
    """The name of the one operation that the combiner is, or None.

    Read off its equations: `f(x, y)` or `f(y, x)`, with nothing before or after.
    """
    jaxpr = inlined(body).jaxpr
    if len(jaxpr.eqns) != 1 or len(jaxpr.invars) != 2 or len(jaxpr.outvars) != 1:
        return None
    (eqn,) = jaxpr.eqns
    name = eqn.primitive.name
    plain = set(eqn.invars) == set(jaxpr.invars) and eqn.outvars == jaxpr.outvars
    if not plain or name not in LONE:
        return None
    return "add" if name == "add_any" else name


def first_of_ties(body: ClosedJaxpr) -> ClosedJaxpr:
    """A lone max or min in a form whose derivative is that of its first extreme.

    Other combiners are returned as they are. Unlike that of `max`, this derivative is
    associative at ties. NaN wins.
    """
    name = lone(body)
    if name not in ("max", "min") or not dtypes.is_float(body.out_avals[0].dtype):
        return body
    keeps = ge if name == "max" else le

    def pick(x, y):
        return [select_n(bitwise_or(keeps(x, y), ne(x, x)), y, x)]

    def make():
        return closed(pick, body.in_avals, body)

    return cached(body, ("monoid first",), make)


NEUTRAL: dict[str, Callable[[Any], Any]] = {
    "add": lambda dtype: False if dtypes.is_bool(dtype) else 0,
    "mul": lambda dtype: True if dtypes.is_bool(dtype) else 1,
    "max": lowest,
    "min": highest,
    "and": lambda dtype: (
        True if dtypes.is_bool(dtype) else np.invert(np.zeros((), dtype))
    ),
    "or": lambda dtype: 0,
    "xor": lambda dtype: 0,
    "logaddexp": lambda dtype: -np.inf,
}


def is_neutral(name: str | None, x: Any) -> bool:
    """Whether a known scalar changes nothing when combined by the operation `name`."""
    if name is None or isinstance(x, Tracer):
        return False
    value = np.asarray(x)
    neutral = np.asarray(NEUTRAL[name](value.dtype)).astype(value.dtype)
    return value.shape == () and bool(value == neutral)


def elementwise(body: ClosedJaxpr) -> bool:
    """Whether cells are scalars and the combiner closes over nothing."""
    scalars = all(a.shape == () for a in body.in_avals)
    return scalars and len(body.jaxpr.invars) == 2 * state_size(body)
