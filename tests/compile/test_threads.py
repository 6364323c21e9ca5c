"""Threads trace, compile and run at once without sharing interpreter state."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

import pullback
from pullback.core import config
from pullback.core.trace import state


def _one(i: int) -> float:
    def loss(x):
        for _ in range(i % 3 + 1):
            x = pullback.numpy.sin(x) * float(i)
        return x.sum()

    x = np.linspace(0, 1, 4 + i % 5, dtype=np.float32)
    return float(pullback.jit(pullback.grad(loss))(x)[1])


def test_threads_agree_with_one_thread():
    jobs = list(range(24))
    alone = [_one(i) for i in jobs]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(_one, jobs))
    np.testing.assert_allclose(together, alone, rtol=1e-6)


def test_settings_and_interpreters_are_per_thread():
    with config.scoped(enable_x64=True), ThreadPoolExecutor(1) as pool:
        assert config.x64()
        assert not pool.submit(config.x64).result()

    def inside(x):
        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(lambda: state.trace).result()
        assert other is not state.trace
        return x * 2

    assert float(pullback.jit(inside)(3.0)) == 6.0
