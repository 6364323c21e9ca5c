"""custom_jvp, custom_vjp, custom_gradient and checkpoint against JAX."""

import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback import errors
from pullback.core.check import check_jaxpr
from pullback.core.jaxpr import all_eqns

X = np.linspace(0.3, 1.2, 4).astype(np.float32)
W = np.linspace(-1, 1, 12).astype(np.float32).reshape(3, 4)


def close(ours, theirs):
    left, right = pullback.tree.leaves(ours), jax.tree.leaves(theirs)
    assert len(left) == len(right)
    for x, y in zip(left, right, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), 2e-5, 2e-5)


def functions(pkg, np_):
    """Functions with rules that are not their derivatives, so that use shows."""

    @pkg.custom_jvp
    def jvp_fun(x, y):
        return np_.sin(x) * y

    @jvp_fun.defjvp
    def _rule(primals, tangents):
        (x, y), (t, s) = primals, tangents
        return jvp_fun(x, y), 3.0 * np_.cos(x) * y * t + x * s

    @pkg.custom_jvp
    def jvps_fun(x, y):
        return x * y

    jvps_fun.defjvps(lambda t, out, x, y: 5.0 * t * out, None)

    @pkg.custom_vjp
    def vjp_fun(x, y):
        return np_.sin(x) * y

    vjp_fun.defvjp(
        lambda x, y: (vjp_fun(x, y), (x, y)),
        lambda res, ct: (3.0 * ct * np_.cos(res[0]) * res[1], ct * res[0]),
    )

    @pkg.custom_gradient
    def gradient_fun(x, y):
        return x * y, lambda ct: (ct * y * 2.0, ct * x)

    def checkpointed(x, y):
        return pkg.checkpoint(lambda a, b: np_.sin(np_.sin(a * b)) + a)(x, y)

    return [jvp_fun, jvps_fun, vjp_fun, gradient_fun, checkpointed]


NAMES = ["jvp_fun", "jvps_fun", "vjp_fun", "gradient_fun", "checkpointed"]
FORWARD = {"jvp_fun", "jvps_fun", "checkpointed"}


def nestings(pkg, np_, f):
    total = lambda *a: np_.sum(f(*a))  # noqa: E731
    both = pkg.grad(total, (0, 1))
    scan = lambda x: pkg.lax.scan(  # noqa: E731
        lambda c, a: (f(c, a), f(a, c)), x, np_.stack([x, 2 * x, x])
    )
    return {
        "value": lambda: f(X, 2 * X),
        "jit": lambda: pkg.jit(f)(X, 2 * X),
        "vmap": lambda: pkg.vmap(f)(W, 2 * W),
        "vmap one": lambda: pkg.vmap(f, (0, None))(W, X),
        "grad": lambda: both(X, 2 * X),
        "grad jit": lambda: pkg.grad(pkg.jit(total), (0, 1))(X, 2 * X),
        "jit grad": lambda: pkg.jit(both)(X, 2 * X),
        "vmap grad": lambda: pkg.vmap(both)(W, 2 * W),
        "vmap grad one": lambda: pkg.vmap(both, (None, 0))(X, W),
        "grad vmap": lambda: pkg.grad(
            lambda w, x: pkg.vmap(f, (0, None))(w, x).sum(), (0, 1)
        )(W, X),
        "jit vmap grad jit": lambda: pkg.jit(pkg.vmap(pkg.grad(pkg.jit(total))))(W, W),
        "second": lambda: pkg.grad(lambda x: pkg.grad(total)(x, 2 * X).sum())(X),
        "second jit": lambda: pkg.grad(lambda x: pkg.grad(pkg.jit(total))(x, X).sum())(
            X
        ),
        "scan": lambda: scan(X),
        "grad scan": lambda: pkg.grad(lambda x: scan(x)[0].sum() + scan(x)[1].sum())(X),
        "jacrev": lambda: pkg.jacrev(f)(X, 2 * X),
        "vjp": lambda: pkg.vjp(f, X, 2 * X)[1](X),
    }


