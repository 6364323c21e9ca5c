"""Random programs: short lists of steps over a growing list of values.

A program is data, so that hypothesis can shrink it. Steps whose operation does not fit
the shape at hand do nothing. Values stay small, and no step has a kink at random data.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

import pullback
from pullback import lax, numpy as pnp

Step = tuple[str, int, int, int]  # operation, first and second operand, parameter
Program = Sequence[Step]
SHAPES = ((3,), (2, 3))


def _last(k: int, x: Any) -> int:
    return k % x.ndim


def _scan(x, y, k):
    def body(carry, pair):
        carry = carry * 0.5 + lax.sin(pair[0])
        return carry, carry * pair[1]

    carry, ys = lax.scan(body, x[0], (x, y), reverse=k % 2 == 1)
    return ys + carry


def _fori(x, y, k):
    return lax.fori_loop(0, 1 + k % 3, lambda i, c: lax.sin(c) + 0.3 * y, x)


def _cond(x, y, k):
    return lax.cond(
        pnp.sum(x) > pnp.sum(y) + 0.1, lambda x: lax.sin(x) * y, lambda x: x - y, x
    )


def _gather(x, y, k):
    return x[np.array([k % x.shape[0], 0, -1])]


def _scatter(x, y, k):
    return x.at[k % x.shape[0]].add(lax.cos(y[0]))


def _call(x, y, k):
    return pullback.jit(lambda x, y: lax.tanh(x) * y + lax.cos(y))(x, y)


def _call_closing_over(x, y, k):
    return pullback.jit(lambda x: lax.sin(x) + y * 0.5)(x)


def _dot(x, y, k):
    return (
        lax.tanh(x @ pnp.swapaxes(y, -1, -2)) if x.ndim > 1 else lax.tanh(x * (x @ y))
    )


ANY: dict[str, Callable] = {
    "sin": lambda x, y, k: lax.sin(x),
    "tanh": lambda x, y, k: lax.tanh(x),
    "logistic": lambda x, y, k: lax.logistic(x),
    "scale": lambda x, y, k: x * (0.5 + k % 3),
    "add": lambda x, y, k: x + y,
    "sub": lambda x, y, k: x - 0.7 * y,
    "mul": lambda x, y, k: x * lax.cos(y),
    "div": lambda x, y, k: x / (1.5 + y * y),
    "where": lambda x, y, k: pnp.where(x > y + 0.01, x, lax.sin(y)),
    "call": _call,
    "call closing over": _call_closing_over,
    "cond": _cond,
    "fori": _fori,
    "expand": lambda x, y, k: x[None],
    "flatten": lambda x, y, k: x.reshape(-1),
    "remat": lambda x, y, k: pullback.checkpoint(lambda x: lax.sin(lax.exp(-x * x)))(x),
}
WITH_AXES: dict[str, Callable] = {
    "sum": lambda x, y, k: pnp.sum(x, axis=_last(k, x)) * 0.5,
    "mean": lambda x, y, k: pnp.mean(x, axis=_last(k, x), keepdims=True),
    "max": lambda x, y, k: pnp.max(x + 0.1 * y * y, axis=_last(k, x)),
    "transpose": lambda x, y, k: x.T,
    "flip": lambda x, y, k: x[::-1],
    "slice": lambda x, y, k: x[: max(1, x.shape[0] - 1)],
    "concatenate": lambda x, y, k: pnp.concatenate([x, y], axis=_last(k, x)),
    "broadcast": lambda x, y, k: pnp.broadcast_to(x, (2, *x.shape)),
    "gather": _gather,
    "scatter": _scatter,
    "scan": _scan,
    "dot": _dot,
}
OPERATIONS = {**ANY, **WITH_AXES}


def run(program: Program, *inputs: Any) -> Any:
    """The last value of the program."""
    values = list(map(pnp.asarray, inputs))
    for name, i, j, k in program:
        x = values[i % len(values)]
        same = [v for v in values if v.shape == x.shape]
        if name in ANY or (x.ndim and x.size and x.size < 60):
            values.append(OPERATIONS[name](x, same[j % len(same)], k))
    return values[-1]


def function(program: Program) -> Callable:
    return lambda *inputs: run(program, *inputs)


def loss(program: Program) -> Callable:
    """The program with a scalar result."""
    return lambda *inputs: pnp.sum(lax.sin(run(program, *inputs) + 0.3))


_small = st.integers(0, 7)
programs = st.lists(
    st.tuples(st.sampled_from(sorted(OPERATIONS)), _small, _small, _small),
    min_size=2,
    max_size=9,
)


def inputs(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.4, 1.6, shape) for shape in SHAPES]
