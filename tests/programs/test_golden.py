"""What transformations make of small programs, as text that a reader can review.

`PULLBACK_UPDATE_GOLDEN=1` writes the files anew; look at the difference before you
commit it.
"""

import os
from pathlib import Path

import numpy as np
import pytest

import pullback
from pullback import lax, numpy as pnp
from pullback.core.check import check_jaxpr

HERE = Path(__file__).parent / "golden"
UPDATE = os.environ.get("PULLBACK_UPDATE_GOLDEN", "0") not in ("", "0")
X = np.arange(3, dtype=np.float32)
M = np.ones((2, 3), np.float32)


def layer(x, w):
    return lax.tanh(w @ x)


def loss(x, w):
    return pnp.sum(layer(x, w) ** 2)


def running(x):
    return lax.scan(lambda c, x: (c * lax.sin(x), c), 1.0, x)


def clipped(x):
    return pnp.where(x > 1, x * 2.0, lax.exp(x))


def branch(x):
    return lax.cond(x[0] > 0, lambda x: lax.sin(x), lambda x: x * x, x)


def twice(x, w):
    inner = pullback.jit(layer)
    return pnp.sum(inner(x, w) * inner(x * 2, w))


PROGRAMS = {
    "layer": (layer, X, M),
    "grad_of_loss": (pullback.grad(loss, (0, 1)), X, M),
    "vmap_of_layer": (pullback.vmap(layer, (0, None)), M, M),
    "grad_of_calls": (pullback.grad(twice), X, M),
    "scan": (running, X),
    "grad_of_scan": (pullback.grad(lambda x: running(x)[0]), X),
    "vmap_of_scan": (pullback.vmap(running), M),
    "jvp_of_where": (lambda x, t: pullback.jvp(clipped, (x,), (t,)), X, X),
    "grad_of_cond": (pullback.grad(lambda x: pnp.sum(branch(x))), X),
    "vmap_of_cond": (pullback.vmap(branch), M),
    "hessian": (pullback.hessian(loss), X, M),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_text_of_program(name):
    fun, *args = PROGRAMS[name]
    closed = pullback.make_jaxpr(fun)(*args)
    check_jaxpr(closed)
    printed = f"{closed}\n"
    path = HERE / f"{name}.jaxpr"
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(printed)
    assert path.is_file(), f"no golden text {path.name}"
    assert printed == path.read_text(), f"{path.name} differs"


def test_no_golden_text_is_left_over():
    assert {p.stem for p in HERE.glob("*.jaxpr")} == set(PROGRAMS)