def forward_nestings(pkg, np_, f):
    return {
        "jvp": lambda: pkg.jvp(f, (X, X), (X, 2 * X)),
        "jvp jit": lambda: pkg.jvp(pkg.jit(f), (X, X), (X, 2 * X)),
        "jvp vmap": lambda: pkg.jvp(pkg.vmap(f), (W, W), (W, 2 * W)),
        "jacfwd": lambda: pkg.jacfwd(f)(X, 2 * X),
        "hessian": lambda: pkg.hessian(lambda x: f(x, 2 * X).sum())(X),
        "linearize": lambda: pkg.linearize(f, X, 2 * X)[1](X, X),
    }


CASES = [(n, k) for n in NAMES for k in nestings(pullback, pnp, None)]
CASES += [
    (n, k) for n in sorted(FORWARD) for k in forward_nestings(pullback, pnp, None)
]


@pytest.mark.parametrize(("name", "nesting"), CASES)
def test_same_in_every_nesting(name, nesting):
    i = NAMES.index(name)
    results = []
    for pkg, np_ in ((pullback, pnp), (jax, jnp)):
        f = functions(pkg, np_)[i]
        table = {**nestings(pkg, np_, f), **forward_nestings(pkg, np_, f)}
        results.append(table[nesting]())
    close(*results)


def test_nondiff_arguments_and_closures():
    def make(pkg, np_):
        power = pkg.custom_jvp(lambda x, n: x**n, nondiff_argnums=(1,))
        power.defjvp(lambda n, p, t: (power(p[0], n), 7.0 * n * t[0]))
        vp = pkg.custom_vjp(lambda f, x: f(x), nondiff_argnums=(0,))
        vp.defvjp(lambda f, x: (f(x), x), lambda f, x, ct: (f(ct * x),))
        return (
            pkg.grad(lambda x: power(x, 3))(2.0),
            pkg.jit(pkg.grad(lambda x: power(x, n=2)))(2.0),
            pkg.grad(lambda x: vp(np_.sin, x))(2.0),
        )

    close(make(pullback, pnp), make(jax, jnp))


def test_python_control_flow_sees_values():
    @pullback.custom_jvp
    def f(x):
        return x * 2 if x > 0 else x

    f.defjvp(lambda p, t: (f(p[0]), 10 * t[0] if p[0] > 0 else t[0]))
    assert float(pullback.grad(f)(1.0)) == 10.0
    assert float(pullback.grad(f)(-1.0)) == 1.0


def test_symbolic_zeros():
    seen = []

    @pullback.custom_jvp
    def f(x, y):
        return x * y

    def rule(primals, tangents):
        seen.append([type(t).__name__ for t in tangents])
        return f(*primals), tangents[0] * primals[1]

    f.defjvp(rule, symbolic_zeros=True)
    assert float(pullback.grad(f)(2.0, 3.0)) == 3.0
    assert seen[0][1] == "SymbolicZero"

    @pullback.custom_vjp
    def g(x, y):
        return x * y, x

    def fwd(x, y):
        seen.append((x.perturbed, y.perturbed))
        return g(x.value, y.value), y.value

    def bwd(y, cts):
        seen.append(type(cts[1]).__name__)
        return cts[0] * y, None

    g.defvjp(fwd, bwd, symbolic_zeros=True)
    assert float(pullback.grad(lambda x: g(x, 3.0)[0])(2.0)) == 3.0
    assert seen[1] == (True, False)
    assert seen[2] == "SymbolicZero"


def test_closure_convert():
    def outer(y):
        f, values = pullback.closure_convert(lambda x: x * pnp.sin(y), 1.0)
        return f(2.0, *values)

    assert float(pullback.grad(outer)(0.0)) == 2.0


