"""Which Python types are nodes of a tree, and how each is opened and rebuilt.

Rules:
1. Dispatch is on the exact type: a subclass of `list` or `dict` is a leaf.
2. A type has one entry, made once; registering it again is an error.
3. Opening a node gives the same children in the same order with and without keys.

Knows nothing of tree structures.
"""

import dataclasses
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pullback.core.errors import ArgumentError, ArgumentTypeError, TreeError


@dataclasses.dataclass(frozen=True, slots=True)
class SequenceKey:
    """Position of a child of a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@dataclasses.dataclass(frozen=True, slots=True)
class DictKey:
    """Key of a child of a dictionary."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclasses.dataclass(frozen=True, slots=True)
class GetAttrKey:
    """Name of an attribute that holds a child."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclasses.dataclass(frozen=True, slots=True)
class FlattenedIndexKey:
    """Position of a child of a node that names no keys."""

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key!r}>]"


T = TypeVar("T", bound=type)
Opened = tuple[Iterable[Any], Any]
Listener = Callable[[type, Callable[[Any], Opened], Callable[..., Any]], None]


class Node:
    """How one type is opened (`flatten`) and rebuilt (`unflatten`)."""

    __slots__ = ("flatten", "flatten_with_keys", "kind", "native", "unflatten")

    def __init__(self, kind, flatten, unflatten, flatten_with_keys, native=False):
        self.kind, self.flatten, self.unflatten = kind, flatten, unflatten
        self.flatten_with_keys, self.native = flatten_with_keys, native

    def open(self, x: Any) -> tuple[tuple, Any]:
        """The children of `x` and its metadata."""
        children, aux = self.flatten(x)
        return tuple(children), aux

    def open_with_keys(self, x: Any) -> tuple[tuple, tuple, Any]:
        """The keys of the children of `x`, the children, and its metadata."""
        if self.flatten_with_keys is None:
            children, aux = self.open(x)
            return tuple(map(FlattenedIndexKey, range(len(children)))), children, aux
        pairs, aux = self.flatten_with_keys(x)
        pairs = tuple(pairs)
        return tuple([k for k, _ in pairs]), tuple([c for _, c in pairs]), aux


def sorted_keys(x: dict) -> tuple:
    """The keys of `x` in the order of its leaves.

    Raises: TreeError when two keys cannot be compared.
    """
    try:
        return tuple(sorted(x))
    except TypeError as fault:
        kinds = sorted({type(key).__name__ for key in x})
        raise TreeError(
            f"flatten: a {type(x).__name__} has keys of the types {', '.join(kinds)}",
            rule=f"the keys of a dictionary must be sortable: {fault}",
            fix="use keys of one type, or an OrderedDict",
        ) from None


def _namedtuple_node(kind: type) -> Node:
    keys = tuple(map(GetAttrKey, kind._fields))
    return Node(
        kind,
        lambda x: (x, None),
        lambda aux, children: kind(*children),
        lambda x: (zip(keys, x, strict=True), None),
        native=True,
    )


class _Kinds(dict):
    """type -> its Node, or False for a leaf; types never seen are added when met."""

    def __missing__(self, kind: type) -> Node | bool:
        named = issubclass(kind, tuple) and hasattr(kind, "_fields")
        with _lock:
            if len(self) > _MAX_KINDS:
                for old in [k for k in self if k not in _registered]:
                    del self[old]
            return self.setdefault(kind, named and _namedtuple_node(kind))


_MAX_KINDS = 4096  # types met as leaves are kept alive up to this many
_lock = threading.RLock()
_registered: dict[type, Node] = {}
_listeners: list[Listener] = []
_kinds = _Kinds()
node_of = _kinds.__getitem__
"""The Node of a type, or False when values of that type are leaves."""


def register(node: Node) -> None:
    """Adds `node` to the table and tells the listeners."""
    if not isinstance(node.kind, type):
        raise ArgumentTypeError(f"register: {node.kind!r} is not a class")
    with _lock:
        if node.kind in _registered:
            raise ArgumentError(
                f"register: {node.kind!r} is already a pytree node",
                rule="a duplicate registration would change trees that exist",
                fix="register the class once, where it is defined",
            )
        _registered[node.kind] = _kinds[node.kind] = node
        if not node.native:
            for listener in _listeners:
                listener(node.kind, node.flatten, node.unflatten)


def leaf_type(kind: type) -> None:
    """Enters a class whose values are leaves, so that the first one is known."""
    with _lock:
        _kinds.setdefault(kind, False)


def on_register(listener: Listener) -> None:
    """Calls `listener(cls, flatten, unflatten)` for each registered class.

    Classes registered before are reported now, in order; later ones as they come.
    The native kinds (None, tuple, list, dict, named tuples) are not reported.
    """
    with _lock:
        _listeners.append(listener)
        for node in _registered.values():
            if not node.native:
                listener(node.kind, node.flatten, node.unflatten)


def is_tree_node(kind: type) -> bool:
    """Whether values of the class `kind` are opened rather than kept as leaves."""
    return bool(node_of(kind))


def flatten_one_level(tree: Any) -> tuple[tuple, Any]:
    """The children of one node and its metadata.

    Raises: TreeError for a leaf.
    """
    return _node(tree).open(tree)


def flatten_one_level_with_keys(tree: Any) -> tuple[tuple, Any]:
    """The (key, child) pairs of one node and its metadata.

    Raises: TreeError for a leaf.
    """
    keys, children, aux = _node(tree).open_with_keys(tree)
    return tuple(zip(keys, children, strict=True)), aux


def _node(tree: Any) -> Node:
    if node := node_of(type(tree)):
        return node
    raise TreeError(
        f"flatten_one_level: a value of type {type(tree).__name__} is a leaf",
        fix="register its class by register_pytree_node",
    )


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], Opened],
    unflatten_func: Callable[[Any, tuple], Any],
    flatten_with_keys_func: Callable[[Any], Opened] | None = None,
) -> None:
    """Makes `nodetype` a node.

    Args:
      flatten_func: x -> (children, metadata); metadata is hashable, compared by `==`.
      unflatten_func: (metadata, children) -> x.
      flatten_with_keys_func: x -> ((key, child) pairs, metadata), for key paths.

    Raises: ArgumentError when `nodetype` is a node already.
    """
    register(Node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func))


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], Opened],
    unflatten_func: Callable[[Any, tuple], Any],
    flatten_func: Callable[[Any], Opened] | None = None,
) -> None:
    """`register_pytree_node` from a flatten function that also gives the keys.

    Raises: ArgumentError when `nodetype` is a node already.
    """

    def flatten(x: Any) -> Opened:
        pairs, aux = flatten_with_keys(x)
        return tuple([child for _, child in pairs]), aux

    register(Node(nodetype, flatten_func or flatten, unflatten_func, flatten_with_keys))


def register_pytree_node_class(cls: T) -> T:
    """Class decorator: a node by its methods `tree_flatten` and `tree_unflatten`."""
    register_pytree_node(cls, cls.tree_flatten, cls.tree_unflatten)
    return cls


def register_pytree_with_keys_class(cls: T) -> T:
    """Class decorator: a node by `tree_flatten_with_keys` and `tree_unflatten`."""
    plain = getattr(cls, "tree_flatten", None)
    register_pytree_with_keys(
        cls, cls.tree_flatten_with_keys, cls.tree_unflatten, plain
    )
    return cls


def register_static(cls: T) -> T:
    """Class decorator: values are nodes without leaves, part of the structure.

    They must be hashable; `jit` compiles again for each unequal value.
    """
    register_pytree_node(cls, lambda x: ((), x), lambda x, _: x, lambda x: ((), x))
    return cls
