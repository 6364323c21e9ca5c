"""Every equation of a program with what is known of it: the one table of explain.

Maps, pages, answers and costs read this and nothing else.
"""

import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

from pullback.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, bodies_of
from pullback.core.provenance import Origin, pairs
from pullback.explaining.mapping import Spot
from pullback.explaining.sites import FunctionSite, Site, Sites

_WIDENING = frozenset({"broadcast_in_dim", "convert_element_type"})
DIFFERENTIATED = frozenset({"jvp", "linearize", "transpose"})


class Step(NamedTuple):
    """A frame of a stack: `folded` where it is library code."""

    file: str
    function: str
    line: int
    folded: bool


class Equation:
    """One equation.

    `path`: its place, as `3/jaxpr/1`. `site`: the user's expression, or that of the
    nearest enclosing equation that has one, and then `note` says so. `callers`: the
    equations that hold it; several where a body is called more than once. `home`: the
    jaxpr that it stands in.
    """

    __slots__ = (
        "born_from",
        "callers",
        "eqn",
        "home",
        "named",
        "note",
        "number",
        "path",
        "site",
    )

    def __init__(
        self, number: int, path: str, eqn: JaxprEqn, site: Site | None, home: Jaxpr
    ):
        self.number, self.path, self.eqn, self.site = number, path, eqn, site
        self.home = home
        self.callers: list[Equation] = []
        self.born_from: Equation | None = None
        self.note = ""
        self.named = False

    @property
    def trail(self) -> tuple[str, ...]:
        """The transformations that made it, oldest first."""
        source = self.eqn.source
        return source.trail if source is not None else ()

    @property
    def spot(self) -> Spot | None:
        """Where its expression begins."""
        return self.site.spot if self.site is not None else None

    def binder(self, i: int) -> Spot | None:
        """Where result `i` gets its name."""
        site = self.site
        if site is None or not self.named or not site.targets:
            return self.spot
        targets = site.targets
        return targets[i] if len(targets) == len(self.eqn.outvars) else targets[0]


