"""What `ops/host.py` calls exact has the bits of XLA's results on edge values.

Subnormal numbers are left out: XLA's programs for the CPU take them for zero.
"""

import ml_dtypes
import numpy as np
import pytest

import pullback.compile.jit
import pullback.ops.bits
import pullback.ops.complex
import pullback.ops.powers  # noqa: F401
from pullback.compile.executable import compile_jaxpr, to_buffer
from pullback.core import config, dtype as dt
from pullback.core.aval import aval_of
from pullback.core.errors import DtypeError
from pullback.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var
from pullback.core.primitive import REGISTRY
from pullback.ops.host import is_exact

UNARY = (
    "neg sign abs floor ceil is_finite square sqrt not population_count clz copy "
    "stop_gradient"
)
BINARY = (
    "add add_any sub mul max min rem nextafter eq ne lt le gt ge and or xor "
    "shift_left shift_right_logical shift_right_arithmetic"
)
FLOATS = ("float64", "float32", "bfloat16", "float16")
WITH_PARAMS = [
    *(("integer_pow", {"y": y}) for y in (2, 3, 5, -1, -2)),
    *(("round", {"rounding_method": r}) for r in (0, 1)),
    *(
        ("reduce_precision", {"exponent_bits": e, "mantissa_bits": m})
        for e, m in [(8, 7), (5, 10), (5, 2)]
    ),
    *(
        ("convert_element_type", {"new_dtype": dt.parse(d), "weak_type": False})
        for d in ("bool", "uint8", "int32", "int64", "bfloat16", "float32", "float64")
    ),
]


@pytest.fixture(autouse=True)
def _x64():
    with config.enable_x64(True):
        yield


def edges(dtype):
    """Extremes, ties, infinities, NaN, both zeros, and ordinary numbers."""
    rng = np.random.default_rng(0)
    if dt.is_bool(dtype):
        return np.array([True, False])
    if dt.is_integer(dtype):
        info = np.iinfo(dtype)
        ordinary = rng.integers(info.min, info.max, 10, dtype=dtype)
        chosen = [info.min, info.max, info.max - 1, 0, 1, 2, 3]
        return np.concatenate([np.array(chosen, dtype), ordinary])
    info = ml_dtypes.finfo(dtype)
    large, tiny = float(info.max), float(info.tiny)
    chosen = [0.0, -0.0, np.nan, np.inf, -np.inf, 1, -1, 0.5, 1.5, 2.5, -2.5]
    chosen += [large, -large, tiny, -tiny, *rng.normal(size=10) * 10]
    return np.array(chosen).astype(dtype)


def jobs(dtype):
    x = edges(dtype)
    pair = tuple(np.ravel(v) for v in np.meshgrid(x, x))
    found = [(name, {}, (x,)) for name in UNARY.split()]
    found += [(name, {}, pair) for name in BINARY.split()]
    found += [(name, {}, (x[0], x)) for name in BINARY.split()]
    found += [(name, params, (x,)) for name, params in WITH_PARAMS]
    for name, params, xs in found:
        avals = list(map(aval_of, xs))
        if not is_exact(name, avals):
            continue
        try:
            out = REGISTRY[name].out_avals(avals, params)
        except DtypeError:
            continue
        yield name, params, xs, out


def compiled(todo):
    """Results of all jobs, from one program with one equation a job."""
    eqns, inputs, values = [], [], []
    for name, params, xs, out in todo:
        mine = [Var(aval_of(x)) for x in xs]
        inputs += mine
        values += [to_buffer(x, aval_of(x)) for x in xs]
        eqn = JaxprEqn(REGISTRY[name], mine, [Var(out)], params, frozenset(), None)
        eqns.append(eqn)
    outputs = [eqn.outvars[0] for eqn in eqns]
    jaxpr = Jaxpr([], inputs, outputs, eqns, frozenset())
    return compile_jaxpr(ClosedJaxpr(jaxpr), "exact").run(values)


def same_bits(got, want):
    """Where two arrays have the same bits, both are NaN, or one is subnormal."""
    shape = (got.size, -1)
    left = np.ascontiguousarray(got).view(np.uint8).reshape(shape)
    right = np.ascontiguousarray(want).view(np.uint8).reshape(shape)
    same = (left == right).all(1)
    if dt.is_float(want.dtype):
        wide, tiny = want.ravel().astype(float), float(ml_dtypes.finfo(want.dtype).tiny)
        same |= np.isnan(wide) & np.isnan(got.ravel().astype(float))
        same |= (np.abs(wide) < tiny) & (wide != 0)
    return same


@pytest.mark.parametrize(
    "name",
    [*(d.name for d in (dt.bool_, dt.uint8, dt.int8, dt.int32, dt.int64)), *FLOATS],
)
def test_the_host_computes_what_the_compiled_program_does(name):
    todo = list(jobs(dt.parse(name)))
    wrong = []
    for (prim, params, xs, out), got in zip(todo, compiled(todo), strict=True):
        want = np.asarray(REGISTRY[prim].reference(*xs, **params), out.dtype)
        same = same_bits(got.host(), want)
        if not same.all():
            at = int(np.flatnonzero(~same)[0])
            pair = got.host().ravel()[at], want.ravel()[at]
            wrong.append(f"{prim} {params}: element {at} is {pair[0]}, NumPy {pair[1]}")
    assert todo
    assert not wrong, "\n".join(wrong)
