"""Categories and limits: `core/dtype_info`, and the public module `dtypes`."""

import numpy as np
import pytest

from pullback import dtypes
from pullback.core import dtype as dt
from pullback.core.dtype_info import finfo, iinfo, issubdtype, itemsize_bits
from pullback.core.errors import ArgumentError, DtypeError


def test_keys_belong_to_their_categories_only():
    key = dt.KeyType("fry")
    for category in (dt.prng_key, dt.extended, np.generic, key):
        assert issubdtype(key, category)
    for category in (np.number, np.integer, dt.KeyType("rbg", (4,)), dt.uint32):
        assert not issubdtype(key, category)
    assert issubdtype(dt.prng_key, dt.extended)
    assert not issubdtype(np.uint32, dt.extended)
    with pytest.raises(DtypeError, match="issubdtype: 'nonsense'"):
        issubdtype("nonsense", np.number)


def test_limits():
    assert finfo("bfloat16").eps == 2**-7
    assert finfo(np.complex64).eps == np.finfo(np.float32).eps
    assert finfo(float).bits == 64
    assert (iinfo("int4").min, iinfo("int4").max, iinfo("uint2").max) == (-8, 7, 3)
    assert iinfo(int).bits == 64


@pytest.mark.parametrize("dtype", [bool, dt.float0, dt.KeyType("fry")])
@pytest.mark.parametrize("limits", [finfo, iinfo])
def test_types_without_limits(limits, dtype):
    with pytest.raises(ArgumentError, match=limits.__name__):
        limits(dtype)


def test_the_other_limits_are_named():
    with pytest.raises(ArgumentError, match="use iinfo"):
        finfo(int)
    with pytest.raises(ArgumentError, match="use finfo"):
        iinfo("bfloat16")


def test_bits():
    sizes = {"bool": 8, "int4": 4, "uint2": 2, "float4_e2m1fn": 4, "float8_e5m2": 8}
    for name, bits in sizes.items():
        assert itemsize_bits(name) == bits
    assert itemsize_bits(dt.complex128) == 128
    with pytest.raises(ArgumentError, match="key<fry>"):
        itemsize_bits(dt.KeyType("fry"))


def test_public_module():
    assert all(hasattr(dtypes, name) for name in dtypes.__all__)
    assert dtypes.canonicalize_dtype(float) is dt.float32
