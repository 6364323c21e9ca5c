"""Trees: nested containers of values, taken apart and rebuilt.

The functions here work on whole trees; `treedef` holds the structure type and the
walks, `tree_node` the table of node types, `tree_path` the walks with key paths.
Knows nothing of arrays.
"""

import builtins
import functools
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

from pullback.core.errors import ArgumentTypeError, TreeError
from pullback.core.tree_mismatch import (
    describe_difference,
    describe_prefix_difference,
)
from pullback.core.tree_node import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    SequenceKey,
    flatten_one_level,
    flatten_one_level_with_keys,
    is_tree_node,
    node_of,
    on_register,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
)
from pullback.core.tree_path import (
    KeyPath,
    flatten_with_path,
    key_paths,
    keystr,
    leaves_with_path,
    map_with_path,
)
from pullback.core.tree_types import (
    Partial,
    register_dataclass,
    static,
)
from pullback.core.treedef import (
    Differs,
    PyTreeDef,
    Spec,
    children_like,
    count_leaves,
    flatten,
    flatten_all,
    flatten_until,
    stops,
    unflatten,
)

__all__ = [
    "MISSING",
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all",
    "all_leaves",
    "broadcast",
    "broadcast_prefix",
    "build_tree",
    "flatten",
    "flatten_axes",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "flatten_with_path",
    "is_tree_node",
    "key_paths",
    "keystr",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "on_register",
    "reduce",
    "reduce_associative",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "static",
    "structure",
    "transpose",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
    "unflatten",
]

IsLeaf = Callable[[Any], bool]
_ORDINALS = ("second", "third", "fourth", "fifth", "sixth")


class _Missing:
    """The default of an argument that may be None."""

    def __repr__(self) -> str:
        return "<no value>"


MISSING = _Missing()


def leaves(tree: Any, is_leaf: IsLeaf | None = None) -> list:
    """The leaves of `tree` from left to right."""
    found: list = []
    if is_leaf is None:
        flatten_all((tree,), found)
    else:
        flatten_until(tree, found, is_leaf)
    return found


def structure(tree: Any, is_leaf: IsLeaf | None = None) -> PyTreeDef:
    """The structure of `tree`."""
    return flatten(tree, is_leaf)[1]


def _ordinal(i: int) -> str:
    return _ORDINALS[i] if i < len(_ORDINALS) else f"{i + 2}th"


def map(f: Callable, tree: Any, *rest: Any, is_leaf: IsLeaf | None = None) -> Any:
    """The tree of `f(leaf, *subtrees)`, one call for each leaf of `tree`.

    Args:
      rest: trees of which `tree` is a prefix; `f` gets what stands at the leaf.

    Raises: TreeError naming the first place where one of `rest` differs.

    >>> map(lambda x, y: x + y, (1, [2]), (10, [20]))
    (11, [22])
    """
    found, treedef = flatten(tree, is_leaf)
    if not rest:
        return treedef.unflatten(list(builtins.map(f, found)))
    columns = [
        treedef.flatten_up_to(x, f"tree map: the {_ordinal(i)} tree")
        for i, x in enumerate(rest)
    ]
    return treedef.unflatten(list(builtins.map(f, found, *columns)))


def reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = MISSING,
    is_leaf: IsLeaf | None = None,
) -> Any:
    """Folds the leaves from left to right.

    Raises: ArgumentTypeError for a tree without leaves and no `initializer`.
    """
    found = leaves(tree, is_leaf)
    if initializer is not MISSING:
        return functools.reduce(function, found, initializer)
    if not found:
        raise ArgumentTypeError(
            "tree reduce: the tree has no leaves", fix="give an initializer"
        )
    return functools.reduce(function, found)


def reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any = MISSING,
    is_leaf: IsLeaf | None = None,
) -> Any:
    """Combines the leaves in a balanced order, which an associative operation allows.

    Args:
      identity: the result for a tree without leaves.

    Raises: ArgumentTypeError for a tree without leaves and no `identity`.
    """
    found = leaves(tree, is_leaf)
    if not found and identity is MISSING:
        raise ArgumentTypeError(
            "tree reduce_associative: the tree has no leaves", fix="give identity"
        )
    return _halve(operation, found) if found else identity


def _halve(operation: Callable, xs: list) -> Any:
    if len(xs) == 1:
        return xs[0]
    middle = len(xs) // 2
    return operation(_halve(operation, xs[:middle]), _halve(operation, xs[middle:]))


def all(tree: Any, *, is_leaf: IsLeaf | None = None) -> bool:
    """Whether every leaf is true."""
    return builtins.all(leaves(tree, is_leaf))


def all_leaves(iterable: Iterable, is_leaf: IsLeaf | None = None) -> bool:
    """Whether every element of `iterable` is a leaf (None is not)."""
    if is_leaf is None:
        return not any(builtins.map(node_of, builtins.map(type, iterable)))
    return builtins.all(stops(is_leaf(x)) or not node_of(type(x)) for x in iterable)


def transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any:
    """Turns a tree of structure outer over inner into one of inner over outer.

    Args:
      inner_treedef: None takes the structure of the first subtree.

    Raises: TreeError when the tree is not of the structure `outer.compose(inner)`.

    >>> transpose(structure((0, 0)), None, ([1, 2], [3, 4]))
    [(1, 3), (2, 4)]
    """
    outer, inner, tree = outer_treedef, inner_treedef, pytree_to_transpose
    if inner is None:
        parts = outer.flatten_up_to(tree, "tree transpose: the tree")
        if not parts:
            raise TreeError(
                "tree transpose: the outer structure has no leaves",
                fix="give the inner structure",
            )
        inner = structure(parts[0])
    found, treedef = flatten(tree)
    wanted = outer.compose(inner)
    if treedef != wanted:
        where = describe_difference(wanted.spec, tree, whole=True)
        raise TreeError(
            f"tree transpose: the tree differs {where}",
            rule=f"it must be of the structure {wanted}",
        )
    n = inner.num_leaves
    return inner.unflatten([outer.unflatten(found[i::n]) for i in range(n)])


def broadcast_prefix(
    prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf | None = None
) -> list:
    """Each leaf of `prefix_tree`, once for each leaf of `full_tree` below its place.

    Raises: TreeError when `prefix_tree` is not a prefix of `full_tree`.

    >>> broadcast_prefix((1, 2), ("a", ["b", "c"]))
    [1, 2, 2]
    """
    values, treedef = flatten(prefix_tree, is_leaf)
    parts = treedef.flatten_up_to(full_tree, "tree broadcast: the full tree")
    spread: list = []
    for value, part in zip(values, parts, strict=True):
        spread.extend(repeat(value, len(leaves(part, is_leaf))))
    return spread


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf | None = None) -> Any:
    """The tree of the structure of `full_tree` and the leaves of `prefix_tree`.

    Raises: TreeError when `prefix_tree` is not a prefix of `full_tree`.

    >>> broadcast((1, 2), ("a", {"b": 0, "c": 0}))
    (1, {'b': 2, 'c': 2})
    """
    return structure(full_tree, is_leaf).unflatten(
        broadcast_prefix(prefix_tree, full_tree, is_leaf)
    )


def flatten_axes(
    name: str, treedef: PyTreeDef, axes: Any, is_leaf: IsLeaf | None = None
) -> list:
    """`axes`, a prefix of `treedef`, as one entry for each leaf; None is an entry.

    Args:
      name: what `axes` is, for the message: "vmap in_axes".

    Raises: TreeError naming the place where `axes` is not a prefix.

    >>> flatten_axes("in_axes", structure((0, [0, 0])), (None, 1))
    [None, 1, 1]
    """

    def opens(x: Any) -> bool:
        return not (x is None or (is_leaf and is_leaf(x))) and is_tree_node(type(x))

    entries: list = []
    try:
        _spread(treedef.spec, axes, entries, opens)
    except Differs:
        where = describe_prefix_difference(treedef.spec, axes, opens)
        raise TreeError(
            f"{name} differs from its value {where}",
            rule=f"{name} must be a tree prefix of the value that it describes",
            fix="give one entry for the whole subtree, or a tree of the same "
            "node types, keys and lengths",
        ) from None
    return entries


def _spread(spec: Spec, axes: Any, entries: list, opens: Callable) -> None:
    if not opens(axes):
        entries.extend(repeat(axes, count_leaves(spec)))
        return
    if spec is None or spec[0] is not type(axes):
        raise Differs
    children = children_like(spec[0], spec[1], axes)
    if len(children) != len(spec[2]):
        raise Differs
    for child, y in zip(spec[2], children, strict=True):
        _spread(child, y, entries, opens)


def build_tree(treedef: PyTreeDef, xs: Any) -> Any:
    """The tree of structure `treedef` from nested iterables of the same nesting.

    Raises: TreeError when an iterable has another length than its node.
    """
    return _build_nested(treedef.spec, xs)


def _build_nested(spec: Spec, xs: Any) -> Any:
    if spec is None:
        return xs
    kind, aux, specs = spec
    parts = list(xs or ())
    if len(parts) != len(specs):
        raise TreeError(f"build_tree: {len(parts)} children for {PyTreeDef(spec)}")
    children = tuple(builtins.map(_build_nested, specs, parts))
    return node_of(kind).unflatten(aux, children)


def treedef_tuple(treedefs: Sequence[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple whose elements have the given structures."""
    return PyTreeDef((tuple, None, tuple([treedef.spec for treedef in treedefs])))


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of the root."""
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether a tree of this structure is one node: a leaf or an empty container."""
    return treedef.num_nodes == 1
