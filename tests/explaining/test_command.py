"""The command line and the environment's switch, in processes of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pullback
import pullback.numpy as np
from pullback.core.errors import ArgumentError
from pullback.explaining.command import main
from pullback.explaining.types_text import parse_arguments

PROGRAM = """\
import pullback.numpy as np


def f(x, *, scale):
    y = np.sin(x)
    return y * scale


def g(pair):
    a, b = pair
    return np.dot(a, b)
"""
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def program(tmp_path, monkeypatch):
    path = tmp_path / "prog.py"
    path.write_text(PROGRAM)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "prog", raising=False)
    return path


def test_types_as_text():
    args, kwargs = parse_arguments("f32[2,4], [(bf16[3], 2)], {'w': bool[]}, s=i32[1]")
    assert args[0] == pullback.ShapeDtypeStruct((2, 4), "float32")
    assert args[1] == [(pullback.ShapeDtypeStruct((3,), "bfloat16"), 2)]
    assert args[2] == {"w": pullback.ShapeDtypeStruct((), "bool")}
    assert kwargs == {"s": pullback.ShapeDtypeStruct((1,), "int32")}
    for wrong in ("f32[2", "float99[2]", "f32[x]", "f32[2]; import os"):
        with pytest.raises(ArgumentError):
            parse_arguments(wrong)


def test_what_a_line_became(program, capsys):
    given = [f"{program}:f", "--args", "f32[3], scale=f32[]", "--line", "5"]
    assert main(given) == 0
    said = capsys.readouterr().out
    assert "jaxpr:1: { lambda ;" in said
    assert "stablehlo:" in said
    assert "hlo:" in said
    assert main([*given, "--json", "--level", "jaxpr"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry == {
        "level": "jaxpr",
        "line": 1,
        "text": "{ lambda ; a:f32[3] b:f32[]. let c:f32[3] = sin a; d:f32[3] = mul c b "
        "in (d,) }",
        "equation": "0",
        "primitive": "sin",
        "file": "prog.py",
        "source_line": 5,
        "column": 8,
        "trail": [],
        "born_from": None,
        "note": "",
        "stack": ["prog.py:5 f"],
        "inferred": False,
        "cost": None,
    }


def test_a_level_and_the_summary(program, capsys):
    given = [f"{program}:g", "--args", "(f32[2,3], f32[3])"]
    assert main([*given, "--level", "jaxpr"]) == 0
    assert capsys.readouterr().out.startswith("{ lambda ; a:f32[2,3] b:f32[3]. let")
    assert main(given) == 0
    assert "prog.py:11  return np.dot(a, b)" in capsys.readouterr().out


def test_check_and_difference(program, capsys, tmp_path):
    given = [f"{program}:f", "--args", "f32[3], scale=f32[]"]
    assert main([*given, "-o", str(tmp_path / "out"), "--check"]) == 0
    assert "valid" in capsys.readouterr().out
    old = str(tmp_path / "out" / "f.explain.json")
    assert main([*given, "--diff", old]) == 0
    assert "no equation differs" in capsys.readouterr().out
    program.write_text("\n\n" + PROGRAM)  # lines that only move are no difference
    sys.modules.pop("prog")
    assert main([*given, "--diff", old]) == 0
    program.write_text(PROGRAM.replace("np.sin", "np.cos"))
    sys.modules.pop("prog")
    assert main([*given, "--diff", old]) == 1
    said = capsys.readouterr().out
    assert "- prog.py:5  sin f32[3] f32[3]" in said
    assert "+ prog.py:5  cos f32[3] f32[3]" in said


def test_what_cannot_be_run_is_said(program, capsys):
    assert main([f"{program}:nothing"]) == 2
    assert "has no nothing" in capsys.readouterr().err
    assert main(["nowhere.py:f"]) == 2
    assert main([str(program)]) == 2


def run(*args, **environment):
    return subprocess.run(
        [sys.executable, *args],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_the_module_runs_and_is_callable(program):
    said = run(
        "-m", "pullback.explain", f"{program}:g", "--args", "(f32[3],f32[3])", "--check"
    )
    assert said == "valid: every line is mapped\n"
    assert pullback.explain(np.sin, levels=["jaxpr"])(1.0).text["jaxpr"]


def test_every_compile_is_explained(program, tmp_path):
    code = f"""if True:
        import sys; sys.path.insert(0, {str(program.parent)!r})
        import prog, pullback, pullback.numpy as np
        x = np.ones(3)
        print(pullback.jit(prog.f)(x, scale=2.0).sum())
        """
    said = run("-c", code, PULLBACK_EXPLAIN=str(tmp_path / "every"))
    assert float(said) == pytest.approx(5.0488, abs=1e-3)
    (folder,) = [p for p in (tmp_path / "every").iterdir() if p.name.endswith("-f")]
    names = {p.name for p in folder.iterdir()}
    assert {"f.jaxpr.map", "f.hlo.txt.map", "f.explain.html"} <= names
