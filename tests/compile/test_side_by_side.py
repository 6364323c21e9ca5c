"""Pullback and JAX in one process, in either order, give right results."""

import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
{first}
{second}
x = np.arange(4, dtype=np.float32)
for _ in range(2):
    ours = pullback.jit(pullback.grad(lambda x: pullback.numpy.sum(x**3)))(x)
    theirs = jax.jit(jax.grad(lambda x: jax.numpy.sum(x**3)))(x)
    np.testing.assert_allclose(np.asarray(ours), 3 * x**2, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(theirs), 3 * x**2, rtol=1e-6)
with pullback.enable_x64():
    wide = pullback.numpy.asarray(np.float64(1) / 3) + 0
    assert wide.dtype == np.float64 and float(wide) == 1 / 3
    assert jax.numpy.asarray(np.float64(1) / 3).dtype == np.float32
jax.config.update("jax_enable_x64", True)
assert jax.jit(lambda x: x + 1)(np.float64(1)).dtype == np.float64
assert pullback.jit(lambda x: x + 1)(np.float64(1)).dtype == np.float32
assert not isinstance(pullback.numpy.ones(2), jax.Array)
assert isinstance(pullback.numpy.ones(2), pullback.Array)
both = np.asarray(jax.numpy.asarray(np.asarray(pullback.numpy.ones(2))))
assert both.tolist() == [1.0, 1.0]
print("right")
"""
OURS = "import pullback, pullback.numpy"
THEIRS = "import jax, jax.numpy"


@pytest.mark.parametrize(("first", "second"), [(OURS, THEIRS), (THEIRS, OURS)])
def test_either_order(first, second):
    program = PROGRAM.format(first=first, second=second)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True
    )
    assert done.stdout.strip() == "right", done.stderr
