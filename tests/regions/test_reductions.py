"""reduce, reduce_window, associative_scan: values, and every transform of them.

Oracles are Python loops in float64 and their central differences. Programs run on the
NumPy references (`NumpyTrace`), so nothing is compiled; the last tests compile a few.
"""

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback import lax
from pullback.core import config
from pullback.core.trace import in_charge
from pullback.debug.numpy_trace import NumpyTrace
from tests.regions.monoids import (
    GEOMETRIES,
    MONOIDS,
    C,
    loop_fold,
    loop_windows,
    plain,
)
from tests.regions.reduced import (
    FUNCTIONS,
    INIT,
    SMOOTH,
    close,
    live,
    put,
    slope,
    traced,
    weighed,
)


@pytest.fixture(autouse=True)
def wide():
    with config.scoped(enable_x64=True):
        yield


@pytest.fixture
def in_numpy():
    with in_charge(NumpyTrace()):
        yield


@pytest.mark.usefixtures("in_numpy")
@pytest.mark.parametrize("function", [*FUNCTIONS, "reverse"])
@pytest.mark.parametrize("name", MONOIDS)
def test_value(name, function):
    run, loop, xs, init = traced(name, function)
    for got, want in zip(run(xs, init, C), loop(xs, init, C), strict=True):
        close(got, want)


@pytest.mark.usefixtures("in_numpy")
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", SMOOTH)
def test_jvp_linearize_vjp_of_operands(name, function):
    run, loop, xs, init = traced(name, function)
    random = np.random.default_rng(1)
    for i in live(xs):
        t = random.normal(size=xs[i].shape)
        want = slope(lambda x, i=i: weighed(loop(put(xs, i, x), init, C)), xs[i], t)
        f = lambda x, i=i: weighed(run(put(xs, i, x), init, C))  # noqa: E731
        close(pullback.jvp(f, (xs[i],), (t,))[1], want, 10)
        value, linear = pullback.linearize(f, xs[i])
        close(linear(t), want, 10)
        close(value, weighed(loop(xs, init, C)))
        (ct,) = pullback.vjp(f, xs[i])[1](pnp.float64(1.0))
        close((np.asarray(ct) * t).sum(), want, 10)


@pytest.mark.usefixtures("in_numpy")
@pytest.mark.parametrize("function", ["reduce", "window"])
@pytest.mark.parametrize("name", INIT)
def test_derivatives_of_start_values(name, function):
    run, loop, xs, init = traced(name, function)
    t = np.random.default_rng(1).normal(size=len(init))
    init = np.array(init)
    want = slope(lambda e: weighed(loop(xs, e, C)), init, t)
    f = lambda e: weighed(run(xs, tuple(e), C))  # noqa: E731
    close(pullback.jvp(f, (init,), (t,))[1], want, 10)
    close(np.asarray(pullback.grad(f)(init)) @ t, want, 10)


@pytest.mark.usefixtures("in_numpy")
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", ["tempered", "scaled"])
def test_derivatives_of_values_closed_over(name, function):
    run, loop, xs, init = traced(name, function)
    # The identity of `scaled` depends on the value that it closes over.
    want = slope(lambda c: weighed(loop(xs, init, c)), C, 1.0)
    f = lambda c: weighed(run(xs, init, c))  # noqa: E731
    if name == "scaled" and function == "window":
        xs_only = traced(name, "scan")
        run, loop = xs_only[:2]
        want = slope(lambda c: weighed(loop(xs, init, c)), C, 1.0)
    close(pullback.jvp(f, (C,), (1.0,))[1], want, 10)
    close(pullback.grad(f)(C), want, 10)
    second = slope(lambda c: np.asarray(pullback.grad(f)(c)), C, 1.0)
    close(pullback.grad(pullback.grad(f))(C), second, 100)


