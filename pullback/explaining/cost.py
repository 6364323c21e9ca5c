"""What each instruction and each source line costs, as XLA estimates it.

An instruction is analysed in a module of its own. Bytes count where a fusion meets
memory; flops inside a fusion by instruction. The body of a loop counts as often as the
loop is known to run. What no line accounts for stands in a row of its own, so that rows
add up to the whole.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from pullback.explaining.hlo_level import CALLED, LINE, HloLevel
from pullback.explaining.sites import Site
from pullback.explaining.table import Equation, Table
from pullback.xla.client import BackendError
from pullback.xla.hlo_program import cost_of_text

_HEADER = re.compile(r"(?:ENTRY )?%?([\w.\-]+) \(")
_BRANCHES = re.compile(
    r"(?:branch_computations=\{|(?:true|false)_computation=)([^}\n,]*(?:, %[^}\n,]*)*)"
)
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')
_CONFIG = re.compile(r", backend_config=\{.*\}$")
_FREE = ("parameter(", "constant(")


class Cost(NamedTuple):
    """Estimates: floating-point operations, transcendental ones, bytes of memory."""

    flops: float = 0.0
    transcendentals: float = 0.0
    bytes: float = 0.0

    def __add__(self, other) -> "Cost":  # type: ignore[override]
        return Cost(*(a + b for a, b in zip(self, other, strict=True)))

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(*(a - b for a, b in zip(self, other, strict=True)))

    def times(self, n: int) -> "Cost":
        """As often as a loop runs."""
        return Cost(*(a * n for a in self))


class Row(NamedTuple):
    """The cost of a source line: its own, and with what it calls.

    `line` is 0 in the row of what no line accounts for. `seconds`: measured time, where
    it was measured; a fusion's time is split by estimated cost.
    """

    file: str
    line: int
    own: Cost
    with_calls: Cost
    seconds: float | None = None


class Costs:
    """The costs of a program: `by_line` of its text, and `total`."""

    def __init__(self, level: HloLevel):
        self.level = level
        self.lines = level.lines
        self.bodies: dict[str, list[int]] = {}
        self.entry = ""
        self._read()
        self._known: dict[str, Cost] = {}
        self.by_line: dict[int, Cost] = {}
        self.total = self._computation(self.entry, 1)

    def _read(self) -> None:
        current: list[int] = []
        for i, line in enumerate(self.lines):
            match = _HEADER.match(line)
            if match and line.endswith("{"):
                current = self.bodies[match[1]] = []
                if line.startswith("ENTRY"):
                    self.entry = match[1]
            elif LINE.match(line):
                current.append(i)

    def _computation(self, name: str, times: int) -> Cost:
        total = Cost()
        for i in self.bodies.get(name, ()):
            total += self._instruction(i, times)
        return total

    def _instruction(self, i: int, times: int) -> Cost:
        line = self.lines[i]
        right = line[LINE.match(line).end() :]  # type: ignore[union-attr]
        if " while(" in right:
            trips = _TRIPS.search(right)
            often = times * (int(trips[1]) if trips else 1)
            called = CALLED.findall(right)
            return sum((self._computation(c, often) for c in called), Cost())
        if " call(" in right:
            called = CALLED.findall(right)
            return sum((self._computation(c, times) for c in called), Cost())
        whole = self._alone(i).times(times)
        rest = whole
        if " fusion(" in right:
            for inner in self.bodies.get(CALLED.findall(right)[0], ()):
                part = self._alone(inner)._replace(bytes=0.0).times(times)
                self._count(inner, part)
                rest -= part
        self._count(i, rest)
        return whole

    def _count(self, i: int, cost: Cost) -> None:
        if any(cost):
            self.by_line[i] = self.by_line.get(i, Cost()) + cost

    def _alone(self, i: int) -> Cost:
        """The cost of one instruction in a module of its own."""
        line = self.lines[i].strip().removeprefix("ROOT ")
        if any(f" {word}" in line for word in _FREE):
            return Cost()
        text = self._module(line)
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = _analysed(text)
        return found

    def _module(self, line: str) -> str:
        """HLO text that runs one instruction; names do not matter for what it costs."""
        right = line.partition(" = ")[2]
        shape = _shape(right)
        opcode, _, rest = right[len(shape) :].partition("(")
        inside, after = _closed(rest)
        operands = re.findall(r"%([\w.\-]+)", inside)
        shapes = self._shapes()
        parameters = [
            f"  %p{k} = {shapes[name]} parameter({k})"
            for k, name in enumerate(operands)
        ]
        given = ", ".join(f"%p{k}" for k in range(len(operands)))
        root = f"  ROOT %root = {shape}{opcode}({given}){after}"
        root = _CONFIG.sub("", root)
        called = self._called(root)
        return "\n".join(["HloModule m", *called, "ENTRY %e {", *parameters, root, "}"])

    def _shapes(self) -> dict[str, str]:
        if not hasattr(self, "_shape_of"):
            self._shape_of = {}
            for body in self.bodies.values():
                for i in body:
                    match = LINE.match(self.lines[i])
                    right = self.lines[i][match.end() :]  # type: ignore[union-attr]
                    self._shape_of[match[2]] = _shape(right)  # type: ignore[index]
        return self._shape_of

    def _called(self, text: str) -> list[str]:
        """The text of the computations that an instruction calls, inner ones first."""
        out: list[str] = []
        for name in _names_called(text):
            body = "\n".join(self.lines[i] for i in self.bodies.get(name, ()))
            for inner in self._called(body):
                if inner not in out:
                    out.append(inner)
            made = f"%{name} {{\n{body}\n}}"
            if made not in out:
                out.append(made)
        return out


def _names_called(text: str) -> list[str]:
    found = CALLED.findall(text)
    for group in _BRANCHES.findall(text):
        found += re.findall(r"%?([\w.\-]+)", group)
    return found


def _closed(rest: str) -> tuple[str, str]:
    """What stands inside a parenthesis that is open, and after it."""
    depth = 1
    for i, c in enumerate(rest):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return rest[:i], rest[i + 1 :]
    return rest, ""


def _shape(right: str) -> str:
    """The type at the start of an instruction's right side."""
    if right.startswith("("):
        return f"({_closed(right[1:])[0]})"
    return right.partition(" ")[0]


