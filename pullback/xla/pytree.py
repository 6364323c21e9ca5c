"""Pytrees in C++: a registry of our own, beside the one that JAX may hold.

`None`, tuple, named tuple, list and dict (sorted by key) are nodes; anything else is
a leaf until registered. `None` holds no leaf.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from pullback.xla.binding import runtime

TreeDef = Any

_registry = runtime.pytree.PyTreeRegistry()

flatten: Callable[..., tuple[list[Any], TreeDef]] = _registry.flatten
"""`flatten(tree, is_leaf=None)` returns `(leaves, treedef)`. Treedefs compare and hash.

Raises: ValueError for a dict whose keys cannot be sorted."""


def unflatten(treedef: TreeDef, leaves: Iterable[Any]) -> Any:
    """Returns the tree with the structure `treedef` and these leaves.

    Raises: ValueError when the number of leaves differs.
    """
    return treedef.unflatten(leaves)


def register(
    node_type: type,
    to_iter: Callable[[Any], tuple[Iterable[Any], Hashable]],
    from_iter: Callable[[Any, tuple[Any, ...]], Any],
) -> None:
    """Makes `node_type` a node.

    `to_iter(node)` returns `(children, metadata)`; `from_iter(metadata, children)`
    is its inverse.

    Raises: ValueError when the type is registered already.
    """
    _registry.register_node(node_type, to_iter, from_iter)


def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Any] | None:
    """Returns `(children, metadata)` of a node, or None for a leaf."""
    return _registry.flatten_one_level(tree)


def flatten_up_to(treedef: TreeDef, tree: Any) -> list[Any]:
    """Returns the subtrees of `tree` where `treedef` has leaves.

    Raises: ValueError when `tree` does not start with that structure.
    """
    return treedef.flatten_up_to(tree)


def children(treedef: TreeDef) -> list[TreeDef]:
    """Returns the treedefs of the children."""
    return treedef.children()


def node_data(treedef: TreeDef) -> tuple[type, Any] | None:
    """Returns `(type, metadata)` of the root, or None when it is a leaf."""
    return treedef.node_data()


def num_leaves(treedef: TreeDef) -> int:
    """Returns how many leaves the structure has."""
    return treedef.num_leaves
