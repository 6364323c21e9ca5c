"""pure_callback, io_callback, debug_callback: in every place where a program can be."""

import threading

import jax
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback import lax
from pullback.debug import interpret
from pullback.errors import (
    ArgumentError,
    ArgumentTypeError,
    DifferentiationError,
    RuntimeFailure,
    UnsupportedError,
)
from pullback.experimental import io_callback

X = np.arange(3.0, dtype=np.float32)
XS = np.arange(6.0, dtype=np.float32).reshape(2, 3)


def out(x):
    return pullback.ShapeDtypeStruct(x.shape, x.dtype)


def twice(x):
    return pullback.pure_callback(lambda v: v * 2, out(x), x)


class Log:
    """Notes what callbacks see."""

    def __init__(self):
        self.seen = []

    def __call__(self, *values):
        self.seen.append(tuple(np.asarray(v).tolist() for v in values))

    def show(self, *values, ordered=False):
        pullback.debug.callback(self, *values, ordered=ordered)

    def io(self, x):
        def note(v):
            self(v)
            return v

        return io_callback(note, out(x), x, ordered=True)


@pytest.fixture
def log():
    return Log()


# ---- pure_callback ----


@pytest.mark.parametrize("run", [lambda f: f, pullback.jit, interpret])
def test_pure_callback_computes_in_numpy(run):
    kinds = []

    def host(x, *, y):
        kinds.append((type(x), type(y["b"])))
        return x + y["a"], {"n": np.int32(x.size), "z": y["b"]}

    def f(x, y):
        shapes = (out(x), {"n": pullback.ShapeDtypeStruct((), "int32"), "z": out(x)})
        return pullback.pure_callback(host, shapes, x, y={"a": y, "b": x * 2})

    total, rest = run(f)(pnp.asarray(X), 2.0)
    np.testing.assert_array_equal(total, X + 2)
    np.testing.assert_array_equal(rest["z"], X * 2)
    assert int(rest["n"]) == 3
    assert isinstance(total, pullback.Array)
    assert kinds == [(np.ndarray, np.ndarray)]


@pytest.mark.parametrize("dtype", ["bool", "int8", "bfloat16", "complex64", "float16"])
def test_pure_callback_passes_every_dtype(dtype):
    x = pnp.asarray([0, 1, 1]).astype(dtype)
    got = pullback.jit(lambda x: pullback.pure_callback(lambda v: v[::-1], out(x), x))
    np.testing.assert_array_equal(np.asarray(got(x)), np.asarray(x)[::-1])


def test_arrays_of_any_rank_arrive_row_major():
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    f = pullback.jit(lambda x: twice(x.T))
    np.testing.assert_array_equal(f(x), x.T * 2)
    empty = np.zeros((0, 3), np.float32)
    assert f(empty).shape == (3, 0)


@pytest.mark.parametrize("method", ["sequential", "expand_dims", "broadcast_all"])
@pytest.mark.parametrize("ds", [(0, None), (1, 0), (None, 0)])
def test_vmap_methods_call_as_jax_does(method, ds):
    ours, theirs = [], []
    both = np.ones((3, 3), np.float32), np.arange(9, dtype=np.float32).reshape(3, 3)
    x, y = (v if d is not None else v[0] for v, d in zip(both, ds, strict=True))

    def f(lib, log):
        def host(x, y):
            log.append((x.shape, y.shape))
            return np.asarray(x) + np.asarray(y)

        def one(x, y):
            shape = lib.ShapeDtypeStruct(x.shape, np.float32)
            return lib.pure_callback(host, shape, x, y, vmap_method=method)

        return lib.vmap(one, in_axes=ds)(x, y)

    got, want = f(pullback, ours), f(jax, theirs)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
    assert ours == theirs


def test_vmap_needs_a_method():
    with pytest.raises(UnsupportedError, match="vmap_method"):
        pullback.vmap(twice)(XS)
    with pytest.raises(ArgumentError, match="'rows'"):
        pullback.pure_callback(lambda x: x, out(X), X, vmap_method="rows")