def _analysed(text: str) -> Cost:
    try:
        found = cost_of_text(text)
    except (BackendError, ValueError):
        return Cost()
    keys = ("flops", "transcendentals", "bytes accessed")
    return Cost(*(max(0.0, found.get(key, 0.0)) for key in keys))


def rows_of(
    costs: Costs, table: Table, seconds: dict[int, float] | None = None
) -> list[Row]:
    """Costs by source line, the dearest first, then what no line accounts for."""
    own: dict[tuple[str, int], Cost] = {}
    with_calls: dict[tuple[str, int], Cost] = {}
    time: dict[tuple[str, int], float] = defaultdict(float)
    level = costs.level
    lost, lost_time = Cost(), 0.0
    for i in sorted({*costs.by_line, *(seconds or ())}):
        cost, took = costs.by_line.get(i, Cost()), (seconds or {}).get(i, 0.0)
        owner = level.owners[i]
        site = table.equations[owner].site if owner >= 0 else None
        if site is None:
            lost, lost_time = lost + cost, lost_time + took
            continue
        key = _key(site)
        own[key] = own.get(key, Cost()) + cost
        time[key] += took
        for line in lines_above(table, level.via.get(i) or [table.equations[owner]]):
            with_calls[line] = with_calls.get(line, Cost()) + cost
    rows = [
        Row(*key, own.get(key, Cost()), with_calls[key], _timed(time[key], seconds))
        for key in with_calls
    ]
    rows.sort(key=lambda r: (-r.own.flops, -r.own.bytes, r.file, r.line))
    return [*rows, Row("", 0, lost, lost, _timed(lost_time, seconds))]


def _timed(value: float, seconds: dict | None) -> float | None:
    return None if seconds is None else value


def _key(site: Site) -> tuple[str, int]:
    return site.source.file, site.spot.line


def lines_above(table: Table, via: Iterable[Equation]) -> list[tuple[str, int]]:
    """The user's lines on the way to an equation, each once, innermost first."""
    found: list[tuple[str, int]] = []
    for frame in table.stack(list(via)):
        key = (frame.file, frame.line)
        if not frame.folded and key not in found:
            found.append(key)
    return found
