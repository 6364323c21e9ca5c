"""The normal form of an index: what of an array it takes, and in which order.

`normalize` makes it, `pick_read` and `pick_write` turn it into operations.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pullback.ops.affine import runs


class Run(NamedTuple):
    """Positions `start, start + step, ...`, `size` of them, perhaps read backwards."""

    start: int
    size: int
    step: int = 1
    backwards: bool = False

    @property
    def box(self) -> int:
        """How many positions from the first to the last."""
        return (self.size - 1) * self.step + 1 if self.size else 0


class Point(NamedTuple):
    """One position; the axis is dropped."""

    start: int
    size: int = 1
    step: int = 1
    backwards: bool = False
    box: int = 1


class Dyn(NamedTuple):
    """A point or run whose start is computed. `clamps`: it is moved inside.

    `item`: which item of the index it is.
    """

    start: Any
    size: int
    step: int
    point: bool
    clamps: bool
    item: int | None = None
    backwards: bool = False

    @property
    def box(self) -> int:
        """How many positions from the first to the last."""
        return (self.size - 1) * self.step + 1 if self.size else 0


class Lookup(NamedTuple):
    """Positions read from an integer array, a NumPy array or a traced one.

    `sizes`: its shape within the group. `inside`: a NumPy array in range. `box`: the
    size of the axis, all of which may be read. `item`: which item of the index it is.
    """

    array: Any
    sizes: tuple[int, ...]
    inside: bool
    box: int
    item: int | None = None
    start = 0
    step = 1
    backwards = False

    @property
    def size(self) -> int:
        """How much of the axis is needed: all of it."""
        return self.box


Axis = Run | Point | Dyn | Lookup
# An axis of the result: part p of axis a of the operand; axis s of the looked-up group;
# or new, of a given size.
Label = tuple


@dataclass(slots=True)
class Pick:
    """An index in normal form.

    `shape`: that of the operand, with the axes under a mask merged into one.
    `axes`: what is taken of each of them. `parts[a]`: the sizes into which what is
    taken of axis a is split. `group`: the shape of the arrays of lookups. `labels`:
    where each axis of the result comes from; `sizes`: how large it is. `out_shape`: the
    shape of the result, where an axis that was split is joined again.
    `wraps`: negative traced positions count from the end. `clips`: positions outside
    are moved inside; otherwise they read a fill value and their updates are dropped.
    `empty`: the arrays of the index are.
    """

    shape: tuple[int, ...]
    axes: list[Axis]
    parts: list[tuple[int, ...]]
    labels: list[Label]
    sizes: tuple[int, ...]
    out_shape: tuple[int, ...]
    group: tuple[int, ...]
    wraps: bool
    clips: bool
    empty: bool

    def lookups(self) -> list[int]:
        """The axes that are looked up."""
        return [a for a, t in enumerate(self.axes) if type(t) is Lookup]

    def members(self) -> list[Lookup]:
        """What they look up."""
        return [t for t in self.axes if type(t) is Lookup]

    def boxes(self) -> list[int]:
        """How many positions each axis spans."""
        return [t.box for t in self.axes]

    def steps(self) -> list[int]:
        """How far apart the positions of each axis are."""
        return [t.step for t in self.axes]

    def is_dynamic(self) -> bool:
        """Whether a start is computed."""
        return any(type(t) is Dyn for t in self.axes)


class Piece(NamedTuple):
    """A part of a pick: positions `start` to `stop` of axis `axis` of its result."""

    pick: Pick
    axis: int
    start: int
    stop: int


def pieces(pick: Pick) -> list[Piece] | None:
    """A pick as a few picks without lookups, side by side; None if it is not that.

    Not for vectors, where one gather is quicker than joining slices.
    """
    looked = pick.lookups()
    if len(looked) != 1 or len(pick.group) != 1 or len(pick.shape) < 2:
        return None
    a = looked[0]
    (member,) = pick.members()
    found = runs(member.array) if member.inside else None
    if found is None or pick.sizes != pick.out_shape:
        return None
    axis, at, out = pick.labels.index(("group", 0)), 0, []
    for run in found:
        axes, parts = list(pick.axes), list(pick.parts)
        axes[a], parts[a] = Run(*run[:4]), (run.size,)
        labels = [("axis", a, 0) if x[0] == "group" else x for x in pick.labels]
        sizes = (*pick.sizes[:axis], run.size, *pick.sizes[axis + 1 :])
        part = replace(
            pick,
            axes=axes,
            parts=parts,
            labels=labels,
            sizes=sizes,
            out_shape=sizes,
            group=(),
        )
        out.append(Piece(part, axis, at, at + run.size))
        at += run.size
    return out