@pytest.mark.usefixtures("in_numpy")
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", ["mul", "logaddexp", "affine", "matrix", "tempered"])
def test_higher_orders(name, function):
    run, _, xs, init = traced(name, function, 7)
    random = np.random.default_rng(1)
    x, u, v = xs[-1], random.normal(size=7), random.normal(size=7)
    f = lambda x: weighed(run(put(xs, len(xs) - 1, x**2), init, C))  # noqa: E731
    g = pullback.grad(f)
    forward = lambda x: pullback.jvp(g, (x,), (u,))[1]  # noqa: E731
    want = slope(lambda x: np.asarray(g(x)), x, u)
    close(forward(x), want, 100)
    close(pullback.grad(lambda x: (g(x) * u).sum())(x), want, 100)
    close(
        pullback.jvp(lambda x: pullback.jvp(f, (x,), (u,))[1], (x,), (v,))[1],
        v @ want,
        100,
    )
    third = slope(lambda x: np.asarray(forward(x)), x, v)
    close(pullback.jvp(forward, (x,), (v,))[1], third, 1000)
    close(pullback.grad(lambda x: forward(x) @ v)(x), third, 1000)
    hessian = np.asarray(pullback.hessian(f)(x))
    close(hessian, hessian.T)


@pytest.mark.usefixtures("in_numpy")
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", ["affine", "argmax", "tempered", "logaddexp", "max"])
@pytest.mark.parametrize("mapped", ["operands", "last", "init", "closed", "all"])
def test_vmap(name, function, mapped):
    run, _, xs, init = traced(name, function, 6)
    random = np.random.default_rng(1)
    ins = [x[None] + random.permutation(3)[:, None].astype(x.dtype) for x in xs]
    axes = [None] * len(xs)
    init, c, d_init, d_c = list(init), C, [None] * len(init), None
    if mapped in ("operands", "all"):
        axes = [0, *(1 for _ in xs[1:])]
    elif mapped == "last":
        axes[-1] = 0
    if mapped in ("init", "all"):
        d_init[0] = 0
        init[0] = np.stack([init[0]] * 3)
    if mapped in ("closed", "all"):
        c, d_c = np.array([1.25, 1.5, 2.0]), 0
    args = [
        x if d is None else np.moveaxis(b, 0, d)
        for x, b, d in zip(xs, ins, axes, strict=True)
    ]
    if not any(d is not None for d in (*axes, *d_init, d_c)):
        pytest.skip("nothing is mapped")
    both = lambda xs, e, c: run(xs, e, c)  # noqa: E731
    got = pullback.vmap(both, in_axes=(tuple(axes), d_init, d_c))(tuple(args), init, c)
    for i in range(3):
        row = tuple(
            x if d is None else np.take(x, i, d)
            for x, d in zip(args, axes, strict=True)
        )
        e = [v if d is None else v[i] for v, d in zip(init, d_init, strict=True)]
        want = run(row, e, c if d_c is None else c[i])
        for y, z in zip(got, want, strict=True):
            close(np.asarray(y)[i], z)
    if name in ("affine", "tempered", "logaddexp"):
        loss = lambda xs, e, c: weighed(run(xs, e, c))  # noqa: E731
        grads = pullback.vmap(pullback.grad(loss), in_axes=(tuple(axes), d_init, d_c))(
            tuple(args), init, c
        )
        back = pullback.grad(loss)(row, e, c if d_c is None else c[2])
        for y, z in zip(grads, back, strict=True):
            close(np.asarray(y)[2], z)


@pytest.mark.usefixtures("in_numpy")
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("name", ["add", "max", "affine", "argmax", "tempered"])
def test_geometries(name, geometry):
    n, k, s, pads, base, inner = GEOMETRIES[geometry]
    monoid = MONOIDS[name]
    xs = monoid.make(np.random.default_rng(0), (n,))
    where = (k,), (s,), (pads,), (base,), (inner,)

    def run(*xs):
        f = lambda p, q: tuple(monoid.f(pnp, C, p, q))  # noqa: E731
        return lax.reduce_window(xs, monoid.init, f, *where)

    want = loop_windows(plain(monoid), xs, monoid.init, *where)
    for got, y in zip(run(*xs), want, strict=True):
        assert got.shape == y.shape
        close(got, y)
    if not want[0].size:
        return
    value, back = pullback.vjp(lambda x: weighed(run(x, *xs[1:])), xs[0])
    close(value, weighed(want))
    t = np.random.default_rng(1).normal(size=n)

    def loops(x):
        return weighed(loop_windows(plain(monoid), (x, *xs[1:]), monoid.init, *where))

    close(np.asarray(back(pnp.float64(1.0))[0]) @ t, slope(loops, xs[0], t), 10)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["chain", "doubling", "blocks"])
