"""What a tracer keeps for itself hides no method or attribute of arrays."""

import inspect

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback.core.trace import Tracer
from pullback.core.value import Array

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def kinds(kind=Tracer):
    yield kind
    for sub in kind.__subclasses__():
        yield from kinds(sub)


@pytest.mark.parametrize("kind", list(kinds()), ids=lambda k: k.__name__)
def test_slots_hide_no_name_of_arrays(kind):
    pnp.ones(1)  # the methods are installed
    slots = {s for k in kind.__mro__ for s in vars(k).get("__slots__", ())}
    members = {name for name, _ in inspect.getmembers_static(Array)}
    assert not (slots & members) - {"aval"}


@pytest.mark.parametrize("name", ["var", "trace", "std", "mean", "diagonal"])
@pytest.mark.parametrize("transform", ["jit", "vmap", "grad"])
def test_methods_of_traced_values(name, transform):
    def method(x):
        return getattr(x, name)()

    want = getattr(X, name)()
    if transform == "jit":
        got = pullback.jit(method)(X)
    elif transform == "vmap":
        got = pullback.vmap(method)(X[None])[0]
    else:
        _, pull = pullback.vjp(method, X)
        (got,) = pull(np.ones_like(want))
        want = pullback.vjp(getattr(pnp, name), X)[1](np.ones_like(want))[0]
    np.testing.assert_allclose(got, want, rtol=1e-6)
