"""64-bit types are on, and tests that take `prim` run for every primitive."""

import pytest

from pullback.core import config
from pullback.core.primitive import REGISTRY
from tests.rules.harness import SAMPLES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "prim" in metafunc.fixturenames:
        names = sorted(name for name in REGISTRY if SAMPLES.get(name))
        metafunc.parametrize("prim", [REGISTRY[n] for n in names], ids=names)


@pytest.fixture(autouse=True)
def _x64():
    with config.enable_x64(True):
        yield
