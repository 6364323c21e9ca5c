"""The carry of a loop: its tree and types are the same before and after an iteration.

Knows no loop: what a step is, is told by a function that traces it.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pullback.core import tree
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import DtypeError, ShapeError, TreeError
from pullback.core.tree_mismatch import describe_difference
from pullback.ops.promote import to_dtype
from pullback.ops.promotion import promote_pair
from pullback.regions.staging import Staged, leaf_names, name_of


class Loop(NamedTuple):
    """What messages say of a loop, and the checks of what it carries.

    `public`: the function that was called. `owner`: the user's step, with which traces
    are kept. `start`: the argument that the carry starts from. `counters`: the carry is
    a tuple with so many numbers before the user's carry.
    """

    public: str
    owner: Callable
    start: str = "init"
    counters: int = 0

    @property
    def what(self) -> str:
        """The function and the user's step."""
        return f"{self.public}: {name_of(self.owner)}"

    def check_tree(self, want: Any, out: Any) -> None:
        """Raise TreeError unless a carry that came back has the structure `want`."""
        if self.counters:
            want, out = want.children()[self.counters], out[self.counters]
        if tree.structure(out) == want:
            return
        raise TreeError(
            f"{self.what} returned a carry that differs from {self.start} "
            f"{describe_difference(want.spec, out, whole=True)}",
            rule="every iteration takes and returns a carry of the same tree structure",
            fix=f"make {self.start} and the result the same types of containers, with "
            "the same keys and lengths",
        )

    def check_types(self, carry_tree: Any, before: Sequence, after: Sequence) -> None:
        """Raise unless a carry of structure `carry_tree` keeps its types.

        Raises:
          DtypeError, ShapeError: naming the first component that changes.
        """
        for i, (a, b) in enumerate(zip(before, after, strict=True)):
            if a.shape != b.shape or a.dtype != b.dtype:
                raise self._changing(carry_tree, i, a, b)

    def _changing(self, carry_tree: Any, i: int, a: ShapedArray, b: ShapedArray):
        if self.counters:
            carry_tree = carry_tree.children()[self.counters]
        names = leaf_names(tree.treedef_tuple((carry_tree,)), (self.start,))
        name = names[i - self.counters]
        error = ShapeError if a.shape != b.shape else DtypeError
        cast = f"return it with .astype({a.dtype.name})"
        return error(
            f"{self.what}: the carry changes its type: {name} is {a.short()} when an "
            f"iteration starts and {b.short()} when it ends",
            rule="every iteration takes and returns a carry of the same shapes and "
            "dtypes",
            fix=f"{'reshape the result' if a.shape != b.shape else cast}, or give "
            f"{self.start} the type {b.short()} there",
        )


def promoted(before: Sequence[ShapedArray], after: Sequence[ShapedArray]):
    """Types to start from, so that weakly typed starts fit what comes back."""
    new = []
    for a, b in zip(before, after, strict=True):
        if a.weak_type and a.dtype != b.dtype:
            dtype, _ = promote_pair(a.dtype, True, b.dtype, b.weak_type)
            a = ShapedArray(a.shape, dtype, False, a.vary)
        new.append(a)
    return new


def stage_carry(
    run: Callable[[Sequence[ShapedArray]], Staged], avals: Sequence[ShapedArray]
) -> tuple[Staged, list[ShapedArray]]:
    """Trace a step whose leading results are the carry, for carry types `avals`.

    Weakly typed starts are promoted until they fit.
    """
    n = len(avals)
    while True:
        staged = run(avals)
        new = promoted(avals, staged.body.out_avals[:n])
        if new == list(avals):
            return staged, new
        avals = new


def at_types(leaves: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
    """Starting values, converted where promotion has changed their type."""
    return [
        x if aval_of(x).dtype == a.dtype else to_dtype(x, a.dtype)
        for x, a in zip(leaves, avals, strict=True)
    ]
