"""One text of a program, and for every place in it where it comes from."""

from dataclasses import dataclass, field

from pullback.explaining.mapping import Segment, Spot


@dataclass
class Level:
    """A text with its links.

    `name`: `jaxpr`, `stablehlo` or `hlo`; `suffix`: of its file. `segments`: to the
    Python source, for each line. `up`: to places of the level above, for each line.
    `owners`: the equation that each line belongs to, -1 for none. `inner`: further
    equations of a line, such as those that XLA fused. `inferred`: lines whose owner is
    a guess from their neighbours; they are not in `segments`.
    """

    name: str
    suffix: str
    text: str
    segments: list[list[Segment]]
    owners: list[int]
    up: list[list[tuple[int, tuple[int, int] | None]]] = field(default_factory=list)
    inner: dict[int, list[int]] = field(default_factory=dict)
    inferred: set[int] = field(default_factory=set)

    @property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.text.split("\n")


class Rows:
    """Segments in the making, in order; a spot that goes on is not said twice."""

    def __init__(self, lines: list[str]):
        self.lines = lines
        self.rows: list[list[Segment]] = [[] for _ in lines]
        self.line = 0
        self.open: Spot | None = None

    def put(self, line: int, column: int, spot: Spot | None, resumed: Spot | None):
        """From here on the text comes from `spot`; lines between, from `resumed`."""
        while self.line < line:
            self.line += 1
            self.open = None
            if resumed is not None:
                self._add(self.line, indent(self.lines[self.line]), resumed)
        self._add(line, column, spot)

    def _add(self, line: int, column: int, spot: Spot | None) -> None:
        row = self.rows[line]
        if row and row[-1][0] >= column:
            row.pop()
            self.open = row[-1][1] if row else None
        past_end = column >= len(self.lines[line])
        if spot is self.open or (past_end and spot is not None):
            return
        row.append((column, spot))
        self.open = spot


def indent(line: str) -> int:
    """The column where a line's text begins."""
    return len(line) - len(line.lstrip())
