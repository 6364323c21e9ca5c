"""A figure: what was measured, the two numbers, what it must reach; and their table."""

from collections.abc import Iterable
from dataclasses import dataclass

HEADINGS = ("what", "ours", "jax", "ratio", "must reach", "")


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    `ours`, `peer`: seconds, or a count when `unit` names what is counted.
    `ratio_limit`, `limit`: upper bounds of `ours / peer` and of `ours`; where there is
    neither, the line is for information.
    """

    what: str
    ours: float
    peer: float | None = None
    unit: str = "s"
    ratio_limit: float | None = None
    limit: float | None = None

    @property
    def ratio(self) -> float | None:
        """Ours over the peer's."""
        return None if self.peer is None else self.ours / self.peer

    @property
    def bound(self) -> bool:
        """Whether there is anything to reach."""
        return self.ratio_limit is not None or self.limit is not None

    @property
    def missed(self) -> bool:
        """Whether a limit is exceeded."""
        limits = ((self.ratio, self.ratio_limit), (self.ours, self.limit))
        return any(
            value is not None and limit is not None and value > limit
            for value, limit in limits
        )

    def cells(self) -> tuple[str, ...]:
        """The columns of the table, as text."""
        goals = []
        if self.limit is not None:
            goals.append(f"<= {amount(self.limit, self.unit)}")
        if self.ratio_limit is not None:
            goals.append(f"<= {self.ratio_limit:g} x")
        return (
            self.what,
            amount(self.ours, self.unit),
            "" if self.peer is None else amount(self.peer, self.unit),
            "" if self.ratio is None else f"{self.ratio:.2f}",
            ", ".join(goals),
            ("MISS" if self.missed else "ok") if self.bound else "",
        )


def amount(value: float, unit: str) -> str:
    """A number with its unit: seconds are scaled, counts are whole."""
    if unit != "s":
        return f"{value:,.0f} {unit}"
    for scale, name in ((1.0, "s"), (1e-3, "ms")):
        if value >= scale:
            return f"{value / scale:.3g} {name}"
    return f"{value / 1e-6:.3g} us"


def table(figures: Iterable[Figure]) -> str:
    """The figures, in columns."""
    rows = [HEADINGS, *(figure.cells() for figure in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    return "\n".join(_line(row, widths) for row in rows)


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    first, *numbers, goal, verdict = zip(row, widths, strict=True)
    cells = [first[0].ljust(first[1])]
    cells += [text.rjust(width) for text, width in numbers]
    cells += [goal[0].ljust(goal[1]), verdict[0]]
    return "  ".join(cells).rstrip()
