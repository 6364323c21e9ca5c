"""The command line: `python -m pullback.explain prog.py:function --args 'f32[2,4]'`."""

import argparse
import importlib
import importlib.util
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pullback.core.errors import ArgumentError, PullbackError
from pullback.explaining.checking import problems
from pullback.explaining.explanation import Entry, Explanation
from pullback.explaining.front import LEVELS, explain
from pullback.explaining.types_text import parse_arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status.

    0: done. 1: `--check` found a fault, or `--diff` a difference. 2: it could not run.
    """
    given = _parser().parse_args(argv)
    try:
        return _answer(given, _explained(given))
    except (PullbackError, OSError) as error:
        print(f"explain: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pullback.explain",
        description="Say of every line of a program where it comes from.",
    )
    add = parser.add_argument
    add("program", help="prog.py:function or package.module:function")
    add("--args", default="", help="types: 'f32[2,4], (f32[4], i32[]), scale=f32[]'")
    add("-o", "--output", metavar="DIR", help="write texts, maps and the explorer")
    add("--line", metavar="[FILE:]N", help="what a source line became")
    add("--level", choices=LEVELS, help="only this level; alone, print its text")
    add("--diff", metavar="OLD.json", help="compare with an older .explain.json")
    add("--json", action="store_true", help="answer in JSON")
    add("--check", action="store_true", help="are all lines mapped, all maps valid?")
    add("--measure", type=int, default=0, metavar="N", help="time N runs, by line")
    add("--root", metavar="DIR", help="the folder that names of files are relative to")
    add("--hide-source", action="store_true", help="leave the source out of maps")
    return parser


def _explained(given: argparse.Namespace) -> Explanation:
    fun = _load(given.program)
    args, kwargs = parse_arguments(given.args)
    last = given.level or LEVELS[-1]
    levels = LEVELS[: LEVELS.index(last) + 1]
    run = explain(
        fun,
        levels=levels,
        measure=given.measure,
        root=given.root,
        hide_source=given.hide_source,
    )
    return run(*args, **kwargs)


def _load(program: str) -> Callable:
    """The function that `prog.py:function` or `module:function` names."""
    place, _, name = program.rpartition(":")
    if not place:
        raise ArgumentError(
            f"no function in {program!r}", rule="write prog.py:function"
        )
    if place.endswith(".py"):
        path = Path(place).resolve()
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None or not path.exists():
            raise ArgumentError(f"there is no file {place}")
        found: Any = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = found
        spec.loader.exec_module(found)
    else:
        found = importlib.import_module(place)
    for part in name.split("."):
        if not hasattr(found, part):
            raise ArgumentError(f"{place} has no {name}")
        found = getattr(found, part)
    return found


def _answer(given: argparse.Namespace, told: Explanation) -> int:
    status = 0
    if given.output:
        for path in told.save(given.output):
            if not given.json:
                print(path)
    if given.check:
        found = problems(told)
        _print(given, found or ["valid: every line is mapped"], found)
        status = int(bool(found))
    if given.diff:
        old = json.loads(Path(given.diff).read_text("utf-8"))
        difference = told.diff(old)
        _print(given, [str(difference)], asdict(difference))
        status = max(status, int(bool(difference)))
    if given.line:
        entries = _entries(told, given.line, given.level)
        _print(given, [str(e) for e in entries], [asdict(e) for e in entries])
    elif given.level and not given.output and not given.check:
        _print(given, [told.text[given.level]], told.text[given.level])
    elif not (given.output or given.check or given.diff):
        _print(given, _summary(told), told.record())
    return status


def _print(given: argparse.Namespace, lines: Sequence[str], data: Any) -> None:
    if given.json:
        print(json.dumps(data, indent=1))
    else:
        print("\n".join(lines))


def _entries(told: Explanation, line: str, level: str | None) -> list[Entry]:
    file, _, number = line.rpartition(":")
    if not number.isdigit():
        raise ArgumentError(f"--line {line!r}", rule="a number, or FILE:NUMBER")
    files = [file] if file else list(told.sources)
    found = [e for f in files for e in told.at(f, int(number))]
    return [e for e in found if level in (None, e.level)]


def _summary(told: Explanation) -> list[str]:
    """The cost of each line, with its text."""
    rows = [repr(told), "", f"{'flops':>10} {'bytes':>10}  line"]
    texts = {s.file: s.lines for s in told.table.sites.sources.used()}
    for row in told.cost_by_line():
        timed = "" if row.seconds is None else f"  {row.seconds * 1e6:.1f} us"
        where = "(no line accounts for)"
        if row.line:
            text = texts[row.file][row.line - 1].strip()
            where = f"{row.file.rpartition('/')[2]}:{row.line}  {text}"
        rows.append(f"{row.own.flops:>10g} {row.own.bytes:>10g}  {where}{timed}")
    return rows
