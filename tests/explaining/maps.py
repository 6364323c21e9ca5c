"""Reading maps in tests, by rules of their own: nothing here is the package's encoder.

Look-ups stay on the line, as the npm libraries' do.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

from pullback.explaining.mapping import decode

EQUATION = {
    "jaxpr": re.compile(r"(?:^|\s)(?:[A-Za-z]+|_|\*):\S+ = [A-Za-z_]"),
    "stablehlo": re.compile(r"%[\w#:]+(?:, %[\w#:]+)* = \S"),
    "hlo": re.compile(
        r"^\s*(?:ROOT )?%?[\w.\-]+ = \S+ (?!parameter|constant)[\w\-]+\("
    ),
}


def units(text: str) -> int:
    """Length in UTF-16 units."""
    return len(text.encode("utf-16-le")) // 2


def from_unit(text: str, column: int) -> str:
    """What stands at a column in UTF-16 units."""
    return text.encode("utf-16-le")[2 * column :].decode("utf-16-le")


@dataclass
class Found:
    """An original place: `text` from there to the end of its line."""

    source: str
    line: int
    column: int
    name: str | None
    text: str


class Map:
    """A map with its text, as a viewer holds them."""

    def __init__(self, text: str, data: dict):
        self.lines, self.data = text.split("\n"), data
        self.rows = decode(data["mappings"])
        self.rows += [[] for _ in range(len(self.lines) - len(self.rows))]

    def lookup(self, line: int, column: int) -> Found | None:
        """The original place of a generated one; the column in UTF-16 units."""
        row = self.rows[line]
        at = bisect_right([s[0] for s in row], column) - 1
        if at < 0 or len(row[at]) == 1:
            return None
        _, source, original, place, *name = row[at]
        content = re.split(r"\r\n|\n|\r", self.data["sourcesContent"][source])
        return Found(
            self.data["sources"][source],
            original + 1,
            place,
            self.data["names"][name[0]] if name else None,
            from_unit(content[original], place),
        )

    def at(self, what: str, nth: int = 0, offset: int = 0) -> Found | None:
        """The original place of the n-th occurrence of a text."""
        spots = [
            (i, m.start())
            for i, line in enumerate(self.lines)
            for m in re.finditer(re.escape(what), line)
        ]
        line, column = spots[nth]
        return self.lookup(line, units(self.lines[line][:column]) + offset)

    def uncovered(self, level: str) -> list[str]:
        """Lines that hold an equation and are not mapped."""
        bare = []
        for i, line in enumerate(self.lines):
            match = EQUATION[level].search(line)
            if match is None:
                continue
            lead = len(match[0]) - len(match[0].lstrip())
            if self.lookup(i, units(line[: match.start() + lead])) is None:
                bare.append(line)
        return bare

    def of_line(self, text: str) -> list[str]:
        """The generated lines that come from the source line with this text."""
        found = []
        for i, row in enumerate(self.rows):
            for segment in row:
                if len(segment) == 1:
                    continue
                content = self.data["sourcesContent"][segment[1]]
                if text in re.split(r"\r\n|\n|\r", content)[segment[2]]:
                    found.append(self.lines[i])
                    break
        return found


def faults(map_: Map) -> list[str]:
    """What breaks ECMA-426 or the rules of the house in a map."""
    data, found = map_.data, []
    if data["version"] != 3 or not isinstance(data["file"], str):
        found.append("fields")
    if len(data["sourcesContent"]) != len(data["sources"]):
        found.append("as many contents as sources")
    if any(s.startswith("/") for s in data["sources"]):
        found.append("an absolute path")
    if any(not 0 <= i < len(data["sources"]) for i in data["ignoreList"]):
        found.append("ignoreList")
    if not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", data["debugId"]):
        found.append("debugId")
    carried = False
    for i, (line, row) in enumerate(zip(map_.lines, map_.rows, strict=True)):
        columns = [s[0] for s in row]
        if columns != sorted(set(columns)):
            found.append(f"line {i}: two segments at one place, or out of order")
        if carried and not row and line.strip():
            found.append(f"line {i} inherits from an earlier one")
        if row:
            carried = len(row[-1]) > 1
        found += _bounds(map_, i, line, row)
    return found


def _bounds(map_: Map, i: int, line: str, row: list) -> list[str]:
    found = []
    for segment in row:
        if segment[0] > units(line):
            found.append(f"line {i}: column {segment[0]} is past its end")
        if len(segment) == 1:
            continue
        content = map_.data["sourcesContent"][segment[1]]
        lines = re.split(r"\r\n|\n|\r", content)
        if segment[2] >= len(lines) or segment[3] > units(lines[segment[2]]):
            found.append(f"line {i}: {segment} is past its source's end")
        if len(segment) == 5 and segment[4] >= len(map_.data["names"]):
            found.append(f"line {i}: no such name")
    return found
