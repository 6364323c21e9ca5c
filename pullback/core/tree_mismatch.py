"""Where and how a tree differs from a wanted structure, in words.

Only called once a mismatch is known, so it may be slow. Knows no error class.
"""

from collections.abc import Callable
from typing import Any

from pullback.core.tree_node import node_of

_SHOWN = 4  # keys named at most


def _counted(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _describe_node(kind: type, n: int) -> str:
    if kind is type(None):
        return "None"
    if kind is tuple or kind is list:
        return f"{kind.__name__} of length {n}"
    if issubclass(kind, dict):
        return f"{kind.__name__} with {_counted(n, 'key', 'keys')}"
    return f"{kind.__name__} with {_counted(n, 'child', 'children')}"


def _describe(x: Any) -> str:
    if node := node_of(type(x)):
        return _describe_node(node.kind, len(node.open(x)[0]))
    return f"a leaf of type {type(x).__name__}"


def _listed(keys: list) -> str:
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return ", ".join(map(repr, keys[:_SHOWN])) + more


def _key_difference(wanted: tuple, found: tuple) -> str:
    parts = []
    if missing := [key for key in wanted if key not in found]:
        parts.append(f"missing {_listed(missing)}")
    if extra := [key for key in found if key not in wanted]:
        parts.append(f"unexpected {_listed(extra)}")
    return f"dict keys: {'; '.join(parts)}"


class _Search:
    """Looks for the first difference; its answers are (path, words) or None.

    Args:
      opens: whether a value of the tree is a node.
      leaf_fits: what may stand at a leaf of the structure: "any" tree, a "leaf".
      stops_early: a leaf of the tree may stand at any node of the structure.
    """

    def __init__(self, opens: Callable, leaf_fits: str, stops_early: bool):
        self.opens, self.leaf_fits, self.stops_early = opens, leaf_fits, stops_early

    def at(self, spec: Any, x: Any, path: tuple) -> tuple | None:
        if spec is None:
            if self.leaf_fits == "any" or not self.opens(x):
                return None
            return path, f"a leaf against {_describe(x)}"
        if self.stops_early and not self.opens(x):
            return None
        return self.at_node(spec, x, path)

    def at_node(self, spec: Any, x: Any, path: tuple) -> tuple | None:
        kind, aux, specs = spec
        if type(x) is not kind:
            return path, f"{_describe_node(kind, len(specs))} against {_describe(x)}"
        keys, children, found = node_of(kind).open_with_keys(x)
        if kind is dict and set(found) != set(aux):
            return path, _key_difference(aux, found)
        if len(children) != len(specs):
            return path, f"{_describe_node(kind, len(specs))} against {_describe(x)}"
        if found != aux:
            return path, f"{kind.__name__} with metadata {aux!r} against {found!r}"
        parts = zip(specs, children, keys, strict=True)
        answers = (self.at(child, y, (*path, key)) for child, y, key in parts)
        return next(filter(None, answers), None)


def _words(search: _Search, spec: Any, tree: Any) -> str:
    path, words = search.at(spec, tree, ()) or ((), "unequal structures")
    return f"at {''.join(map(str, path)) or 'its root'}: {words}"


def _opens(x: Any) -> bool:
    return bool(node_of(type(x)))


def describe_difference(spec: Any, tree: Any, *, whole: bool = False) -> str:
    """`at ['a'][0]: tuple of length 2 against list of length 3`.

    Args:
      whole: the leaves of `spec` must be leaves of `tree` too.
    """
    return _words(_Search(_opens, "leaf" if whole else "any", False), spec, tree)


def describe_prefix_difference(
    spec: Any, prefix: Any, opens: Callable[[Any], bool]
) -> str:
    """Where `prefix` is not a prefix of the structure `spec`.

    Args:
      opens: whether a value of `prefix` is a node rather than an entry.
    """
    return _words(_Search(opens, "leaf", True), spec, prefix)
