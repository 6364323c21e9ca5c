"""Operators of arrays: what they compute, with whom they combine, what they refuse."""

import operator

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback.core.errors import DtypeError

X = np.array([[1.5, -2.0, 3.0], [4.0, 0.5, -0.25]], np.float32)
Y = np.array([2.0, -0.5, 4.0], np.float32)
I = np.array([5, -3, 12], np.int32)  # noqa: E741
J = np.array([2, 1, 3], np.int32)

FLOATING = ["add", "sub", "mul", "truediv", "floordiv", "mod"]
INTEGER = [*FLOATING[:3], "floordiv", "mod", "and_", "or_", "xor", "lshift", "rshift"]
ORDER = ["eq", "ne", "lt", "le", "gt", "ge"]


def check(got, want):
    assert isinstance(got, pullback.Array)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)


@pytest.mark.parametrize("name", FLOATING + ORDER)
def test_floats(name):
    op = getattr(operator, name)
    x, y = pnp.asarray(X), pnp.asarray(Y)
    want = op(X, Y)
    check(op(x, y), want)
    check(op(x, Y), want)
    check(op(X, y), want)
    check(op(x, 2), op(X, np.float32(2)))
    check(op(2.0, y), op(np.float32(2), Y))
    check(op(np.float32(2), y), op(np.float32(2), Y))


@pytest.mark.parametrize("name", INTEGER + ORDER)
def test_integers(name):
    op = getattr(operator, name)
    check(op(pnp.asarray(I), pnp.asarray(J)), op(I, J))
    check(op(pnp.asarray(I), 2), op(I, 2))
    check(op(2, pnp.asarray(J)), op(2, J))
    check(op(I, pnp.asarray(J)), op(I, J))


def test_unary():
    x = pnp.asarray(X)
    check(-x, -X)
    check(+x, X)
    check(abs(x), abs(X))
    check(~pnp.asarray(I), ~I)
    check(~(x > 0), ~(X > 0))
    check(round(x, 1), np.round(X, 1))
    assert round(pnp.asarray(2.6)).dtype == np.int32


def test_power_and_divmod():
    x = pnp.asarray(X)
    check(x**2, X**2)
    check(x**-1, 1 / X)
    check(2**x, 2**X)
    check(pnp.asarray(I) ** J, I**J)
    quotient, rest = divmod(x, pnp.asarray(Y))
    check(quotient, X // Y)
    check(rest, X % Y)
    check(divmod(7, pnp.asarray(J))[1], 7 % J)


def test_matmul():
    x = pnp.asarray(X)
    check(x @ pnp.asarray(Y), X @ Y)
    check(X @ pnp.asarray(Y), X @ Y)
    check(x @ Y, X @ Y)


def test_booleans_add_and_multiply_as_or_and_and():
    t = pnp.asarray(np.array([True, True, False]))
    u = pnp.asarray(np.array([True, False, False]))
    assert (t + u).dtype == np.bool_
    check(t + u, [True, True, False])
    check(t * u, [True, False, False])
    with pytest.raises(DtypeError, match="sub does not accept it"):
        t - u


@pytest.mark.parametrize("other", [[1, 2, 3], "text", None, (1, 2), {}])
def test_unknown_operands_are_left_to_the_other_class(other):
    x = pnp.asarray(Y)
    assert x.__add__(other) is NotImplemented
    with pytest.raises(TypeError, match="unsupported operand type"):
        x + other
    assert (x == other) is False
    assert (x != other) is True


def test_a_class_of_its_own_may_take_over():
    class Other:
        def __radd__(self, x):
            return "mine"

    assert pnp.asarray(Y) + Other() == "mine"


def test_in_place_operators_rebind():
    x = y = pnp.asarray(Y)
    x += 1
    check(x, Y + 1)
    check(y, Y)


def test_weak_types():
    x = pnp.asarray(Y).astype(pnp.bfloat16)
    assert (x * 2.0).dtype == pnp.bfloat16
    assert (x + 1).dtype == pnp.bfloat16
    assert (pnp.asarray(I) * 0.5).weak_type
    assert not (pnp.asarray(I) / 2).weak_type
    assert (pnp.uint8(1) + 300).tolist() == 45


def test_parts_and_conversion():
    z = pnp.asarray(np.array([1 + 2j, 3 - 1j], np.complex64))
    check(z.real, [1, 3])
    check(z.imag, [2, -1])
    check(z.conj(), [1 - 2j, 3 + 1j])
    check(pnp.asarray(X).clip(0, 1), X.clip(0, 1))
    check(pnp.asarray(X).astype(int), X.astype(np.int32))
    check(pnp.asarray(I).view(pnp.uint32), I.view(np.uint32))


def test_shapes_that_do_not_fit_are_named_in_the_users_words():
    with pytest.raises(TypeError, match=r"multiply of operands with shapes \(2, 3\)"):
        pnp.asarray(X) * pnp.asarray(X).T


def test_under_jit_and_grad():
    def f(x):
        return pnp.sum((x * 2 - 1 / x) ** 2 // 3 + abs(x))

    x = pnp.asarray(Y)
    check(pullback.jit(f)(x), f(x))
    check(pullback.grad(f)(x), np.sign(Y))


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int8", "bool_", "complex64"])
def test_scalar_types(name):
    kind = getattr(pnp, name)
    assert np.dtype(kind) == kind.dtype
    assert kind == kind.dtype.type
    assert hash(kind) == hash(kind.dtype.type)
    assert kind(1).dtype == kind
    assert kind(1).shape == ()
    assert pnp.zeros(2, kind).dtype == kind
    assert isinstance(kind.dtype.type(1), kind)
