"""`import pullback` is light: it loads neither numpy nor jaxlib, nor ever jax."""

import subprocess
import sys

import pytest

from tools import budget

HEAVY = ("numpy", "ml_dtypes", "jaxlib", "jax", "opt_einsum", "rich", "scipy")


@pytest.fixture(scope="module")
def bare_import():
    return budget.import_facts()


@pytest.mark.parametrize("name", HEAVY)
def test_import_does_not_load(bare_import, name):
    assert name not in bare_import["modules"]


def test_import_takes_no_time_worth_noticing():
    rows = list(budget.importing())
    assert not [str(row) for row in rows if row.broken]


def test_a_program_never_loads_jax():
    program = (
        "import sys, pullback\n"
        "gradient = pullback.jit(pullback.grad(lambda x: x * x))\n"
        "assert float(gradient(3.0)) == 6.0\n"
        "assert 'jax' not in sys.modules\n"
    )
    command = [sys.executable, "-W", "error", "-c", program]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
