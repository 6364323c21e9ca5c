"""An index to its normal form. Reads Python and NumPy only.

All that is known before a program runs is settled here, and no operation is emitted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from pullback.core import config
from pullback.core.errors import IndexingError
from pullback.ops.affine import factored, reduced
from pullback.ops.index_items import (
    Integers,
    Mask,
    Traced,
    Window,
    out_of_bounds,
    parse,
)
from pullback.ops.pick import Dyn, Label, Lookup, Pick, Point, Run


@dataclass(slots=True)
class _Builder:
    """The state of `normalize`: one entry an axis, and the members of the group.

    `item`: which item is being placed; `places`: which one each axis belongs to.
    """

    clips: bool
    reads: bool
    wraps: bool
    shape: list[int] = field(default_factory=list)
    axes: list[Any] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    members: dict[int, Any] = field(default_factory=dict)
    outside: set[int] = field(default_factory=set)
    extra: list[tuple[int, ...]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    item: int = 0

    def add(self, n: int, axis: Any) -> int:
        """One more axis of the operand; returns its place."""
        self.shape.append(n)
        self.axes.append(axis)
        self.places.append(self.item)
        return len(self.axes) - 1

    def checks(self) -> bool:
        """Whether static positions outside are errors; never where they read a fill."""
        return config.current().check_static_indices and (self.clips or not self.reads)


def normalize(
    index: Any,
    shape: Sequence[int],
    *,
    reads: bool = True,
    clips: bool = True,
    wraps: bool = True,
) -> Pick:
    """The normal form of `index` into an array of `shape`.

    Args:
      index: what stands between the brackets.
      shape: that of the array.
      reads: whether the index reads, as against writes.
      clips: positions outside are moved inside (else: filled or dropped).
      wraps: negative positions count from the end.

    Raises:
      IndexingError: the index does not fit.
      ArgumentTypeError: an item is of a type that does not index.
    """
    items, axes_of = parse(index, tuple(shape), reads)
    b = _Builder(clips, reads, wraps)
    at = 0
    grouped, place = _group_place(items)
    for i, (item, count) in enumerate(zip(items, axes_of, strict=True)):
        if grouped and i == place:
            b.labels.append(("S",))
        b.item = i
        _place(b, item, tuple(shape[at : at + count]))
        at += count
    return _finish(b, grouped)


def _is_array(item: Any) -> bool:
    kind = type(item)
    return kind in (Integers, Mask) or (kind is Traced and item.ndim > 0)


def _joins(item: Any) -> bool:
    return _is_array(item) or type(item) in (int, Traced)


def _group_place(items: Sequence[Any]) -> tuple[bool, int]:
    """Whether there is a group of arrays, and before which item its axes stand."""
    if not any(map(_is_array, items)):
        return False, 0
    joined = [i for i, item in enumerate(items) if _joins(item)]
    together = joined[-1] - joined[0] == len(joined) - 1
    return True, joined[0] if together else 0


def _place(b: _Builder, item: Any, sizes: tuple[int, ...]) -> None:
    kind = type(item)
    if item is None:
        b.labels.append(("new", 1))
    elif item is Ellipsis:
        for n in sizes:
            b.labels.append(("axis", b.add(n, Run(0, n)), 0))
    elif kind is slice:
        b.labels.append(("axis", b.add(sizes[0], _run(item, sizes[0])), 0))
    elif kind is int:
        _place_int(b, item, sizes[0])
    elif kind is Window:
        b.labels.append(("axis", b.add(sizes[0], _window(b, item, sizes[0])), 0))
    elif kind is Mask:
        _place_mask(b, item, sizes)
    elif kind is Traced and not item.ndim:
        _place_scalar(b, item, sizes[0])
    else:
        _place_array(b, item, sizes[0])


def _run(s: slice, n: int) -> Run:
    start, stop, step = s.indices(n)
    size = len(range(start, stop, step))
    if size == 0:
        return Run(0, 0)
    if step > 0:
        return Run(start, size, step if size > 1 else 1)
    return Run(start + (size - 1) * step, size, -step if size > 1 else 1, size > 1)


def _place_int(b: _Builder, value: int, n: int) -> None:
    if n == 0 or (b.checks() and not -n <= value < n):
        raise out_of_bounds(value, len(b.axes), n, b.item)
    at = value + n if value < 0 and b.wraps else value
    if not 0 <= at < n and not b.clips:
        a = b.add(n, None)
        b.members[a] = np.int64(at)
        b.outside.add(a)
        return
    b.add(n, Point(min(max(at, 0), n - 1)))


def _place_scalar(b: _Builder, item: Traced, n: int) -> None:
    if n == 0:
        raise out_of_bounds("traced", len(b.axes), n, b.item)
    if b.reads and not b.clips:
        b.members[b.add(n, None)] = item.value
        return
    b.add(n, Dyn(item.value, 1, 1, True, b.clips, b.item))


def _window(b: _Builder, item: Window, n: int) -> Run | Dyn:
    start, size, step = item
    box = (size - 1) * step + 1 if size else 0
    if box > n:
        raise IndexingError(
            f"ds(start, {size}, {step}) on an axis of size {n} (item {b.item + 1} of "
            "the index)",
            rule=f"the window spans {box} positions, which must fit into the axis",
        )
    if not isinstance(start, int):
        return Dyn(start, size, step if size > 1 else 1, False, True, b.item)
    at = start + n if start < 0 else start
    if b.checks() and not 0 <= at <= n - box:
        raise out_of_bounds(f"ds({start}, {size})", len(b.axes), n, b.item)
    return Run(min(max(at, 0), n - box), size, step if size > 1 else 1)


def _place_mask(b: _Builder, item: Mask, sizes: tuple[int, ...]) -> None:
    value = item.value
    if not value.ndim:
        b.extra.append((int(value),))
        return
    n = int(np.prod(sizes))
    b.members[b.add(n, None)] = np.flatnonzero(value)


def _place_array(b: _Builder, item: Any, n: int) -> None:
    a = b.add(n, None)
    if type(item) is Traced:
        if n == 0 and item.value.size:
            raise out_of_bounds("traced", a, n, b.item)
        b.members[a] = item.value
        return
    value = item.value
    if b.wraps:
        value = np.where(value < 0, value + n, value)
    if value.size and (value.min() < 0 or value.max() >= n):
        if n == 0 or b.checks():
            bad = item.value[(value < 0) | (value >= n)].flat[0]
            raise out_of_bounds(int(bad), a, n, b.item)
        if b.clips:
            value = np.clip(value, 0, n - 1)
        else:
            b.outside.add(a)
    b.members[a] = value


def _finish(b: _Builder, grouped: bool) -> Pick:
    shapes = [*b.extra, *(m.shape for m in b.members.values())]
    joint = _joint_shape(shapes)
    fine = factored([*b.members.values()], joint) if not b.outside else None
    members = b.members
    if fine is not None:
        members = {a: _split(m, fine) for a, m in b.members.items()}
    out = reduced(members, fine or joint, b.outside)
    if fine is not None and out.looked_up:
        fine, out = None, reduced(b.members, joint, b.outside)
    parts: list[tuple[int, ...]] = [
        (t.size,) if type(t) is Run or (type(t) is Dyn and not t.point) else ()
        for t in b.axes
    ]
    for a, found in out.lines.items():
        b.axes[a] = Run(*found[:4]) if found.sizes else Point(found.start)
        parts[a] = found.sizes
    for a, (array, sizes) in out.looked_up.items():
        b.axes[a] = Lookup(array, sizes, a not in b.outside, b.shape[a], b.places[a])
    at = b.labels.index(("S",)) if grouped else 0
    labels = b.labels
    if grouped:
        labels = [*labels[:at], *out.labels, *labels[at + 1 :]]
    sizes = tuple(_label_size(x, parts, out.group) for x in labels)
    joined = sizes if fine is None else (*sizes[:at], *joint, *sizes[at + 2 :])
    return Pick(
        tuple(b.shape),
        b.axes,
        parts,
        labels,
        sizes,
        joined,
        out.group,
        b.wraps,
        b.clips,
        prod(joint) == 0,
    )


def _split(member: np.ndarray, fine: tuple[int, int]) -> np.ndarray:
    return member.reshape(fine) if member.size > 1 else member


def _label_size(label: Label, parts, group) -> int:
    if label[0] == "new":
        return label[1]
    return group[label[1]] if label[0] == "group" else parts[label[1]][label[2]]


def _joint_shape(shapes) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise IndexingError(
            f"index arrays of shapes {', '.join(map(str, shapes))}",
            rule="index arrays broadcast to one shape; a mask counts as the array of "
            "its true positions",
            fix="for an outer product of indices use ix_(...)",
        ) from None
