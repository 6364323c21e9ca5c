"""DLPack both ways, for the element types that NumPy's own importer refuses too.

Rule: a capsule is made from a clone of its buffer; deleting a buffer that a capsule
refers to would end the process.
"""

import ctypes
from typing import Any

import ml_dtypes
import numpy as np

from pullback.xla.binding import runtime

Buffer = Any

_CPU = 1
# The codes of the DLPack standard for types that NumPy does not import.
_CODES = {
    4: "bfloat16",
    7: "float8_e3m4",
    8: "float8_e4m3",
    9: "float8_e4m3b11fnuz",
    10: "float8_e4m3fn",
    11: "float8_e4m3fnuz",
    12: "float8_e5m2",
    13: "float8_e5m2fnuz",
    14: "float8_e8m0fnu",
}


class _Tensor(ctypes.Structure):
    """`DLTensor` of dlpack.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = (ctypes.py_object, ctypes.c_char_p)


class _Memory:
    """Tells NumPy where the memory of a capsule is, and keeps the capsule alive."""

    def __init__(self, capsule: Any, tensor: _Tensor, itemsize: int):
        self.capsule = capsule
        shape = tuple(tensor.shape[: tensor.ndim])
        strides = None
        if tensor.strides:
            strides = tuple(n * itemsize for n in tensor.strides[: tensor.ndim])
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "strides": strides,
            "typestr": f"<u{itemsize}",
            "data": ((tensor.data or 0) + tensor.byte_offset, True),
        }


class _CapsuleOwner:
    """Lets NumPy import a bare capsule of the CPU."""

    def __init__(self, capsule: Any):
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_CPU, 0)


def to_dlpack(buffer: Buffer, stream: int | None = None) -> Any:
    """Returns a DLPack capsule that aliases the buffer.

    Raises: BackendError for element types without a DLPack code, or when deleted.
    """
    return runtime.buffer_to_dlpack_managed_tensor(buffer.clone(), stream)


def view(buffer: Buffer, dtype: np.dtype) -> np.ndarray:
    """Returns a read-only array that shares the memory of a buffer on the CPU."""
    return _view(to_dlpack(buffer), dtype)


def _view(capsule: Any, dtype: np.dtype) -> np.ndarray:
    memory = _Memory(capsule, _tensor(capsule), dtype.itemsize)
    return np.asarray(memory).view(dtype)


def _tensor(capsule: Any) -> _Tensor:
    return _Tensor.from_address(_pointer_of(capsule, b"dltensor"))


def import_array(x: Any) -> np.ndarray:
    """Returns an array that shares the memory of an object with `__dlpack__`, or of
    a capsule, on the CPU.

    Raises: BufferError or RuntimeError when it lives elsewhere, or has an element
    type that NumPy and ml_dtypes lack.
    """
    source = x if hasattr(x, "__dlpack__") else _CapsuleOwner(x)
    if source.__dlpack_device__()[0] != _CPU:
        raise BufferError("only DLPack tensors on the CPU can be imported")
    capsule = source.__dlpack__()
    name = _CODES.get(_tensor(capsule).code)
    if name is None:
        return np.from_dlpack(_CapsuleOwner(capsule))
    return _view(capsule, np.dtype(getattr(ml_dtypes, name)))
