"""How much memory a compiled program will take, and which lines take it."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pullback.explaining.explanation import Explanation
from pullback.explaining.front import explain
from pullback.explaining.hlo_level import HloLevel
from pullback.explaining.stablehlo_level import StableHloLevel
from pullback.xla.memory import Allocation, allocations


class MemoryRow(NamedTuple):
    """Bytes that a source line takes; `line` is 0 where none is known.

    `kind`: `argument`, `constant`, `output` or `temporary`.
    """

    kind: str
    file: str
    line: int
    text: str
    bytes: int


class PeakMemory:
    """The memory of a program: `bytes` in all, `rows` that add up to it."""

    def __init__(self, rows: list[MemoryRow]):
        self.rows = sorted(rows, key=lambda r: (-r.bytes, r.kind, r.file, r.line))
        self.bytes = sum(row.bytes for row in rows)

    def __str__(self) -> str:
        lines = [f"{self.bytes:>12,} bytes at the peak"]
        for row in self.rows:
            where = f"{row.file}:{row.line}  {row.text}" if row.line else ""
            lines.append(f"{row.bytes:>12,}  {row.kind:<10} {where}".rstrip())
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"PeakMemory(bytes={self.bytes}, rows={len(self.rows)})"


def peak_memory(fun: Callable, **options: Any) -> Callable[..., PeakMemory]:
    """The memory that a compiled function takes at its peak, split by source line.

    The function is compiled and not run. Memory that holds several values at different
    times counts for the line of the largest.

    Args:
      fun: a function of trees of arrays.
      options: of `jit`.

    Returns:
      A function with the arguments of `fun` (arrays or `ShapeDtypeStruct`s) that
      returns a `PeakMemory`.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> from pullback import debug
      >>> debug.peak_memory(lambda x: pnp.sin(x))(pnp.ones(1000)).bytes
      8000
    """
    run = explain(fun, **options)

    def measured(*args: Any, **kwargs: Any) -> PeakMemory:
        told = run(*args, **kwargs)
        level = told.levels["hlo"]
        rows: dict[tuple[str, str, int, str], int] = {}
        if isinstance(level, HloLevel):
            for allocation in allocations(level.program):
                for key, size in _shares(told, level, allocation):
                    rows[key] = rows.get(key, 0) + size
        return PeakMemory([MemoryRow(*key, size) for key, size in rows.items() if size])

    return measured


def _shares(
    told: Explanation, level: HloLevel, allocation: Allocation
) -> Iterator[tuple[tuple[str, str, int, str], int]]:
    """Who takes how much of an allocation; the largest value of each byte has it."""
    kind = "output" if allocation.output else "temporary"
    if allocation.constant:
        kind = "constant"
    if allocation.parameter is not None:
        kind = "argument"
    taken: list[tuple[int, int]] = []
    left = allocation.size
    for name, offset, size in sorted(allocation.buffers, key=lambda b: (-b[2], b[1])):
        free = _uncovered(offset, min(offset + size, allocation.size), taken)
        taken.append((offset, offset + size))
        left -= free
        yield (kind, *_line(told, level, name, allocation.parameter)), free
    yield (kind, "", 0, ""), left


def _uncovered(start: int, end: int, taken: list[tuple[int, int]]) -> int:
    """How much of an interval the others leave free."""
    free, at = 0, start
    for a, b in sorted(taken):
        if b <= at or a >= end:
            continue
        free += max(0, a - at)
        at = max(at, b)
    return free + max(0, end - at)


def _line(
    told: Explanation, level: HloLevel, name: str, parameter: int | None
) -> tuple[str, int, str]:
    spot = None
    above = told.levels["stablehlo"]
    if parameter is not None and isinstance(above, StableHloLevel):
        jaxpr = above.closed.jaxpr
        variables = [*jaxpr.constvars, *jaxpr.invars]
        if parameter < len(variables):
            spot = told.table.definition(variables[parameter])
    else:
        line = level.line_of.get(name)
        owner = level.owners[line] if line is not None else -1
        spot = told.table.equations[owner].spot if owner >= 0 else None
    if spot is None:
        return "", 0, ""
    return spot.source.url, spot.line, spot.source.lines[spot.line - 1].strip()