def test_errors():
    f = pullback.custom_jvp(lambda x: x)
    with pytest.raises(ValueError, match="defjvp"):
        f(1.0)
    g = pullback.custom_vjp(lambda x: x)
    g.defvjp(lambda x: (x, None), lambda _, ct: (ct,))
    with pytest.raises(TypeError, match="forward-mode"):
        pullback.jvp(g, (1.0,), (1.0,))
    g.defvjp(lambda x: (x, None), lambda _, ct: (ct, ct))
    with pytest.raises(errors.TreeError, match="tuple of 1"):
        pullback.grad(g)(1.0)
    g.defvjp(lambda x: (x, None), lambda _, ct: (pnp.ones(3),))
    with pytest.raises(errors.ShapeError, match=r"f32\[3\]"):
        pullback.grad(g)(1.0)
    f.defjvp(lambda p, t: (p[0], pnp.ones(3)))
    with pytest.raises(errors.ShapeError, match=r"f32\[3\]"):
        pullback.jvp(f, (1.0,), (1.0,))
    f.defjvp(lambda p, t: p[0])
    with pytest.raises(errors.ArgumentTypeError, match="pair"):
        pullback.jvp(f, (1.0,), (1.0,))


# ---- checkpoint ----


def count(closed, name) -> int:
    return sum(e.primitive.name == name for e in all_eqns(closed.jaxpr))


def deep(pkg, np_, policy=None):
    name = importlib.import_module(f"{pkg.__name__}.ad_checkpoint").checkpoint_name

    def block(w, x):
        h = name(np_.tanh(x @ w.T), "hidden")
        return np_.sin(h @ w)

    block = pkg.checkpoint(block, policy=policy)
    return lambda w, x: np_.sum(block(w, block(w, x)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy",
    [
        None,
        "everything_saveable",
        "nothing_saveable",
        "dots_saveable",
        "dots_with_no_batch_dims_saveable",
        "names",
        "not names",
    ],
)
def test_policies_change_work_not_values(policy):
    def pick(pkg):
        policies = pkg.checkpoint_policies
        if policy == "names":
            return policies.save_only_these_names("hidden")
        if policy == "not names":
            return policies.save_anything_except_these_names("hidden")
        return policy and getattr(policies, policy)

    ours = pullback.grad(deep(pullback, pnp, pick(pullback)))
    theirs = jax.grad(deep(jax, jnp, pick(jax)))
    close(pullback.jit(ours)(W, W), theirs(W, W))
    close(ours(W, W), theirs(W, W))
    closed = pullback.make_jaxpr(ours)(W, W)
    check_jaxpr(closed)
    # of 2 blocks with 2 products each: 4 forward, at most 4 again, 8 backward
    again = count(closed, "tanh") - 2
    kept = ("everything_saveable", "names", "not names")  # the last: before its name
    assert again == (0 if policy in kept else 2)
    if policy in ("dots_saveable", "everything_saveable"):
        assert count(closed, "dot_general") <= 4 + 8


def test_second_computation_survives_the_compiler():
    f = pullback.checkpoint(lambda x: pnp.sin(pnp.sin(pnp.sin(x))))
    text = pullback.jit(pullback.grad(lambda x: f(x).sum())).lower(X).as_text()
    assert "optimization_barrier" in text
    f = pullback.checkpoint(lambda x: pnp.sin(pnp.sin(x)), prevent_cse=False)
    text = pullback.jit(pullback.grad(lambda x: f(x).sum())).lower(X).as_text()
    assert "optimization_barrier" not in text


@pytest.mark.parametrize(
    ("i", "name"),
    [(0, "custom_jvp_call"), (2, "custom_vjp_call"), (4, "checkpoint")],
)
def test_recorded_by_name_and_run_by_the_interpreter(i, name):
    f = functions(pullback, pnp)[i]
    closed = pullback.make_jaxpr(f)(X, 2 * X)
    check_jaxpr(closed)
    assert [e.primitive.name for e in closed.eqns] == [name]
    close(pullback.debug.interpret(f)(X, 2 * X), f(X, 2 * X))


def test_the_pullback_is_one_linear_equation():
    f = functions(pullback, pnp)[2]
    _, pull = pullback.vjp(pullback.jit(f), X, 2 * X)
    assert "custom_lin" in {e.primitive.name for e in all_eqns(pull._jaxpr)}
    with pytest.raises(errors.DifferentiationError, match="forward-mode"):
        pullback.linearize(f, X, 2 * X)[1](X, X)
