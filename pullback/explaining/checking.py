"""Whether an explanation keeps its promises: every line mapped, every map valid."""

import re
from collections.abc import Iterator
from typing import Any

from pullback.explaining.explanation import Explanation
from pullback.explaining.level import Level
from pullback.explaining.mapping import decode

_EQUATION = {
    "jaxpr": re.compile(r"(?:^|\s)(?:[A-Za-z]+|_):\S+ = [A-Za-z_]"),
    "stablehlo": re.compile(r"%[\w#:]+(?:, %[\w#:]+)* = \S"),
    "hlo": re.compile(
        r"^\s*(?:ROOT )?%?[\w.\-]+ = \S+ (?!parameter|constant)[\w\-]+\("
    ),
}


def problems(told: Explanation) -> list[str]:
    """What is wrong, in words; nothing when all is well.

    A line of the optimized program that XLA gave no place is well when it is marked as
    inferred.
    """
    found = []
    for name, level in told.levels.items():
        found += _unmapped(level)
        found += _broken(f"{name}.map", level, told.map[name])
        if name in told.level_map:
            found += _broken(f"{name}.level.map", level, told.level_map[name])
    found += [f"{file} has changed since it was imported" for file in told.changed]
    return found


def _unmapped(level: Level) -> Iterator[str]:
    for i, line in enumerate(level.lines):
        mapped = any(spot is not None for _, spot in level.segments[i])
        if mapped or i in level.inferred or not _EQUATION[level.name].search(line):
            continue
        yield f"{level.name}:{i + 1} is not mapped: {line.strip()}"


def _broken(name: str, level: Level, data: dict[str, Any]) -> Iterator[str]:
    try:
        rows = decode(data["mappings"])
    except ValueError as error:
        yield f"{name}: {error}"
        return
    if len(rows) > len(level.lines):
        yield f"{name}: it has more lines than its text"
    for i, row in enumerate(rows[: len(level.lines)]):
        end = len(level.lines[i].encode("utf-16-le")) // 2
        columns = [segment[0] for segment in row]
        if columns != sorted(set(columns)) or any(c > end for c in columns):
            yield f"{name}: columns of line {i + 1}"
        if any(len(s) > 1 and s[1] >= len(data["sources"]) for s in row):
            yield f"{name}: line {i + 1} names no source"
