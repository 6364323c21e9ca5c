"""Writing a region: boxes, strides and directions of the axes, no lookups.

Elements that are far apart are written where they stand; where they lie close, a choice
between old and new over the whole box costs less.
"""

import functools
from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.primitive import Primitive
from pullback.ops.dimensions import PROMISE_IN_BOUNDS, ScatterDimensionNumbers
from pullback.ops.dynamic import put_window, window
from pullback.ops.elementwise import add, mul
from pullback.ops.index import scatter_add_p, scatter_p
from pullback.ops.inverse import scatter_is_cheaper
from pullback.ops.logic import (
    bitwise_and,
    ge,
    le,
    max as maximum,
    min as minimum,
    select_n,
)
from pullback.ops.pick import Dyn, Pick, Run
from pullback.ops.pick_read import backwards, ends, starts_of
from pullback.ops.reduce import highest, lowest, reduce_max, reduce_min, reduce_prod
from pullback.ops.scatter import scatter_max_p, scatter_min_p, scatter_mul_p
from pullback.ops.shape import full, reduce_sum, reshape
from pullback.ops.slicing import pad, rev, slice

LONG = 16  # elements after one another that are worth a copy of their own
FAR = 8  # the stride from which on a pass over all elements does not pay


class Update(NamedTuple):
    """One way to combine an old value with a new one.

    `combine` is None for `set`. `identity(dtype)` changes nothing when combined.
    """

    name: str
    scatter: Primitive
    combine: Callable[[Any, Any], Any] | None = None
    identity: Callable[[Any], Any] = lambda dtype: 0
    reduce: Callable[..., Any] | None = None


def _minus_zero(dtype) -> Any:
    """The value that adding never changes: -0.0, since 0.0 would turn -0.0 into 0.0."""
    return -0.0 if dtypes.is_inexact(dtype) else 0


SET = Update("set", scatter_p)
ADD = Update("add", scatter_add_p, add, _minus_zero, reduce_sum)
MUL = Update("multiply", scatter_mul_p, mul, lambda dtype: 1, reduce_prod)
MIN = Update("min", scatter_min_p, minimum, highest, reduce_min)
MAX = Update("max", scatter_max_p, maximum, lowest, reduce_max)


def put_region(x, pick: Pick, y, update: Update):
    """`x` with `y`, a region with all axes of `x`, written where `pick` says."""
    y = rev(y, backwards(pick))
    if max(pick.steps(), default=1) == 1 or pick.is_dynamic():
        return _put_box(x, pick, y, update)
    shape = aval_of(x).shape
    fine = _by_blocks(pick)
    if fine is not pick:
        x, y = reshape(x, fine.shape), reshape(y, [t.size for t in fine.axes])
    if max(fine.steps()) > 1 and scatter_is_cheaper(
        aval_of(y).size, prod(fine.boxes()), _contiguous(fine, len(fine.axes) - 1)
    ):
        x = _scattered(x, fine, y, update)
    else:
        x = _put_box(x, fine, y, update)
    return x if fine is pick else reshape(x, shape)


def _contiguous(pick: Pick, a: int) -> int:
    """How many elements after one another are written, in the axes up to a."""
    size = 1
    while a >= 0 and pick.axes[a].step == 1:
        size *= pick.axes[a].size
        if pick.axes[a].size < pick.shape[a]:
            break
        a -= 1
    return size


def _by_blocks(pick: Pick) -> Pick:
    """Axes of wide strides as blocks, of each of which one element is written."""
    shape: list[int] = []
    axes: list[Any] = []
    inner = 1
    for t, n in zip(reversed(pick.axes), reversed(pick.shape), strict=True):
        if t.step >= FAR and inner < LONG and n % t.step == 0:
            block, at = divmod(t.start, t.step)
            axes += [Run(at, 1), Run(block, t.size)]
            shape += [t.step, n // t.step]
        else:
            axes.append(t)
            shape.append(n)
        inner *= t.size if t.step == 1 else 1
    if len(axes) == len(pick.axes):
        return pick
    return replace(pick, shape=tuple(shape[::-1]), axes=axes[::-1])


def _scattered(x, pick: Pick, y, update: Update):
    """A scatter to the positions of strided runs; each gets a window of the others."""
    strided = [a for a, t in enumerate(pick.axes) if t.step > 1]
    lines = [
        t.start + t.step * np.arange(t.size if a in strided else 1)
        for a, t in enumerate(pick.axes)
    ]
    grid = np.stack(np.meshgrid(*lines, indexing="ij"), -1).astype(np.int32)
    places = grid.reshape(*(lines[a].size for a in strided), len(lines))
    window = [a for a in range(len(lines)) if a not in strided]
    return update.scatter.bind(
        x,
        places,
        y,
        dimension_numbers=ScatterDimensionNumbers(window, strided, range(len(lines))),
        indices_are_sorted=True,
        unique_indices=True,
        mode=PROMISE_IN_BOUNDS,
    )


def _put_box(x, pick: Pick, y, update: Update):
    sizes = pick.boxes()
    starts = [t.start for t in pick.axes]
    dynamic = pick.is_dynamic()
    if not dynamic and not any(starts) and tuple(sizes) == aval_of(x).shape:
        return _combined(lambda: x, pick, y, update)
    at = starts_of(pick)

    @functools.cache
    def old_box():
        if dynamic:
            return window(x, at, sizes)
        return slice(x, starts, ends(starts, sizes))

    new = _combined(old_box, pick, y, update)
    hit = _inside(pick, at)
    if hit is not None:
        new = select_n(hit, old_box(), new)
    return put_window(x, new, at)


def _combined(old: Callable[[], Any], pick: Pick, y, update: Update):
    """The box with the values written to the positions of the runs."""
    steps = pick.steps()
    combine = update.combine
    if max(steps, default=1) == 1:
        return y if combine is None else combine(old(), y)
    aval = aval_of(y)
    config = [(0, 0, step - 1) for step in steps]
    if combine is not None:
        return combine(old(), pad(y, update.identity(aval.dtype), config))
    flags = full(ShapedArray(aval.shape, np.dtype(bool)), True)
    return select_n(pad(flags, False, config), old(), pad(y, 0, config))


def _inside(pick: Pick, starts: list[Any]):
    """Whether the traced points lie inside, where updates outside are dropped."""
    hit = None
    for t, n, s in zip(pick.axes, pick.shape, starts, strict=True):
        if type(t) is Dyn and not t.clamps:
            kind = s.dtype.type
            here = bitwise_and(ge(s, kind(0)), le(s, kind(n - 1)))
            hit = here if hit is None else bitwise_and(hit, here)
    return hit