@pytest.mark.parametrize("transform", [pullback.grad, pullback.jit])
def test_pure_callback_has_no_derivative(transform):
    def loss(x):
        return pnp.sum(twice(x))

    with pytest.raises(DifferentiationError, match=r"pure_callback\(<lambda>\)"):
        transform(pullback.grad(loss))(pnp.asarray(X))


def test_a_custom_rule_makes_it_differentiable():
    @pullback.custom_jvp
    def cube(x):
        return pullback.pure_callback(lambda v: v**3, out(x), x)

    cube.defjvp(lambda p, t: (cube(p[0]), 3 * p[0] ** 2 * t[0]))
    got = pullback.jit(pullback.grad(lambda x: pnp.sum(cube(x))))(pnp.asarray(X))
    np.testing.assert_allclose(got, 3 * X**2)


def test_an_unused_pure_callback_is_dropped(log):
    def f(x):
        pullback.pure_callback(lambda v: log(v) or v, out(x), x)
        return x + 1

    pullback.jit(f)(X)
    assert not log.seen


# ---- what goes wrong ----


def wrong(x):
    raise KeyError("lost")


@pytest.mark.parametrize("run", [lambda f: f, pullback.jit])
@pytest.mark.parametrize(
    ("host", "words"),
    [
        (wrong, "callback wrong raised KeyError: 'lost'"),
        (
            lambda x: x[:2],
            "returned float32\\[2\\]; the program was told float32\\[3\\]",
        ),
        (lambda x: x > 0, "returned bool\\[3\\]"),
        (lambda x: (x, x), "returned float32\\[2, 3\\]"),
    ],
)
def test_failures_name_the_function(run, host, words):
    f = run(lambda x: pullback.pure_callback(host, out(x), x))
    for _ in range(2):
        with pytest.raises(RuntimeFailure, match=words):
            f(pnp.asarray(X))


def test_a_failure_keeps_its_cause_and_leaves_the_program_usable():
    bad = True

    def host(x):
        if bad:
            raise ValueError("not now")
        return x

    f = pullback.jit(lambda x: pullback.pure_callback(host, out(x), x) * 2)
    with pytest.raises(RuntimeFailure, match="not now") as caught:
        f(X)
    causes = []
    error = caught.value
    while error is not None:
        causes.append(type(error))
        error = error.__cause__
    assert ValueError in causes
    bad = False
    np.testing.assert_array_equal(f(X), X * 2)


def test_arguments_are_checked():
    with pytest.raises(ArgumentTypeError, match="text"):
        pullback.pure_callback(lambda x: x, out(X), "text")
    with pytest.raises(ArgumentTypeError, match="function"):
        io_callback(3, None)
    with pytest.raises(ArgumentError, match="64-bit"):
        pullback.pure_callback(lambda x: x, np.zeros(3), X)


# ---- io_callback and order ----


@pytest.mark.parametrize("run", [lambda f: f, pullback.jit, interpret])
def test_io_callback_runs_once_a_call(run, log):
    f = run(lambda x: log.io(x) + 1)
    for _ in range(2):
        np.testing.assert_array_equal(f(X), X + 1)
    assert log.seen == [(X.tolist(),)] * 2


def test_io_callback_under_vmap(log):
    def note(x):
        return io_callback(lambda v: log(v) or v, out(x), x)

    np.testing.assert_array_equal(pullback.jit(pullback.vmap(note))(XS), XS)
    assert log.seen == [(row,) for row in XS.tolist()]
    with pytest.raises(ArgumentError, match="order"):
        pullback.vmap(log.io)(XS)


def everywhere(log):
    """Ordered calls before, in and after each kind of region, and in a callee."""

    @pullback.jit
    def callee(x):
        log.show(20.0, x, ordered=True)
        return x + 1

    def step(carry, i):
        log.show(30.0, i, ordered=True)
        return callee(carry), i

    def yes(x):
        log.show(40.0, ordered=True)
        return x

    def no(x):
        return callee(x)

    def go_on(x):
        return x < 9

    def body(x):
        log.show(50.0, x, ordered=True)
        return lax.cond(x > 6, no, lambda x: x + 2, x)

    def f(x):
        log.show(10.0, ordered=True)
        x, _ = lax.scan(step, x, pnp.arange(3.0))
        x = lax.cond(x > 2, yes, no, x)
        x = lax.cond(x > 100, yes, no, x)
        x = lax.while_loop(go_on, body, x)
        log.show(60.0, x, ordered=True)
        return x

    return f


