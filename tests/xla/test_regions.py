"""Operations with bodies against NumPy."""

import numpy as np
import pytest

from tests.xla.modules import Case, check, evaluate, f32, shaped

M = np.array([[3, 1, 2], [9, 7, 8]], f32)
K = np.array([[0, 1, 2], [2, 1, 0]], np.int32)
SCALAR = shaped(())


def argmax(b, x, i):
    """A reduction of pairs, with a body of several operations."""

    def larger(b, x0, i0, x1, i1):
        keep = b.compare(x0, x1, "GE")
        return [b.select(keep, x0, x1), b.select(keep, i0, i1)]

    low, zero = b.full(-np.inf, SCALAR), b.full(0, shaped((), np.int32))
    outs = [shaped((2,)), shaped((2,), np.int32)]
    return b.reduce(outs, [x, i], [low, zero], [1], larger)


def windows(b, x):
    return b.reduce_window(
        [shaped((2, 3))],
        [x],
        [b.full(0, SCALAR)],
        "add",
        window_dimensions=(1, 2),
        window_strides=(1, 1),
        base_dilations=(1, 1),
        window_dilations=(1, 1),
        padding=[(0, 0), (1, 0)],
    )


def picked(b, x, source):
    return b.select_and_scatter(
        shaped((2, 3)),
        x,
        source,
        b.full(0, SCALAR),
        lambda b, x, y: b.compare(x, y, "GE"),
        "add",
        window_dimensions=(1, 3),
        window_strides=(1, 1),
        padding=[(0, 0), (0, 0)],
    )


def sorted_pair(b, x, i):
    def before(b, x0, x1, i0, i1):
        return b.compare(x0, x1, "LT")

    return b.sort([x, i], 1, before)


def test_reductions_windows_and_sorting():
    order = np.argsort(M, 1)
    scattered = np.array([[5, 0, 0], [6, 0, 0]], f32)
    check(
        [
            Case(
                "sum",
                lambda b, x: b.reduce(
                    [SCALAR], [x], [b.full(0, SCALAR)], [0, 1], "add"
                ),
                [M],
                M.sum(dtype=f32),
            ),
            Case("argmax", argmax, [M, K], [M.max(1), K[[0, 1], M.argmax(1)]]),
            Case("window", windows, [M], M + np.pad(M, ((0, 0), (1, 0)))[:, :-1]),
            Case(
                "select_and_scatter", picked, [M, np.array([[5], [6]], f32)], scattered
            ),
            Case(
                "sort",
                sorted_pair,
                [M, K],
                [np.sort(M, 1), np.take_along_axis(K, order, 1)],
            ),
            Case(
                "top_k",
                lambda b, x: b.top_k(x, 2),
                [M],
                [np.sort(M, 1)[:, :0:-1], np.argsort(-M, 1)[:, :2].astype(np.int32)],
            ),
        ]
    )


def power_of_two(b, n):
    """Doubles 1 while a counter runs to n, which the body uses from outside."""
    step = b.full(1, shaped((), np.int32))
    inits = [b.full(0, shaped((), np.int32)), b.full(1, SCALAR)]
    return b.while_loop(
        inits,
        lambda b, i, x: b.compare(i, n, "LT"),
        lambda b, i, x: [b.add(i, step), b.add(x, x)],
    )[1]


def choose(b, i, x):
    branches = [
        lambda b: [b.sine(x)],
        lambda b: [b.cosine(x)],
        lambda b: b.negate(x),
    ]
    return b.case(i, branches, [SCALAR])


def nested(b, p, x):
    """A conditional in a conditional, both using values from outside."""

    def inner(b):
        return b.if_(p, lambda b: [b.add(x, x)], lambda b: [x], [SCALAR])

    return b.if_(p, inner, lambda b: [b.negate(x)], [SCALAR])


def test_control_flow():
    x = f32(0.5)
    check(
        [
            Case("while", power_of_two, [np.int32(5)], f32(32)),
            Case("case 1", choose, [np.int32(1), x], np.cos(x)),
            Case("case last", choose, [np.int32(9), x], -x),
            Case("if true", nested, [np.array(True), x], f32(1)),
            Case("if false", nested, [np.array(False), x], f32(-0.5)),
        ]
    )


def test_a_body_leaves_the_emitter_as_it_was():
    def emit(b, x):
        b.set_location("outer", "outer.py", 1)
        b.avals_in = outer = (shaped((2, 3)),)
        loc = b.loc

        def body(b, a, c):
            b.set_location("inner", "inner.py", 2)
            b.avals_in = ()
            return b.add(a, c)

        total = b.reduce([SCALAR], [x], [b.full(0, SCALAR)], [0, 1], body)
        assert b.loc is loc
        assert b.avals_in is outer
        return total

    (got,) = evaluate(emit, [M], [SCALAR])
    assert got == M.sum()


def test_an_error_in_a_body_leaves_the_emitter_as_it_was():
    def emit(b, x):
        def body(b, a, c):
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            b.reduce([SCALAR], [x], [b.full(0, SCALAR)], [0, 1], body)
        return [b.negate(x)]  # lands in the function, not in the lost body

    from pullback.xla.emitter import Module

    module = Module()
    module.function("main", [shaped((2, 3))], emit)
    rows = module.text().splitlines()
    assert rows[-4].lstrip().startswith("%"), rows
    assert "negate" in rows[-4]