class Table:
    """The equations of a program in the order of its text."""

    def __init__(self, closed: ClosedJaxpr, fun: Callable | None = None):
        self.closed, self.sites = closed, Sites()
        self.equations: list[Equation] = []
        self.functions: dict[int, FunctionSite | None] = {}
        self._bodies: dict[int, list[Equation]] = {}
        self._eqns: dict[int, Equation] = {}
        self._makers: dict[int, tuple[Equation, int]] = {}
        self._arguments: dict[int, tuple[Jaxpr, int]] = {}
        self._born: dict[int, Equation] = {}
        self._last: dict[int, Equation] = {}
        self._fun_code = _code_of(fun)
        self._walk(closed.jaxpr, None, "")
        self._derive()

    def _walk(self, jaxpr: Jaxpr, caller: Equation | None, prefix: str) -> None:
        known = self._bodies.get(id(jaxpr))
        if known is not None:
            for equation in known:
                equation.callers.append(caller) if caller is not None else None
            return
        mine = self._bodies[id(jaxpr)] = []
        for i, v in enumerate([*jaxpr.constvars, *jaxpr.invars]):
            self._arguments[id(v)] = (jaxpr, i)
        for i, eqn in enumerate(jaxpr.eqns):
            source = eqn.source
            site = self.sites.of(source.traceback) if source is not None else None
            made = Equation(len(self.equations), f"{prefix}{i}", eqn, site, jaxpr)
            if caller is not None:
                made.callers.append(caller)
            self._enter(made, caller)
            mine.append(made)
            for key, body in _bodies(eqn.params) if eqn.params else ():
                self._walk(body, made, f"{prefix}{i}/{key}/")
        self.functions[id(jaxpr)] = self._function(jaxpr, mine, caller)

    def _enter(self, made: Equation, caller: Equation | None) -> None:
        eqn, source = made.eqn, made.eqn.source
        self.equations.append(made)
        self._eqns[id(eqn)] = made
        for i, v in enumerate(eqn.outvars):
            self._makers[id(v)] = (made, i)
        if source is not None:
            if source.born_from is None:
                self._born[id(source)] = made
            if not source.trail or DIFFERENTIATED.isdisjoint(source.trail):
                made.named = True
        if made.site is None and caller is not None and caller.site is not None:
            made.site = caller.site
            made.note = f"inside {caller.site.call or caller.eqn.primitive.name}"
        elif made.named and made.site is not None:
            self._name(made)

    def _name(self, made: Equation) -> None:
        """Of a chain of equations of one expression, the last has its name."""
        site: Any = made.site
        before = self._last.get(id(site))
        self._last[id(site)] = made
        if before is None or not site.targets:
            return
        reads = [self._makers.get(id(v)) for v in made.eqn.invars]
        chained = any(r is not None and r[0] is before for r in reads)
        if chained and not _again(made.eqn.source, before.eqn.source):
            before.named = False

    def _derive(self) -> None:
        """Join derived equations to their primals; place what has no place yet."""
        for made in self.equations:
            source = made.eqn.source
            if source is not None and source.born_from is not None:
                made.born_from = self._born.get(id(source.born_from))
                if made.born_from is None:
                    continue
                if made.site is None:
                    made.site = made.born_from.site
        for made in self.equations:
            if made.site is None:
                self._place(made)

    def _place(self, made: Equation) -> None:
        """An equation without frames serves those that it reads from."""
        for v in made.eqn.invars:
            maker = self._makers.get(id(v))
            if maker is not None and maker[0].site is not None:
                made.site, made.note = maker[0].site, "serves this line"
                return

    def _function(self, jaxpr, mine: list[Equation], caller) -> FunctionSite | None:
        code: CodeType | None = None
        if caller is None:
            code = self._fun_code
        if code is None:
            raws = [e.eqn.source.traceback for e in mine[:1] if e.eqn.source]
            code = self.sites.outermost(raws[0]) if raws else None
        source = self.sites.sources.of(code) if code is not None else None
        if source is None or code is None:
            return None
        function = source.syntax.function(code)
        return None if function is None else FunctionSite(source, function)

    def equation(self, eqn: JaxprEqn) -> Equation:
        """The record of an equation of the program."""
        return self._eqns[id(eqn)]

    def at(self, eqn: JaxprEqn) -> Equation | None:
        """The record of an equation, or of the one it was simplified from."""
        found = self._eqns.get(id(eqn))
        if found is not None:
            return found
        for v in eqn.outvars:
            if id(v) in self._makers:
                return self._makers[id(v)][0]
        return None

    def stack(self, via: list[Equation]) -> list[Step]:
        """The frames of an equation and, joined to them, those of its callers.

        `via`: the equation and the calls around it, as far as they are known; beyond
        them the first caller of each is taken.
        """
        steps: list[Step] = []
        chain = list(via)
        while chain[-1].callers:
            chain.append(chain[-1].callers[0])
        for equation in chain:
            source = equation.eqn.source
            if source is None:
                continue
            for code, offset, folded in self.sites.stack(source.traceback):
                line = self.sites.line(code, offset)
                step = Step(code.co_filename, code.co_qualname, line, folded)
                if not steps or steps[-1] != step:
                    steps.append(step)
        return steps

    def operands(self, equation: Equation) -> list[Spot | None]:
        """For each operand its argument expression, else its definition."""
        site, invars = equation.site, equation.eqn.invars
        if site is None:
            return [None] * len(invars)
        arguments = site.arguments
        spots: list[Spot | None] = []
        aligned = len(arguments) == len(invars) and not equation.note
        for i, v in enumerate(invars):
            v = self._widened(v, site)
            found = self._argument(v, arguments)
            if found is None and aligned:
                maker = self._makers.get(id(v))
                if maker is None or maker[0].site is not site:
                    found = arguments[i].spot
            spots.append(found)
        if None in spots:
            spots = [
                s or self.definition(v) or site.spot
                for s, v in zip(spots, invars, strict=True)
            ]
        return spots

    def _widened(self, v: Any, site: Site) -> Any:
        """What an operand was before the expression itself broadcast or cast it."""
        while id(v) in self._makers:
            made = self._makers[id(v)][0]
            if made.site is not site or made.eqn.primitive.name not in _WIDENING:
                break
            v = made.eqn.invars[0]
        return v

    def _argument(self, v: Any, arguments) -> Spot | None:
        """The argument that says `v`: by the expression that made it, or its name."""
        if type(v) is Literal or not arguments:
            return None
        maker = self._makers.get(id(v))
        if maker is None:
            defined = self.definition(v)
            name = defined.name if defined is not None else None
            return _named(name, arguments)
        made, i = maker
        span = made.site.span if made.site is not None else None
        for argument in arguments:
            if argument.span == span:
                return argument.spot
        spot = made.binder(i)
        return _named(spot.name if spot is not None else None, arguments)

    def definition(self, v: Any) -> Spot | None:
        """Where a variable gets its value."""
        maker = self._makers.get(id(v))
        if maker is not None:
            return maker[0].binder(maker[1])
        where = self._arguments.get(id(v))
        return None if where is None else self.argument(*where)

    def argument(self, jaxpr: Jaxpr, i: int) -> Spot | None:
        """The parameter that argument `i` of a jaxpr, constants first, belongs to."""
        function, info = self.functions.get(id(jaxpr)), jaxpr.debug_info
        if function is None or info.names is None:
            return None
        labels, i = info.names(), i - len(jaxpr.constvars)
        if i < 0 or len(labels) != len(jaxpr.invars):
            return None
        return function.parameter(labels[i])

    def result(self, jaxpr: Jaxpr, i: int, v: Any = None) -> Spot | None:
        """The return expression of result `i`, or of `v`, of a jaxpr."""
        function = self.functions.get(id(jaxpr))
        if function is None:
            return None
        maker = self._makers.get(id(jaxpr.outvars[i] if v is None else v))
        site = maker[0].site if maker is not None else None
        return function.result(site.span if site is not None else None)


def _again(new: Origin | None, old: Origin | None) -> bool:
    """Whether two equations came from one instruction of the library: a loop."""
    if new is None or old is None:
        return False
    if new.traceback == old.traceback:
        return True
    mine, theirs = (pairs(x.traceback)[:8] for x in (new, old))
    return [(id(c), i) for c, i in mine] == [(id(c), i) for c, i in theirs]


def _named(name: str | None, arguments) -> Spot | None:
    if name is not None:
        for argument in arguments:
            if argument.spot.name == name:
                return argument.spot
    return None


def _bodies(params: dict[str, Any]):
    for key, value in params.items():
        found = list(bodies_of({key: value}))
        for i, body in enumerate(found):
            yield (key if len(found) == 1 else f"{key}.{i}"), body


def _code_of(fun: Callable | None) -> CodeType | None:
    return getattr(inspect.unwrap(fun), "__code__", None) if fun is not None else None
