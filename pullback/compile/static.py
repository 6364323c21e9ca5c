"""Static arguments of a compiled function: which they are, and taking them apart."""

import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from pullback.core import tree
from pullback.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    StaticArgumentError,
)
from pullback.core.trace import Tracer

_POSITIONAL = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


def parameters(fun: Callable) -> list[inspect.Parameter] | None:
    """The parameters of `fun`, or None when Python cannot tell."""
    try:
        return list(inspect.signature(fun).parameters.values())
    except (ValueError, TypeError):
        return None


class StaticArguments:
    """The static arguments of one function, by position and by name."""

    __slots__ = ("_fun", "_names", "_nums", "empty")
    kind = "static"

    def __init__(self, fun: Callable, nums: Any, names: Any):
        self._fun = fun
        nums = _as_tuple(nums, int, f"{self.kind}_argnums")
        names = _as_tuple(names, str, f"{self.kind}_argnames")
        self.empty = not nums and not names
        known = None if self.empty else parameters(fun)
        if known is not None:
            nums, names = self._completed(known, nums, names)
        self._nums, self._names = frozenset(nums), frozenset(names)

    def _completed(self, known, nums, names):
        """Each position with its name, and each name with its position."""
        positional = [p.name for p in known if p.kind in _POSITIONAL]
        variadic = any(p.kind is p.VAR_POSITIONAL for p in known)
        keywords = any(p.kind is p.VAR_KEYWORD for p in known)
        for name in names:
            if not keywords and name not in [p.name for p in known]:
                raise ArgumentError(
                    f"jit: {self.kind}_argnames has {name!r}",
                    rule=f"{self._name()} takes {[p.name for p in known]}",
                )
        count = len(positional)
        for num in nums:
            if not variadic and not -count <= num < count:
                raise ArgumentError(
                    f"jit: {self.kind}_argnums has {num}",
                    rule=f"{self._name()} takes {count} positional arguments",
                )
        nums = [n + count if n < 0 else n for n in nums]
        by_name = [positional.index(n) for n in names if n in positional]
        by_num = [positional[n] for n in nums if n < count]
        return [*nums, *by_name], [*names, *by_num]

    def _name(self) -> str:
        return getattr(self._fun, "__name__", repr(self._fun))

    def split(self, args: tuple, kwargs: dict) -> tuple[tuple[tuple, dict], tuple]:
        """The dynamic arguments, and the static ones as part of a key."""
        if self.empty:
            return (args, kwargs), ()
        at = [i for i in range(len(args)) if i in self._nums]
        static = [(i, *self._keyed(args[i], f"argument {i}")) for i in at]
        named = [
            (k, *self._keyed(kwargs[k], f"argument {k!r}"))
            for k in sorted(kwargs)
            if k in self._names
        ]
        dynamic = tuple(a for i, a in enumerate(args) if i not in self._nums)
        keywords = {k: v for k, v in kwargs.items() if k not in self._names}
        return (dynamic, keywords), (tuple(static), tuple(named))

    def _keyed(self, value: Any, what: str) -> tuple[Any, type]:
        """The value and its type, so that 1, 1.0 and True are three keys."""
        try:
            hash(value)
        except TypeError:
            shown = f"{value!r} of type {type(value).__name__}"
            if isinstance(value, Tracer):
                shown = f"a traced array, {value.describe()}"
            raise StaticArgumentError(
                f"jit of {self._name()}: static {what} is {shown}",
                rule="static arguments are hashable, because they are part of the key",
                fix="pass a tuple for a list, or make the argument dynamic",
            ) from None
        return value, type(value)

    def is_static(self, i: int) -> bool:
        """Whether the argument at position `i` is static."""
        return i in self._nums

    def merge(self, dynamic: tuple[tuple, dict], statics: tuple) -> tuple[tuple, dict]:
        """The arguments as the function takes them."""
        args, kwargs = dynamic
        if not statics:
            return args, kwargs
        positional, named = statics
        merged = list(args)
        for i, value, _ in positional:
            merged.insert(i, value)
        return tuple(merged), {**kwargs, **{k: value for k, value, _ in named}}


class DonatedArguments(StaticArguments):
    """The arguments that a call gives up, by position and by name."""

    __slots__ = ()
    kind = "donate"

    def leaves(self, treedef: Any, static: StaticArguments) -> tuple[int, ...]:
        """Which leaves of the dynamic arguments are given up."""
        args, kwargs = treedef.unflatten(range(treedef.num_leaves))
        dynamic = (i for i in itertools.count() if not static.is_static(i))
        given = [a for i, a in zip(dynamic, args) if i in self._nums]  # noqa: B905
        given += [kwargs[k] for k in kwargs if k in self._names]
        return tuple(sorted(tree.leaves(given)))


def _as_tuple(value: Any, kind: type, what: str) -> tuple:
    if value is None:
        return ()
    items = (value,) if isinstance(value, kind) else tuple(value)
    for item in items:
        if not isinstance(item, kind):
            raise ArgumentTypeError(
                f"jit: {what} is {value!r}", rule=f"it takes {kind.__name__}s"
            )
    return items


def argument_names(fun: Callable, treedef) -> Sequence[str]:
    """A name for each leaf of the dynamic arguments, such as `params['w']`."""
    known = parameters(fun) or []
    positional = [p.name for p in known if p.kind in _POSITIONAL]
    index = treedef.unflatten(range(treedef.num_leaves))
    names = []
    for path, _ in tree.leaves_with_path(index):
        place, head, rest = path[0], path[1], path[2:]
        if place.idx == 1:
            name = head.key
        else:
            i = head.idx
            name = positional[i] if i < len(positional) else f"args[{i}]"
        names.append(f"{name}{tree.keystr(rest)}")
    return names
