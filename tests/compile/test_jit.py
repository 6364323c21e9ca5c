"""jit: keys, static arguments, trees, nesting, constants and the errors."""

import gc
import pickle
import weakref

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback import errors


def counted(fun):
    """`fun`, and the list of its traces."""
    traces = []

    def wrapped(*args, **kwargs):
        traces.append(1)
        return fun(*args, **kwargs)

    return wrapped, traces


def test_one_trace_per_types():
    fun, traces = counted(lambda x, y: x * y)
    f = pullback.jit(fun)
    for value in (1.0, 2.0):
        assert float(f(value, np.float32(3))) == 3 * value
    assert len(traces) == 1
    f(np.ones(2, np.float32), 1.0)
    f(pnp.ones(2), 1.0)
    assert len(traces) == 2
    f(np.ones(2, np.int32), 1.0)
    assert len(traces) == 3
    with pullback.enable_x64():
        assert f(np.ones(2), 1.0).dtype == np.float64
    assert len(traces) == 4


def test_weak_types_are_part_of_the_key():
    f = pullback.jit(lambda x: x + pnp.asarray(1, pnp.bfloat16))
    assert f(1.0).dtype == pnp.bfloat16
    assert f(np.float32(1)).dtype == np.float32


@pytest.mark.parametrize(
    "options",
    [
        {"static_argnums": 1},
        {"static_argnums": (-1,)},
        {"static_argnames": "n"},
        {"static_argnames": ("n",)},
    ],
)
def test_static_arguments(options):
    fun, traces = counted(lambda x, n: sum(x * i for i in range(n)))

    def f(x, n):
        return fun(x, n)

    jitted = pullback.jit(f, **options)
    assert float(jitted(2.0, 3)) == 6.0
    assert float(jitted(2.0, n=3)) == 6.0
    assert float(jitted(3.0, 3)) == 9.0
    assert len(traces) <= 2
    assert float(jitted(2.0, 4)) == 12.0


def test_static_values_of_different_types_are_different_keys():
    f = pullback.jit(lambda x, s: x * (2 if s is True else 3), static_argnums=1)
    assert float(f(1.0, True)) == 2.0
    assert float(f(1.0, 1)) == 3.0


def test_trees_keywords_none_and_decorators():
    @pullback.jit
    def f(tree, *, scale, nothing=None):
        assert nothing is None
        return {"sum": tree["a"] + tree["b"][0], "scaled": (tree["a"] * scale, None)}

    out = f({"a": 1.0, "b": [2.0]}, scale=3.0)
    for _ in range(3):
        out = f({"a": pnp.ones(2), "b": [pnp.ones(2)]}, scale=pnp.float32(3))
    assert out["sum"].tolist() == [2.0, 2.0]
    assert out["scaled"][0].tolist() == [3.0, 3.0]
    assert out["scaled"][1] is None

    class Model:
        weight = 2.0

        @pullback.jit
        def __call__(self, x):
            return x

        def apply(self, x):
            return pullback.jit(lambda y: y * self.weight)(x)

    assert float(Model().apply(3.0)) == 6.0


def test_nested_calls_share_one_body_and_one_function():
    inner = pullback.jit(lambda x: pnp.sin(x) * 2)
    program = pullback.make_jaxpr(lambda x: inner(inner(x)))(1.0)
    first, second = program.eqns
    assert first.primitive.name == second.primitive.name == "jit"
    assert first.params["jaxpr"] is second.params["jaxpr"]
    text = pullback.jit(lambda x: inner(inner(x))).lower(1.0).as_text()
    assert text.count("stablehlo.sine") == 1
    assert text.count("call @") == 2


def test_closed_over_arrays_and_tracers():
    big = pnp.arange(1000.0)
    f = pullback.jit(lambda i: big.sum() + i)
    assert float(f(1.0)) == big.sum() + 1
    assert float(f(2.0)) == big.sum() + 2
    g = pullback.grad(lambda x: pullback.jit(lambda y: y * x)(2.0))
    assert float(g(3.0)) == 2.0
    h = pullback.jit(lambda x: pullback.jit(lambda y: y * x + big[3])(x))
    assert float(h(2.0)) == 7.0


def test_constants_are_not_written_into_the_program():
    big = pnp.arange(5000.0)
    text = pullback.jit(lambda x: x + big).lower(big).as_text()
    assert len(text) < 2000


def test_functions_can_be_collected():
    def make():
        def f(x):
            return x + 1

        jitted = pullback.jit(f)
        jitted(1.0)
        return weakref.ref(f)

    dead = make()
    gc.collect()
    assert dead() is None


def test_disable_jit_runs_python():
    seen = []
    f = pullback.jit(lambda x: seen.append(float(x)) or x * 2)
    with pullback.disable_jit():
        assert float(f(3.0)) == 6.0
    assert seen == [3.0]


def test_arrays_pickle_and_print():
    x = pnp.asarray([1.5, 2.5])
    back = pickle.loads(pickle.dumps(x))
    assert back.tolist() == [1.5, 2.5]
    assert back.dtype == x.dtype
    assert repr(x) == "Array([1.5, 2.5], dtype=float32)"
    assert (
        repr(pullback.jit(lambda: 1.0)()) == "Array(1., dtype=float32, weak_type=True)"
    )


def test_source_arrays_are_copied():
    for align in (4, 64):
        data = np.zeros(4096 // 4 + align, np.float32)[:1024]
        x = pnp.asarray(data)
        y = pullback.jit(lambda a: a + 1)(data)
        data[:] = 7
        assert float(x[0]) == 0.0
        assert float(y[0]) == 1.0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: pullback.jit(lambda x, n: x, static_argnums=1)(1.0, [1]),
            TypeError,
            "hashable",
        ),
        (lambda: pullback.jit(lambda x: x)("text"), TypeError, "argument x"),
        (
            lambda: pullback.jit(lambda d: d["a"])({"a": object()}),
            TypeError,
            r"d\['a'\]",
        ),
        (
            lambda: pullback.jit(lambda x: {"k": "text"})(1.0),
            TypeError,
            r"result\['k'\]",
        ),
        (lambda: pullback.jit(lambda x: x, static_argnums=3), ValueError, "positional"),
        (lambda: pullback.jit(lambda x: x, static_argnames="y"), ValueError, "'y'"),
        (lambda: pullback.jit(3), TypeError, "function"),
    ],
)
def test_errors_name_the_argument(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert isinstance(caught.value, errors.UserError)
    assert "test_jit.py:" in str(caught.value)


def test_compile_time_evaluation_has_values_while_tracing():
    @pullback.jit
    def f(x):
        with pullback.ensure_compile_time_eval():
            n = int(pnp.sum(pnp.arange(4)))
        return x * n

    assert float(pullback.vmap(f)(np.ones(1, np.float32))[0]) == 6
