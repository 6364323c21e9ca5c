"""Arrays on devices: in from NumPy, out to NumPy, in from DLPack.

A buffer is opaque. Rules: `put` always copies, so later changes of the source never
show; only `from_dlpack` aliases; what `to_numpy` returns is read-only.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pullback.xla.binding import runtime
from pullback.xla.client import (
    COPY,
    Buffer,
    Device,
    HostAval,
    client_of,
    compile_options,
    default_placement,
    place,
    place_array,
    put as put,
)
from pullback.xla.dlpack import import_array as import_array, view

_ALIAS = runtime.HostBufferSemantics.ZERO_COPY

# Elements that XLA packs several to a byte, and what they are read through.
_PACKED = {
    "int2": ("i2", "i8", "int8"),
    "uint2": ("ui2", "ui8", "uint8"),
    "int4": ("i4", "i8", "int8"),
    "uint4": ("ui4", "ui8", "uint8"),
    "float4_e2m1fn": ("f4E2M1FN", "f32", "float32"),
}


def put_replicated(x: np.ndarray, devices: Sequence[Device]) -> Buffer:
    """Copies a NumPy array to each of `devices`, as one buffer."""
    return place_array(x, place(tuple(devices)), COPY)


def to_numpy(buffer: Buffer, dtype: np.dtype) -> np.ndarray:
    """Returns the value of a buffer on the CPU; waits until it is computed.

    It shares the buffer's memory where NumPy can express that (and then keeps the
    memory alive), else it is a copy.

    Raises: BackendError when the computation failed; that or BufferError when the
    buffer was deleted.
    """
    if dtype.isbuiltin == 1:
        return np.asarray(memoryview(buffer))
    return _read_custom(buffer, dtype)


def _read_custom(buffer: Buffer, dtype: np.dtype) -> np.ndarray:
    """Reads an element type that the buffer protocol cannot name."""
    buffer.block_until_ready()
    shape = buffer_shape(buffer)
    if not math.prod(shape):
        return _frozen(np.zeros(shape, dtype))
    if dtype.name in _PACKED:
        return _frozen(_widened(buffer, shape, dtype))
    return view(buffer, dtype)


def _frozen(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x


def _widened(buffer: Buffer, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Reads packed elements, which neither DLPack nor NumPy knows, converted."""
    device = device_of(buffer)
    execute, handlers = _widening(shape, dtype.name, device)
    (wide,) = execute([buffer]).consume_with_handlers(handlers)
    return np.asarray(memoryview(wide)).astype(dtype)


@lru_cache(64)
def _widening(shape: tuple[int, ...], name: str, device: Device) -> tuple[Any, Any]:
    where = place((device,))
    sizes = "".join(f"{n}x" for n in shape)
    narrow, wide = (f"tensor<{sizes}{element}>" for element in _PACKED[name][:2])
    text = (
        f"func.func @main(%x: {narrow}) -> {wide} {{"
        f" %y = stablehlo.convert %x : ({narrow}) -> {wide} return %y : {wide} }}"
    )
    options = compile_options(where)
    raw = client_of(device).raw.compile_and_load(text, where.device_list, options)
    aval = HostAval(shape, np.dtype(_PACKED[name][2]))
    handler = runtime.array_result_handler(aval, where.sharding, True, True)
    return raw.execute_sharded, [handler]


def is_deleted(buffer: Buffer) -> bool:
    """Says whether the buffer was deleted or donated."""
    return buffer.is_deleted()


def is_ready(buffer: Buffer) -> bool:
    """Says whether the value is computed. A deleted buffer is never ready."""
    return not buffer.is_deleted() and buffer.is_ready()


def block(buffer: Buffer) -> None:
    """Waits until the value is computed. Raises what its computation raised."""
    buffer.block_until_ready()


def block_all(buffers: Sequence[Buffer]) -> None:
    """Waits until every value is computed."""
    runtime.batched_block_until_ready(list(buffers))


def delete(buffer: Buffer) -> None:
    """Frees the memory now, whoever still holds the buffer."""
    buffer.delete()


def nbytes(buffer: Buffer) -> int:
    """Returns the bytes that one device spends on the buffer."""
    return buffer.on_device_size_in_bytes()


def from_dlpack(x: Any, device: Device | None = None) -> tuple[Buffer, np.dtype]:
    """Imports an object with `__dlpack__`, or a capsule, that lives on the CPU.

    The memory is shared where its alignment and strides allow it, else copied.

    Returns: the buffer and its element type; `buffer_shape` tells its shape.
    Raises: BufferError or RuntimeError as `dlpack.import_array`.
    """
    array = x if isinstance(x, np.ndarray) else import_array(x)
    if not array.flags.c_contiguous:
        array = array.copy("C")
    where = default_placement() if device is None else place((device,))
    return place_array(array, where, _ALIAS, device is not None), array.dtype


def buffer_shape(buffer: Buffer) -> tuple[int, ...]:
    """Returns the shape of the whole array."""
    return tuple(buffer.aval.shape)


def device_of(buffer: Buffer) -> Device:
    """Returns the first device that holds the buffer."""
    return buffer._sharding._internal_device_list[0]


def move(buffer: Buffer, device: Device) -> Buffer:
    """Copies a buffer to another device of its client."""
    shape = buffer_shape(buffer)
    aval = HostAval(shape, buffer.aval.dtype)
    where = place((device,))
    return runtime.batched_device_put(
        aval, where.sharding, [buffer], where.devices, True, False, COPY, True
    )


def is_committed(buffer: Buffer) -> bool:
    """Says whether the buffer was put on its device by name, or computed from such."""
    return buffer._committed


def live_bytes(device: Device) -> int:
    """Returns the bytes of all live buffers of the device's client."""
    return sum(
        buffer.on_device_size_in_bytes()
        for buffer in client_of(device).raw.live_arrays()
        if not buffer.is_deleted()
    )
