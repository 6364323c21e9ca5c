"""The oracle in these files: compiled in haste, and forgotten after each file.

What runs once need not be made fast. A file that compares bit for bit says so with
`BIT_FOR_BIT = True`: only an optimized oracle rounds as the package does.
"""

import jax
import pytest

HASTE = "jax_disable_most_optimizations"


@pytest.fixture(autouse=True, scope="module")
def oracle(request: pytest.FixtureRequest):
    jax.config.update(HASTE, not getattr(request.module, "BIT_FOR_BIT", False))
    yield
    jax.config.update(HASTE, False)
    jax.clear_caches()
