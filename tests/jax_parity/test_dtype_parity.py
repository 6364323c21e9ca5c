"""Promotion, categories and limits of element types are JAX's, exactly."""

import itertools
import random
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pullback import dtypes
from pullback.core import config, dtype as dt
from pullback.ops.promotion import TypePromotionError, promote, result_type

WIDE = (dt.int64, dt.uint64, dt.float64, dt.complex128)
WEAK = (bool, int, float, complex)


@pytest.fixture(params=[False, True], ids=["32", "64"])
def x64(request):
    with jax.enable_x64(request.param), config.enable_x64(request.param):
        yield request.param


def plain(x64):
    return [d for d in dt.PLAIN if x64 or d not in WIDE]


def ours(*args, **options):
    try:
        return result_type(*args, return_weak_type_flag=True, **options)
    except TypePromotionError:
        return "no path"


def theirs(*args):
    try:
        return jax.dtypes.result_type(*args, return_weak_type_flag=True)
    except jax.dtypes.TypePromotionError:
        return "no path"


def test_every_pair(x64):
    for pair in itertools.product([*plain(x64), *WEAK], repeat=2):
        assert ours(*pair) == theirs(*pair), pair


def test_triples(x64):
    kinds = [*plain(x64), *WEAK]
    narrow = (*dt.NARROW_FLOATS, dt.int2, dt.int4, dt.uint2, dt.uint4)
    common = [k for k in kinds if k not in narrow]
    rng = random.Random(0)
    for _ in range(1500):
        triple = rng.choices(common if rng.random() < 0.7 else kinds, k=3)
        assert ours(*triple) == theirs(*triple), triple


def test_strict_pairs(x64):
    with jax.numpy_dtype_promotion("strict"):
        for pair in itertools.product([*plain(x64), *WEAK], repeat=2):
            assert ours(*pair, strict=True) == theirs(*pair), pair


def test_promote_types_of_every_pair(x64):
    """But for Python types while 64 bits are off: ours mean the default width."""
    for a, b in itertools.product([*dt.PLAIN, *WEAK], repeat=2):
        try:
            expected = jnp.promote_types(a, b)
        except jax.dtypes.TypePromotionError:
            expected = None
        if not (x64 or dt.NARROWED.keys() & {a, b}) and {a, b} & {*WEAK}:
            expected = dt.NARROWED.get(expected, expected)
        try:
            got = dtypes.promote_types(a, b)
        except TypePromotionError:
            got = None
        assert got == expected, (a, b)


def test_values(x64):
    values = [True, 1, 2**40, 1.0, 1j, np.float64(1), np.zeros(2, "int64"), np.int8(1)]
    values += [np.uint32(1), np.zeros(2, "complex128"), np.float16, "bfloat16"]
    for pair in itertools.product(values, repeat=2):
        assert ours(*pair) == theirs(*pair), pair


def weak_operand(dtype):
    aval = jax.core.ShapedArray((), dtype, weak_type=True)
    return types.SimpleNamespace(aval=aval, dtype=dtype, shape=())


def test_weak_operands_of_any_width(x64):
    """What an operation computes in, and what `result_type` says, may differ here."""
    weak = [dt.int8, dt.int16, dt.int32, dt.uint8, dt.bfloat16, dt.float32]
    weak += [dt.complex64, *((dt.int64, dt.float64) if x64 else ())]
    strong = [dt.bool_, dt.int4, dt.int8, dt.uint32, dt.bfloat16, dt.float8_e5m2]
    for d, other in itertools.product(weak, [*weak, *strong]):
        for is_weak in (True, False):
            if is_weak and other not in weak:
                continue
            operand = weak_operand(other) if is_weak else other
            pair = (weak_operand(d), operand)
            assert ours(*pair) == theirs(*pair), (d, other, is_weak)
            assert computed(d, True, other, is_weak) == added(d, True, other, is_weak)


def computed(d1, w1, d2, w2):
    try:
        return promote([(d1, w1), (d2, w2)])
    except TypePromotionError:
        return "no path"


def added(d1, w1, d2, w2):
    x, y = (jax.ShapeDtypeStruct((), d, weak_type=w) for d, w in ((d1, w1), (d2, w2)))
    try:
        out = jax.eval_shape(jnp.add, x, y)
    except jax.dtypes.TypePromotionError:
        return "no path"
    return out.dtype, out.weak_type


CATEGORIES = [
    *(np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger),
    *(np.inexact, np.floating, np.complexfloating, np.bool_, np.flexible, np.void),
    *(np.float32, np.int64, "float32", float, int, complex, bool, jnp.bfloat16),
    *(dt.int4, dt.float8_e4m3fn, dt.float0),
]
MEMBERS = [*dt.PLAIN, *(d.type for d in dt.PLAIN), *WEAK, "float64", "int8", dt.float0]


def test_issubdtype():
    for a, b in itertools.product([*MEMBERS, object, str], CATEGORIES):
        assert dtypes.issubdtype(a, b) == jax.dtypes.issubdtype(a, b), (a, b)
    key, ours_key = jax.random.key(0).dtype, dt.KeyType("fry")
    for b in CATEGORIES:
        assert dtypes.issubdtype(ours_key, b) == jax.dtypes.issubdtype(key, b), b
        assert not dtypes.issubdtype(b, dtypes.extended)


LIMITS = "bits dtype eps epsneg machep max maxexp min minexp negep nexp nmant "
LIMITS += "precision resolution tiny smallest_normal smallest_subnormal"


@pytest.mark.parametrize("dtype", [d for d in dt.PLAIN if dt.is_inexact(d)])
def test_finfo(dtype):
    mine, other = dtypes.finfo(dtype), jnp.finfo(dtype)
    for name in LIMITS.split():
        np.testing.assert_array_equal(getattr(mine, name), getattr(other, name))


@pytest.mark.parametrize("dtype", [d for d in dt.PLAIN if dt.is_integer(d)])
def test_iinfo(dtype):
    mine, other = dtypes.iinfo(dtype), jnp.iinfo(dtype)
    for name in ("bits", "dtype", "max", "min"):
        assert getattr(mine, name) == getattr(other, name)
    assert dtypes.itemsize_bits(dtype) == jax.dtypes.itemsize_bits(dtype)


def test_inexact_and_scalar_partners(x64):
    for d in plain(x64):
        assert dtypes.scalar_type_of(d) is jax.dtypes.scalar_type_of(d)
        if d not in (dt.int2, dt.uint2, *dt.NARROW_FLOATS):
            out = jax.eval_shape(jnp.sin, jax.ShapeDtypeStruct((), d))
            assert dt.to_inexact(d) == out.dtype, d
        if dt.is_complex(d) or d in (dt.float32, dt.float64):
            out = jax.eval_shape(jnp.real, jax.ShapeDtypeStruct((), d))
            assert dt.to_real(d) == out.dtype


def test_names_in_printed_programs(x64):
    for d in [*plain(x64), dt.float0]:
        aval = jax.core.ShapedArray((), d)
        assert f"{dt.short_name(d)}[]" == aval.str_short(True)
    for impl, shape, short in (("threefry2x32", 2, "fry"), ("rbg", 4, "rbg")):
        key = jax.random.key(0, impl=impl)
        mine = dt.KeyType(short, (shape,))
        assert (mine.name, mine.itemsize) == (key.dtype.name, key.dtype.itemsize)
        assert mine.physical_shape(key.shape) == jax.random.key_data(key).shape
