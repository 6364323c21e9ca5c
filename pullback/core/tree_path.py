"""Walks over trees that say where each leaf stands.

A key path is a tuple of keys, one for each node from the root to the leaf.
"""

from collections.abc import Callable, Iterable
from typing import Any

from pullback.core.tree_node import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    SequenceKey,
    node_of,
)
from pullback.core.treedef import PyTreeDef, Spec, stops

KeyPath = tuple[Any, ...]


def _simple(key: Any) -> str:
    match key:
        case SequenceKey(name) | DictKey(name) | GetAttrKey(name):
            return str(name)
        case FlattenedIndexKey(name):
            return str(name)
    return str(key)


def keystr(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """A key path in Python notation.

    Args:
      simple: only the names, without brackets, quotes and dots.
      separator: put between the keys.

    >>> keystr((DictKey("a"), SequenceKey(0)))
    "['a'][0]"
    >>> keystr((DictKey("a"), SequenceKey(0)), simple=True, separator="/")
    'a/0'
    """
    return separator.join(map(_simple if simple else str, keys))


def _walk(x: Any, path: KeyPath, found: list, is_leaf: Callable | None) -> Spec:
    stop = is_leaf is not None and stops(is_leaf(path, x))
    if not stop and (node := node_of(type(x))):
        keys, children, aux = node.open_with_keys(x)
        specs = [
            _walk(child, (*path, key), found, is_leaf)
            for key, child in zip(keys, children, strict=True)
        ]
        return node.kind, aux, tuple(specs)
    found.append((path, x))
    return None


def flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path=False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """The (key path, leaf) pairs of `tree` from left to right, and its structure.

    Args:
      is_leaf: called at every node before it is opened; True keeps it as a leaf.
      is_leaf_takes_path: `is_leaf` takes the key path and the node.
    """
    found: list[tuple[KeyPath, Any]] = []
    if is_leaf is None or is_leaf_takes_path:
        spec = _walk(tree, (), found, is_leaf)
    else:
        spec = _walk(tree, (), found, lambda _, x: is_leaf(x))
    return found, PyTreeDef(spec, len(found))


def leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path=False
) -> list[tuple[KeyPath, Any]]:
    """The (key path, leaf) pairs of `tree` from left to right."""
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def key_paths(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[KeyPath]:
    """The key paths of the leaves of `tree` from left to right."""
    return [path for path, _ in flatten_with_path(tree, is_leaf)[0]]


def map_with_path(
    f: Callable,
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """The tree of `f(key path, leaf, *subtrees)`, as `map`.

    Raises: TreeError naming the first place where one of `rest` differs.
    """
    found, treedef = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    name = "tree map_with_path: a further tree"
    columns: list[Iterable] = [treedef.flatten_up_to(x, name) for x in rest]
    calls = zip(found, *columns, strict=True)
    return treedef.unflatten([f(*pair, *others) for pair, *others in calls])
