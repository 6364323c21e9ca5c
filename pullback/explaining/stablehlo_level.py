"""StableHLO as a level: each printed operation belongs to an equation."""

import re
from typing import Any

from pullback.compile.executable import simplified
from pullback.compile.lower import Lowering, lower_module
from pullback.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn
from pullback.explaining.level import Level, Rows, indent
from pullback.explaining.mapping import Spot
from pullback.explaining.table import Equation, Table
from pullback.xla.builder import ModuleBuilder
from pullback.xla.locations import Operation, PrintedModule, number_location

_ARGUMENT = re.compile(r"%arg(\d+): ")
_RETURNS = ("func.return", "stablehlo.return")


class Numbered(Lowering):
    """Gives every operation the number of its equation as its place."""

    __slots__ = ()
    table: Table

    def locate(self, eqn: JaxprEqn) -> None:
        """Number the operations from here on."""
        found = self.table.at(eqn)
        if found is not None:
            number_location(self, eqn.primitive.name, found.number)


class StableHloLevel(Level):
    """The StableHLO text.

    `module`: it, still to be compiled. `printed`: its operations. `at`: the equation
    of each place, for what XLA says of its own program.
    """

    module: ModuleBuilder
    printed: PrintedModule
    at: dict[tuple[int, int], Equation]
    closed: ClosedJaxpr


class _Reader:
    def __init__(self, table: Table, jaxprs: dict[str, Jaxpr], printed: PrintedModule):
        self.table, self.jaxprs = table, jaxprs
        self.rows = Rows(printed.text.split("\n"))
        self.owners = [-1] * len(self.rows.lines)
        self.at: dict[tuple[int, int], Equation] = {}
        self.open: list[tuple[int, Equation | None]] = []  # indentation, owner

    def read(self, op: Operation) -> None:
        """Take one operation; the order is that of the text."""
        self._lines_until(op.line)
        lines = self.rows.lines
        column = len(lines[op.line].encode()[: op.column].decode())
        column = max(column, indent(lines[op.line]))
        found = self._equation(op)
        if op.name == "func.func":
            self._function(op)
        elif op.name in _RETURNS and self._result(op) is not None:
            self._put(op.line, column, found, self._result(op))
        else:
            self._put(op.line, column, found, found.spot if found else None)
        if op.name not in ("builtin.module", "func.func"):
            if found is not None:
                self.at[op.line, op.column] = found
            self.open = [x for x in self.open if x[0] < column]
            self.open.append((column, found))

    def _equation(self, op: Operation) -> Equation | None:
        equations = self.table.equations
        return equations[op.number] if op.number >= 0 else None

    def _put(self, line: int, column: int, found: Equation | None, spot) -> None:
        text = self.rows.lines[line]
        if found is not None and self.owners[line] < 0:
            self.owners[line] = found.number
        self.rows.put(line, column, spot, None)
        self.rows.put(line, len(text), None, None)

    def _lines_until(self, line: int) -> None:
        """Lines without an operation belong to the one that is open around them."""
        for i in range(self.rows.line + 1, line):
            text = self.rows.lines[i]
            depth = indent(text)
            while self.open and self.open[-1][0] > depth:
                self.open.pop()
            found = self.open[-1][1] if self.open else None
            if text.strip() and found is not None:
                self._put(i, depth, found, found.spot)

    def finish(self) -> None:
        """The lines after the last operation."""
        self._lines_until(len(self.rows.lines))

    def _function(self, op: Operation) -> None:
        """Arguments go to the parameters of the Python function."""
        self.open = []
        jaxpr = self.jaxprs.get(op.function)
        text = self.rows.lines[op.line]
        if jaxpr is None:
            return
        variables = [*jaxpr.constvars, *jaxpr.invars]
        for match in _ARGUMENT.finditer(text):
            i = int(match[1])
            spot = self.table.definition(variables[i]) if i < len(variables) else None
            self.rows.put(op.line, match.start(), spot, None)
            end = _argument_end(text, match.end())
            self.rows.put(op.line, end, None, None)

    def _result(self, op: Operation) -> Spot | None:
        if op.name != "func.return":
            return None
        jaxpr = self.jaxprs.get(op.function)
        if jaxpr is None or not jaxpr.outvars:
            return None
        home = self._home(jaxpr)
        return self.table.result(home, 0, jaxpr.outvars[0])

    def _home(self, jaxpr: Jaxpr) -> Jaxpr:
        """The jaxpr as it was traced, of one that has been simplified."""
        for eqn in jaxpr.eqns:
            found = self.table.at(eqn)
            if found is not None:
                return found.home
        return jaxpr


def _argument_end(text: str, start: int) -> int:
    """Where the type of an argument ends."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"<": 1, "{": 1, ">": -1, "}": -1}.get(text[i], 0)
        if depth <= 0 and text[i] in ",)":
            return i
    return len(text)


def stablehlo_level(
    table: Table, name: str, donated: dict[int, int] | None, places: dict
) -> StableHloLevel:
    """Lower the program of a table.

    Args:
      name: of the function.
      donated: the result that takes the memory of an argument.
      places: of equations in the jaxpr's text.
    """
    closed = simplified(table.closed)
    first = len(closed.jaxpr.constvars)
    aliases = {first + i: out for i, out in (donated or {}).items()}
    emitter: Any = type("Numbered", (Numbered,), {"__slots__": (), "table": table})
    module = lower_module(closed, name, aliases or None, emitter)
    jaxprs = {"main": closed.jaxpr}
    for key, function in module.functions.items():
        if isinstance(key, Jaxpr):
            jaxprs[function] = key
    printed = PrintedModule(module)
    reader = _Reader(table, jaxprs, printed)
    for op in printed.operations:
        reader.read(op)
    reader.finish()
    level = StableHloLevel(
        "stablehlo", "stablehlo.mlir", printed.text, reader.rows.rows, reader.owners
    )
    level.up = linked_up(level, places)
    level.module, level.printed, level.at = module, printed, reader.at
    level.closed = closed
    return level


def linked_up(level: Level, places: dict) -> list:
    """For each line the place of its equation in the level above."""
    rows: list = []
    for owner, segments in zip(level.owners, level.segments, strict=True):
        place = places.get(owner)
        if place is None or not segments:
            rows.append([])
            continue
        end = segments[-1]
        closing = [(end[0], None)] if end[1] is None else []
        rows.append([(segments[0][0], place), *closing])
    return rows
