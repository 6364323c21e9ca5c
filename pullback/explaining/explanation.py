"""What `explain` returns: the texts of a program, and answers about its lines."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pullback.explaining.cost import Cost, Costs, Row, rows_of
from pullback.explaining.difference import Difference, difference
from pullback.explaining.hlo_level import HloLevel
from pullback.explaining.level import Level
from pullback.explaining.mapping import Segments, Spot, json_text, source_map
from pullback.explaining.page import page
from pullback.explaining.record import record
from pullback.explaining.sources import Source
from pullback.explaining.table import Equation, Table


@dataclass(frozen=True)
class Entry:
    """One line of one level, and what it comes from.

    `line` counts from 1 in the level's text; `file` and `source_line` are the user's.
    `trail`: the transformations that made the equation, oldest first. `born_from`: the
    path of the primal equation, if it was derived. `stack`: the user's frames.
    """

    level: str
    line: int
    text: str
    equation: str
    primitive: str
    file: str
    source_line: int
    column: int
    trail: tuple[str, ...]
    born_from: str | None
    note: str
    stack: tuple[str, ...]
    inferred: bool
    cost: Cost | None

    def __str__(self) -> str:
        words = [f"{self.level}:{self.line}: {self.text.strip()}"]
        if self.trail:
            words.append(f"[{', '.join(self.trail)} of {self.born_from or '?'}]")
        if self.note:
            words.append(f"({self.note})")
        if self.inferred:
            words.append("(inferred)")
        return "  ".join(words)


class Explanation:
    """A program at every level, each line linked to the others.

    `text[level]`, `map[level]`: texts and their source maps (ECMA-426), for levels
    `jaxpr`, `stablehlo` and `hlo`. `changed`: files edited since they were imported.
    `seconds`: measured time by line of the optimized program, if it was measured.
    """

    def __init__(
        self,
        name: str,
        table: Table,
        levels: Sequence[Level],
        *,
        contents: bool = True,
    ):
        self.name, self.table = name, table
        self.levels = {level.name: level for level in levels}
        self.text = {level.name: level.text for level in levels}
        self.changed = list(table.sites.sources.changed)
        self._contents = contents
        self.seconds: dict[int, float] | None = None

    @cached_property
    def map(self) -> dict[str, dict[str, Any]]:
        """The source map of each level, to the Python source."""
        return {
            name: self._map(level, level.segments)
            for name, level in self.levels.items()
        }

    @cached_property
    def level_map(self) -> dict[str, dict[str, Any]]:
        """The source map of each level to the level above it, where there is one."""
        maps, above = {}, None
        for name, level in self.levels.items():
            if above is not None and level.up:
                segments = _upwards(level, above, self.file(above))
                maps[name] = self._map(level, segments)
            above = level
        return maps

    def _map(self, level: Level, segments: Segments) -> dict[str, Any]:
        extra = {
            "x_explain": {"level": level.name, "json": f"{self.name}.explain.json"}
        }
        return source_map(
            level.text,
            segments,
            file=self.file(level),
            extra=extra,
            contents=self._contents,
        )

    def file(self, level: Level) -> str:
        """The name of a level's file."""
        return f"{self.name}.{level.suffix}"

    @property
    def sources(self) -> dict[str, str]:
        """The Python level: the text of each file by its name in the maps."""
        return {s.url: s.text for s in self.table.sites.sources.used()}

    def at(self, file: str, line: int) -> list[Entry]:
        """Every line of every level that comes from a line of the source.

        Args:
          file: a path, or the end of one.
          line: from 1.
        """
        return [
            self._entry(level, i, equation)
            for level in self.levels.values()
            for i, equation in _owned(level, self.table)
            if _is_at(equation, file, line)
        ]

    def of(self, level: str, line: int) -> list[Entry]:
        """What a line of a level comes from: one entry an equation, a fusion's too.

        Args:
          level: `jaxpr`, `stablehlo` or `hlo`.
          line: from 1.
        """
        found, i = self.levels[level], line - 1
        if not 0 <= i < len(found.owners):
            return []
        numbers = [found.owners[i], *found.inner.get(i, [])]
        equations = [self.table.equations[n] for n in dict.fromkeys(numbers) if n >= 0]
        return [self._entry(found, i, equation) for equation in equations]

    def _entry(self, level: Level, i: int, equation: Equation) -> Entry:
        spot = equation.spot
        via = level.via.get(i) if isinstance(level, HloLevel) else None
        known = via if via and via[0] is equation else [equation]
        born = equation.born_from
        cost = None
        if isinstance(level, HloLevel) and self.costs is not None:
            cost = self.costs.by_line.get(i)
        return Entry(
            level=level.name,
            line=i + 1,
            text=level.lines[i],
            equation=equation.path,
            primitive=equation.eqn.primitive.name,
            file=spot.source.url if spot is not None else "",
            source_line=spot.line if spot is not None else 0,
            column=spot.column if spot is not None else 0,
            trail=equation.trail,
            born_from=born.path if born is not None else None,
            note=equation.note,
            stack=tuple(_frames(self.table, known)),
            inferred=i in level.inferred,
            cost=cost,
        )

    @cached_property
    def costs(self) -> Costs | None:
        """The costs of the optimized program; None when it is not among the levels."""
        level = self.levels.get("hlo")
        return Costs(level) if isinstance(level, HloLevel) else None

    def cost_by_line(self) -> list[Row]:
        """Estimated cost of each source line, the dearest first.

        The last row is what no line accounts for, so that rows add up to the whole.

        Raises:
          ValueError: the optimized program is not among the levels.
        """
        if self.costs is None:
            raise ValueError(
                "costs are those of the optimized program: add level 'hlo'"
            )
        return rows_of(self.costs, self.table, self.seconds)

    def record(self) -> dict[str, Any]:
        """The table as plain data, as `save` writes it."""
        rows = self.cost_by_line() if self.costs is not None else []
        return record(self.name, self.table, self.levels, rows, self.costs)

    def diff(self, other: "Explanation | dict[str, Any]") -> Difference:
        """What this program has and `other`, an older one, has not, and the reverse.

        Equations are compared by function, transformations, primitive and types, in
        order, so that lines that only moved are no difference.
        """
        old = other.record() if isinstance(other, Explanation) else other
        return difference(old, self.record())

    def html(self, other: "Explanation | None" = None) -> str:
        """The explorer: one page that needs nothing else. `other`: mark differences."""
        marked = self.diff(other) if other is not None else None
        return page(self.record(), self.text, self.sources, marked)

    def _repr_html_(self) -> str:
        """In a notebook: the explorer in a frame of its own."""
        inner = self.html().replace("&", "&amp;").replace('"', "&quot;")
        look = 'sandbox="allow-scripts" style="width:100%;height:480px"'
        return f'<iframe {look} srcdoc="{inner}"></iframe>'

    def __repr__(self) -> str:
        sizes = ", ".join(f"{n}: {len(x.owners)} lines" for n, x in self.levels.items())
        return f"Explanation({self.name}; {sizes})"

    def files(self) -> dict[str, str]:
        """What `save` writes: texts by file name."""
        out: dict[str, str] = {}
        for name, level in self.levels.items():
            file = self.file(level)
            out[file] = level.text
            out[f"{file}.map"] = json_text(self.map[name])
            if name in self.level_map:
                out[f"{file}.level.map"] = json_text(self.level_map[name])
        out[f"{self.name}.explain.json"] = json_text(self.record())
        out[f"{self.name}.explain.html"] = self.html()
        return out

    def save(self, folder: str | Path) -> list[Path]:
        """Write texts, maps, the table and the explorer to a folder.

        The same program gives the same bytes.

        Returns:
          The paths written.
        """
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        written = []
        for name, text in self.files().items():
            path = target / name
            path.write_bytes(text.encode())
            written.append(path)
        return written


