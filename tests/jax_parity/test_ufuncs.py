"""Elementwise functions of `pullback.numpy` against `jax.numpy`.

Types are compared for all pairs of operand types without running anything; values by
one compiled program a function.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback.core import dtype as dtypes

UNARY = (
    "exp exp2 expm1 log log1p log2 log10 sin cos tan arcsin arccos arctan sinh cosh "
    "tanh arcsinh arccosh arctanh sqrt cbrt square reciprocal deg2rad rad2deg floor "
    "ceil trunc rint fabs sign sinc isfinite isinf isnan isposinf isneginf isreal "
    "iscomplex signbit modf angle nan_to_num bitwise_count frexp negative positive abs "
    "real imag conjugate round invert logical_not"
)
BINARY = (
    "add subtract multiply divide floor_divide remainder divmod power float_power "
    "equal not_equal less less_equal greater greater_equal maximum minimum bitwise_and "
    "bitwise_or bitwise_xor left_shift right_shift logical_and logical_or logical_xor "
    "arctan2 hypot logaddexp logaddexp2 copysign nextafter fmax fmin fmod heaviside "
    "isclose ldexp clip"
)
# One of each rule of types.
QUICK = ("add", "divide", "power", "equal", "bitwise_and", "left_shift", "arctan2")
NAMES = "bool uint8 int8 int16 int32 uint32 bfloat16 float16 float32 complex64"
SCALARS = [True, 3, 0.5, 1j]
# In JAX these are weakly typed for operands without axes; here they never are.
STRONG = ("hypot", "logaddexp2", "heaviside", "power")
# Functions of complex numbers that JAX offers and we do not.
REFUSES_COMPLEX = ("arctan2", "logaddexp", "logaddexp2")


def outcome(fun, evaluate, *xs):
    """What a call gives: dtypes and weak types, or the class of its error."""
    try:
        out = evaluate(fun, *xs)
    except Exception as error:
        kinds = (TypeError, ValueError, NotImplementedError, OverflowError)
        return next((k.__name__ for k in kinds if isinstance(error, k)), "?")
    outs = out if isinstance(out, tuple | list) else [out]
    return [(np.dtype(x.dtype).name, x.shape, weak(x)) for x in outs]


def weak(x):
    """JAX also calls booleans weak, which changes nothing."""
    return bool(x.weak_type) and x.dtype != bool


def typed(module, evaluate, name, kinds):
    fun = getattr(module, name)
    found = {}
    for kind in kinds:
        fixed = [k for k in kind if not isinstance(k, str)]
        specs = [
            evaluate.struct((2,), np.dtype(dtypes.parse(k)))
            for k in kind
            if isinstance(k, str)
        ]

        def call(*xs, kind=kind, fixed=fixed):
            given, consts = iter(xs), iter(fixed)
            return fun(*(next(given if isinstance(k, str) else consts) for k in kind))

        found[kind] = outcome(call, evaluate.run, *specs)
    return found


class OfJax:
    struct = jax.ShapeDtypeStruct

    @staticmethod
    def run(fun, *xs):
        return jax.eval_shape(fun, *xs)


class Ours:
    struct = pullback.ShapeDtypeStruct

    @staticmethod
    def run(fun, *xs):
        return pullback.eval_shape(fun, *xs)


def differences(name, kinds):
    want = typed(jnp, OfJax, name, kinds)
    got = typed(pnp, Ours, name, kinds)
    return [
        f"{name}{kind}: {got[kind]}, JAX {want[kind]}"
        for kind in kinds
        if got[kind] != want[kind]
        and not _known(name, kind, got[kind])
        and not (isinstance(got[kind], str) and isinstance(want[kind], str))
    ]


def _known(name, kind, got):
    """Weak results without axes; complex numbers that we refuse and JAX takes."""
    if name in STRONG and not any(isinstance(k, str) for k in kind):
        return True
    return (
        got == "TypeError" and name in REFUSES_COMPLEX and {1j, "complex64"} & {*kind}
    )


@pytest.mark.parametrize("name", UNARY.split())
def test_types_of_one_operand(name):
    kinds = [(n,) for n in NAMES.split()] + [(s,) for s in SCALARS]
    found = differences(name, kinds)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "name",
    [
        n if n in QUICK else pytest.param(n, marks=pytest.mark.slow)
        for n in BINARY.split()
    ],
)
def test_types_of_two_operands(name):
    kinds = [(a, b) for a in NAMES.split() for b in NAMES.split()]
    kinds += [(a, s) for a in NAMES.split() for s in SCALARS]
    kinds += [(s, a) for a in NAMES.split() for s in SCALARS]
    kinds += [(s, z) for s in SCALARS for z in SCALARS]
    found = differences(name, kinds)
    assert not found, "\n".join(found[:20])


FLOATS = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.3, 2.5, -7.25, 30.0, 1e10, np.inf, -np.inf, np.nan],
    np.float32,
)
INTS = np.array([0, 1, -1, 2, 5, -7, 31, 2**31 - 1, -(2**31)], np.int32)
SAFE = FLOATS[np.isfinite(FLOATS)]
COMPLEX = (SAFE[:8] + 1j * SAFE[:8][::-1]).astype(np.complex64)
BYTES = np.array([0, 1, 7, 200, 255], np.uint8)


def grid(x):
    return tuple(np.ravel(v) for v in np.meshgrid(x, x))


def run_all(module, jit, name, cases):
    fun = getattr(module, name)

    def program(cases):
        outs = []
        for xs in cases:
            try:
                outs.append(fun(*xs))
            except (TypeError, ValueError, NotImplementedError):
                outs.append(np.int32(0))
        return outs

    return jit(program)(cases)


def compare(name, cases, tol):
    want = jax.tree.leaves(run_all(jnp, jax.jit, name, cases))
    got = pullback.tree.leaves(run_all(pnp, pullback.jit, name, cases))
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        g, w = np.asarray(g), np.asarray(w)
        assert g.dtype == w.dtype
        if g.dtype.name in ("bfloat16", "float16"):
            g, w = g.astype(np.float32), w.astype(np.float32)
        np.testing.assert_allclose(g, w, rtol=tol, atol=tol * 0.1, err_msg=name)


@pytest.mark.parametrize("name", UNARY.split())
def test_values_of_one_operand(name):
    cases = [(FLOATS,), (INTS,), (BYTES,), (np.array([True, False]),)]
    if name not in ("arcsin", "arccos", "arcsinh", "arccosh", "arctanh", "angle"):
        cases.append((COMPLEX,))
    compare(name, cases, 2e-6)


@pytest.mark.parametrize("name", BINARY.split())
def test_values_of_two_operands(name):
    cases = [grid(FLOATS), grid(INTS), grid(BYTES)]
    if name not in ("power", "float_power", "arctan2", "logaddexp", "logaddexp2"):
        cases.append(grid(COMPLEX))
    if name == "ldexp":
        cases = [(FLOATS[:9], INTS)]
    compare(name, cases, 2e-5 if "log" in name else 4e-6)


POWERS = [0, 1, 2, 3, 4, 7, -1, -2, 0.5, 2.0, -1.0]


@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16", "complex64", "bool"])
def test_power_of_a_python_number(dtype):
    master = np.array([0.0, 1.0, -2.0, 3.5]).astype(dtypes.parse(dtype))
    powers = [p for p in POWERS if dtype in ("float32", "bfloat16") or p >= 0]
    want = jax.jit(lambda x: [x**p for p in powers])(master)
    got = pullback.jit(lambda x: [x**p for p in powers])(master)
    for g, w, p in zip(got, want, powers, strict=True):
        assert (g.dtype, g.weak_type) == (w.dtype, w.weak_type), p
        g, w = np.asarray(g), np.asarray(w)
        if dtype == "bfloat16":
            g, w = g.astype(np.float32), w.astype(np.float32)
        np.testing.assert_allclose(g, w, rtol=1e-5, err_msg=str(p))


@pytest.mark.parametrize("decimals", [0, 1, 2, -1])
def test_round(decimals):
    for x in (SAFE, SAFE[:9].astype(np.float16), COMPLEX):
        want = np.asarray(jnp.round(x, decimals))
        np.testing.assert_array_equal(np.asarray(pnp.round(x, decimals)), want)


def test_where_and_select():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for args in [(x > 2, x, 0), (x > 2, 1, 2.5), (x, x, x[0]), (True, x, 1j)]:
        want, got = jnp.where(*args), pnp.where(*args)
        assert (got.dtype, got.weak_type) == (want.dtype, want.weak_type)
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
    args = [x < 1, x > 3], [x, x * 2], 9
    want, got = jnp.select(*args), pnp.select(*args)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


GRADIENTS = [
    ("maximum", (1.0, 1.0)),
    ("minimum", (1.0, 1.0)),
    ("abs", (0.0,)),
    ("sqrt", (4.0,)),
    ("power", (0.0, 2.0)),
    ("power", (2.0, 0.0)),
    ("arctan2", (1.0, -2.0)),
    ("hypot", (3.0, 4.0)),
    ("logaddexp", (1.0, 1.0)),
    ("logaddexp", (1.0, 30.0)),
    ("sinc", (0.0,)),
    ("sinc", (0.3,)),
    ("remainder", (-7.5, 2.0)),
    ("fmod", (-7.5, 2.0)),
    ("copysign", (3.0, -1.0)),
    ("floor_divide", (7.0, 2.0)),
    ("reciprocal", (2.0,)),
    ("log1p", (-0.999,)),
    ("arcsinh", (3.0,)),
    ("arccosh", (3.0,)),
    ("square", (3.0,)),
    ("cbrt", (8.0,)),
    ("log10", (8.0,)),
    ("modf", (2.75,)),
]


@pytest.mark.parametrize(("name", "at"), GRADIENTS)
def test_derivatives(name, at):
    at = tuple(np.float32(x) for x in at)
    ones = tuple(np.float32(1 + i) for i in range(len(at)))
    want = jax.jvp(getattr(jnp, name), at, ones)[1]
    got = pullback.jvp(getattr(pnp, name), at, ones)[1]
    for g, w in zip(pullback.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(np.asarray(g), np.asarray(w), rtol=1e-5)
