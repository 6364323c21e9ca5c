"""explain_cache names the argument and the property that caused a new trace."""

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback.debug import explain_cache
from pullback.errors import ArgumentTypeError

X = np.ones(3, np.float32)


def f(params, x=1.0, n=0):
    return params["w"] * x + n


BASE = (({"w": X}, X), {})
MISSES = {
    "shape": ((({"w": X}, X[:1])), {}, "argument x: shape (1,), known (3,)"),
    "dtype": (({"w": X}, X.astype(int)), {}, "argument x: dtype int32, known float32"),
    "inner": (({"w": X[:1]}, X), {}, "argument params['w']: shape (1,), known (3,)"),
    "new": (({"w": X, "b": X}, X), {}, "argument params['b']: new"),
    "missing": (({"w": X},), {}, "argument x: missing"),
    "static": (({"w": X}, X, 2), {}, "static argument 2: 2, known 'not given'"),
    "node": (([X], X), {}, "argument params[0]: new"),
}


@pytest.mark.parametrize("case", MISSES)
def test_the_difference_is_named(case):
    jitted = pullback.jit(
        lambda params, x=1.0, n=0: pnp.sum(x) * n, static_argnames="n"
    )
    args, kwargs, words = MISSES[case]
    jitted(*BASE[0])
    jitted(*args, **kwargs)
    text = explain_cache(jitted)
    assert "2 traces are kept" in text
    assert f"\n  {words}" in text


def test_weak_types_and_settings_are_named():
    g = pullback.jit(lambda x: x + 1)
    g(np.float32(1))
    g(1.0)
    assert "argument x: weak type True, known False" in explain_cache(g)
    with pullback.enable_x64():
        g(np.float32(1))
    assert "the setting enable_x64: True, known False" in explain_cache(g)


def test_static_values_are_named():
    g = pullback.jit(lambda x, n: x * n, static_argnums=1)
    g(X, 2)
    g(X, 3)
    assert "static argument 1: 3, known 2" in explain_cache(g)


def test_the_nearest_call_is_compared():
    g = pullback.jit(lambda x, y: x.sum() + y.sum())
    for a, b in ((X[:2], X[:2]), (X, X.astype(np.int32)), (X, X)):
        g(a, b)
    text = explain_cache(g)
    assert text.count("\n") == 1
    assert "argument y: dtype float32, known int32" in text


def test_without_a_miss_there_is_nothing_to_say():
    g = pullback.jit(lambda x: x)
    assert explain_cache(g) == "<lambda>: never traced"
    g(X)
    g(X)
    assert "first call" in explain_cache(g)
    with pytest.raises(ArgumentTypeError, match=r"pullback\.jit"):
        explain_cache(f)


def test_traces_that_were_not_kept_are_told():
    g = pullback.jit(lambda x: x.no_such_method())
    with pytest.raises(AttributeError):
        g(X)
    assert "it failed" in explain_cache(g)
