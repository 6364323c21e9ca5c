"""Control flow in pullback and in jax: values, derivatives, types and error classes."""

import numpy as np
import pytest

from pullback.core import config
from tests.regions import programs
from tests.regions.namespaces import PULLBACK as P, jax_namespace

jax = pytest.importorskip("jax")
J = jax_namespace()
X = np.arange(1, 4, dtype=np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("program", programs.REVERSIBLE, ids=lambda f: f.__name__)
def test_gradient_of_batches(program):
    ws, xs = map(np.stack, zip(*(programs.operands(i) for i in range(2)), strict=True))

    def slopes(o):
        def f(w, x):
            return program(o, w, x)

        return o.jit(o.vmap(o.grad(f, (0, 1))))(ws, xs)

    with config.scoped(enable_x64=True), jax.enable_x64(True):
        for got, want in zip(slopes(P), slopes(J), strict=True):
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-10, atol=1e-12)


def typed(fun):
    """Shape, dtype and weak type of each result, or the class of the error."""

    def run(o):
        try:
            outs = fun(o)
        except (TypeError, ValueError, IndexError) as error:
            return error
        leaves = jax.tree.leaves(outs, is_leaf=lambda x: hasattr(x, "weak_type"))
        return [(np.asarray(x), x.dtype, x.weak_type) for x in leaves]

    return run


CALLS = {
    "weak carry": lambda o: o.scan(lambda c, x: (c + x, c), 0.0, X),
    "weak int carry": lambda o: o.scan(lambda c, x: (c + x, c), 0, X),
    "weak stays weak": lambda o: o.scan(lambda c, x: (c * 2, c), 1.0, None, length=2),
    "weak bool carry": lambda o: o.scan(lambda c, x: (c + x, c), True, X),
    "length zero": lambda o: o.scan(lambda c, x: (c, x * 2), X[0], X[:0])[1],
    "negative unroll": lambda o: o.scan(lambda c, x: (c, x), 1, X, unroll=-1),
    "not a pair": lambda o: o.scan(lambda c, x: c, 1, X),
    "carry dtype": lambda o: o.scan(lambda c, x: (1, x), X, X),
    "carry tree": lambda o: o.scan(lambda c, x: ((c,), x), X, X),
    "no length": lambda o: o.scan(lambda c, x: (c, x), X),
    "lengths": lambda o: o.scan(lambda c, x: (c, None), 1, (X, X[1:])),
    "wrong length": lambda o: o.scan(lambda c, x: (c, None), 1, X, length=7),
    "no axis": lambda o: o.scan(lambda c, x: (c, None), 1, 2.0),
    "no function": lambda o: o.scan(1, 1, 2.0),
    "text": lambda o: o.scan(lambda c, x: (c, "a"), 1, X),
    "text init": lambda o: o.scan(lambda c, x: (c, x), "a", X),
    "joined weak types": lambda o: o.cond(True, lambda: 1.0, lambda: np.float32(2)),
    "weak results": lambda o: o.cond(False, lambda: 1, lambda: 2),
    "nan predicate": lambda o: o.cond(np.float32("nan"), lambda: 1, lambda: 2),
    "operand for each": lambda o: o.cond(True, 3.0, lambda x: x, 5.0, lambda x: -x),
    "branch trees": lambda o: o.cond(True, lambda: (1,), lambda: [1]),
    "branch dtypes": lambda o: o.cond(True, lambda: 1, lambda: 1.0),
    "branch shapes": lambda o: o.cond(True, lambda: X, lambda: X[0]),
    "array predicate": lambda o: o.cond(X, lambda: 1, lambda: 1),
    "complex predicate": lambda o: o.cond(1j, lambda: 1, lambda: 1),
    "text predicate": lambda o: o.cond("a", lambda: 1, lambda: 1),
    "float index": lambda o: o.switch(1.0, [lambda: 1, lambda: 2]),
    "bool index": lambda o: o.switch(True, [lambda: 1, lambda: 2]),
    "array index": lambda o: o.switch(np.ones(3, int), [lambda: 1, lambda: 2]),
    "no branches": lambda o: o.switch(1, []),
    "low index": lambda o: o.switch(-3, [lambda: 1, lambda: 2]),
    "high index": lambda o: o.switch(np.uint8(200), [lambda: 1.0, lambda: 2.0]),
    "weak while": lambda o: o.while_loop(lambda x: o.less(x, 3), lambda x: x + X[0], 0),
    "integer condition": lambda o: o.while_loop(lambda x: 1, lambda x: x, 1.0),
    "tuple condition": lambda o: o.while_loop(lambda x: (True,), lambda x: x, 1.0),
    "array condition": lambda o: o.while_loop(lambda x: X > 1, lambda x: x, 1.0),
    "while tree": lambda o: o.while_loop(lambda x: True, lambda x: (x,), 1.0),
    "while type": lambda o: o.while_loop(lambda x: True, lambda x: X, 1.0),
    "while reversed": lambda o: o.grad(
        lambda x: o.while_loop(lambda x: o.less(x, 3), lambda x: x * 2, x)
    )(1.0),
    "fori": lambda o: o.fori_loop(0, 4, lambda i, x: x + i, 0),
    "fori float carry": lambda o: o.fori_loop(0, 4, lambda i, x: x + i, 0.0),
    "fori strong": lambda o: o.fori_loop(np.int32(0), 4, lambda i, x: x + i, 0),
    "fori empty": lambda o: o.fori_loop(4, 0, lambda i, x: x + i, X),
    "fori dtypes": lambda o: o.fori_loop(np.int32(0), np.uint8(3), lambda i, x: x, 1),
    "fori floats": lambda o: o.fori_loop(0.0, 3, lambda i, x: x, 1),
    "fori unroll": lambda o: o.jit(
        lambda n: o.fori_loop(0, n, lambda i, x: x, 1, unroll=2)
    )(3),
    "map": lambda o: o.map(lambda x: (x * 2, x + 1), X),
    "map in batches": lambda o: o.map(lambda x: x * 2, X, batch_size=2),
    "map of nothing": lambda o: o.map(lambda x: x, None),
}


@pytest.mark.parametrize("name", CALLS)
def test_types_and_errors(name):
    got, want = typed(CALLS[name])(P), typed(CALLS[name])(J)
    if isinstance(want, Exception):
        kind = TypeError if isinstance(want, TypeError) else ValueError
        assert isinstance(got, kind), got
        return
    assert not isinstance(got, Exception), got
    for (x, dtype, weak), (y, want_dtype, want_weak) in zip(got, want, strict=True):
        np.testing.assert_array_equal(x, y)
        assert (dtype, weak) == (want_dtype, want_weak)
