"""What the reductions say of bad input, and what `check_monoid` finds."""

import re

import numpy as np
import pytest

from pullback import errors, lax
from pullback.core.errors import TreeError

X = np.ones(4, np.float32)
VALID = (2,), (1,), "VALID"


def add(x, y):
    return x + y


def says(error, *words):
    return pytest.raises(error, match="(?s)" + ".*".join(map(re.escape, words)))


@pytest.mark.parametrize(
    "call",
    [
        lambda f: lax.reduce(X, 0.0, f, (0,)),
        lambda f: lax.reduce_window(X, 0.0, f, *VALID),
        lambda f: lax.associative_scan(f, X),
    ],
    ids=["reduce", "reduce_window", "associative_scan"],
)
def test_a_combiner_that_returns_another_state(call, request):
    function = request.node.callspec.id
    here = "<lambda> (test_reductions_errors.py:"
    with says(TreeError, function, here, "tuple"):
        call(lambda x, y: (x, y))
    with says(errors.DtypeError, here, "acc of type f32", "returns i32", "astype"):
        call(lambda x, y: (x + y).astype("int32"))
    with says(errors.ShapeError, here, "acc of type f32", "returns f32[3"):
        call(lambda x, y: (x + y) * np.ones((3, 1), np.float32))
    with pytest.raises(TypeError, match="takes a function"):
        call(None)


@pytest.mark.parametrize(
    "call",
    [
        lambda xs, init: lax.reduce(xs, init, add, (0,)),
        lambda xs, init: lax.reduce_window(xs, init, add, *VALID),
    ],
    ids=["reduce", "reduce_window"],
)
def test_start_values_and_operands(call):
    with says(errors.ShapeError, "start value is f32[2]", "a scalar"):
        call(X, np.zeros(2, np.float32))
    with says(errors.DtypeError, "start value is i32[]", "operand f32[4]"):
        call(X, np.int32(0))
    with says(TreeError, "start values differ from the operands"):
        call((X, X), 0.0)
    with says(errors.ShapeError, "operand['a'] is f32[4], operand['b'] is f32[3]"):
        call({"a": X, "b": X[:3]}, {"a": 0.0, "b": 0.0})
    with says(TreeError, "without arrays"):
        call((), ())


def test_dimensions_of_reduce():
    with pytest.raises(ValueError, match="axis 1 is out of bounds"):
        lax.reduce(X, 0.0, add, (1,))
    with pytest.raises(ValueError, match="each dimension is given once"):
        lax.reduce(X, 0.0, add, (0, 0))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"window_dimensions": (2, 2)}, "window_dimensions (2, 2)"),
        ({"window_dimensions": (0,)}, "window_dimensions (0,)"),
        ({"window_strides": (-1,)}, "window_strides (-1,)"),
        ({"base_dilation": (0,)}, "base_dilation (0,)"),
        ({"window_dilation": (1, 1)}, "window_dilation (1, 1)"),
        ({"padding": "EVEN"}, "padding 'EVEN'"),
        ({"padding": [(0, 0), (1, 1)]}, "padding ((0, 0), (1, 1))"),
    ],
)
def test_geometry_of_windows(change, words):
    given = dict(window_dimensions=(2,), window_strides=(1,), padding="VALID")
    with says(errors.ArgumentError, words):
        lax.reduce_window(X, 0.0, add, **{**given, **change})


def test_sizes_along_the_axis_of_a_scan():
    with says(errors.ShapeError, "f32[4], f32[3]", "same size along the axis"):
        lax.associative_scan(lambda p, q: p, (X, X[:3]))
    with pytest.raises(ValueError, match="axis 1 is out of bounds"):
        lax.associative_scan(add, X, axis=1)


# ---- check_monoid ----


@pytest.mark.parametrize("example", [1.0, np.int32(3), np.linspace(0, 1, 9)])
def test_monoids_pass(example):
    lax.check_monoid(add, 0, example)


def test_it_names_the_law_that_fails_and_shows_values():
    apart = np.linspace(0, 1, 9)
    with says(errors.ArgumentError, "<lambda> (test_red", "f(f(x, y), z)", "y = "):
        lax.check_monoid(lambda x, y: abs(x - y), 0.0, apart)
    with says(errors.ArgumentError, "f(init, x) = x fails", "x = "):
        lax.check_monoid(add, 1.0, 1.0)
    with says(errors.ArgumentError, "f(x, init) = x fails"):
        lax.check_monoid(lambda x, y: y, 0.0, 1.0)


def test_states_are_drawn_from_the_example():
    def extent(p, q):  # the rise of a series, for elements (x, x, 0)
        low, high = np.minimum(p[0], q[0]), np.maximum(p[1], q[1])
        return low, high, np.maximum(np.maximum(p[2], q[2]), q[1] - p[0])

    x = np.random.default_rng(0).normal(size=20)
    lax.check_monoid(extent, (np.inf, -np.inf, 0.0), (x, x, 0 * x))
    with says(errors.ArgumentError, "f(f(x, y), z)"):
        lax.check_monoid(
            lambda p, q: (q[0], *extent(p, q)[1:]),
            (np.inf, -np.inf, 0.0),
            (x, x, 0 * x),
        )
