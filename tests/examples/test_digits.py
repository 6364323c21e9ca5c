"""The main job: examples/digits.py learns digits, and README shows what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def output() -> str:
    """What a short run prints when nobody watches."""
    command = [sys.executable, "examples/digits.py", "--epochs", "40"]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        command, cwd=ROOT, env=here, check=False, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    assert found, f"{pattern!r} is not in:\n{text}"
    return float(found[1])


@pytest.mark.slow
def test_it_learns_to_read(output: str):
    assert _number(r"test accuracy: ([\d.]+) %", output) >= 97


def test_it_asks_each_image(output: str):
    median = _number(r"median ([\d.e-]+),", output)
    assert 0 < median < _number(r"largest ([\d.e+]+)\n", output)


def test_the_eigenvalue_is_one(output: str):
    assert _number(r"eigenvalue ([\d.]+),", output) > 0
    assert _number(r"residual ([\d.e-]+)", output) < 1e-3


def test_equations_of_the_loss_name_their_lines(output: str):
    source = (ROOT / "examples" / "digits.py").read_text("utf-8").splitlines()
    program = output.partition("\n{ lambda")[2]
    equations = re.findall(r"^ +\w+:\S+ = ", program, re.MULTILINE)
    named = re.findall(r"# digits\.py:(\d+)$", program, re.MULTILINE)
    assert len(named) == len(equations)
    assert {source[int(number) - 1].strip() for number in named} == {
        "x = image.reshape(-1)",
        "x = nn.relu(x @ w + b)",
        "return x @ weight + bias",
        "return -nn.log_softmax(predict(params, image))[label]",
    }


def test_the_readme_shows_this_output(output: str):
    """Word for word, except that numbers differ from run to run."""
    readme = (ROOT / "README.md").read_text("utf-8")
    shown = re.search(r"```text\n(\d+ epochs.*?)```", readme, re.DOTALL)
    assert shown, "README.md shows no run of the demo"
    told = [_shape(line) for line in output.splitlines()]
    for line in shown[1].splitlines():
        assert line == "..." or _shape(line) in told


def _shape(line: str) -> str:
    return re.sub(r"\d[\d.e+-]*", "#", " ".join(line.split()))
