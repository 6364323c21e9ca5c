"""Checks the size limits of the house: python tools/budget.py.

Prints one row a limit and exits with 1 when a limit is broken. It reads source
text only; `import_facts` starts one fresh interpreter. Raising a number here needs
its reason in the same commit.
"""

import ast
import io
import json
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent

FILE_MEDIAN, FILE_WARN, FILE_FAIL = 150, 400, 600
FUNCTION_MEDIAN, FUNCTION_FAIL = 10, 60
TOKENS_PER_LINE_FILE, TOKENS_PER_LINE_ALL = 12.0, 10.0
CORE_LINES = 2500
IMPORT_SECONDS = 0.1
NOT_ON_IMPORT = ("numpy", "jaxlib", "jax")

HELD_TO_ALL = ("pullback", "tools")
HELD_TO_SIZE = (*HELD_TO_ALL, "tests", "examples", "benchmarks", "docs")

_CODE_TOKENS = {tokenize.OP, tokenize.NAME, tokenize.NUMBER, tokenize.STRING}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Function:
    """A function's name, the line it starts on, and how many code lines it has."""

    name: str
    start: int
    size: int


@dataclass(frozen=True)
class Source:
    """One Python file; a code line is one with a token outside docstrings."""

    path: Path
    text: str

    @property
    def lines(self) -> int:
        """Lines of the file as an editor counts them."""
        return self.text.count("\n")

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed file."""
        return ast.parse(self.text, str(self.path))

    @cached_property
    def tokens(self) -> list[tokenize.TokenInfo]:
        """Tokens of code: names, operators, numbers and strings, no docstrings."""
        hidden = set(_docstring_lines(self.tree))
        return [t for t in _code_tokens(self.text) if t.start[0] not in hidden]

    @cached_property
    def code_lines(self) -> set[int]:
        """Numbers of the lines on which a code token stands."""
        spans = ((t.start[0], t.end[0]) for t in self.tokens)
        return {line for start, end in spans for line in range(start, end + 1)}

    @cached_property
    def functions(self) -> list[Function]:
        """Every function and method, nested ones too."""
        return [
            Function(node.name, node.lineno, self._size(node))
            for node in ast.walk(self.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]

    def _size(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
        end = node.end_lineno or node.lineno
        return sum(line in self.code_lines for line in range(node.lineno, end + 1))


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False):
            text = node.body[0]
            yield from range(text.lineno, (text.end_lineno or text.lineno) + 1)


def _code_tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """Code tokens, an f-string counted as one wherever the tokenizer splits it."""
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        if name.endswith("STRING_END"):
            depth -= 1
        elif name.endswith("STRING_START"):
            depth += 1
            if depth == 1:
                yield token
        elif depth == 0 and token.type in _CODE_TOKENS:
            yield token


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, where, and its limit."""

    what: str
    value: float
    limit: float
    where: str = ""
    warning: bool = False

    @property
    def broken(self) -> bool:
        """Whether the value is over a limit that fails."""
        return self.value > self.limit and not self.warning

    def __str__(self) -> str:
        over = "warn" if self.warning else "FAIL"
        mark = over if self.value > self.limit else "ok"
        return (
            f"{mark:4}  {self.what:34} {self.value:8.4g} <= {self.limit:<6g} "
            f"{self.where}"
        ).rstrip()


def sources(*folders: str, root: Path = ROOT) -> list[Source]:
    """The files under the given folders that hold code, sorted by path."""
    paths = sorted(path for name in folders for path in (root / name).rglob("*.py"))
    found = [Source(path.relative_to(root), path.read_text("utf-8")) for path in paths]
    return [source for source in found if source.code_lines]


def medians(files: list[Source]) -> Iterator[Row]:
    """The typical file and the typical function."""
    sizes = [function.size for source in files for function in source.functions]
    code = [len(s.code_lines) for s in files]
    yield Row("code lines a file, median", median(code), FILE_MEDIAN)
    yield Row("lines a function, median", median(sizes), FUNCTION_MEDIAN)


