"""Donation: results take the memory of arguments, whose arrays end."""

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback.errors import ArgumentError, RuntimeFailure

X = np.arange(5000, dtype=np.float32)


def add(x, y):
    return x + y


def fresh():
    return pnp.asarray(X) * 1


@pytest.mark.parametrize(
    "options", [{"donate_argnums": 0}, {"donate_argnames": "x"}, {"donate_argnums": -2}]
)
@pytest.mark.parametrize("calls", [1, 3])
def test_a_donated_array_ends_and_its_memory_is_used(options, calls):
    f = pullback.jit(add, **options)
    for _ in range(calls):
        x, y = fresh(), fresh()
        where = x.unsafe_buffer_pointer()
        out = f(x, y)
        assert out.unsafe_buffer_pointer() == where
        assert x.is_deleted()
        assert not y.is_deleted()
        np.testing.assert_array_equal(out, X * 2)


USES = {
    "jit": lambda x: pullback.jit(lambda x: x + 1)(x),
    "the same function": lambda x: pullback.jit(add, donate_argnums=0)(x, 1.0),
    "eager": lambda x: x + 1,
    "eager, in NumPy": lambda x: -x,
    "numpy": np.asarray,
    "grad": lambda x: pullback.grad(lambda x: pnp.sum(x * x))(x),
    "device_get": pullback.device_get,
    "float": lambda x: float(x[0]),
    "dlpack": np.from_dlpack,
    "wait": lambda x: x.block_until_ready(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("made", ["on the device", "on the host", "seen by NumPy"])
def test_using_it_again_is_an_error_that_says_so(use, made):
    x = pnp.asarray(X[:8]) if made == "on the host" else fresh()
    if made == "seen by NumPy":
        view = np.asarray(x)
    pullback.jit(add, donate_argnums=0)(x, 1.0)
    with pytest.raises(RuntimeFailure, match=r"deleted.*donated"):
        USES[use](x)
    assert "deleted" in repr(x)
    if made == "seen by NumPy":
        np.testing.assert_array_equal(view, X)


def test_trees_and_names_are_donated_whole():
    def step(state, batch, *, scale):
        new = {k: v + batch[0] * scale["s"] for k, v in state.items()}
        return new, batch[1]

    f = pullback.jit(step, donate_argnums=0, donate_argnames="scale")
    state = {"a": fresh(), "b": fresh()}
    batch = (fresh(), fresh())
    with pytest.warns(UserWarning, match=r"not usable: f32\[1\], f32\[3\]"):
        f(state, batch, scale={"s": pnp.ones(3)[:1] * 1, "t": pnp.ones(3) * 1})
    assert state["a"].is_deleted()
    assert state["b"].is_deleted()
    assert not any(x.is_deleted() for x in batch)


def test_what_no_result_can_use_is_kept():
    f = pullback.jit(lambda x: x[:3], donate_argnums=0)
    x = fresh()
    with pytest.warns(UserWarning, match=r"not usable: f32\[5000\]"):
        f(x)
    assert not x.is_deleted()


def test_donation_is_ignored_inside_other_functions():
    inner = pullback.jit(lambda x: x * 2, donate_argnums=0)
    x = fresh()
    out = pullback.jit(lambda x: inner(x) + x)(x)
    np.testing.assert_array_equal(out, X * 3)
    pullback.grad(lambda x: inner(x).sum())(x)
    assert not x.is_deleted()


def test_static_arguments_do_not_shift_positions():
    f = pullback.jit(lambda n, x, y: x * n + y, static_argnums=0, donate_argnums=2)
    x, y = fresh(), fresh()
    f(2, x, y)
    assert y.is_deleted()
    assert not x.is_deleted()


def test_names_and_positions_are_checked():
    with pytest.raises(ArgumentError, match="donate_argnames has 'z'"):
        pullback.jit(add, donate_argnames="z")
    with pytest.raises(ArgumentError, match="donate_argnums has 5"):
        pullback.jit(add, donate_argnums=5)
