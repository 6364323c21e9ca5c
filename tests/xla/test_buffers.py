"""NumPy to device and back for every element type; DLPack; life of a buffer."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from pullback.xla import buffers, client, dlpack
from pullback.xla.types import dtypes

X = np.arange(6, dtype=np.float32)


def round_trip(x):
    return buffers.to_numpy(buffers.put(x), x.dtype)


@pytest.mark.parametrize("shape", [(), (7,), (2, 3), (0, 3)], ids=str)
@pytest.mark.parametrize("name", sorted(dtypes()))
def test_every_dtype_round_trips(name, shape):
    x = (np.arange(np.prod(shape, dtype=int)) % 3 - 1).reshape(shape)
    x = x.astype(dtypes()[name])
    got = round_trip(x)
    assert got.dtype == x.dtype
    assert got.shape == shape
    assert got.tobytes() == x.tobytes()
    assert not got.flags.writeable


def test_every_value_of_the_narrow_integers():
    for name in ("int2", "uint2", "int4", "uint4"):
        info = ml_dtypes.iinfo(dtypes()[name])
        x = np.arange(int(info.min), int(info.max) + 1).astype(dtypes()[name])
        np.testing.assert_array_equal(round_trip(x).astype(int), x.astype(int))


@pytest.mark.parametrize(
    "x",
    [np.arange(12).reshape(3, 4).T, np.arange(12.0)[::-2], np.zeros((2, 3))[:, :0]],
    ids=["transposed", "negative stride", "empty"],
)
def test_any_layout_is_copied_in(x):
    np.testing.assert_array_equal(round_trip(x), x)


def test_64_bit_data_stays_64_bit():
    x = np.array([1 + 2**-40, 2**60])
    assert round_trip(x).tobytes() == x.tobytes()


def test_later_changes_of_the_source_never_show():
    x = np.zeros(1 << 16, np.float32)  # large and aligned: jaxlib would alias it
    buffer = buffers.put(x)
    x[:] = 1
    assert not buffers.to_numpy(buffer, x.dtype).any()


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_reading_shares_memory_and_keeps_it_alive(dtype):
    buffer = buffers.put(X.astype(dtype))
    first, second = (buffers.to_numpy(buffer, np.dtype(dtype)) for _ in range(2))
    assert np.shares_memory(first, second)
    buffers.delete(buffer)
    del buffer, second
    np.testing.assert_array_equal(first.astype(np.float32), X)


def test_an_unknown_element_type_raises():
    with pytest.raises(client.BackendError, match="Unknown NumPy dtype"):
        buffers.put(np.zeros(2, ml_dtypes.float6_e2m3fn))


def test_life_of_a_buffer():
    buffer = buffers.put(X)
    buffers.block(buffer)
    buffers.block_all([buffer, buffer])
    assert buffers.is_ready(buffer)
    assert buffers.nbytes(buffer) == X.nbytes
    assert buffers.buffer_shape(buffer) == X.shape
    assert buffers.device_of(buffer) is client.devices()[0]
    before = buffers.live_bytes(client.devices()[0])
    buffers.delete(buffer)
    assert buffers.live_bytes(client.devices()[0]) == before - X.nbytes
    assert buffers.is_deleted(buffer)
    assert not buffers.is_ready(buffer)  # jaxlib's own answer ends the process
    with pytest.raises(client.BackendError, match="deleted"):
        buffers.block(buffer)
    with pytest.raises(BufferError, match="null"):
        buffers.to_numpy(buffer, X.dtype)


class Producer:
    """An exporter as libraries write it."""

    def __init__(self, buffer, device=(1, 0)):
        self.buffer, self.device = buffer, device

    def __dlpack__(self, **_):
        return dlpack.to_dlpack(self.buffer)

    def __dlpack_device__(self):
        return self.device


def test_dlpack_out_aliases():
    buffer = buffers.put(X)
    got = np.from_dlpack(Producer(buffer))
    np.testing.assert_array_equal(got, X)
    assert np.shares_memory(got, buffers.to_numpy(buffer, X.dtype))


@pytest.mark.parametrize(
    "name", ["float32", "bool", "complex64", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
)
def test_dlpack_in_aliases_every_type(name):
    dtype = dtypes()[name]
    source = buffers.put(X.astype(dtype))
    for exporter in (Producer(source), dlpack.to_dlpack(source)):
        buffer, got = buffers.from_dlpack(exporter)
        assert got == dtype
        value, origin = (buffers.to_numpy(b, dtype) for b in (buffer, source))
        assert value.tobytes() == X.astype(dtype).tobytes()
        assert np.shares_memory(value, origin)


def test_dlpack_in_keeps_the_producer_alive():
    buffer, dtype = buffers.from_dlpack(Producer(buffers.put(X)))
    np.testing.assert_array_equal(buffers.to_numpy(buffer, dtype), X)


def test_dlpack_in_copies_what_it_cannot_alias():
    for source in (X[1:], X[::2], X.reshape(2, 3).T):
        buffer, dtype = buffers.from_dlpack(source)
        np.testing.assert_array_equal(buffers.to_numpy(buffer, dtype), source)


def test_dlpack_in_refuses_other_devices():
    with pytest.raises(BufferError, match="on the CPU"):
        buffers.from_dlpack(Producer(buffers.put(X), (2, 0)))


def test_deleting_under_a_living_capsule_does_not_end_the_process():
    code = """if True:
        import numpy as np
        from pullback.xla import buffers, dlpack
        x = buffers.put(np.arange(6.0))
        capsule = dlpack.to_dlpack(x)
        buffers.delete(x)
        y, dtype = buffers.from_dlpack(capsule)
        print(buffers.to_numpy(y, dtype).sum())
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "15.0\n", "")