def largest(files: list[Source]) -> Iterator[Row]:
    """Every file and function over its limit, else the largest of each."""
    lengths = [(s.lines, str(s.path)) for s in files]
    sizes = [
        (f.size, f"{s.path}:{f.start} {f.name}") for s in files for f in s.functions
    ]
    for size, where in _worst(lengths, FILE_WARN):
        if FILE_WARN < size <= FILE_FAIL:
            yield Row("lines a file, better", size, FILE_WARN, where, warning=True)
        else:
            yield Row("lines a file", size, FILE_FAIL, where)
    for size, where in _worst(sizes, FUNCTION_FAIL):
        yield Row("lines a function", size, FUNCTION_FAIL, where)


def density(files: list[Source]) -> Iterator[Row]:
    """Tokens a code line: overall, and the files over the limit or the densest."""
    total = sum(len(s.tokens) for s in files)
    overall = total / sum(len(s.code_lines) for s in files)
    yield Row("tokens a code line, overall", overall, TOKENS_PER_LINE_ALL)
    dense = [(len(s.tokens) / len(s.code_lines), str(s.path)) for s in files]
    for value, where in _worst(dense, TOKENS_PER_LINE_FILE):
        yield Row("tokens a code line, a file", value, TOKENS_PER_LINE_FILE, where)


def _worst(measured: list[tuple[float, str]], limit: float) -> list[tuple[float, str]]:
    over = sorted((pair for pair in measured if pair[0] > limit), reverse=True)
    return over or [max(measured, default=(0, ""))]


def core_size(files: list[Source]) -> Iterator[Row]:
    """The core in all: what one engineer reads first.

    Code lines: docstrings are asked for, so they are not held against the core.
    """
    yield Row("code lines in core/", sum(len(s.code_lines) for s in files), CORE_LINES)


def import_facts(root: Path = ROOT) -> dict[str, float | list[str]]:
    """What `import pullback` costs in a fresh interpreter: seconds, and modules."""
    program = (
        "import json, sys, time; start = time.perf_counter(); import pullback; "
        "seconds = time.perf_counter() - start; "
        "print(json.dumps({'seconds': seconds, 'modules': sorted(sys.modules)}))"
    )
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, cwd=root, check=True, capture_output=True)
    return json.loads(result.stdout)


def importing(tries: int = 3) -> Iterator[Row]:
    """The best time of a few imports, and the heavy modules that one loads."""
    runs = [import_facts() for _ in range(tries)]
    best = min(run["seconds"] for run in runs)
    loaded = [name for name in NOT_ON_IMPORT if name in runs[0]["modules"]]
    yield Row("seconds of import pullback", best, IMPORT_SECONDS)
    yield Row("heavy modules it loads", len(loaded), 0, " ".join(loaded))


def formatted(root: Path = ROOT) -> Iterator[Row]:
    """Sizes mean something only after `ruff format`."""
    folders = [name for name in HELD_TO_SIZE if (root / name).exists()]
    command = [sys.executable, "-m", "ruff", "format", "--check", *folders]
    result = subprocess.run(command, cwd=root, check=False, capture_output=True)
    yield Row("exit status of ruff format --check", result.returncode, 0)


def rows() -> Iterator[Row]:
    """Every limit with its measured value, cheap ones first."""
    house = sources(*HELD_TO_ALL)
    yield from formatted()
    yield from medians(house)
    yield from largest(sources(*HELD_TO_SIZE))
    yield from density(house)
    yield from core_size(sources("pullback/core"))
    yield from importing()


def main() -> int:
    """Prints the table; 1 when a limit is broken, else 0."""
    table = list(rows())
    print(*table, sep="\n")
    broken = sum(row.broken for row in table)
    print(f"{broken} of {len(table)} limits broken" if broken else "all limits kept")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