def _owned(level: Level, table: Table) -> Iterable[tuple[int, Equation]]:
    for i, owner in enumerate(level.owners):
        numbers = [owner, *level.inner.get(i, [])]
        for number in dict.fromkeys(numbers):
            if number >= 0:
                yield i, table.equations[number]


def _is_at(equation: Equation, file: str, line: int) -> bool:
    spot = equation.spot
    if spot is None or spot.line != line:
        return False
    source, wanted = spot.source, file.replace("\\", "/")
    return wanted in (source.file, source.url) or source.file.endswith("/" + wanted)


def _frames(table: Table, via: list[Equation]) -> Iterable[str]:
    for step in table.stack(via):
        if not step.folded:
            yield f"{step.file.rpartition('/')[2]}:{step.line} {step.function}"


def _upwards(level: Level, above: Level, file: str) -> Segments:
    """The links of a level to the one above as segments."""
    source = Source(file, above.text, file)
    lines = above.lines
    rows = []
    for row in level.up:
        spots = []
        for column, place in row:
            spot = None
            if place is not None:
                head = lines[place[0]][: place[1]]
                units = len(head.encode("utf-16-le")) // 2
                spot = Spot(source, place[0] + 1, units)
            spots.append((column, spot))
        rows.append(spots)
    return rows
