"""Reads the fenced blocks of a Markdown page and runs them as its reader would.

`python` blocks of a page share one namespace. What they print stands in the `text`
block right below, word for word, where `...` stands for any text. A block with `>>>`
is a doctest. With `file=` a block is a quotation, and is not run. Other languages are
not run; the tests say which may appear. Numbers with
a decimal point need to agree to four digits: the last ones depend on the processor.
"""

import contextlib
import doctest
import io
import linecache
import math
import re
from dataclasses import dataclass, replace
from pathlib import Path

FENCE = re.compile(
    r"^```(\S*)(?: file=(\S+))?[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FILE = "example.py"


class Checker(doctest.OutputChecker):
    """Compares output as doctest does, and numbers with some tolerance."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want.rstrip(), got.rstrip(), optionflags):
            return True
        return _words(want) == _words(got) and all(
            math.isclose(float(a), float(b), rel_tol=1e-4, abs_tol=1e-6)
            for a, b in zip(NUMBER.findall(want), NUMBER.findall(got), strict=True)
        )


def _words(text: str) -> str:
    """The text without spaces and with all numbers alike; arrays are set by width."""
    return re.sub(r"\s", "", NUMBER.sub("#", text))


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the page's line it starts on."""

    language: str
    text: str
    line: int
    printed: str | None = None
    quoted: str | None = None

    @property
    def is_code(self) -> bool:
        return self.language == "python" and self.quoted is None

    @property
    def is_doctest(self) -> bool:
        return self.is_code and self.text.lstrip().startswith(">>>")


def blocks(path: Path) -> list[Block]:
    """The blocks of the page, each with the output that stands below it."""
    page = path.read_text("utf-8")
    found: list[Block] = []
    end = 0
    for match in FENCE.finditer(page):
        language, quoted, text = match.groups()
        line = page.count("\n", 0, match.start()) + 2
        follows = not page[end : match.start()].strip()
        if language == "text" and follows and found and found[-1].is_code:
            found.append(replace(found.pop(), printed=text))
        else:
            found.append(Block(language, text, line, quoted=quoted))
        end = match.end()
    return found


def run(path: Path) -> list[str]:
    """Runs the page; what went wrong, one text a failure."""
    namespace: dict = {"__name__": "__main__"}
    wrong = []
    for block in blocks(path):
        if block.is_code:
            problem = (_try if block.is_doctest else _execute)(block, namespace)
            wrong += [f"{path.name}:{block.line}: {problem}"] if problem else []
    return wrong


def _try(block: Block, namespace: dict) -> str:
    report = io.StringIO()
    runner = doctest.DocTestRunner(Checker(), optionflags=FLAGS, verbose=False)
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
    checker = Checker()
    if checker.check_output(expected, got, doctest.ELLIPSIS):
        return ""
    return checker.output_difference(example, got, doctest.REPORT_NDIFF)
