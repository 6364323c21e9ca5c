"""Static arrays of positions that are evenly spaced: they read like slices.

Pure NumPy. An array A over a shape S is affine when `A[s] = base + sum c_t s_t`, and a
run when the steps c_t nest like the digits of a number.
"""

from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

LARGEST = 1 << 20  # beyond, looking costs more than it saves


class Line(NamedTuple):
    """A run `start, start + step, ...` and how it fills the axes of the shape.

    `axes`: those axes, slowest first; `sizes`: their sizes.
    """

    start: int
    size: int
    step: int
    backwards: bool
    axes: tuple[int, ...]
    sizes: tuple[int, ...]


def line(array: Any, ndim: int) -> Line | None:
    """The positions as a run over a shape of `ndim` axes; None if they are none."""
    if not isinstance(array, np.ndarray | np.generic):
        return None
    if not 0 < array.size <= LARGEST:
        return None
    shape = (1,) * (ndim - array.ndim) + array.shape
    a = np.reshape(array, shape)
    steps = _steps(a)
    if steps is None:
        return None
    used = sorted((t for t in range(ndim) if steps[t]), key=lambda t: -abs(steps[t]))
    for slow, fast in pairwise(used):
        if steps[slow] != steps[fast] * shape[fast]:
            return None
    if not used:
        return Line(int(a.flat[0]), 1, 1, False, (), ())
    step = steps[used[-1]]
    size = prod(shape[t] for t in used)
    first = int(a.flat[0])
    start = first if step > 0 else first + step * (size - 1)
    sizes = tuple(shape[t] for t in used)
    return Line(start, size, abs(step), step < 0, tuple(used), sizes)


def _steps(a: np.ndarray) -> list[int] | None:
    """The step along each axis, if the array is affine."""
    base = a[(0,) * a.ndim]
    steps, fitted = [], base
    for t, n in enumerate(a.shape):
        at = [0] * a.ndim
        at[t] = 1 if n > 1 else 0
        step = int(a[tuple(at)] - base)
        steps.append(step)
        if step:
            sizes = [1] * a.ndim
            sizes[t] = n
            fitted = fitted + step * np.arange(n).reshape(sizes)
    return steps if np.array_equal(a, np.broadcast_to(fitted, a.shape)) else None


def factored(arrays: list[Any], joint: tuple[int, ...]) -> tuple[int, int] | None:
    """Two sizes that split the one axis of `joint` so that every array is affine.

    That finds repeated and tiled runs. None if one axis does as well, or two do not.
    """
    if len(joint) != 1 or not 3 < joint[0] <= LARGEST:
        return None
    n = joint[0]
    breaks = set()
    for a in arrays:
        if not isinstance(a, np.ndarray):
            return None
        if a.size == n:
            jumps = np.diff(a)
            changed = np.flatnonzero(jumps != jumps[0])
            breaks |= {int(changed[0]) + 1} if changed.size else set()
    if len(breaks) != 1:
        return None
    (p,) = breaks
    return (n // p, p) if n % p == 0 and 1 < p < n else None


def runs(array: Any, most: int = 3) -> list[Line] | None:
    """A vector of positions as at most `most` runs of two or more, or None."""
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        return None
    if not 2 <= array.size <= LARGEST:
        return None
    out, at = [], 0
    while at < array.size:
        jumps = np.diff(array[at:])
        broken = np.flatnonzero(jumps != jumps[0]) if jumps.size else jumps
        size = int(broken[0]) + 1 if broken.size else array.size - at
        found = line(array[at : at + size], 1)
        if size < 2 or found is None or not found.sizes or len(out) == most:
            return None
        out.append(found)
        at += size
    return out


class Reduced(NamedTuple):
    """What is left of a group of arrays.

    `lines`: the arrays that are runs, by axis. `looked_up`: the others, with the shape
    that each has within `group`, the shape of what is looked up. `labels`: where each
    axis of the joint shape comes from.
    """

    lines: dict[int, Line]
    looked_up: dict[int, tuple[Any, tuple[int, ...]]]
    group: tuple[int, ...]
    labels: list[tuple]


def reduced(
    arrays: dict[int, Any], joint: tuple[int, ...], outside: set[int]
) -> Reduced:
    """Split a group into runs and lookups. Axes that runs fill are nobody else's."""
    ndim = len(joint)
    lines: dict[int, Line] = {}
    used: dict[int, tuple[int, ...]] = {}
    for a, array in arrays.items():
        found = None if a in outside else line(array, ndim)
        if found is not None:
            lines[a], used[a] = found, found.axes
        else:
            first = ndim - array.ndim
            used[a] = tuple(t + first for t, n in enumerate(array.shape) if n != 1)
    users = [sum(t in used[a] for a in arrays) for t in range(ndim)]
    lines = {
        a: found for a, found in lines.items() if all(users[t] == 1 for t in used[a])
    }
    rest = [a for a in arrays if a not in lines]
    shared = sorted({t for a in rest for t in used[a]})
    labels = _labels(lines, shared, joint)
    looked_up = {a: _within(arrays[a], used[a], shared, joint) for a in rest}
    return Reduced(lines, looked_up, tuple(joint[t] for t in shared), labels)


def _labels(lines: dict[int, Line], shared: list[int], joint) -> list[tuple]:
    labels: list[Any] = [None] * len(joint)
    for a, found in lines.items():
        for p, t in enumerate(found.axes):
            labels[t] = ("axis", a, p)
    for s, t in enumerate(shared):
        labels[t] = ("group", s)
    for t, n in enumerate(joint):
        if labels[t] is None:
            labels[t] = ("new", n)
            if n == 1:
                _claim(lines, labels, t)
    return labels


def _claim(lines: dict[int, Line], labels: list, t: int) -> None:
    """Let a run of one position keep its axis: no need to drop it and make one."""
    for a, found in lines.items():
        if not found.axes:
            lines[a] = found._replace(axes=(t,), sizes=(1,))
            labels[t] = ("axis", a, 0)
            return


def _within(array: Any, used, shared, joint) -> tuple[Any, tuple[int, ...]]:
    ndim = len(joint)
    sizes = tuple(joint[t] if t in used else 1 for t in shared)
    if isinstance(array, np.ndarray | np.generic):
        aligned = np.reshape(array, (1,) * (ndim - array.ndim) + array.shape)
        at = tuple(slice(None) if t in used else slice(0, 1) for t in range(ndim))
        return aligned[at].reshape(sizes), sizes
    return array, sizes
