"""Python calls and files between a program and its first and second compiled run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
NEIGHBOUR = REPOSITORY.parent / "shared" / "checks" / "hops.py"


def run(program: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(program)]
    here = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(
        command, env=here, check=False, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def counts():
    result = run(HERE / "count_calls.py")
    assert result.returncode == 0, result.stderr
    table = json.loads(result.stdout)
    for name, row in table.items():
        print(f"{name}: {row['calls']} calls in {row['files']} files")
        for file, calls in row["by_file"].items():
            print(f"  {calls:6} {file}")
    return table


def test_first_gradient_of_ten_operations(counts):
    assert counts["first"]["calls"] <= 4000
    assert counts["first"]["files"] <= 25


def test_second_call(counts):
    assert counts["second"]["calls"] <= 12


def test_first_gradient_of_three_layers(counts):
    assert counts["perceptron"]["calls"] <= 7000


def test_calls_were_counted(counts):
    assert counts["first"]["calls"] > counts["second"]["calls"] > 0


@pytest.mark.skipif(not NEIGHBOUR.exists(), reason="no shared checks beside this tree")
def test_shared_check_agrees():
    result = run(NEIGHBOUR)
    assert result.returncode == 0, result.stdout + result.stderr
