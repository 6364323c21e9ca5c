"""The lattice by itself, its errors and its settings: `core/promotion`."""

import itertools
import types

import numpy as np
import pytest

from pullback.core import config, dtype as dt
from pullback.core.errors import ArgumentError, DtypeError, UserError
from pullback.ops import promotion
from pullback.ops.promotion import (
    TypePromotionError,
    promote,
    promote_pair,
    promote_types,
    result_type,
    safe_cast,
)


@pytest.mark.parametrize("arrows", [promotion._STANDARD, promotion._STRICT])
def test_the_lattice_has_one_least_type_for_all_that_meet(arrows):
    reach = promotion._reachable(arrows)
    for a, b in itertools.combinations(reach, 2):
        common = reach[a] & reach[b]
        assert sum(reach[n] >= common for n in common) == bool(common)


def test_promotion_is_commutative_and_idempotent():
    with config.enable_x64():
        for a, b in itertools.product(dt.PLAIN, dt.PLAIN):
            assert outcome(a, b) == outcome(b, a)
            assert promote_types(a, a) is a


def outcome(a, b):
    try:
        return promote_types(a, b)
    except TypePromotionError:
        return None


def test_more_than_two_operands():
    triple = [(dt.int8, False), (dt.uint8, False), (dt.float32, True)]
    assert promote(triple) == (dt.float32, True)
    assert promote([(dt.int8, False)]) == (dt.int8, False)
    assert promote([(dt.int32, True)] * 3) == (dt.int32, True)
    with pytest.raises(ArgumentError, match="no operands"):
        promote([])
    with pytest.raises(ValueError, match="no operands"):
        result_type()


def test_equal_wide_types_stay_as_they_are_while_off():
    for count in (1, 2, 3):
        assert promote([(dt.float64, False)] * count) == (dt.float64, False)
    assert promote_pair(dt.float64, False, dt.int32, False) == (dt.float32, False)


def test_the_switch_is_part_of_the_cache():
    pair = (dt.int32, False, dt.uint32, False)
    assert promote_pair(*pair) == (dt.int32, False)
    with config.enable_x64():
        assert promote_pair(*pair) == (dt.int64, False)
    assert promote_pair(*pair) == (dt.int32, False)


def test_strict_follows_the_setting_or_the_argument():
    pair = (dt.int32, False, dt.float32, False)
    assert promote_pair(*pair) == (dt.float32, False)
    with config.scoped(numpy_dtype_promotion="strict"):
        with pytest.raises(TypePromotionError, match="'strict'"):
            promote_pair(*pair)
        with pytest.raises(TypePromotionError, match="int8, weak float32"):
            result_type(np.int8, 1.0)
        assert result_type(np.int8, np.int16, strict=False) is dt.int16
        assert promote_pair(dt.float32, False, dt.int32, True) == (dt.float32, False)
    with pytest.raises(TypePromotionError, match="strict"):
        result_type(np.int8, np.int16, strict=True)
    assert promote_pair(*pair) == (dt.float32, False)


def test_no_path_error():
    with pytest.raises(TypePromotionError) as error:
        promote_types("float8_e4m3fn", "float32")
    assert (error.value.asked, error.value.rule, error.value.fix) == (
        "the types float32, float8_e4m3fn have no type in common",
        "4- and 8-bit floats are not promoted implicitly",
        "convert the operands to one type, as in x.astype(y.dtype)",
    )
    for kind in (ValueError, TypeError):
        assert isinstance(error.value, kind)
    with pytest.raises(TypePromotionError, match="2- and 4-bit integers"):
        promote_types("int4", "int8")


@pytest.mark.parametrize("odd", [dt.float0, dt.KeyType("fry")])
def test_keys_and_float0_meet_only_themselves(odd):
    assert promote_types(odd, odd) is result_type(odd, odd, odd) is odd
    assert promote_pair(odd, False, odd, False) == (odd, False)
    for other in (dt.float32, 1, True):
        with pytest.raises(TypePromotionError, match="promotes to no other type"):
            result_type(odd, other)
    with pytest.raises(TypePromotionError, match="promotes to no other type"):
        result_type(dt.float0, dt.KeyType("fry"))


def test_operands_of_result_type():
    aval = types.SimpleNamespace(dtype=dt.int32, weak_type=True)
    assert result_type(aval, return_weak_type_flag=True) == (dt.int32, True)
    array = types.SimpleNamespace(aval=aval)
    assert result_type(array, np.int8(1)) is dt.int8
    assert result_type(np.zeros(2), np.float16) is dt.float32
    assert result_type(np.float64(1)) is dt.float32
    assert result_type("bfloat16", 1.0) is dt.bfloat16
    assert result_type(2**70) is dt.int32
    assert result_type(True, return_weak_type_flag=True) == (dt.bool_, False)
    with pytest.raises(DtypeError, match="float64 was named"):
        result_type(np.float64)
    with pytest.raises(DtypeError, match="list is neither"):
        result_type([1, 2])


def test_promote_types_is_wide_only_from_wide_types_while_off():
    assert promote_types(float, "int8") is promote_types(float, float) is dt.float32
    assert promote_types("int8", "uint32") is dt.int32
    assert promote_types("int64", "bool") is dt.int64
    assert promote_types("int8", "uint64") is dt.float64
    assert promote_types(np.float64, "float32") is dt.float64
    assert promote_types(dt.float64, int) is dt.float64
    assert promote_types(float, "bfloat16") is dt.bfloat16
    with pytest.raises(UserError, match="not an element type"):
        promote_types([], "float32")


def test_safe_cast():
    assert safe_cast(np.int8, np.float32)
    assert not safe_cast(np.float32, np.int8)
    assert safe_cast(1, dt.int8)
    assert not safe_cast(1.0, dt.int8)
