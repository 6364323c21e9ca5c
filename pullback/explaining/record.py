"""The table as plain data: what `.explain.json` holds and the explorer reads."""

from typing import Any

from pullback.core.printer import shown_params
from pullback.explaining.cost import Costs, Row
from pullback.explaining.level import Level
from pullback.explaining.table import Equation, Step, Table

VERSION = 1


class _Frames:
    """Frames as a tree: each with the number of the one that called it."""

    def __init__(self, table: Table):
        self.table = table
        self.rows: list[dict[str, Any]] = []
        self.known: dict[tuple[Step, int], int] = {}
        self.urls = {s.file: s.url for s in table.sites.sources.used()}

    def of(self, steps: list[Step]) -> int:
        """The number of the innermost frame of a stack, -1 for none."""
        parent = -1
        for step in reversed(steps):
            key = (step, parent)
            number = self.known.get(key)
            if number is None:
                number = self.known[key] = len(self.rows)
                file = self.urls.get(step.file) or _short(step.file)
                self.rows.append(
                    {
                        "file": file,
                        "function": step.function,
                        "line": step.line,
                        "library": step.folded,
                        "parent": parent,
                    }
                )
            parent = number
        return parent


def _short(file: str) -> str:
    """The path of a library file without what differs between machines."""
    parts = file.replace("\\", "/").split("/")
    for top in ("site-packages", "pullback"):
        if top in parts:
            start = len(parts) - 1 - parts[::-1].index(top)
            return "/".join(parts[start:])
    return parts[-1]


def record(
    name: str,
    table: Table,
    levels: dict[str, Level],
    rows: list[Row],
    costs: Costs | None,
) -> dict[str, Any]:
    """Everything known of a program."""
    frames = _Frames(table)
    equations = [_equation(e, table, frames) for e in table.equations]
    urls = frames.urls
    return {
        "version": VERSION,
        "name": name,
        "sources": [s.url for s in table.sites.sources.used()],
        "frames": frames.rows,
        "equations": equations,
        "levels": {
            level.name: {
                "file": f"{name}.{level.suffix}",
                "owners": level.owners,
                "inner": {str(k): v for k, v in level.inner.items()},
                "inferred": sorted(level.inferred),
            }
            for level in levels.values()
        },
        "instruction_costs": {
            str(line): list(cost)
            for line, cost in (costs.by_line if costs else {}).items()
        },
        "total_cost": list(costs.total) if costs else None,
        "costs": [
            {
                "file": urls.get(row.file, ""),
                "line": row.line,
                "own": list(row.own),
                "with_calls": list(row.with_calls),
                "seconds": row.seconds,
            }
            for row in rows
        ],
    }


def _equation(equation: Equation, table: Table, frames: _Frames) -> dict[str, Any]:
    spot, eqn = equation.spot, equation.eqn
    born = equation.born_from
    targets = equation.site.targets if equation.named and equation.site else []
    shapes = [v.aval.short() for v in (*eqn.invars, *eqn.outvars)]
    return {
        "path": equation.path,
        "primitive": eqn.primitive.name,
        "parameters": [k for k, _ in shown_params(eqn)],
        "types": shapes,
        "source": spot.source.url if spot is not None else None,
        "line": spot.line if spot is not None else 0,
        "column": spot.column if spot is not None else 0,
        "end": list(equation.site.span[2:]) if equation.site is not None else None,
        "function": equation.site.code.co_qualname if equation.site else None,
        "names": [s.name for s in targets if s.name],
        "trail": list(equation.trail),
        "born_from": born.number if born is not None else -1,
        "note": equation.note,
        "callers": [caller.number for caller in equation.callers],
        "frame": frames.of(table.stack([equation])),
    }
