"""A compiled function taken apart: trace, lower, compile."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback import stages
from pullback.errors import ArgumentTypeError, RuntimeFailure

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)


def model(params, x, *, scale=1.0):
    return {"y": x @ params["w"] * scale, "n": params["n"]}


PARAMS = {"w": np.ones((3, 2), np.float32), "n": np.int32(3)}


def test_traced_says_what_was_traced():
    traced = pullback.jit(model).trace(PARAMS, X, scale=2.0)
    assert isinstance(traced, stages.Traced)
    assert traced.fun_name == "model"
    assert [e.primitive.name for e in traced.jaxpr.eqns] == ["dot_general", "mul"]
    assert traced.out_info == {
        "y": pullback.ShapeDtypeStruct((2, 2), "float32"),
        "n": pullback.ShapeDtypeStruct((), "int32"),
    }
    (params, x), _ = traced.args_info
    assert x.shape == (2, 3)
    assert params["n"].dtype == np.int32
    assert not x.donated


def test_types_stand_for_arguments():
    x = pullback.ShapeDtypeStruct((3,), "float32")
    compiled = pullback.jit(lambda x: x * 2).lower(x).compile()
    np.testing.assert_array_equal(compiled(X[0]), X[0] * 2)


def test_lowered_prints_the_module_with_and_without_lines():
    lowered = pullback.jit(model).lower(PARAMS, X)
    assert "stablehlo.dot_general" in lowered.as_text()
    assert "test_stages.py" not in lowered.as_text()
    assert "test_stages.py" in lowered.as_text(debug_info=True)
    with pytest.raises(ArgumentTypeError, match="dialect"):
        lowered.as_text("hlo")


def test_costs_are_those_of_jax():
    def f(x):
        return x @ x.T

    ours, theirs = pullback.jit(f).lower(X), jax.jit(f).lower(jnp.asarray(X))
    assert ours.cost_analysis()["flops"] == 24
    mine, other = ours.compile(), theirs.compile()
    assert mine.cost_analysis()["flops"] == other.cost_analysis()["flops"]
    memory, other_memory = mine.memory_analysis(), other.memory_analysis()
    assert memory.argument_size_in_bytes == other_memory.argument_size_in_bytes
    assert memory.output_size_in_bytes == other_memory.output_size_in_bytes
    assert "HloModule" in mine.as_text()


def test_compiled_takes_and_gives_trees_without_tracing():
    count = 0

    def f(params, x, n, *, scale):
        nonlocal count
        count += 1
        return model(params, x, scale=scale * n)

    jitted = pullback.jit(f, static_argnums=2)
    compiled = jitted.lower(PARAMS, X, 2, scale=1.0).compile()
    out = compiled(PARAMS, X, scale=3.0)
    np.testing.assert_allclose(out["y"], X @ PARAMS["w"] * 6)
    jitted(PARAMS, X, 2, scale=1.0)
    assert count == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((X,), "for f32\\[2\\] as argument x, called with f32\\[2,3\\]"),
        ((np.arange(2),), "called with i32\\[2\\]"),
        ((), "compiled for the arguments"),
        (({"x": X},), "compiled for the arguments"),
        (("text",), "called with 'text' of type str"),
    ],
)
def test_compiled_refuses_other_types_by_name(args, words):
    compiled = pullback.jit(lambda x: x * 2).lower(np.ones(2, np.float32)).compile()
    with pytest.raises(ArgumentTypeError, match=words):
        compiled(*args)


def test_compiled_is_not_transformed():
    compiled = pullback.jit(lambda x: x * 2).lower(np.float32(1)).compile()
    with pytest.raises(ArgumentTypeError, match="traced array"):
        pullback.vmap(compiled)(X[0])


def test_compiler_options_reach_xla():
    lowered = pullback.jit(lambda x: x * 2).lower(X)
    compiled = lowered.compile({"xla_cpu_enable_fast_math": True})
    np.testing.assert_array_equal(compiled(X), X * 2)
    with pytest.raises(RuntimeFailure, match="xla_no_such_option"):
        lowered.compile({"xla_no_such_option": True})


def test_compiled_ends_donated_arguments():
    x = pnp.asarray(X) + 1
    compiled = pullback.jit(pnp.sin, donate_argnums=0).lower(x).compile()
    compiled(x)
    assert x.is_deleted()
    with pytest.raises(RuntimeFailure, match="donated"):
        compiled(x)