@pytest.mark.parametrize("name", ["add", "affine", "first_last", "argmax", "matrix"])
def test_strategies_agree(name, strategy, monkeypatch):
    monkeypatch.setattr(
        "pullback.regions.monoid_windows.window_strategy", lambda *a: strategy
    )
    monoid = MONOIDS[name]
    xs = monoid.make(np.random.default_rng(0), (90,))
    for k in (8, 19, 67):
        where = (k,), (1,), ((5, 0),), (1,), (1,)
        got = lax.reduce_window(
            tuple(map(pnp.asarray, xs)),
            monoid.init,
            lambda p, q: tuple(monoid.f(pnp, C, p, q)),
            *where,
        )
        want = loop_windows(plain(monoid), xs, monoid.init, *where)
        for y, z in zip(got, want, strict=True):
            close(y, z, 10)


@pytest.mark.usefixtures("in_numpy")
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 3, 2, 3), (2, 2, 3, 2, 2)])
@pytest.mark.parametrize("name", ["affine", "first_last"])
def test_windows_of_many_dimensions(name, shape):
    monoid = MONOIDS[name]
    xs = monoid.make(np.random.default_rng(0), shape)
    dims = tuple(1 + i % 2 for i in range(len(shape)))[::-1]
    where = dims, (1,) * len(shape), ((1, 0),) * len(shape)
    ones = ((1,) * len(shape),) * 2

    def run(x):
        f = lambda p, q: tuple(monoid.f(pnp, C, p, q))  # noqa: E731
        return lax.reduce_window((x, *xs[1:]), monoid.init, f, *where)

    def loop(x):
        return loop_windows(plain(monoid), (x, *xs[1:]), monoid.init, *where, *ones)

    value, back = pullback.vjp(lambda x: weighed(run(x)), xs[0])
    close(value, weighed(loop(xs[0])))
    t = np.random.default_rng(1).normal(size=shape)
    want = slope(lambda x: weighed(loop(x)), xs[0], t)
    close((np.asarray(back(pnp.float64(1.0))[0]) * t).sum(), want, 10)


@pytest.mark.usefixtures("in_numpy")
def test_reduce_folds_axes_in_row_major_order():
    monoid = MONOIDS["matrix"]
    xs = monoid.make(np.random.default_rng(0), (3, 2, 4))
    f = lambda p, q: tuple(monoid.f(pnp, C, p, q))  # noqa: E731
    got, _ = pullback.vjp(lambda *xs: lax.reduce(xs, monoid.init, f, (2, 0)), *xs)
    for j in range(2):
        want = loop_fold(plain(monoid), [x[:, j] for x in xs], monoid.init)
        for y, z in zip(got, want, strict=True):
            close(np.asarray(y)[j], z)


@pytest.mark.usefixtures("in_numpy")
@pytest.mark.parametrize("n", [1, 2, 63, 200])
@pytest.mark.parametrize("function", ["reduce", "scan", "reverse"])
@pytest.mark.parametrize("name", ["affine", "first_last"])
def test_long_reductions_and_scans_in_blocks(name, function, n, monkeypatch):
    for home in ("associative_scan", "reduce"):
        monkeypatch.setattr(
            f"pullback.regions.{home}.scan_block",
            lambda n, width: 7 if n > 12 else None,
        )
    run, loop, xs, init = traced(name, function, n)
    xs = (xs[0] / 1.2, *xs[1:])
    out, back = pullback.vjp(lambda x: weighed(run((x, *xs[1:]), init, C)), xs[0])
    close(out, weighed(loop(xs, init, C)))
    t = np.random.default_rng(1).normal(size=n)
    want = slope(lambda x: weighed(loop((x, *xs[1:]), init, C)), xs[0], t)
    close(np.asarray(back(pnp.float64(1.0))[0]) @ t, want, 100)
