"""docs/architecture.md agrees with the code: folders, path of a value, invariants."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

import pullback
from pullback import lax

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "pullback"
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
FOLDERS = dict(re.findall(r"^\| `(\w+)/` \| (.+) \|$", PAGE, re.MULTILINE))
HOPS = re.findall(r"^\| \d+ \| `(\S+)` \| `(\S+)` \|", PAGE, re.MULTILINE)
INVARIANTS = re.findall(r"^\| (A\d+) \| .+ \| (.+) \|$", PAGE, re.MULTILINE)


def _first_paragraph(file: Path) -> str:
    docstring = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return " ".join(docstring.split("\n\n")[0].split())


def test_a_row_is_the_docstring_of_its_folder():
    inits = {file.parent.name: file for file in PACKAGE.glob("*/__init__.py")}
    assert {n: _first_paragraph(file) for n, file in inits.items()} == FOLDERS


def test_rows_stand_in_the_order_of_the_import_contract():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c["id"] == "layers")
    height = {
        name: i for i, layer in enumerate(layers) for name in re.findall(r"\w+", layer)
    }
    heights = [height[name] for name in FOLDERS]
    assert heights == sorted(heights, reverse=True)


def test_it_can_be_read_in_one_sitting():
    assert PAGE.count("\n") <= 150


def _calls(thunk) -> list[tuple[str, str]]:
    """(file, function) of every call inside the package, in order."""
    seen = []

    def note(frame, event, arg):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)):
            file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
            seen.append((file, code.co_qualname.replace("<locals>.", "")))

    sys.setprofile(note)
    try:
        thunk()
    finally:
        sys.setprofile(None)
    return seen


def test_a_value_takes_this_path():
    gradient = pullback.jit(pullback.grad(lambda x: lax.sin(x)))
    calls = iter(_calls(lambda: gradient(1.0)))
    assert len(HOPS) == 14
    for file, function in HOPS:
        assert any(
            at == file and (name == function or name.endswith("." + function))
            for at, name in calls
        ), f"{function} in {file} is not called, or not in this order"


def test_invariants_are_numbered():
    assert [label for label, _ in INVARIANTS] == [
        f"A{i + 1}" for i in range(len(INVARIANTS))
    ]


@pytest.mark.parametrize(("label", "keeper"), INVARIANTS)
def test_an_invariant_names_what_keeps_it(label: str, keeper: str):
    test = re.fullmatch(r"`(tests/\S+\.py)::(\w+)`", keeper)
    if test is None:
        contracts = re.findall(r"`(\w+)`", keeper.removeprefix("`make lint`"))
        settings = (ROOT / "pyproject.toml").read_text("utf-8")
        assert contracts
        assert [c for c in contracts if f'id = "{c}"' not in settings] == []
    else:
        source = (ROOT / test[1]).read_text("utf-8")
        assert f"\ndef {test[2]}(" in source
