"""Why a compiled function was traced again, in words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from pullback.compile.jit import JitFunction
from pullback.compile.static import argument_names
from pullback.core.errors import ArgumentTypeError
from pullback.core.trace import context

_PROPERTIES = ("shape", "dtype", "weak_type", "vary")


def explain_cache(fun: Callable) -> str:
    """What was new at the last call of `fun` that had to be traced.

    The answer compares that call with the most similar one known, and names each
    argument and property that differs: shape, dtype, weak type, structure, static
    value, settings.

    Raises:
      ArgumentTypeError: `fun` is not a function that `jit` returned.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> f = pullback.jit(lambda x, y: x + y)
      >>> _ = f(pnp.ones(3), 1.0), f(pnp.ones(4), 1.0)
      >>> print(pullback.debug.explain_cache(f))
      <lambda>: 2 traces are kept. The last miss differs from the nearest known call in
        argument x: shape (4,), known (3,)
    """
    if not isinstance(fun, JitFunction):
        raise ArgumentTypeError(
            f"explain_cache of {fun!r}", rule="it takes what pullback.jit returned"
        )
    name, known, missed = fun._name, fun._traces, fun._missed
    if missed is None:
        return f"{name}: never traced"
    head = f"{name}: {len(known)} trace{'' if len(known) == 1 else 's'} are kept."
    if len(known) == 1:
        head = head.replace("are", "is")
    if missed not in known:
        head += " The last one was not: it failed, or closed over traced values."
    candidates = [key for key in known if key != missed]
    if not candidates:
        return f"{head} The last miss was the first call: there was nothing to compare."
    wanted = _Key(fun, missed)
    found = [list(wanted.differences(_Key(fun, key))) for key in reversed(candidates)]
    lines = "\n".join(f"  {line}" for line in min(found, key=len))
    return f"{head} The last miss differs from the nearest known call in\n{lines}"


class _Key:
    """The parts of a key of `JitFunction`, and how two of them differ."""

    def __init__(self, fun: JitFunction, key: tuple):
        outside = len(context())
        (self.settings, *self.scope), rest = key[:outside], key[outside:]
        self.treedef, self.statics, *self.avals = rest
        self.fun = fun

    def differences(self, other: "_Key") -> Iterator[str]:
        """One line for each difference, longest for what differs most."""
        for field in fields(self.settings):
            yield from _differs(
                f"the setting {field.name}:",
                getattr(self.settings, field.name),
                getattr(other.settings, field.name),
            )
        yield from _differs("the named axes in scope:", self.scope, other.scope)
        yield from self._static_differences(other)
        if self.treedef != other.treedef:
            yield from self._structure_differences(other)
            return
        names = argument_names(self.fun._fun, self.treedef)
        for name, new, old in zip(names, self.avals, other.avals, strict=True):
            for kind in _PROPERTIES:
                yield from _differs(
                    f"argument {name}: {kind.replace('_', ' ')}",
                    getattr(new, kind),
                    getattr(old, kind),
                )

    def _static_differences(self, other: "_Key") -> Iterator[str]:
        new, old = _by_place(self.statics), _by_place(other.statics)
        for place in dict.fromkeys([*new, *old]):
            known = old.get(place, ("not given", None))[0]
            given = new.get(place, ("not given", None))[0]
            if new.get(place) != old.get(place):
                yield f"static argument {place}: {given!r}, known {known!r}"

    def _structure_differences(self, other: "_Key") -> Iterator[str]:
        new = set(argument_names(self.fun._fun, self.treedef))
        old = set(argument_names(other.fun._fun, other.treedef))
        if new == old:
            yield (
                f"the structure of the arguments: {self.treedef}, known {other.treedef}"
            )
        for names, what in ((new - old, "new"), (old - new, "missing")):
            for name in sorted(names):
                yield f"argument {name}: {what}"


def _by_place(statics: Sequence[Any]) -> dict[Any, tuple[Any, type]]:
    if not statics:
        return {}
    return {place: (value, kind) for part in statics for place, value, kind in part}


def _differs(what: str, new: Any, old: Any) -> Iterator[str]:
    if new != old:
        yield f"{what} {new}, known {old}"
