"""Arrays to and from other libraries, and what they tell about their memory."""

import ctypes
import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback.errors import ArgumentError, ArgumentTypeError, RuntimeFailure

DTYPES = [
    *("bool", "int8", "uint8", "int16", "int32", "uint32", "float16", "float32"),
    *("complex64", "bfloat16", "float8_e4m3fn"),
]


def sample(dtype):
    return pnp.asarray([[0, 1, 2], [3, 4, 5]]).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_to_jax_and_back(dtype):
    x = sample(dtype) if dtype != "float8_e4m3fn" else sample("float32").astype(dtype)
    theirs = jnp.from_dlpack(x)
    assert theirs.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(theirs), np.asarray(x))
    back = pullback.dlpack.from_dlpack(theirs)
    assert back.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(back), np.asarray(x))
    assert back.unsafe_buffer_pointer() == theirs.unsafe_buffer_pointer()


@pytest.mark.parametrize("dtype", ["int32", "float32", "complex64", "uint8"])
def test_numpy_sees_the_memory_read_only(dtype):
    x = sample(dtype) + 0
    view = np.from_dlpack(x)
    assert view.ctypes.data == x.unsafe_buffer_pointer()
    assert not view.flags.writeable
    copied = np.from_dlpack(x, copy=True)
    assert copied.ctypes.data != x.unsafe_buffer_pointer()
    np.testing.assert_array_equal(copied, view)


def test_a_view_outlives_its_array_and_its_deletion():
    x = pnp.arange(1000.0) * 2
    view = np.from_dlpack(x)
    x.delete()
    np.testing.assert_array_equal(view[:3], [0, 2, 4])
    with pytest.raises(RuntimeFailure, match="deleted"):
        x.__dlpack__()


def test_dlpack_refuses_what_it_cannot_express():
    with pytest.raises(BufferError, match="no DLPack type"):
        pullback.random.key(0).__dlpack__()
    with pytest.raises(BufferError, match="not on"):
        pnp.ones(2).__dlpack__(dl_device=(2, 0))


@pytest.mark.parametrize(
    "pick",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[::2, ::-1],
        lambda a: a[1:],
        lambda a: a[0],
    ],
)
def test_from_dlpack_takes_any_strides(pick):
    source = pick(np.arange(24, dtype=np.float32).reshape(4, 6))
    np.testing.assert_array_equal(pnp.from_dlpack(source), source)


def aligned(n):
    raw = np.zeros(n * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + n * 4].view(np.float32)


def test_from_dlpack_shares_what_it_can():
    source = aligned(100)
    shared = pnp.from_dlpack(source)
    copied = pnp.from_dlpack(source, copy=True)
    source[0] = 7
    assert float(shared[0]) == 7
    assert float(copied[0]) == 0
    assert shared.unsafe_buffer_pointer() == source.ctypes.data


def test_from_dlpack_narrows_like_numpy_data():
    source = np.arange(3.0)
    assert pnp.from_dlpack(source).dtype == np.float32
    with pytest.raises(BufferError, match="narrowed"):
        pnp.from_dlpack(source, copy=False)
    with pytest.raises(BufferError, match="strides"):
        pnp.from_dlpack(np.ones((2, 3), np.float32).T, copy=False)
    with pullback.enable_x64():
        assert pnp.from_dlpack(source).dtype == np.float64


def test_from_dlpack_takes_objects_only():
    with pytest.raises(ArgumentTypeError, match="__dlpack__"):
        pnp.from_dlpack([1, 2])


def test_array_namespace():
    x = pnp.ones(3)
    assert x.__array_namespace__() is pnp
    assert x.__array_namespace__(api_version="2023.12") is pnp
    with pytest.raises(ArgumentError, match="1999"):
        x.__array_namespace__(api_version="1999")
    assert x.to_device(x.device).device == x.device


@pytest.mark.skipif(sys.version_info < (3, 12), reason="buffers came with Python 3.12")
def test_buffer_protocol():
    x = pnp.arange(3)
    view = memoryview(x)
    assert view.tolist() == [0, 1, 2]
    assert view.readonly


def test_memory_is_told():
    x = pnp.arange(6, dtype="float32").reshape(2, 3) + 1
    theirs = jnp.arange(6, dtype="float32").reshape(2, 3) + 1
    assert x.on_device_size_in_bytes() == theirs.on_device_size_in_bytes() == 24
    assert x.nbytes == 24
    assert x.is_fully_addressable
    assert x.is_fully_replicated
    assert x.copy_to_host_async() is None
    pointer = x.unsafe_buffer_pointer()
    read = (ctypes.c_float * 6).from_address(pointer)
    assert list(read) == [1, 2, 3, 4, 5, 6]
    assert x.devices() == {x.device}


def test_numpy_conversion_of_bfloat16():
    x = pnp.ones(3, "bfloat16") * 1.5
    assert np.asarray(x).dtype == ml_dtypes.bfloat16
    assert np.asarray(jax.dlpack.from_dlpack(x)).tolist() == [1.5] * 3
