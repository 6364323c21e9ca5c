"""The examples in docstrings run, and every public name has a docstring."""

import doctest
import importlib
import inspect
import io
from pathlib import Path

import pytest

from tests.docs.page import FLAGS, Checker

PACKAGE = Path(__file__).resolve().parents[2] / "pullback"
PUBLIC = ("lax", "numpy", "nn", "random", "tree", "tree_util", "errors", "debug")


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


WITH_EXAMPLES = [
    _name(path)
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of(name: str):
    failures = {}
    runner = doctest.DocTestRunner(Checker(), optionflags=FLAGS, verbose=False)
    for test in doctest.DocTestFinder().find(importlib.import_module(name)):
        report = io.StringIO()
        if runner.run(test, out=report.write).failed:
            failures[test.name] = report.getvalue()
    assert not failures, (
        f"examples to correct in: {', '.join(failures)}\n{''.join(failures.values())}"
    )


def _undocumented(module) -> list[str]:
    public = [name for name in dir(module) if not name.startswith("_")]
    values = {name: getattr(module, name) for name in public}
    return [
        name
        for name, value in values.items()
        if inspect.isfunction(value) or inspect.isclass(value)
        if (value.__module__ or "").startswith("pullback")
        if not inspect.getdoc(value)
    ]


@pytest.mark.parametrize("name", ["", *PUBLIC])
def test_public_names_have_docstrings(name: str):
    module = importlib.import_module(f"pullback.{name}".rstrip("."))
    assert _undocumented(module) == []
