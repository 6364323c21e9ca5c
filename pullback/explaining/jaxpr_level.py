"""The jaxpr as a level: the printer's regions become segments."""

from typing import Any

from pullback.core.document import Region
from pullback.core.jaxpr import Jaxpr
from pullback.core.printer import Mark, marked
from pullback.explaining.level import Level, Rows
from pullback.explaining.mapping import Spot
from pullback.explaining.table import Equation, Table


class JaxprLevel(Level):
    """The printed jaxpr. `places`: where each equation's primitive stands in it."""

    places: dict[int, tuple[int, int]]


class _Reader:
    """Walks the regions of a text in order, with the equations that are open."""

    def __init__(self, table: Table, text: str):
        self.table = table
        self.rows = Rows(text.split("\n"))
        self.owners = [-1] * len(self.rows.lines)
        self.inner: dict[int, list[int]] = {}
        self.places: dict[int, tuple[int, int]] = {}
        self.open: list[tuple[Equation, list[Spot | None]]] = []  # with its operands
        self.current: Spot | None = None

    def read(self, region: Region) -> None:
        """Take one region."""
        line, start, end, mark = region
        role = mark.role
        if role == "end" or role == "resume":
            if role == "end":
                self._close()
            self.rows.put(line, start, self.current, self.current)
        elif role == "header" or role == "result":
            spot = self._function_spot(mark) or self.current
            self.rows.put(line, start, spot, self.current)
            self.rows.put(line, end, self.current, self.current)
        else:
            self._equation(line, start, end, mark)

    def _own(self, line: int, number: int) -> None:
        """A program on one line has several equations on it."""
        if self.owners[line] < 0:
            self.owners[line] = number
        else:
            self.inner.setdefault(line, []).append(number)

    def _close(self) -> None:
        self.open.pop()
        self.current = self.open[-1][0].spot if self.open else None

    def _function_spot(self, mark: Mark) -> Spot | None:
        jaxpr, i = mark.owner, mark.key
        if not isinstance(jaxpr, Jaxpr) or not isinstance(i, int):
            return None
        find = self.table.argument if mark.role == "header" else self.table.result
        return find(jaxpr, i)

    def _equation(self, line: int, start: int, end: int, mark: Mark) -> None:
        eqn: Any = mark.owner
        key: Any = mark.key
        role = mark.role
        before = self.current
        if not self.open or self.open[-1][0].eqn is not eqn:
            found = self.table.equation(eqn)
            self.open.append((found, self.table.operands(found)))
            self.current = found.spot
            self._own(line, found.number)
        (equation, spots), here = self.open[-1], self.current
        put = self.rows.put
        if role == "binder":
            put(line, start, equation.binder(key), before)
            put(line, end, here, here)
        elif role == "operand":
            put(line, start, spots[key], here)
        else:
            if role == "primitive":
                self.places[equation.number] = (line, start)
            put(line, start, here, before)


def jaxpr_level(table: Table) -> JaxprLevel:
    """Print the program of a table."""
    text, regions = marked(table.closed)
    reader = _Reader(table, text)
    for region in regions:
        reader.read(region)
    _fill(reader)
    level = JaxprLevel("jaxpr", "jaxpr", text, reader.rows.rows, reader.owners)
    level.places, level.inner = reader.places, reader.inner
    return level


def _fill(reader: _Reader) -> None:
    """Lines of an equation after its first belong to it as well."""
    spans = reader.table.equations
    owners, rows = reader.owners, reader.rows.rows
    last = -1
    for i, owner in enumerate(owners):
        if owner >= 0:
            last = owner
        elif rows[i] and last >= 0 and rows[i][0][1] is spans[last].spot:
            owners[i] = last
