"""ECMA-426 source maps: segments to text and back. Knows files, nothing of programs.

A segment says where, from its column on, a line of generated text comes from; one
without a spot says that from here on nothing is known. Columns count UTF-16 units.
"""

import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pullback.explaining.sources import Source, utf16_column

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_NAMESPACE = uuid.UUID("6f1a7f6c-0f0e-5b0e-9c53-7b0a6d9b6a11")


class Spot(NamedTuple):
    """A place in a source: `line` counts from 1, `column` from 0 in UTF-16 units."""

    source: Source
    line: int
    column: int
    name: str | None = None


Segment = tuple[int, Spot | None]  # column in code points, and what begins there
Segments = Sequence[Sequence[Segment]]


def vlq(value: int) -> str:
    """A signed number in base 64, five bits a digit, lowest first."""
    rest = (-value << 1) | 1 if value < 0 else value << 1
    out = ""
    while True:
        digit, rest = rest & 31, rest >> 5
        out += DIGITS[digit | 32 if rest else digit]
        if not rest:
            return out


_SMALL = 4096
_KNOWN = [vlq(i) for i in range(_SMALL)] + [vlq(i) for i in range(-_SMALL, 0)]


def _short(value: int) -> str:
    return _KNOWN[value] if -_SMALL <= value < _SMALL else vlq(value)


class _Encoder:
    """Numbers sources and names as they come, and keeps the running position."""

    def __init__(self) -> None:
        self.sources: dict[Source, int] = {}
        self.names: dict[str, int] = {}
        self.source = self.line = self.column = self.name = 0

    def spot(self, spot: Spot) -> str:
        source, line, column, name = spot
        number = self.sources.setdefault(source, len(self.sources))
        text = (
            _short(number - self.source)
            + _short(line - 1 - self.line)
            + _short(column - self.column)
        )
        self.source, self.line, self.column = number, line - 1, column
        if name is None:
            return text
        number = self.names.setdefault(name, len(self.names))
        text += _short(number - self.name)
        self.name = number
        return text

    def row(self, segments: Sequence[Segment], text: str) -> str:
        units = None if text.isascii() else text
        parts, before = [], 0
        for column, spot in segments:
            if units is not None:
                column = utf16_column(units, column)
            piece = _short(column - before)
            before = column
            parts.append(piece if spot is None else piece + self.spot(spot))
        return ",".join(parts)


def source_map(
    text: str,
    segments: Segments,
    *,
    file: str,
    extra: dict[str, Any],
    contents: bool = True,
) -> dict[str, Any]:
    """The map of a generated text.

    Args:
      text: what the map is of.
      segments: for each of its lines, in order of columns.
      file: the name of the text.
      extra: private fields (`x_...`).
      contents: embed the sources.
    """
    encoder = _Encoder()
    lines = text.split("\n")
    rows = [encoder.row(row, line) for row, line in zip(segments, lines, strict=True)]
    while rows and not rows[-1]:
        rows.pop()
    sources = list(encoder.sources)
    made: dict[str, Any] = {
        "version": 3,
        "file": file,
        "sources": [s.url for s in sources],
        "sourcesContent": [s.text if contents else None for s in sources],
        "names": list(encoder.names),
        "mappings": ";".join(rows),
        "ignoreList": [i for i, s in enumerate(sources) if s.ignored],
        **extra,
    }
    made["debugId"] = str(uuid.uuid5(_NAMESPACE, f"{text}\0{json_text(made)}"))
    return made


def json_text(value: Any) -> str:
    """JSON without spaces; the same value always gives the same text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def decode(mappings: str) -> list[list[tuple[int, ...]]]:
    """Absolute segments of each line: a column, or with source, line, column and name.

    Raises:
      ValueError: a character, a number or a segment breaks the standard.
    """
    state = [0, 0, 0, 0]
    return [
        list(_row(row.split(","), state)) if row else [] for row in mappings.split(";")
    ]


def _row(row: list[str], state: list[int]) -> Iterable[tuple[int, ...]]:
    column = 0
    for segment in row:
        numbers = _numbers(segment)
        if len(numbers) not in (1, 4, 5):
            raise ValueError(f"a segment of {len(numbers)} numbers: {segment!r}")
        column += numbers[0]
        for i, number in enumerate(numbers[1:]):
            state[i] += number
        place = (column, *state[: len(numbers) - 1])
        if min(place) < 0:
            raise ValueError(f"a negative position: {place}")
        yield place


def _numbers(segment: str) -> list[int]:
    out, value, shift = [], 0, 0
    for character in segment:
        digit = DIGITS.find(character)
        if digit < 0:
            raise ValueError(f"not a base 64 digit: {character!r}")
        value |= (digit & 31) << shift
        shift += 5
        if digit & 32:
            continue
        if value == 1 or value >= 1 << 32:
            raise ValueError(f"not a number of 32 bits: {segment!r}")
        out.append(-(value >> 1) if value & 1 else value >> 1)
        value = shift = 0
    if shift:
        raise ValueError(f"ends inside a number: {segment!r}")
    return out
