"""Two programs compared, equation by equation."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any


@dataclass(frozen=True)
class Difference:
    """Equations of the old program that are `gone` and of the new one that are `added`.

    Each is as in the record of its program.
    """

    gone: list[dict[str, Any]]
    added: list[dict[str, Any]]
    flops: float | None
    bytes: float | None

    def __bool__(self) -> bool:
        return bool(self.gone or self.added)

    def __str__(self) -> str:
        if not self:
            return "no equation differs"
        rows = [_said("-", e) for e in self.gone] + [_said("+", e) for e in self.added]
        if self.flops is not None:
            rows.append(f"flops {self.flops:+g}, bytes {self.bytes:+g}")
        return "\n".join(rows)


def _said(sign: str, e: dict[str, Any]) -> str:
    trail = f"  [{', '.join(e['trail'])}]" if e["trail"] else ""
    types = " ".join(e["types"])
    return f"{sign} {e['source']}:{e['line']}  {e['primitive']} {types}{trail}"


def _key(e: dict[str, Any]) -> tuple:
    return e["source"], e["function"], tuple(e["trail"]), e["primitive"], *e["types"]


def difference(old: dict[str, Any], new: dict[str, Any]) -> Difference:
    """Compare the records of two programs; equations are aligned in order."""
    before, after = old["equations"], new["equations"]
    gone: list[dict[str, Any]] = []
    added: list[dict[str, Any]] = []
    for tag, i, j, k, m in _changes(before, after):
        if tag != "equal":
            gone += before[i:j]
            added += after[k:m]
    costs = old.get("total_cost"), new.get("total_cost")
    if costs[0] is None or costs[1] is None:
        return Difference(gone, added, None, None)
    return Difference(gone, added, costs[1][0] - costs[0][0], costs[1][2] - costs[0][2])


def _changes(before: list, after: list) -> Iterator[tuple]:
    a, b = [_key(e) for e in before], [_key(e) for e in after]
    return iter(SequenceMatcher(None, a, b, autojunk=False).get_opcodes())
