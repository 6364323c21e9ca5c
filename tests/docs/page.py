"""Reads the fenced blocks of a Markdown page and runs them as its reader would.

`python` blocks of a page share one namespace. What they print stands in the `text`
block right below, word for word, where `...` stands for any text. A block with `>>>`
is a doctest. Other languages are not run; the tests say which may appear.
"""

import contextlib
import doctest
import io
import linecache
import re
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FILE = "example.py"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the page's line it starts on."""

    language: str
    text: str
    line: int
    printed: str | None = None

    @property
    def is_doctest(self) -> bool:
        return self.language == "python" and self.text.lstrip().startswith(">>>")


def blocks(path: Path) -> list[Block]:
    """The blocks of the page, each with the output that stands below it."""
    page = path.read_text("utf-8")
    found: list[Block] = []
    end = 0
    for match in FENCE.finditer(page):
        language, text = match.groups()
        line = page.count("\n", 0, match.start()) + 2
        follows = not page[end : match.start()].strip()
        if language == "text" and follows and found and found[-1].language == "python":
            last = found.pop()
            found.append(Block(last.language, last.text, last.line, text))
        else:
            found.append(Block(language, text, line))
        end = match.end()
    return found


def run(path: Path) -> list[str]:
    """Runs the page; what went wrong, one text a failure."""
    namespace: dict = {"__name__": "__main__"}
    wrong = []
    for block in blocks(path):
        if block.language == "python":
            problem = (_try if block.is_doctest else _execute)(block, namespace)
            wrong += [f"{path.name}:{block.line}: {problem}"] if problem else []
    return wrong


def _try(block: Block, namespace: dict) -> str:
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    test = doctest.DocTestParser().get_doctest(block.text, {}, FILE, FILE, 0)
    test.globs = namespace
    runner.run(test, out=report.write, clear_globs=False)
    return report.getvalue()


def _execute(block: Block, namespace: dict) -> str:
    lines = block.text.splitlines(keepends=True)
    linecache.cache[FILE] = (len(block.text), None, lines, FILE)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, FILE, "exec"), namespace)
    expected, got = block.printed or "", printed.getvalue()
    example = doctest.Example("", expected)
    checker = doctest.OutputChecker()
    if checker.check_output(expected, got, doctest.ELLIPSIS):
        return ""
    return checker.output_difference(example, got, doctest.REPORT_NDIFF)