def test_order_holds_through_regions_and_calls():
    logs = [Log(), Log(), Log()]
    runs = [pullback.disable_jit, None, None]
    with runs[0]():
        want = float(everywhere(logs[0])(pnp.float32(0)))
    assert float(pullback.jit(everywhere(logs[1]))(np.float32(0))) == want
    assert float(interpret(everywhere(logs[2]))(np.float32(0))) == want
    assert len(logs[0].seen) >= 12
    assert logs[1].seen == logs[0].seen
    assert logs[2].seen == logs[0].seen


def test_order_holds_behind_slow_work(log):
    def f(x):
        y = x @ x @ x
        log.show(1, y[0, 0], ordered=True)
        log.show(2, ordered=True)
        return y

    x = np.eye(600, dtype=np.float32)
    jitted = pullback.jit(f)
    jitted(x)
    jitted(x)
    assert log.seen == [(1, 1.0), (2,)] * 2


# ---- debug ----


def test_debug_callback_survives_transformations(log):
    def f(x):
        y = pnp.sin(x)
        log.show(x)
        return pnp.sum(y)

    one = (X.tolist(),)
    x = pnp.asarray(X)
    for g in (
        pullback.grad(f),
        pullback.jit(pullback.grad(f)),
        pullback.checkpoint(f),
        pullback.jit(lambda x: pullback.jvp(f, (x,), (x,))),
        lambda x: pullback.linearize(f, x)[1](x),
    ):
        log.seen.clear()
        g(x)
        assert log.seen == [one]
    log.seen.clear()
    pullback.jit(pullback.vmap(pullback.grad(f)))(XS)
    assert log.seen == [(row,) for row in XS.tolist()]


def test_debug_callback_is_kept_in_custom_rules(log):
    @pullback.custom_jvp
    def f(x):
        log.show(x)
        return x * 2

    f.defjvp(lambda p, t: (f(p[0]), 2 * t[0]))

    @pullback.custom_vjp
    def g(x):
        log.show(x)
        return x * 2

    g.defvjp(lambda x: (g(x), None), lambda _, ct: (2 * ct,))
    for h in (f, g):
        log.seen.clear()
        pullback.jit(lambda x, h=h: (h(x), x)[1])(1.0)
        pullback.jit(pullback.grad(h))(2.0)
        assert log.seen == [(1.0,), (2.0,)]


def test_effects_keep_regions_whose_results_are_not_used(log):
    def f(x):
        lax.scan(lambda c, i: (log.show(i), (c, i))[1], 0.0, pnp.arange(2.0))
        lax.cond(x > 0, lambda: log.show(5.0), lambda: None)
        lax.while_loop(lambda i: i < 1, lambda i: (log.show(7.0), i + 1)[1], 0)
        pullback.jit(lambda x: log.show(x))(9.0)
        return x

    pullback.jit(f)(1.0)
    assert sorted(log.seen) == [(0.0,), (1.0,), (5.0,), (7.0,), (9.0,)]


def test_a_callback_may_use_arrays_itself(log):
    def host(x):
        return np.asarray(pnp.sin(pnp.asarray(x)) * 2)

    f = pullback.jit(lambda x: pullback.pure_callback(host, out(x), x))
    np.testing.assert_allclose(f(X), np.sin(X) * 2, rtol=1e-6)


def test_threads_keep_their_callbacks_apart():
    def one(i, found):
        f = pullback.jit(
            lambda x: pullback.pure_callback(lambda v: v + i, out(x), x) * 1
        )
        for _ in range(5):
            found.append(float(f(np.float32(0))) == i)

    found = []
    threads = [threading.Thread(target=one, args=(i, found)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 20
