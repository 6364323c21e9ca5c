"""Choosing arguments, and flat functions of leaves from functions of trees."""

from collections.abc import Callable, Sequence
from typing import Any

from pullback.core import tree
from pullback.core.errors import ArgumentTypeError


def check_callable(fun: Any, what: str) -> None:
    """Raise ArgumentTypeError unless `fun` can be called."""
    if not callable(fun):
        raise ArgumentTypeError(
            f"{what} of {fun!r} of type {type(fun).__name__}",
            rule="it takes a function",
        )


def name_of(fun: Callable) -> str:
    """The name of a function, for messages and printed programs."""
    return getattr(fun, "__name__", type(fun).__name__)


def canonical_argnums(argnums: int | Sequence[int], count: int, what: str):
    """Positions counted from the front, as a tuple.

    Raises:
      ArgumentTypeError: not integers, or there is no such argument.
    """
    nums = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    for n in nums:
        if not isinstance(n, int):
            raise ArgumentTypeError(
                f"{what}: argnums is {argnums!r}", rule="it takes an int or ints"
            )
        if not -count <= n < count:
            raise ArgumentTypeError(
                f"{what}: argnums is {argnums!r}, but {count} positional arguments "
                "are given",
                fix="pass the differentiated arguments by position",
            )
    return tuple(n % count for n in nums)


class Chosen:
    """A function of the arguments at `argnums`, the others held fixed."""

    __slots__ = ("args", "argnums", "fun", "kwargs")

    def __init__(self, fun: Callable, argnums: tuple[int, ...], args, kwargs):
        self.fun, self.argnums, self.args, self.kwargs = fun, argnums, args, kwargs

    def chosen(self) -> list[Any]:
        """The arguments at `argnums`."""
        return [self.args[i] for i in self.argnums]

    def __call__(self, *chosen: Any) -> Any:
        """Call with the chosen arguments replaced."""
        args = list(self.args)
        for i, x in zip(self.argnums, chosen, strict=True):
            args[i] = x
        return self.fun(*args, **self.kwargs)


class FlatFunction:
    """A function of leaves, from a function of trees; keeps the result's structure."""

    __slots__ = ("aux", "fun", "has_aux", "in_tree", "out_tree")

    def __init__(self, fun: Callable, in_tree: Any, has_aux: bool = False):
        self.fun, self.in_tree, self.has_aux = fun, in_tree, has_aux
        self.out_tree: Any = None
        self.aux: Any = None

    def __call__(self, *leaves: Any) -> list[Any]:
        """Call with trees made of `leaves`; returns the leaves of the result."""
        out = self.fun(*self.in_tree.unflatten(leaves))
        if self.has_aux:
            out = self._take_aux(out)
        flat, self.out_tree = tree.flatten(out)
        return flat

    def _take_aux(self, out: Any) -> Any:
        if not (isinstance(out, tuple | list) and len(out) == 2):
            raise ArgumentTypeError(
                f"{name_of(self.fun)} returned {type(out).__name__} with has_aux=True",
                rule="with has_aux a function returns a pair (result, auxiliary data)",
            )
        out, self.aux = out
        return out
