"""From a traceback to the user's expression: its text, its operands, its target.

Decoded once a code object and once an instruction, however many equations share it.
"""

from types import CodeType
from typing import Any, NamedTuple

from pullback.core import provenance
from pullback.core.trace import stage
from pullback.explaining.mapping import Spot
from pullback.explaining.sources import Source, Sources, is_ignored, is_internal
from pullback.explaining.syntax import (
    Expression,
    Function,
    Span,
    call_name,
    parameter,
    returns,
    span_of,
)

_USER, _IGNORED, _INTERNAL, _BOUNDARY = range(4)


class Argument(NamedTuple):
    """An operand of a source expression."""

    spot: Spot
    span: Span


class Site:
    """One instruction of the user's program.

    `spot`: where its expression begins. `arguments`: what it works on. `targets`: what
    its value is assigned to. `call`: the name of the function that it calls, if any.
    """

    __slots__ = (
        "arguments",
        "call",
        "code",
        "function",
        "source",
        "span",
        "spot",
        "targets",
    )

    def __init__(self, source: Source, code: CodeType, span: Span):
        self.source, self.code, self.span = source, code, span
        syntax = source.syntax
        self.function: Function | None = syntax.function(code)
        self.spot = Spot(source, span[0], source.column(span[0], span[1]))
        self.arguments = [
            Argument(spot_of(source, x), x.span) for x in syntax.arguments(span)
        ]
        self.targets = [spot_of(source, x) for x in syntax.targets_of(span)]
        self.call = call_name(syntax.node(span))

    def __repr__(self) -> str:
        return f"{self.source.file}:{self.spot.line}:{self.spot.column}"


def spot_of(source: Source, x: Expression) -> Spot:
    """The spot where an expression begins, with its name."""
    line, column = x.span[:2]
    return Spot(source, line, source.column(line, column), x.name)


class Sites:
    """All instructions met so far, by code object and offset."""

    def __init__(self) -> None:
        self.sources = Sources()
        self._kinds: dict[int, tuple[CodeType, int]] = {}
        self._positions: dict[int, list] = {}
        self._sites: dict[tuple[int, int], Site | None] = {}

    def kind(self, code: CodeType) -> int:
        """Whether code is the user's, third-party, ours, or where a trace begins."""
        known = self._kinds.get(id(code))
        if known is None:
            file = code.co_filename
            if code is stage.__code__:
                kind = _BOUNDARY
            elif is_internal(file):
                kind = _INTERNAL
            else:
                kind = _IGNORED if is_ignored(file) else _USER
            known = self._kinds[id(code)] = (code, kind)
        return known[1]

    def innermost(self, raw: Any) -> tuple[CodeType, int] | None:
        """The user's innermost instruction since the trace began."""
        kinds, fallback = self._kinds, None
        for code, offset in provenance.pairs(raw):
            known = kinds.get(id(code))
            kind = known[1] if known is not None else self.kind(code)
            if kind == _USER:
                return code, offset
            if kind == _BOUNDARY:
                break
            if kind == _IGNORED and fallback is None:
                fallback = code, offset
        return fallback

    def site(self, code: CodeType, offset: int) -> Site | None:
        """The site of an instruction, None where its source is not to be had."""
        key = (id(code), offset)
        if key not in self._sites:
            self._sites[key] = self._made(code, offset)
        return self._sites[key]

    def of(self, raw: Any) -> Site | None:
        """The site of a traceback."""
        found = self.innermost(raw)
        return None if found is None else self.site(*found)

    def _made(self, code: CodeType, offset: int) -> Site | None:
        source = self.sources.of(code)
        if source is None:
            return None
        line, end_line, column, end_column = self._position(code, offset)
        if line is None or line > len(source.lines):
            return None
        return Site(source, code, (line, column or 0, end_line, end_column))

    def _position(self, code: CodeType, offset: int) -> tuple:
        """The position of an instruction; one pass over the table of each code."""
        known = self._positions.get(id(code))
        if known is None:
            known = self._positions[id(code)] = list(code.co_positions())
        index = offset // 2
        return known[index] if 0 <= index < len(known) else (None,) * 4

    def stack(self, raw: Any) -> list[tuple[CodeType, int, bool]]:
        """Instructions since the trace began, innermost first, and whether to fold."""
        out = []
        for code, offset in provenance.pairs(raw):
            kind = self.kind(code)
            if kind == _BOUNDARY:
                break
            out.append((code, offset, kind != _USER))
        return out

    def line(self, code: CodeType, offset: int) -> int:
        """The line of an instruction."""
        return self._position(code, offset)[0] or code.co_firstlineno

    def outermost(self, raw: Any) -> CodeType | None:
        """The user's function that was being traced."""
        mine = [code for code, _, folded in self.stack(raw) if not folded]
        return mine[-1] if mine else None


class FunctionSite:
    """The function that a jaxpr was traced from: its parameters and its results."""

    def __init__(self, source: Source, function: Function):
        self.source, self.function = source, function
        self.returned = returns(function)

    def parameter(self, label: str) -> Spot | None:
        """The parameter of an argument that messages call `label`: `params[0]`."""
        name = label.partition("[")[0].partition(".")[0]
        found = parameter(self.function, name)
        return None if found is None else spot_of(self.source, found)

    def result(self, made_at: Span | None) -> Spot | None:
        """The expression that returns a value made at `made_at`."""
        if not self.returned:
            return None
        spans = [span_of(x) for x in self.returned]
        best = spans[-1]
        for span in spans:
            if made_at is not None and _within(made_at, span):
                best = span
        return Spot(self.source, best[0], self.source.column(best[0], best[1]))


def _within(inner: Span, outer: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]
