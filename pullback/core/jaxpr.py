"""The typed IR: a straight-line list of primitive applications.

Attribute names are those that tools for jaxprs know. Nodes are slotted records.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pullback.core.provenance import Origin

Effects = frozenset
NO_EFFECTS: frozenset = frozenset()


class Var:
    """A variable: bound once, compared by identity. `aval` is its type."""

    __slots__ = ("aval",)

    def __init__(self, aval):
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var(id={id(self)}):{self.aval.short()}"


class Literal:
    """A scalar written into the program: `val`, of type `aval`."""

    __slots__ = ("aval", "val")

    def __init__(self, val: Any, aval):
        self.val, self.aval = val, aval

    def __repr__(self) -> str:
        return f"{self.val}:{self.aval.short()}"


Atom = Var | Literal


class DropVar(Var):
    """The binder of a result that nothing reads; printed `_`."""

    __slots__ = ()


class Printed:
    """What has a text. `core/printer.py` puts the function that writes it here."""

    __slots__ = ()
    write: Callable[..., str]

    def pretty_print(self, *, source_info: bool = False, width: int = 80) -> str:
        """The text, `width` columns wide; with `source_info`, each equation's line."""
        return self.write(self, source_info=source_info, width=width)

    def __repr__(self) -> str:
        return self.write(self)


class JaxprEqn(Printed):
    """One application: `outvars = primitive[params] invars`, made at `source`."""

    __slots__ = ("effects", "invars", "outvars", "params", "primitive", "source")

    def __init__(
        self,
        primitive,
        invars: Sequence[Atom],
        outvars: Sequence[Var],
        params: dict[str, Any],
        effects: frozenset = NO_EFFECTS,
        source: Origin | None = None,
    ):
        self.primitive, self.invars, self.outvars = primitive, invars, outvars
        self.params, self.effects, self.source = params, effects, source

    def replace(self, **changes) -> "JaxprEqn":
        """A copy with some fields changed."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return JaxprEqn(**{**fields, **changes})


class DebugInfo:
    """What the printer and errors say of a traced function.

    `names()`: one name an argument of the jaxpr; called only when an error needs them.
    """

    __slots__ = ("func_name", "names")

    def __init__(
        self, func_name: str = "f", names: Callable[[], Sequence[str]] | None = None
    ):
        self.func_name, self.names = func_name, names

    def argument(self, i: int) -> str:
        """The name of argument `i` in words."""
        names = self.names() if self.names is not None else ()
        return f"argument {names[i]}" if i < len(names) else f"argument {i}"


NO_DEBUG_INFO = DebugInfo()


class Jaxpr(Printed):
    """A function of the IR. `cache` holds what transforms have derived from it."""

    __slots__ = (
        "__weakref__",
        "cache",
        "constvars",
        "debug_info",
        "effects",
        "eqns",
        "invars",
        "outvars",
    )

    def __init__(
        self,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        outvars: Sequence[Atom],
        eqns: Sequence[JaxprEqn],
        effects: frozenset = NO_EFFECTS,
        debug_info: DebugInfo = NO_DEBUG_INFO,
    ):
        self.constvars, self.invars = list(constvars), list(invars)
        self.outvars, self.eqns = list(outvars), list(eqns)
        self.effects, self.debug_info = effects, debug_info
        self.cache: dict = {}

    @property
    def in_avals(self) -> list:
        """Types of the arguments."""
        return [v.aval for v in self.invars]

    @property
    def out_avals(self) -> list:
        """Types of the results."""
        return [v.aval for v in self.outvars]

    def replace(self, **changes) -> "Jaxpr":
        """A copy with some fields changed and an empty cache."""
        names = ("constvars", "invars", "outvars", "eqns", "effects", "debug_info")
        return Jaxpr(**{**{n: getattr(self, n) for n in names}, **changes})


class ClosedJaxpr(Printed):
    """A jaxpr with the values of its constants."""

    __slots__ = ("__weakref__", "consts", "jaxpr")

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any] = ()):
        self.jaxpr, self.consts = jaxpr, list(consts)

    eqns = property(lambda self: self.jaxpr.eqns)
    effects = property(lambda self: self.jaxpr.effects)
    in_avals = property(lambda self: self.jaxpr.in_avals)
    out_avals = property(lambda self: self.jaxpr.out_avals)
    literals = property(lambda self: self.consts)
    debug_info = property(lambda self: self.jaxpr.debug_info)


def subjaxprs(eqn: JaxprEqn) -> Iterator[Jaxpr]:
    """The jaxprs that the parameters of `eqn` hold."""
    return bodies_of(eqn.params)


def bodies_of(params: dict[str, Any]) -> Iterator[Jaxpr]:
    """The jaxprs among parameters."""
    for value in params.values():
        for item in value if isinstance(value, tuple | list) else (value,):
            if isinstance(item, ClosedJaxpr):
                yield item.jaxpr
            elif isinstance(item, Jaxpr):
                yield item


def all_eqns(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    """Every equation of `jaxpr` and of the jaxprs inside it, outermost first."""
    for eqn in jaxpr.eqns:
        yield eqn
        for inner in subjaxprs(eqn):
            yield from all_eqns(inner)


def consts_as_inputs(jaxpr: Jaxpr) -> Jaxpr:
    """The same function with its constants as leading arguments."""
    if not jaxpr.constvars:
        return jaxpr
    return jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars])


def effects_of(eqns: Sequence[JaxprEqn]) -> frozenset:
    """The union of the effects of `eqns`."""
    effects = NO_EFFECTS
    for eqn in eqns:
        if eqn.effects:
            effects = effects | eqn.effects
    return effects
