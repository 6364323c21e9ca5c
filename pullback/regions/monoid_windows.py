"""Windows that slide along one axis after another, as programs of scans and slices.

Folding a window in row-major order is folding its last axis, then the one before it,
for any associative combiner. Along one axis the cells are cut into blocks as long as
the window (van Herk 1992, Gil and Werman 1993): every window is the end of one block,
combined with the beginning of the next.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pullback.core.aval import aval_of
from pullback.core.jaxpr import ClosedJaxpr
from pullback.ops.logic import select_n
from pullback.ops.shape import full, moveaxis, reshape, zeros
from pullback.ops.slicing import pad
from pullback.regions import checkpoint, monoid
from pullback.regions.associative_scan import associative_scan, filled
from pullback.regions.bodies import cached, closed, run
from pullback.regions.monoid import cut, joined, shape_of
from pullback.regions.monoid_cost import cost_of, digits, window_strategy
from pullback.regions.reduce import fold
from pullback.regions.scan_bodies import parts

APART = checkpoint.Settings(differentiated=True)


class Windows(NamedTuple):
    """The geometry of windows, one entry an axis.

    `dimensions`: cells in a window. `strides`: steps from one to the next. `padding`:
    cells added at both ends, dropped where negative. `base_dilation`: the distance of
    the cells of the operand. `window_dilation`: the distance of the cells of a window.
    """

    dimensions: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    base_dilation: tuple[int, ...]
    window_dilation: tuple[int, ...]

    def padded(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The sizes of the operand when dilated and padded."""
        return tuple(
            max(0, low + high + (n - 1) * dilation + 1 if n else low + high)
            for n, (low, high), dilation in zip(
                shape, self.padding, self.base_dilation, strict=True
            )
        )

    def spans(self) -> tuple[int, ...]:
        """The sizes of a window when dilated."""
        pairs = zip(self.dimensions, self.window_dilation, strict=True)
        return tuple((k - 1) * dilation + 1 for k, dilation in pairs)

    def counts(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The number of windows along each axis of an operand."""
        sizes = zip(self.padded(shape), self.spans(), self.strides, strict=True)
        return tuple((n - k) // s + 1 if n >= k else 0 for n, k, s in sizes)

    def turned(self, shape: Sequence[int]) -> "Windows":
        """The windows over results in which each cell of the padded operand is."""
        sizes = zip(self.padded(shape), self.counts(shape), strict=True)
        ends = zip(sizes, self.spans(), self.strides, strict=True)
        pads = tuple(
            (span - 1, n - (count - 1) * stride - 1)
            for (n, count), span, stride in ends
        )
        ones = (1,) * len(shape)
        return Windows(self.dimensions, ones, pads, self.strides, self.window_dilation)

    def with_front(self) -> "Windows":
        """The same windows in an operand with one more axis, in front."""
        pads = ((0, 0), *self.padding)
        return Windows(
            (1, *self.dimensions),
            (1, *self.strides),
            pads,
            (1, *self.base_dilation),
            (1, *self.window_dilation),
        )


def slide(
    body: ClosedJaxpr,
    consts: Sequence[Any],
    inits: Sequence[Any],
    xs: Sequence[Any],
    windows: Windows,
    neutral: bool,
    differentiated: bool = False,
) -> list[Any]:
    """The fold of every window, from `inits`; operands are `[*shape, *cell]`.

    `differentiated`: by an algorithm whose derivative is cheap.
    """
    ndim = len(windows.dimensions)
    shape = shape_of(xs[0])[:ndim]
    counts = windows.counts(shape)
    if 0 in counts:
        return [monoid.spread(i, counts) for i in inits]
    pairs = zip(xs, inits, strict=True)
    xs = [padded(x, i, windows, ndim) for x, i in pairs]
    how = _Fold(body, consts, ndim, differentiated)
    for axis in reversed(range(ndim)):
        k = windows.dimensions[axis]
        stride = windows.strides[axis]
        dilation = windows.window_dilation[axis]
        xs = _dilated(how, xs, axis, k, stride, dilation)
    if neutral:
        return list(xs)
    begin = [monoid.spread(i, counts) for i in inits]
    return monoid.combined(body, consts, begin, xs, counts)


def padded(x: Any, value: Any, windows: Windows, ndim: int) -> Any:
    """`x` dilated and padded with cells `value`."""
    cell = aval_of(value)
    config = [
        (low, high, dilation - 1)
        for (low, high), dilation in zip(
            windows.padding, windows.base_dilation, strict=True
        )
    ]
    if not any(map(any, config)):
        return x
    if not cell.shape:
        return pad(x, value, config)
    config += [(0, 0, 0)] * cell.ndim
    zero = zeros(cell.update(shape=(), weak_type=False))
    out = pad(x, zero, config)
    flags = aval_of(x).update(dtype=np.dtype(bool), weak_type=False)
    inside = pad(full(flags, True), False, config)
    shape = shape_of(out)
    return select_n(inside, monoid.spread(value, shape[:ndim]), out)


# ---- one axis ----


class _Fold(NamedTuple):
    """The combiner, what it closes over, and the number of axes that cells are along.

    `differentiated`: prefer algorithms whose derivative is cheap.
    """

    body: ClosedJaxpr
    consts: Sequence[Any]
    ndim: int
    differentiated: bool

    def lead(self, x: Any) -> tuple[int, ...]:
        """The sizes of the axes that cells are along."""
        return shape_of(x)[: self.ndim]

    def two(self, xs: Sequence[Any], ys: Sequence[Any]) -> list[Any]:
        """Two arrays combined cell by cell."""
        lead = self.lead(xs[0])
        return monoid.combined(self.body, self.consts, xs, ys, lead)

    def strategy(self, k: int, x: Any) -> str:
        """How to slide a window of `k` cells."""
        cells = math.prod(self.lead(x))
        return window_strategy(k, cells, cost_of(self.body), self.differentiated)


def _dilated(how: _Fold, xs, axis: int, k: int, stride: int, dilation: int):
    """Windows of `k` cells that are `dilation` apart: each phase by itself."""
    if dilation == 1 or k == 1:
        return _along(how, xs, axis, k, stride)
    n = shape_of(xs[0])[axis]
    rows = -(-n // dilation)
    wide = [filled(x, rows * dilation, axis) for x in xs]
    split = [_folded_axis(x, axis, dilation) for x in wide]
    deeper = how._replace(ndim=how.ndim + 1)
    outs = _along(deeper, split, axis, k, 1)
    flat = [_flat_axis(y, axis) for y in outs]
    count = n - (k - 1) * dilation
    return cut(flat, 0, count, stride, axis)


def _along(how: _Fold, xs, axis: int, k: int, stride: int) -> list[Any]:
    """Windows of `k` neighbours along one axis."""
    n = shape_of(xs[0])[axis]
    if k == 1:
        return cut(xs, 0, n, stride, axis)
    both = math.gcd(k, stride)
    if both > 1:
        used = (n - k) // stride * stride + k
        xs = cut(xs, 0, used, axis=axis)
        xs = _shortened(how, xs, axis, both)
        return _along(how, xs, axis, k // both, stride // both)
    strategy = how.strategy(k, xs[0])
    if strategy == "chain" or stride >= k:
        return _chain(how, xs, axis, k, stride)
    slid = (_doubling if strategy == "doubling" else _blocks)(how, xs, axis, k)
    return cut(slid, 0, n - k + 1, stride, axis)


def _chain(how: _Fold, xs, axis: int, k: int, stride: int) -> list[Any]:
    """The cells of every window, one after the other."""
    n = shape_of(xs[0])[axis]

    def shifted(i):
        return cut(xs, i, n - k + 1 + i, stride, axis)

    acc = shifted(0)
    for i in range(1, k):
        acc = how.two(acc, shifted(i))
    return acc


def _doubling(how: _Fold, xs, axis: int, k: int) -> list[Any]:
    """Windows of k cells from windows of k // radix cells, and so on.

    Reading the digits of k, windows of s cells become windows of radix * s + digit.
    """
    radix = cost_of(how.body).radix
    size, rest = digits(k, radix)
    acc = _chain(how, xs, axis, size, 1)
    for digit in rest:
        wide = size * radix + digit
        n = shape_of(xs[0])[axis] - wide + 1
        step = _Pass(how.ndim, axis, radix, size, digit, n)
        acc = step.apply(how, acc, xs)
        size = wide
    return acc


class _Pass(NamedTuple):
    """From windows of `size` cells to `n` windows of radix * size + digit cells."""

    ndim: int
    axis: int
    radix: int
    size: int
    digit: int
    n: int

    def apply(self, how: _Fold, acc, xs) -> list[Any]:
        """One loop of XLA, not merged with the next pass; it is run again backwards."""
        body, consts = how.body, how.consts
        args = [*consts, *acc, *xs]
        ns = len(acc)

        def fun(*values):
            return self.fold(body, *parts(values, len(consts), ns))

        avals = [aval_of(x).strong() for x in args]
        key = ("window pass", self, *avals)
        program = cached(body, key, lambda: closed(fun, avals, body))
        return checkpoint.bind(program, args, "window_pass", APART)

    def fold(self, body: ClosedJaxpr, consts, acc, xs) -> list[Any]:
        pieces = [self.piece(acc, i * self.size) for i in range(self.radix)]
        first = self.radix * self.size
        pieces += [self.piece(xs, first + i) for i in range(self.digit)]
        total = pieces[0]
        step = monoid.over(body, shape_of(total[0])[: self.ndim])
        for piece in pieces[1:]:
            total = run(step, [*consts, *total, *piece])
        return total

    def piece(self, xs, at: int) -> list[Any]:
        return cut(xs, at, at + self.n, axis=self.axis)


def _shortened(how: _Fold, xs, axis: int, size: int) -> list[Any]:
    """Blocks of `size` neighbours, each folded to one cell."""
    split = [_folded_axis(x, axis, size) for x in xs]
    front = [moveaxis(x, axis + 1, 0) for x in split]
    rest = shape_of(front[0])[1 : how.ndim + 1]
    return fold(how.body, how.consts, front, rest)


def _blocks(how: _Fold, xs, axis: int, k: int) -> list[Any]:
    """At least n - k + 1 windows of `k` cells, in three combinations a cell."""
    n = shape_of(xs[0])[axis]
    count = n // k
    wide = [filled(x, (count + 1) * k, axis) for x in xs]
    split = [_folded_axis(x, axis, k) for x in wide]
    front = [moveaxis(x, axis + 1, 0) for x in split]  # [k, ..., count + 1, ...]
    left = cut(front, 0, count, axis=axis + 1)
    right = cut(front, 1, count + 1, axis=axis + 1)
    right = cut(right, 0, k - 1)
    rest = shape_of(left[0])[1 : how.ndim + 1]
    inner, consts = monoid.over(how.body, rest), how.consts
    ends = associative_scan(monoid.swapped(inner), consts, left, reverse=True)
    begins = associative_scan(inner, consts, right)
    later = cut(ends, 1, k)
    across = monoid.combined(how.body, consts, later, begins, (k - 1, *rest))
    first = cut(ends, 0, 1)
    whole = [moveaxis(y, 0, axis + 1) for y in joined(first, across)]
    return [_flat_axis(y, axis) for y in whole]


def _folded_axis(x: Any, axis: int, size: int) -> Any:
    """Axis `[n]` as `[n / size, size]`."""
    shape = shape_of(x)
    pair = (shape[axis] // size, size)
    return reshape(x, (*shape[:axis], *pair, *shape[axis + 1 :]))


def _flat_axis(x: Any, axis: int) -> Any:
    """Axes `axis` and the next as one."""
    shape = shape_of(x)
    n = shape[axis] * shape[axis + 1]
    return reshape(x, (*shape[:axis], n, *shape[axis + 2 :]))
