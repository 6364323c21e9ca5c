"""Threads trace, compile and run at once without sharing interpreter state."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

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


def _job(i: int):
    """Function i of many: its own program, with regions, derivatives and effects."""
    seen = []

    def f(x, n):
        def step(carry, y):
            return carry * 0.5 + pullback.numpy.sin(y) * float(i), carry

        if i % 4 == 0:
            pullback.debug.callback(lambda v: seen.append(float(v)), x[0], ordered=True)
        last, kept = pullback.lax.scan(step, 0.0, x)
        return last + (kept * n).sum()

    x = np.linspace(0, 1, 3 + i % 7, dtype=np.float32)
    value, slope = pullback.jit(pullback.value_and_grad(f))(x, 2.0)
    batched = pullback.vmap(pullback.jit(f), (0, None))(np.stack([x, x]), 2.0)
    return float(value), np.asarray(slope).tolist(), float(batched[1]), len(seen)


def _check(i: int, result) -> None:
    value, slope, batched, seen = result
    x = np.linspace(0, 1, 3 + i % 7)
    carry, total, scale, grads = 0.0, 0.0, 0.0, []
    for k, y in enumerate(x):
        total += carry * 2
        carry = carry * 0.5 + np.sin(y) * i
        left = len(x) - 1 - k
        scale = 0.5**left + 2 * sum(0.5**j for j in range(left))
        grads.append(np.cos(y) * i * scale)
    want = carry + total
    np.testing.assert_allclose([value, batched], want, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(slope, grads, rtol=1e-4, atol=1e-4)
    assert seen == (3 if i % 4 == 0 else 0)


def _run_together(count: int) -> None:
    with ThreadPoolExecutor(8) as pool:
        for i, result in enumerate(pool.map(_job, range(count))):
            _check(i, result)


@pytest.mark.slow
def test_eight_threads_run_many_functions():
    _run_together(64)


@pytest.mark.full
def test_eight_threads_run_a_thousand_functions():
    _run_together(1000)


def test_eight_threads_share_one_function_and_its_caches():
    f = pullback.jit(lambda x: pullback.numpy.sum(x * 2))

    def calls(seed: int) -> bool:
        sizes = np.random.RandomState(seed).permutation(np.repeat([1, 2, 3, 4], 25))
        return all(float(f(np.ones(n, np.float32))) == 2 * n for n in sizes)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(calls, range(8)))
