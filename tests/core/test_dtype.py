"""Names, widths, scalars and keys: `core/dtype`."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from pullback.core import config, dtype as dt
from pullback.core.errors import DtypeError, UserError

SHORT = {
    **{"bool": "bool", "int2": "i2", "int32": "i32", "uint8": "u8", "uint4": "u4"},
    **{"bfloat16": "bf16", "float16": "f16", "float64": "f64", "complex64": "c64"},
    **{"float8_e4m3fn": "f8_e4m3fn", "float4_e2m1fn": "f4_e2m1fn"},
}
WIDE = {"int64": "int32", "uint64": "uint32", "float64": "float32"}
WIDE |= {"complex128": "complex64"}


@pytest.mark.parametrize(("long", "short"), SHORT.items())
def test_short_name(long, short):
    assert dt.short_name(np.dtype(long)) == short


def test_names_of_float0_and_keys():
    assert dt.short_name(dt.float0) == dt.name(dt.float0) == "float0"
    assert dt.short_name(dt.KeyType("fry")) == dt.name(dt.KeyType("fry")) == "key<fry>"
    assert np.zeros(3, dt.float0).nbytes == 0


@pytest.mark.parametrize(("wide", "narrow"), WIDE.items())
def test_canonicalize_narrows_data_only_while_the_switch_is_off(wide, narrow):
    for spelling in (wide, np.dtype(wide), getattr(np, wide)):
        assert dt.canonicalize(spelling) is np.dtype(narrow)
        with config.enable_x64():
            assert dt.canonicalize(spelling) is np.dtype(wide)
        assert dt.canonicalize(spelling) is np.dtype(narrow)


@pytest.mark.parametrize("dtype", dt.PLAIN)
def test_every_spelling_gives_the_same_object(dtype):
    with config.enable_x64():
        for spelling in (
            dtype,
            dtype.name,
            dtype.type,
            pickle.loads(pickle.dumps(dtype)),
        ):
            assert dt.canonicalize(spelling) is dtype
            assert dt.named(spelling) is dtype


@pytest.mark.parametrize("read", [dt.canonicalize, dt.named])
def test_python_types_mean_the_default_width(read):
    assert read(bool) is dt.bool_
    for spelling in (float, "float", None):
        assert read(spelling) is dt.float32 is dt.default_float()
    assert read(int) is read("int") is dt.int32 is dt.default_int()
    assert read("uint") is dt.uint32
    assert read(complex) is read("complex") is dt.complex64
    with config.enable_x64():
        assert read(float) is read("float") is dt.float64 is dt.default_float()
        assert read(int) is dt.int64 is dt.default_int()
        assert read(complex) is dt.complex128


def test_a_class_with_a_dtype_names_it():
    class float32:
        dtype = dt.float32

    assert dt.named(float32) is dt.float32


def test_byte_order_is_dropped_from_data_and_refused_by_name():
    assert dt.canonicalize(np.dtype(">f4")) is dt.float32
    assert dt.canonicalize(np.dtype(">f8")) is dt.float32
    with pytest.raises(DtypeError, match=">f4"):
        dt.named(np.dtype(">f4"))


def test_naming_a_wide_type_while_off_says_how_to_go_on():
    with pytest.raises(DtypeError) as error:
        dt.named(np.float64, "zeros")
    assert (error.value.asked, error.value.rule, error.value.fix) == (
        "zeros: float64 was named while 64-bit types are off",
        "64-bit types exist only while the switch enable_x64 is on",
        'name float32, or turn the switch on: pullback.config.update("enable_x64", '
        "True), or for a block of code `with pullback.enable_x64():`",
    )


@pytest.mark.parametrize("wide", [*WIDE, "f8", "double", np.int64, np.dtype("c16")])
def test_every_spelling_of_a_wide_name_is_refused(wide):
    for _ in range(2):
        with pytest.raises(DtypeError, match="64-bit"):
            dt.named(wide)


UNSUPPORTED = [
    *(np.longdouble, np.clongdouble, object, str, "U3", "O", np.dtype("M8[s]")),
    *(np.void, [("a", "f4")], "nonsense", 3, ml_dtypes.int1, ml_dtypes.float6_e2m3fn),
]


@pytest.mark.parametrize("dtype", UNSUPPORTED)
@pytest.mark.parametrize("read", [dt.canonicalize, dt.named])
def test_unsupported_types(read, dtype):
    with pytest.raises(DtypeError, match="is not an element type") as error:
        read(dtype)
    assert "bfloat16" in error.value.rule


def test_scalars_and_their_weakness():
    assert dt.of_scalar(True) == (dt.bool_, False)
    assert dt.of_scalar(1) == (dt.int32, True)
    assert dt.of_scalar(1.0) == (dt.float32, True)
    assert dt.of_scalar(1j) == (dt.complex64, True)
    assert dt.of_scalar(np.float64(1)) == (dt.float32, False)
    assert dt.of_scalar(ml_dtypes.bfloat16(1)) == (dt.bfloat16, False)
    with config.enable_x64():
        assert dt.of_scalar(1) == (dt.int64, True)
        assert dt.of_scalar(np.float64(1)) == (dt.float64, False)
    with pytest.raises(DtypeError, match="str is not"):
        dt.of_scalar("1")


def test_int_out_of_range():
    assert dt.of_scalar(-(2**31)) == (dt.int32, True)
    for x in (2**31, -(2**31) - 1):
        with pytest.raises(OverflowError, match="too large to convert to int32") as e:
            dt.of_scalar(x)
        assert isinstance(e.value, UserError)
        assert "uint32" in e.value.fix
    with config.enable_x64():
        assert dt.of_scalar(2**31) == (dt.int64, True)
        with pytest.raises(OverflowError, match="int64"):
            dt.of_scalar(2**63)


def test_scalar_type_of():
    kinds = {dt.scalar_type_of(d) for d in dt.PLAIN}
    assert kinds == {bool, int, float, complex}
    with pytest.raises(DtypeError, match="float0 has no"):
        dt.scalar_type_of(dt.float0)


def test_keys_are_interned():
    fry, rbg = dt.KeyType("fry"), dt.KeyType("rbg", (4,))
    assert fry is dt.KeyType("fry", [2], "uint32") is copy.deepcopy(fry)
    assert pickle.loads(pickle.dumps(rbg)) is rbg
    assert fry != rbg
    assert fry != np.dtype("uint32")
    assert (fry.itemsize, rbg.itemsize) == (8, 16)
    assert repr(fry) == str(fry) == fry.name == "key<fry>"
    assert rbg.physical_shape((3, 1)) == (3, 1, 4)
    assert rbg.physical_dtype is dt.uint32
    assert dt.canonicalize(fry) is dt.named(fry) is fry
    assert dt.is_key(fry)
    assert not dt.is_key(dt.uint32)


def test_each_plain_type_has_exactly_one_category():
    tests = (dt.is_bool, dt.is_integer, dt.is_float, dt.is_complex)
    for dtype in dt.PLAIN:
        assert sum(t(dtype) for t in tests) == 1
        assert dt.is_inexact(dtype) == (dt.is_float(dtype) or dt.is_complex(dtype))
    for dtype in (dt.float0, dt.KeyType("fry")):
        assert not any(t(dtype) for t in (*tests, dt.is_inexact))


def test_real_and_complex_partners():
    assert dt.to_real(dt.complex64) is dt.float32
    assert dt.to_real(dt.complex128) is dt.float64
    assert dt.to_real(dt.bfloat16) is dt.bfloat16
    assert dt.to_inexact(dt.int2) is dt.float32
    assert dt.to_inexact(dt.int64) is dt.float32
    assert dt.to_inexact(dt.float0) is dt.float0
    assert dt.to_complex(dt.float64) is dt.complex64
    with config.enable_x64():
        assert dt.to_inexact(dt.int64) is dt.float64
        assert dt.to_complex(dt.float64) is dt.complex128
