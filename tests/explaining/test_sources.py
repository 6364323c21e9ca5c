"""Text as traced: edited files, notebooks, code without a file, odd folders."""

import importlib.util
import linecache
import warnings

import pytest

import pullback
import pullback.numpy as np
from pullback.explaining import sources
from tests.explaining.maps import Map, faults

PROGRAM = "import pullback.numpy as np\n\n\ndef f(x):\n    return np.sin(x) * 2.0\n"
X = np.ones(3)


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def told_of(fun):
    return pullback.explain(fun, levels=("jaxpr",))(X)


def test_a_file_edited_after_import_is_told_and_left_out(tmp_path):
    path = tmp_path / "edited.py"
    path.write_text(PROGRAM)
    module = load(path)
    path.write_text("# one more line\n" + PROGRAM.replace("sin", "tan"))
    linecache.clearcache()
    with pytest.warns(UserWarning, match="edited.py has changed since"):
        told = told_of(module.f)
    assert told.changed == [str(path)]
    assert told.map["jaxpr"]["sources"] == []


def test_the_text_as_traced_is_kept_when_it_is_still_known(tmp_path):
    path = tmp_path / "kept.py"
    path.write_text(PROGRAM)
    module = load(path)
    linecache.getlines(str(path))
    path.write_text("# one more line\n" + PROGRAM)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = told_of(module.f)
    assert told.map["jaxpr"]["sourcesContent"] == [PROGRAM]


@pytest.mark.parametrize("folder", ["with space", "100%#1", "日本"])
def test_folders_with_odd_names(tmp_path, folder):
    path = tmp_path / folder / "odd.py"
    path.parent.mkdir()
    path.write_bytes(PROGRAM.replace("\n", "\r\n").encode())
    told = pullback.explain(load(path).f, levels=("jaxpr",), root=str(tmp_path))(X)
    m = Map(told.text["jaxpr"], told.map["jaxpr"])
    assert faults(m) == []
    assert m.data["sourcesContent"] == [path.read_bytes().decode()]
    assert m.at(" = sin").text.startswith("np.sin(x)")
    assert not {" ", "#"} & set(m.data["sources"][0])


def test_a_cell_of_a_notebook():
    name = "<ipython-input-7-abc>"
    linecache.cache[name] = (len(PROGRAM), None, PROGRAM.splitlines(True), name)
    scope: dict = {}
    exec(compile(PROGRAM, name, "exec"), scope)
    told = told_of(scope["f"])
    assert told.map["jaxpr"]["sources"] == ["ipython-input-7-abc"]
    assert told.map["jaxpr"]["sourcesContent"] == [PROGRAM]


def test_code_without_text_is_left_out():
    scope: dict = {}
    exec(compile(PROGRAM, "<no text>", "exec"), scope)
    told = told_of(scope["f"])
    assert told.map["jaxpr"]["sources"] == []
    assert told.text["jaxpr"].count("sin") == 1


def test_hidden_files_are_no_user_code(tmp_path, monkeypatch):
    layer = tmp_path / "layers.py"
    layer.write_text(PROGRAM)
    program = load(layer)
    monkeypatch.setattr(sources, "_hidden", [])
    sources.hide(str(layer))

    def f(x):
        return program.f(x)

    told = told_of(f)
    assert told.map["jaxpr"]["sources"] == ["test_sources.py"]
    alone = told_of(program.f)  # with no other code above it
    assert alone.map["jaxpr"]["ignoreList"] == [0]


def test_no_terminal_codes_and_the_same_text_whatever_the_width(monkeypatch):
    def f(x):
        return np.sin(x) * np.cos(x)

    plain = told_of(f).files()
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert told_of(f).files() == plain
    assert "\x1b" not in plain["f.jaxpr"]


def test_source_can_be_left_out():
    told = pullback.explain(np.sin, levels=("jaxpr",), hide_source=True)(X)
    assert not any(told.map["jaxpr"]["sourcesContent"])
