"""A user's combiner, traced and checked: `f(acc, x) -> acc` on trees of cells."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pullback.core import tree
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import DtypeError, ShapeError, TreeError
from pullback.core.jaxpr import ClosedJaxpr
from pullback.core.trace import Tracer
from pullback.core.tree_mismatch import describe_difference
from pullback.ops.convert import convert
from pullback.regions.staging import leaf_names, name_of, stage_trees


class Combiner(NamedTuple):
    """A combiner as a body, and the values that it closes over."""

    body: ClosedJaxpr
    consts: list[Any]


def described(f: Callable) -> str:
    """The combiner in words: its name, and where it is written."""
    code = getattr(f, "__code__", None)
    if code is None:
        return name_of(f)
    file = code.co_filename.rpartition("/")[2]
    return f"{name_of(f)} ({file}:{code.co_firstlineno})"


def stage_combiner(
    f: Callable, cells_tree: Any, cells: Sequence[ShapedArray], public: str
) -> Combiner:
    """Trace `f` for two states of the given structure and cells.

    Raises:
      TreeError, ShapeError, DtypeError: it returns a state of another type.
      ArgumentTypeError: it returns something that is not an array.
    """
    what = f"{public}: combiner {described(f)}"
    in_tree = tree.treedef_tuple((cells_tree, cells_tree))

    def check(out: Any) -> None:
        if tree.structure(out) != cells_tree:
            raise TreeError(
                f"{what} returned a state that differs from its arguments "
                f"{describe_difference(cells_tree.spec, out, whole=True)}",
                rule="a combiner takes two states and returns one, all of one tree "
                "structure",
                fix="return the same types of containers, with the same keys",
            )

    staged = stage_trees(f, in_tree, [*cells, *cells], what, ("acc", "x"), check)
    names = leaf_names(tree.treedef_tuple((cells_tree,)), ("acc",))
    for name, a, b in zip(names, cells, staged.body.out_avals, strict=True):
        check_same(what, name, a, b)
    return Combiner(staged.body, staged.consts)


def check_same(what: str, name: str, a: ShapedArray, b: ShapedArray) -> None:
    """Raise unless a component of the state that comes back is of its old type."""
    if a.shape == b.shape and a.dtype == b.dtype:
        return
    error = ShapeError if a.shape != b.shape else DtypeError
    raise error(
        f"{what} takes {name} of type {a.short()} and returns {b.short()} in its place",
        rule="a combiner keeps the shape and dtype of every component",
        fix=f"return it with .astype({a.dtype.name})"
        if error is DtypeError
        else "combine scalars elementwise",
    )


def start_values(
    public: str, inits: Any, operands: Any, avals: Sequence[ShapedArray]
) -> list[Any]:
    """The leaves of start values: scalars of the dtypes of the operands.

    Raises:
      TreeError: another structure than that of the operands.
      ShapeError: one is not a scalar. DtypeError: one is of another dtype.
    """
    leaves, structure = tree.flatten(inits)
    if structure != tree.structure(operands):
        want = tree.structure(operands)
        raise TreeError(
            f"{public}: the start values differ from the operands "
            f"{describe_difference(want.spec, inits, whole=True)}",
            rule="there is one start value for each operand",
        )
    paths = [tree.keystr(p) for p in tree.key_paths(operands)]
    return [
        _start(public, path, x, a)
        for path, x, a in zip(paths, leaves, avals, strict=True)
    ]


def _start(public: str, path: str, x: Any, operand: ShapedArray) -> Any:
    aval = aval_of(x)
    if aval.shape:
        raise ShapeError(
            f"{public}: the start value{path} is {aval.short()}",
            rule="a start value is a scalar, the identity of the combiner",
        )
    if aval.dtype != operand.dtype and not aval.weak_type:
        raise DtypeError(
            f"{public}: the start value{path} is {aval.short()} and its operand "
            f"{operand.short()}",
            rule="a start value has the dtype of its operand",
            fix=f"give it as a Python number, or convert it to {operand.dtype.name}",
        )
    if isinstance(x, Tracer):
        return convert(x, operand.dtype)
    return np.asarray(x, operand.dtype)  # known, also while a program is traced


def operand_avals(public: str, operands: Any) -> list[ShapedArray]:
    """The types of operands, which have one shape.

    Raises:
      TreeError: there is no array among them. ShapeError: their shapes differ.
    """
    leaves = tree.leaves(operands)
    avals = [aval_of(x) for x in leaves]
    if not avals:
        raise TreeError(f"{public} of a tree without arrays", rule="it takes arrays")
    if any(a.shape != avals[0].shape for a in avals):
        paths = [f"operand{tree.keystr(p)}" for p in tree.key_paths(operands)]
        pairs = zip(paths, avals, strict=True)
        shown = ", ".join(f"{p} is {a.short()}" for p, a in pairs)
        raise ShapeError(
            f"{public}: {shown}", rule="operands reduced together have one shape"
        )
    return avals
