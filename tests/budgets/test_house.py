"""What import contracts cannot see: names of files, marks of unfinished work."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tools import budget

PACKAGE = budget.ROOT / "pullback"
FILES = sorted(PACKAGE.rglob("*.py"))
BANNED_NAMES = {"utils", "util", "misc", "common", "helpers", "helper"}
BANNED_ENDINGS = ("2", "_new", "_old", "_v2")
USER_LIBRARY = ("lax", "numpy", "nn", "random", "scipy", "tree", "sharding")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b|NotImplementedError\(\)")

every_file = pytest.mark.parametrize(
    "path", FILES, ids=[str(path.relative_to(PACKAGE)) for path in FILES]
)


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text("utf-8"))))


@every_file
def test_file_is_named_after_its_job(path: Path):
    assert path.stem not in BANNED_NAMES
    assert not path.stem.endswith(BANNED_ENDINGS)


@every_file
def test_file_is_finished(path: Path):
    assert not UNFINISHED.findall(path.read_text("utf-8"))


@every_file
def test_nothing_catches_everything(path: Path):
    handlers = (node for node in nodes(path) if isinstance(node, ast.ExceptHandler))
    assert not [handler.lineno for handler in handlers if _catches_all(handler)]


@every_file
def test_nothing_reaches_the_house_through_its_front_door(path: Path):
    """`import pullback` inside the package would slip past the import contracts."""
    assert not [
        node.lineno
        for node in nodes(path)
        if isinstance(node, ast.Import)
        if any(alias.name == "pullback" for alias in node.names)
    ]


def _catches_all(handler: ast.ExceptHandler) -> bool:
    names = {"Exception", "BaseException"}
    caught = {node.id for node in ast.walk(handler.type or handler) if _is_name(node)}
    return handler.type is None or bool(caught & names)


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)


def test_user_library_defines_no_primitive_and_no_rule():
    library = [
        path
        for path in FILES
        if path.relative_to(PACKAGE).parts[0].removesuffix(".py") in USER_LIBRARY
    ]
    assert not [
        f"{path}:{node.lineno}"
        for path in library
        for node in nodes(path)
        if isinstance(node, ast.Call) and _called(node) in {"Primitive", "defjvp"}
    ]


def _called(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))
