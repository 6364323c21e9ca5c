"""The structure of a tree, and the walks between a tree and its leaves.

A structure is nested tuples, so that hashing, comparing and copying happen in C:

- a leaf is `None`;
- a node is `(type, metadata, structures of the children)`.

Rules:
1. A walk makes one Python call a node and none a leaf; children that are all leaves
   are taken at once.
2. Metadata of `dict` is its sorted keys; of `None`, tuples, lists, None.

Knows nothing of arrays.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from pullback.core.errors import TreeError
from pullback.core.tree_mismatch import describe_difference
from pullback.core.tree_node import node_of, sorted_keys

type_of_none = type(None)
Spec = tuple[type, Any, tuple] | None


class Differs(Exception):
    """A tree is not of the wanted structure; never leaves this package."""


def flatten_all(trees: Iterable, leaves: list) -> tuple[Spec, ...]:
    """The structures of `trees`; their leaves are appended to `leaves`."""
    specs: list[Spec] = []
    for x in trees:
        kind = type(x)
        if kind is tuple or kind is list:
            children, aux = x, None
        elif kind is dict:
            try:
                aux = tuple(sorted(x))
            except TypeError:
                aux = sorted_keys(x)  # raises
            children = list(map(x.__getitem__, aux))
        elif node := node_of(kind):
            children, aux = node.open(x)
        else:
            leaves.append(x)
            specs.append(None)
            continue
        if any(map(node_of, map(type, children))):
            specs.append((kind, aux, flatten_all(children, leaves)))
        else:
            leaves.extend(children)
            specs.append((kind, aux, (None,) * len(children)))
    return tuple(specs)


def flatten_until(x: Any, leaves: list, is_leaf: Callable[[Any], bool]) -> Spec:
    """The structure of `x`, where `is_leaf` makes leaves; appends to `leaves`."""
    if not stops(is_leaf(x)) and (node := node_of(type(x))):
        children, aux = node.open(x)
        specs = [flatten_until(child, leaves, is_leaf) for child in children]
        return node.kind, aux, tuple(specs)
    leaves.append(x)
    return None


def stops(answer: Any) -> bool:
    """The answer of an `is_leaf` function.

    Raises: TreeError when it is no bool.
    """
    if answer is True or answer is False:
        return answer
    raise TreeError(
        f"flatten: is_leaf returned a value of type {type(answer).__name__}",
        rule="is_leaf returns True or False",
    )


def build_all(specs: Iterable[Spec], leaves: Iterator) -> list:
    """The trees of the structures `specs` from the next of `leaves`."""
    trees = []
    for spec in specs:
        if spec is None:
            trees.append(next(leaves))
            continue
        kind, aux, inner = spec
        if any(inner):
            children = build_all(inner, leaves)
        else:
            children = islice(leaves, len(inner))
        if kind is dict:
            trees.append(dict(zip(aux, children)))  # noqa: B905 (equal lengths)
        elif kind is tuple or kind is list:
            trees.append(kind(children))
        elif kind is type_of_none:
            trees.append(None)
        else:
            trees.append(node_of(kind).unflatten(aux, tuple(children)))
    return trees


def split_all(specs: Iterable[Spec], trees: Iterable, parts: list) -> None:
    """Appends the subtrees of `trees` at the leaves of `specs` to `parts`.

    Raises: Differs.
    """
    for spec, x in zip(specs, trees):  # noqa: B905 (equal lengths)
        if spec is None:
            parts.append(x)
            continue
        kind, aux, inner = spec
        if type(x) is not kind:
            raise Differs
        flat = kind is tuple or kind is list
        children = x if flat else children_like(kind, aux, x)
        if len(children) != len(inner):
            raise Differs
        if any(inner):
            split_all(inner, children, parts)
        else:
            parts.extend(children)


def children_like(kind: type, aux: Any, x: Any) -> Sequence:
    """The children of `x`, a node of type `kind`, in the order of metadata `aux`.

    Raises: Differs, unless the metadata of `x` equals `aux`.
    """
    if kind is dict and len(aux) == len(x):
        try:
            return list(map(x.__getitem__, aux))
        except KeyError:
            raise Differs from None
    children, found = node_of(kind).open(x)
    if found != aux:
        raise Differs
    return children


def count_leaves(spec: Spec) -> int:
    """The number of leaves of `spec`."""
    if spec is None:
        return 1
    specs = spec[2]
    return sum(map(count_leaves, specs)) if any(specs) else len(specs)


def count_nodes(spec: Spec) -> int:
    """The number of nodes of `spec`, leaves among them."""
    return 1 if spec is None else 1 + sum(map(count_nodes, spec[2]))


def substitute(spec: Spec, leaf: Spec) -> Spec:
    """`spec` with each leaf replaced by the structure `leaf`."""
    if spec is None:
        return leaf
    return spec[0], spec[1], tuple([substitute(child, leaf) for child in spec[2]])


def _hash_without_metadata(spec: Spec) -> int:
    if spec is None:
        return hash(None)
    return hash((spec[0], *map(_hash_without_metadata, spec[2])))


def show(spec: Spec) -> str:
    """`spec` in the notation of JAX, a leaf being `*`."""
    if spec is None:
        return "*"
    kind, aux, specs = spec
    parts = list(map(show, specs))
    inner = ", ".join(parts)
    if kind is type_of_none:
        return "None"
    if kind is tuple:
        return f"({inner},)" if len(parts) == 1 else f"({inner})"
    if kind is list:
        return f"[{inner}]"
    if kind is dict:
        pairs = zip(aux, parts, strict=True)
        return "{" + ", ".join([f"{key!r}: {part}" for key, part in pairs]) + "}"
    if node_of(kind).native:
        return f"CustomNode(namedtuple[{kind.__name__}], [{inner}])"
    return f"CustomNode({kind.__name__}[{aux}], [{inner}])"


class PyTreeDef:
    """The structure of a tree: hashable, comparable, picklable.

    Equal structures have equal node types, metadata and numbers of children.
    """

    __slots__ = ("_hash", "num_leaves", "spec")

    def __init__(self, spec: Spec, num_leaves: int | None = None):
        self.spec = spec
        self.num_leaves = count_leaves(spec) if num_leaves is None else num_leaves

    @property
    def num_nodes(self) -> int:
        """The number of nodes, leaves among them."""
        return count_nodes(self.spec)

    def is_leaf(self) -> bool:
        """Whether this is the structure of a single leaf."""
        return self.spec is None

    def children(self) -> list["PyTreeDef"]:
        """The structures of the children of the root."""
        return [] if self.spec is None else list(map(PyTreeDef, self.spec[2]))

    def node_data(self) -> tuple[type, Any] | None:
        """Type and metadata of the root; None for a leaf."""
        if self.spec is None:
            return None
        kind, aux, _ = self.spec
        return kind, list(aux) if kind is dict else aux

    def unflatten(self, leaves: Iterable) -> Any:
        """The tree of this structure with the given leaves.

        Raises: TreeError when their number differs.
        """
        leaves = leaves if type(leaves) is list else list(leaves)
        if len(leaves) != self.num_leaves:
            raise TreeError(
                f"unflatten: {len(leaves)} leaves for {self!r}",
                rule=f"this structure has {self.num_leaves} leaves",
            )
        return build_all((self.spec,), iter(leaves))[0]

    def flatten_up_to(self, tree: Any, name: str = "flatten_up_to: the tree") -> list:
        """The subtrees of `tree` at the leaves of this structure.

        Args:
          name: what `tree` is, for the message.

        Raises: TreeError when this structure is not a prefix of `tree`.
        """
        parts: list = []
        try:
            split_all((self.spec,), (tree,), parts)
        except Differs:
            where = describe_difference(self.spec, tree)
            raise TreeError(
                f"{name} differs {where}",
                rule="the first tree must be a prefix of the others: "
                "equal node types, keys and lengths down to its leaves",
                fix="give the trees one structure, or stop above the difference "
                "by is_leaf (None is a node without leaves)",
            ) from None
        return parts

    def compose(self, inner: "PyTreeDef") -> "PyTreeDef":
        """This structure with `inner` in the place of each leaf."""
        n = self.num_leaves * inner.num_leaves
        return PyTreeDef(substitute(self.spec, inner.spec), n)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PyTreeDef):
            return NotImplemented
        return self.spec is other.spec or self.spec == other.spec

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = self._make_hash()
            return self._hash

    def _make_hash(self) -> int:
        try:
            return hash(self.spec)
        except TypeError:  # metadata that cannot be hashed still compares
            return _hash_without_metadata(self.spec)

    def __reduce__(self):
        return PyTreeDef, (self.spec, self.num_leaves)

    def __repr__(self) -> str:
        return f"PyTreeDef({show(self.spec)})"


def flatten(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list, PyTreeDef]:
    """The leaves of `tree` from left to right, and its structure.

    Args:
      is_leaf: called at every node before it is opened; True keeps it as a leaf.

    Raises: TreeError when a dictionary has keys that cannot be sorted.

    >>> flatten({"b": [1, 2], "a": 3})
    ([3, 1, 2], PyTreeDef({'a': *, 'b': [*, *]}))
    """
    found: list = []
    if is_leaf is None:
        spec = flatten_all((tree,), found)[0]
    else:
        spec = flatten_until(tree, found, is_leaf)
    return found, PyTreeDef(spec, len(found))


def unflatten(treedef: PyTreeDef, leaves: Iterable) -> Any:
    """The tree of structure `treedef` with the given leaves.

    Raises: TreeError when their number is not that of the structure.
    """
    return treedef.unflatten(leaves)
