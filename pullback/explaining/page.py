"""The explorer: one HTML page that works offline and trusts no text.

Its data is JSON that cannot end the element it stands in; its script sets text only;
its policy allows this one script and this one style, and no network.
"""

import base64
import hashlib
import json
from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from typing import Any

from pullback.explaining.difference import Difference

_SCRIPTS = ("explorer_model.js", "explorer_panes.js", "explorer.js")
_BODY = """<nav><h1>explain</h1><span id="levels"></span>
<input id="search" type="search" placeholder="text  prim:mul  line:21  cost&gt;1e6">
<span id="matches"></span></nav>
<main><div id="panes"></div>
<aside><div id="gone"></div><div id="panel"></div></aside></main>
<pre id="paper"></pre>"""
_NAMES = {"jaxpr": "jaxpr", "stablehlo": "StableHLO", "hlo": "optimized HLO"}


@cache
def _asset(name: str) -> str:
    return resources.files("pullback.explaining").joinpath(name).read_text("utf-8")


def page(
    record: dict[str, Any],
    texts: dict[str, str],
    sources: dict[str, str],
    marked: Difference | None = None,
) -> str:
    """The page of a program.

    Args:
      record: its table.
      texts: of its levels.
      sources: Python files by name.
      marked: what to mark as new.
    """
    script = "\n".join(map(_asset, _SCRIPTS))
    style = _asset("explorer.css")
    data = _inert(_data(record, texts, sources, marked))
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>explain</title><style>{style}</style></head><body>
{_BODY}
<script type="application/json" id="data">{data}</script>
<script>{script}</script></body></html>
"""


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _inert(data: dict[str, Any]) -> str:
    """JSON that no parser of HTML takes for markup."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _packed(numbers: Iterable[int]) -> str:
    return base64.b64encode(array("i", numbers).tobytes()).decode()


class _Words:
    """Strings that many equations share, each once."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self.known.setdefault(text, len(self.known))


def _data(record, texts, sources, marked: Difference | None) -> dict[str, Any]:
    equations = record["equations"]
    python, first = _python_text(sources)
    rows = [
        first[e["source"]] + e["line"] if e["source"] in first else -1
        for e in equations
    ]
    used = [(row, e) for e, row in enumerate(rows) if row >= 0]
    levels = [
        {
            "name": "Python",
            "text": python,
            "files": list(first.items()),
            "costs": [
                (first[c["file"]] + c["line"], c["own"])
                for c in record["costs"]
                if c["file"] in first and any(c["own"])
            ],
            "inferred": [],
            **_pairs(used),
        }
    ]
    for name, text in texts.items():
        levels.append(_level(name, text, record))
    data = {
        "levels": levels,
        "frames": record["frames"],
        "equations": _columns(equations, rows),
    }
    if marked is not None:
        numbers = {e["path"]: i for i, e in enumerate(equations)}
        data["added"] = [numbers[e["path"]] for e in marked.added]
        data["gone"] = [
            f"- {e['primitive']} {e['source']}:{e['line']}" for e in marked.gone
        ]
    return data


def _python_text(sources: dict[str, str]) -> tuple[str, dict[str, int]]:
    """All files one after the other, and the row of each one's heading."""
    lines: list[str] = []
    first: dict[str, int] = {}
    for url, text in sources.items():
        first[url] = len(lines)
        lines.append(url)
        lines += text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(lines), first


def _level(name: str, text: str, record: dict[str, Any]) -> dict[str, Any]:
    level = record["levels"][name]
    pairs = [(row, e) for row, e in enumerate(level["owners"]) if e >= 0]
    known = set(pairs)
    for row, inner in level["inner"].items():
        pairs += [(int(row), e) for e in inner if (int(row), e) not in known]
    pairs.sort(key=lambda pair: pair[0])
    costs = record["instruction_costs"] if name == "hlo" else {}
    return {
        "name": _NAMES.get(name, name),
        "text": text,
        "files": [],
        "costs": [(int(row), cost) for row, cost in costs.items()],
        "inferred": level["inferred"],
        **_pairs(pairs),
    }


def _pairs(pairs: Sequence[tuple[int, int]]) -> dict[str, str]:
    rows = _packed(row for row, _ in pairs)
    return {"rows": rows, "equations": _packed(e for _, e in pairs)}


def _columns(equations: Sequence[dict[str, Any]], rows: list[int]) -> dict[str, Any]:
    """The equations by column; words are kept once."""
    made: dict[str, Any] = {
        "source": _packed(rows),
        "born": _packed(e["born_from"] for e in equations),
        "frame": _packed(e["frame"] for e in equations),
        "caller": _packed(e["callers"][0] if e["callers"] else -1 for e in equations),
    }
    texts = {
        "primitive": [e["primitive"] for e in equations],
        "trail": [", ".join(e["trail"]) for e in equations],
        "note": [e["note"] for e in equations],
        "types": [" ".join(e["types"]) for e in equations],
        "name": [" ".join(e["names"]) for e in equations],
    }
    for key, values in texts.items():
        words = _Words()
        made[key] = _packed([words.number(v) for v in values])
        made[f"{key}_words"] = list(words.known)
    return made
