"""Settings of the whole suite: hypothesis profiles and the switch for long runs.

`PULLBACK_TEST_FULL=1` (`make test-full`) selects the tests marked `full` and the
hypothesis profile of that name; otherwise those tests are deselected.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

FULL = os.environ.get("PULLBACK_TEST_FULL", "0") not in ("", "0")

# The oracle must not look for accelerators that the package under test is not using.
os.environ.setdefault("JAX_PLATFORMS", "cpu")

# Programs must not come from an earlier run, nor stay in the user's cache; tests of the
# cache name a folder of their own.
os.environ["PULLBACK_CACHE_DIR"] = ""

_SHARED = {
    "derandomize": True,
    "deadline": None,
    "database": None,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("standard", max_examples=50, **_SHARED)
settings.register_profile("full", max_examples=1000, **_SHARED)
settings.load_profile("full" if FULL else "standard")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    if FULL:
        return
    long_runs = [item for item in items if item.get_closest_marker("full")]
    if long_runs:
        config.hook.pytest_deselected(items=long_runs)
        items[:] = [item for item in items if item not in set(long_runs)]


@pytest.fixture(scope="session")
def full() -> bool:
    """Whether this is a long run: every dtype, every seed."""
    return FULL
