"""The five rolling reductions of examples/reductions against loops over windows."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def rolling():
    path = ROOT / "examples" / "reductions" / "rolling.py"
    spec = importlib.util.spec_from_file_location("rolling", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(x, k):
    return np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), k)


def close(got, want, rtol=2e-5):
    np.testing.assert_allclose(np.asarray(got), want, rtol, 1e-5)


def test_drawdown(rolling):
    x = rolling.prices()
    want = [
        max(1 - w[j] / w[i] for i in range(12) for j in range(i, 12))
        for w in rows(x, 12)
    ]
    close(rolling.drawdown(pnp.asarray(x)), want)
    blame = np.asarray(pullback.grad(lambda x: rolling.drawdown(x)[3])(x))
    i, j = np.argmin(blame), np.argmax(blame)
    low, high = np.argmin(blame), np.argmax(blame)
    assert {low, high} == {i, j}
    close(blame[low], -1 / x[high], 1e-4)  # the low: the lower, the greater the fall


def test_soft_maximum(rolling):
    x = rolling.warmth()
    t = 2.5
    want = [t * np.log(np.sum(np.exp(w / t))) for w in rows(x, 7)]
    close(rolling.soft_maximum(pnp.asarray(x), t), want)
    slope = pullback.grad(lambda t: rolling.soft_maximum(x, t).mean())(t)
    apart = [
        np.mean([u * np.log(np.sum(np.exp(w / u))) for w in rows(x, 7)])
        for u in (t - 1e-4, t + 1e-4)
    ]
    close(slope, (apart[1] - apart[0]) / 2e-4, 1e-3)


def test_moisture(rolling):
    x = rolling.rain()
    decay = 0.9 ** np.arange(29, -1, -1)
    close(rolling.moisture(pnp.asarray(x), 0.9), rows(x, 30) @ decay)
    more = np.arange(29, -1, -1) * 0.9 ** np.arange(28, -2, -1)
    slope = pullback.grad(lambda keep: rolling.moisture(x, keep).mean())(0.9)
    close(slope, (rows(x, 30) @ more).mean(), 1e-4)


def test_moments(rolling):
    x = rolling.warmth()
    mean, variance = rolling.moments(pnp.asarray(x))
    close(mean, rows(x, 30).mean(1))
    close(variance, rows(x, 30).var(1), 1e-4)


def test_dilation(rolling):
    x = rolling.hours()[:60]
    wide = np.pad(x, ((15, 15), (4, 4)), constant_values=-np.inf)
    view = np.lib.stride_tricks.sliding_window_view(wide, (31, 9))
    close(rolling.dilate(pnp.asarray(x)), view.max((2, 3)))
    share = pullback.grad(lambda x: rolling.dilate(x).sum())(x)
    assert float(share.sum()) == x.size


def test_laws(rolling):
    price = rolling.prices()
    start = (1e-30, np.inf, -np.inf)
    pullback.lax.check_monoid(rolling.fall, start, (price, price, 0 * price))
    warm = rolling.warmth()
    ones = np.ones_like(warm)
    pullback.lax.check_monoid(rolling.merge, (0.0, 0.0, 0.0), (ones, warm, 0 * warm))
    pullback.lax.check_monoid(rolling.compose, (1.0, 0.0), (0.9 * ones, warm))
