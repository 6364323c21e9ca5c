"""The front doors of the transformations against JAX: values, types, errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp

X = np.linspace(0.3, 1.2, 4).astype(np.float32)
W = np.linspace(-1, 1, 12).astype(np.float32).reshape(4, 3)


def same(ours, theirs, tol=2e-6):
    """Equal trees: structure, dtypes, weak types, values up to `tol`."""
    left, right = pullback.tree.leaves(ours), jax.tree.leaves(theirs)
    assert str(pullback.tree.structure(ours)) == str(jax.tree.structure(theirs))
    for x, y in zip(left, right, strict=True):
        assert np.shape(x) == np.shape(y)
        assert x.dtype == y.dtype
        assert getattr(x, "weak_type", False) == getattr(y, "weak_type", False)
        if x.dtype != jax.dtypes.float0:
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), tol, tol)


def loss(np_):
    return lambda p, x: np_.mean(np_.tanh(x @ p["w"] + p["b"]) ** 2)


PARAMS = {"b": np.ones(3, np.float32), "w": W}


def first_order(pkg, np_):
    """Calls that differentiate once or in a row."""
    f = loss(np_)
    square = lambda x: np_.sum(np_.sin(x) * x)  # noqa: E731
    vector = lambda x: np_.sin(x) * x[0]  # noqa: E731
    return {
        "grad": lambda: pkg.grad(square)(X),
        "grad of scalar": lambda: pkg.grad(np_.sin)(1.0),
        "grad of np scalar": lambda: pkg.grad(np_.sin)(np.float32(1)),
        "grad of mixed": lambda: pkg.grad(lambda x, s: np_.sum(x * s + s), (0, 1))(
            X, 2.0
        ),
        "grad tree": lambda: pkg.grad(f)(PARAMS, X),
        "grad argnums": lambda: pkg.grad(f, argnums=(1, 0))(PARAMS, X),
        "grad negative argnums": lambda: pkg.grad(f, argnums=-1)(PARAMS, X),
        "value_and_grad": lambda: pkg.value_and_grad(f)(PARAMS, X),
        "aux": lambda: pkg.grad(lambda x: (square(x), {"y": x * 2}), has_aux=True)(X),
        "value aux": lambda: pkg.value_and_grad(lambda x: (square(x), x), has_aux=True)(
            X
        ),
        "unused": lambda: pkg.grad(lambda x, y: square(x), (0, 1))(X, {"a": X}),
        "constant": lambda: pkg.grad(lambda x: 3.0)(2.0),
        "allow_int": lambda: pkg.grad(lambda i: 2.0 * i, allow_int=True)(3),
        "holomorphic": lambda: pkg.grad(lambda z: z * z * z, holomorphic=True)(
            1.0 + 2.0j
        ),
        "second": lambda: pkg.grad(pkg.grad(lambda x: np_.sin(x) * x))(0.7),
        "third": lambda: pkg.grad(pkg.grad(pkg.grad(lambda x: x**5)))(0.7),
        "jvp": lambda: pkg.jvp(vector, (X,), (X,)),
        "jvp scalar": lambda: pkg.jvp(np_.sin, (0.1,), (1.0,)),
        "jvp constant": lambda: pkg.jvp(lambda x: np_.ones(2), (X,), (X,)),
        "jvp int out": lambda: pkg.jvp(lambda x: (x, x > 0.5), (X,), (X,)),
        "jvp aux": lambda: pkg.jvp(lambda x: (x * 2, x), (X,), (X,), has_aux=True),
        "jvp of jvp": lambda: pkg.jvp(
            lambda x: pkg.jvp(vector, (x,), (X,))[1], (X,), (X,)
        ),
        "linearize": lambda: pkg.linearize(vector, X)[1](X),
        "linearize value": lambda: pkg.linearize(vector, X)[0],
        "vjp": lambda: pkg.vjp(vector, X)[1](X),
        "vjp tree": lambda: pkg.vjp(lambda p: {"o": p["w"] @ p["b"]}, PARAMS)[1](
            {"o": X}
        ),
        "vjp aux": lambda: pkg.vjp(lambda x: (x * x, x), X, has_aux=True)[2],
        "linear_transpose": lambda: pkg.linear_transpose(lambda x: x @ W, X)(W[0]),
    }


def nested(pkg, np_):
    """Jacobians, maps and nestings."""
    f = loss(np_)
    square = lambda x: np_.sum(np_.sin(x) * x)  # noqa: E731
    vector = lambda x: np_.sin(x) * x[0]  # noqa: E731
    return {
        "jacfwd": lambda: pkg.jacfwd(vector)(X),
        "jacrev": lambda: pkg.jacrev(vector)(X),
        "jacfwd tree": lambda: pkg.jacfwd(lambda p: p["w"] @ p["b"])(PARAMS),
        "jacrev tree": lambda: pkg.jacrev(lambda p: {"o": p["w"] @ p["b"]})(PARAMS),
        "jacrev argnums": lambda: pkg.jacrev(lambda x, y: x * y, (0, 1))(X, X),
        "jacfwd argnums": lambda: pkg.jacfwd(lambda x, y: x * y, (0, 1))(X, X),
        "jacfwd aux": lambda: pkg.jacfwd(lambda x: (x * x, x), has_aux=True)(X),
        "jacrev aux": lambda: pkg.jacrev(lambda x: (x * x, x), has_aux=True)(X),
        "hessian": lambda: pkg.hessian(square)(X),
        "hessian tree": lambda: pkg.hessian(f)(PARAMS, X),
        "vmap": lambda: pkg.vmap(vector)(W),
        "vmap axes": lambda: pkg.vmap(lambda a, b: a * b, (1, None), 1)(W, X),
        "vmap negative": lambda: pkg.vmap(lambda a: a * 2, -1, -1)(W),
        "vmap tree": lambda: pkg.vmap(
            lambda p, x: p["w"] * p["b"] + x, ({"w": 1, "b": 0}, None), {"o": 0}["o"]
        )(PARAMS, X),
        "vmap kwargs": lambda: pkg.vmap(lambda a, b: a - b)(W, b=W),
        "vmap constant": lambda: pkg.vmap(lambda a: 1.0)(W),
        "vmap out None": lambda: pkg.vmap(lambda a: (a, X), out_axes=(0, None))(W),
        "vmap size": lambda: pkg.vmap(lambda a: a, None, axis_size=3)(X),
        "vmap grad": lambda: pkg.vmap(pkg.grad(square))(W),
        "grad vmap": lambda: pkg.grad(lambda w: pkg.vmap(square)(w).sum())(W),
        "vmap vmap": lambda: pkg.vmap(pkg.vmap(np_.sin, 0), 1)(W),
        "jit grad": lambda: pkg.jit(pkg.grad(f))(PARAMS, X),
        "grad jit": lambda: pkg.grad(pkg.jit(f))(PARAMS, X),
        "vmap jit": lambda: pkg.vmap(pkg.jit(vector))(W),
        "jit vmap grad jit": lambda: pkg.jit(pkg.vmap(pkg.grad(pkg.jit(square))))(W),
        "hessian jit": lambda: pkg.hessian(pkg.jit(square))(X),
        "jvp jit": lambda: pkg.jvp(pkg.jit(vector), (X,), (X,)),
        "linearize jit": lambda: pkg.linearize(pkg.jit(vector), X)[1](X),
        "third jit": lambda: pkg.grad(pkg.grad(pkg.grad(pkg.jit(lambda x: x**5))))(0.7),
    }


def programs(pkg, np_):
    """The same calls for either package."""
    return {**first_order(pkg, np_), **nested(pkg, np_)}


NAMES = list(programs(pullback, pnp))


@pytest.mark.parametrize("name", NAMES)
def test_same_result(name):
    same(programs(pullback, pnp)[name](), programs(jax, jnp)[name]())


def bad(pkg, np_):
    return {
        "vector result": lambda: pkg.grad(lambda x: x)(X),
        "int argument": lambda: pkg.grad(lambda x: x * 1.0)(3),
        "int result": lambda: pkg.grad(lambda x: 3)(3.0),
        "tuple result": lambda: pkg.grad(lambda x: (x, x))(3.0),
        "argnums": lambda: pkg.grad(lambda x: x, argnums=2)(3.0),
        "aux": lambda: pkg.grad(lambda x: x, has_aux=True)(3.0),
        "not callable": lambda: pkg.grad(3),
        "jvp shapes": lambda: pkg.jvp(np_.sin, (X,), (X[:2],)),
        "jvp trees": lambda: pkg.jvp(np_.sin, ({"a": X},), (X,)),
        "jvp dtypes": lambda: pkg.jvp(np_.sin, (X,), (X.astype(np.int32),)),
        "jvp lists": lambda: pkg.jvp(np_.sin, X, X),
        "vjp shape": lambda: pkg.vjp(np_.sin, X)[1](X[:1]),
        "vjp tree": lambda: pkg.vjp(np_.sin, X)[1]((X, X)),
        "vmap sizes": lambda: pkg.vmap(lambda a, b: a)(X, W[:2]),
        "vmap scalar": lambda: pkg.vmap(np_.sin)(3.0),
        "vmap none": lambda: pkg.vmap(np_.sin, None)(3.0),
        "vmap prefix": lambda: pkg.vmap(lambda a: a, ({"x": 0},))(X),
        "vmap count": lambda: pkg.vmap(lambda a: a, (0, 0))(X),
        "vmap out None": lambda: pkg.vmap(lambda a: a, out_axes=None)(X),
        "bool of traced": lambda: pkg.jit(lambda x: 1 if x else 2)(1.0),
        "int of traced": lambda: pkg.jit(lambda x: int(x))(1.0),
        "float of traced": lambda: pkg.jit(lambda x: float(x))(1.0),
        "range of traced": lambda: pkg.jit(lambda n: list(range(n)))(3),
        "numpy of traced": lambda: pkg.jit(lambda x: np.sin(np.asarray(x)))(1.0),
        "shapes": lambda: X @ np_.ones((3, 3)),
        "hashable": lambda: pkg.jit(lambda x, n: x, static_argnums=1)(1.0, [1]),
    }


@pytest.mark.parametrize("name", list(bad(pullback, pnp)))
def test_same_error_class(name):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        bad(jax, jnp)[name]()
    builtin = next(c for c in type(theirs.value).__mro__ if c.__module__ == "builtins")
    with pytest.raises(builtin) as ours:
        bad(pullback, pnp)[name]()
    assert isinstance(ours.value, pullback.errors.PullbackError)


def test_control_flow_on_concrete_values():
    def f(x):
        return x * 2 if x > 0 else x * 3

    assert float(pullback.grad(f)(1.0)) == 2.0
    assert float(pullback.grad(f)(-1.0)) == 3.0
    assert float(pullback.jvp(f, (-1.0,), (1.0,))[1]) == 3.0


def test_vjp_is_a_tree_of_residuals():
    _, pull = pullback.vjp(lambda x: pnp.sin(x) * 2, X)
    leaves, treedef = pullback.tree.flatten(pull)
    assert leaves
    doubled = pullback.tree.unflatten(treedef, [x * 2 for x in leaves])
    assert doubled(X)[0].shape == X.shape
    through = pullback.jit(lambda p, ct: p(ct))(pull, X)
    np.testing.assert_allclose(through[0], pull(X)[0], rtol=1e-6)


def test_zeros_are_not_materialized():
    closed = pullback.make_jaxpr(pullback.grad(lambda x, y: pnp.sum(x) + 0 * y.size))(
        X, W
    )
    assert all(e.primitive.name != "mul" for e in closed.eqns)


def test_leaked_tracer_says_where_it_was_made():
    kept = []

    @pullback.jit
    def leaky(x):
        kept.append(pnp.sin(x))
        return x

    leaky(1.0)
    with pytest.raises(
        pullback.errors.UnexpectedTracerError, match=r"pnp\.sin"
    ) as caught:
        kept[0] + 1
    assert "leaky" in str(caught.value)
