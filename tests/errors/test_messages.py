"""Golden texts: what was asked with types and the user's line, the rule, the remedy."""

import re

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp

A23 = np.ones((2, 3), np.float32)
LEAKED = []


def leak():
    @pullback.jit
    def inner(x):
        y = pnp.sin(x)
        LEAKED.append(y)
        return y

    inner(1.0)
    return LEAKED[-1] * 2


CASES = {
    "matmul": (
        lambda: pnp.asarray(A23) @ A23,
        """x @ y: x is f32[2,3], y is f32[2,3]  (at HERE)
  rule: the last axis of x (3) and the second-last axis of y (2) must have the same size
  fix: transpose the second operand: x @ y.T""",
    ),
    "add": (
        lambda: pnp.asarray(A23) + np.ones(2, np.float32),
        """add of operands with shapes (2, 3), (2,), which do not broadcast  (at HERE)
  rule: counted from the last axis, sizes are equal or one of them is 1
  fix: insert axes with reshape or x[:, None], or transpose one operand""",
    ),
    "bool": (
        lambda: pullback.jit(lambda x: 1 if x > 0 else 2)(1.0),
        """bool() of a traced array, bool[] made at HERE: `SOURCE`, in <lambda> \
 (at HERE)
  rule: while tracing (jit, vmap, scan, ...) only types are known
  fix: use lax.cond, lax.while_loop or numpy.where, or a static argument""",
    ),
    "integer": (
        lambda: pullback.jit(lambda n: pnp.zeros(n))(3),
        """the integer value of a traced array, i32[], argument n of <lambda>  (at HERE)
  rule: while tracing (jit, vmap, scan, ...) only types are known
  fix: make the argument static (static_argnums), or index with the array""",
    ),
    "numpy": (
        lambda: pullback.jit(lambda x: np.sin(x))(1.0),
        """the NumPy value of a traced array, f32[], argument x of <lambda>  (at HERE)
  rule: while tracing (jit, vmap, scan, ...) only types are known
  fix: use pullback.numpy in place of numpy on traced values""",
    ),
    "leak": (
        leak,
        """mul got a traced array that has left its function: f32[] made at HERE: \
`y = pnp.sin(x)`, in inner  (at HERE)
  rule: a traced value lives only while the function that is traced runs
  fix: return it from the function instead of storing it in a global, an attribute or \
a closure""",
    ),
    "static": (
        lambda: pullback.jit(lambda x, sizes: x, static_argnames="sizes")(1.0, [2, 3]),
        """jit of <lambda>: static argument 1 is [2, 3] of type list  (at HERE)
  rule: static arguments are hashable, because they are part of the key
  fix: pass a tuple for a list, or make the argument dynamic""",
    ),
    "argument": (
        lambda: pullback.jit(lambda params: 1.0)({"layer": [{"w": "text"}]}),
        """<lambda>: argument params['layer'][0]['w'] is 'text' of type str  (at HERE)
  rule: arguments of a compiled function are trees of arrays and numbers
  fix: mark it static with static_argnums or static_argnames""",
    ),
    "tree": (
        lambda: pullback.tree.map(
            lambda x, y: x, {"layers": [(1, 2)]}, {"layers": [[1, 2, 3]]}
        ),
        """tree map: the second tree differs at ['layers'][0]: tuple of length \
2 against \
list of length 3  (at HERE)""",
    ),
    "vmap": (
        lambda: pullback.vmap(lambda d, y: y)({"a": A23}, np.ones(4, np.float32)),
        """vmap over axes of different sizes:
    * axis 0 of args[0]['a'], of type float32[2,3], has 2
    * axis 0 of args[1], of type float32[4], has 4  (at HERE)
  rule: all mapped axes have one size
  fix: map other axes with in_axes, or pass None for what is not mapped""",
    ),
    "grad of a vector": (
        lambda: pullback.grad(lambda x: x * 2)(A23),
        """grad of <lambda>, which returned f32[2,3]  (at HERE)
  rule: a gradient exists only of a function with one scalar result
  fix: reduce the result with sum() or mean(), or use jacrev or jacfwd""",
    ),
    "no derivative": (
        lambda: pullback.grad(lambda x: pnp.nextafter(x, 2.0))(1.0),
        """nextafter(f32[], f32[]) has no derivative  (at HERE)
  rule: WHY
  fix: for a zero derivative, wrap its operands in lax.stop_gradient""",
    ),
    "64 bits": (
        lambda: pnp.zeros(3, "float64"),
        None,
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_text(name):
    call, want = CASES[name]
    with pytest.raises(pullback.errors.UserError) as caught:
        call()
    text = str(caught.value)
    got = re.sub(r"test_messages\.py:\d+", "HERE", text)
    if name == "bool":
        got = re.sub(r"`[^`]*`", "`SOURCE`", got)
    if name == "no derivative":
        got = re.sub(r"rule: .*", "rule: WHY", got)
    if want is None:
        assert "float64" in got
        assert "enable_x64" in got
    elif name == "tree":
        assert got.startswith(want)
    else:
        assert got == want


def test_internal_frames_are_not_the_users_line():
    with pytest.raises(pullback.errors.ShapeError) as caught:
        pnp.ones(2) + pnp.ones(3)
    assert "test_messages.py" in str(caught.value)
    assert "/pullback/" not in str(caught.value)


def test_names_of_jax_are_there():
    for name in (
        "ConcretizationTypeError",
        "JaxRuntimeError",
        "NonConcreteBooleanIndexError",
        "TracerArrayConversionError",
        "TracerBoolConversionError",
        "TracerIntegerConversionError",
        "UnexpectedTracerError",
    ):
        assert issubclass(getattr(pullback.errors, name), Exception)
