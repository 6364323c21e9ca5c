"""find_nan names the equation that a NaN or infinity of a result comes from."""

import pytest

import pullback
import pullback.numpy as np
from pullback import debug, lax

X = np.array([1.0, -1.0, 2.0])


def test_nothing_to_find():
    assert debug.find_nan(lambda x: np.sum(x * x))(X) is None


def test_what_a_where_drops_is_no_alarm():
    def safe(x):
        return np.sum(np.where(x > 0, np.log(x), 0.0))

    assert debug.find_nan(safe)(X) is None


def test_the_first_equation_and_its_line():
    def f(x):
        y = np.log(x)
        return np.sum(y * 2.0)

    found = debug.find_nan(f)(X)
    assert found.primitive == "log"
    assert found.frame.text == "y = np.log(x)"
    assert found.operands[0].tolist() == [1.0, -1.0, 2.0]
    assert "the first NaN is made by log" in str(found)


def test_the_one_that_is_kept_is_found_beside_one_that_is_dropped():
    def f(x):
        dropped = np.where(x > 0, np.log(x), 0.0)
        return dropped + 1.0 / (x - 2.0)

    found = debug.find_nan(f)(X)
    assert found.primitive == "div"
    assert "infinity" in str(found)


def test_a_backward_equation_names_its_primal_line():
    def f(x):
        return np.sum(np.sqrt(x))

    found = debug.find_nan(pullback.grad(f))(np.array([0.0, 1.0]))
    assert found.trail
    assert found.primal_frame.text == "return np.sum(np.sqrt(x))"


def test_the_where_whose_gradient_is_nan():
    def f(x):  # the value is safe, its gradient is 0 * inf
        return np.sum(np.where(x > 0, np.sqrt(x), 0.0))

    found = debug.find_nan(pullback.grad(f))(np.array([0.0, 4.0]))
    assert found is not None
    assert "np.sqrt(x)" in found.primal_frame.text


@pytest.mark.parametrize("compiled", [False, True])
def test_inside_calls(compiled):
    def inner(x):
        y = x - 1.0
        return np.log(y)

    call = pullback.jit(inner) if compiled else inner
    found = debug.find_nan(lambda x: call(x) + 1.0)(X)
    assert found.frame.text == "return np.log(y)"


def test_inside_loops():
    def body(c, v):
        safe = np.where(v > 0, np.log(v), 0.0)
        bad = 1.0 / (v - 2.0)
        return c + safe + bad, c

    found = debug.find_nan(lambda xs: lax.scan(body, 0.0, xs))(X)
    assert found.frame.text == "bad = 1.0 / (v - 2.0)"


def test_an_argument_can_be_the_cause():
    found = debug.find_nan(lambda x: x * 2.0)(np.array([np.nan]))
    assert found.primitive == "argument"


def test_infinities_that_vanish_are_fine():
    def softmax(x):
        masked = np.where(np.arange(3) < 2, x, -np.inf)
        e = np.exp(masked - masked.max())
        return e / e.sum()

    assert debug.find_nan(softmax)(X) is None
