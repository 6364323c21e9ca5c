"""The concrete array: a value on a device, or one that has not left the host yet.

Small arrays stay on the host until a compiled program needs them; nobody can tell the
difference but by the time it takes.
"""

import functools
from typing import Any

import numpy as np

from pullback.compile.exchange import Exchange
from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray
from pullback.core.errors import (
    AmbiguousTruthError,
    ArgumentError,
    ArgumentTypeError,
    RuntimeFailure,
)
from pullback.xla import buffers
from pullback.xla.client import BackendError

CARRIER = np.dtype(np.uint64)


class ArrayImpl(Exchange):
    """An immutable array. Made by functions such as `pullback.numpy.asarray`.

    `aval`: its type. `buf`: the device buffer or None. `np_value`: the host copy or
    None. One of the two is always there.
    """

    __slots__ = ("__weakref__", "aval", "buf", "np_value")
    np_value: Any
    __hash__ = None

    def __init__(self, aval: ShapedArray, buf: Any = None, np_value: Any = None):
        self.aval, self.buf, self.np_value = aval, buf, np_value

    def buffer(self) -> Any:
        """The device buffer; copies the host value to the device when first asked."""
        buf = self.buf
        if buf is None:
            buf = self.buf = buffers.put(self.np_value)
        elif buffers.is_deleted(buf):
            raise deleted(self)
        return buf

    def host(self) -> np.ndarray:
        """The value as a read-only NumPy array; waits until it is computed."""
        value = self.np_value
        if value is None:
            if buffers.is_deleted(self.buf):
                raise deleted(self)
            try:
                value = buffers.to_numpy(self.buf, carrier(self.aval.dtype))
            except BackendError as error:
                raise RuntimeFailure(str(error)) from None
            value.flags.writeable = False
            self.np_value = value
        elif self.buf is not None and buffers.is_deleted(self.buf):
            raise deleted(self)
        return value

    def ready(self) -> bool:
        """Whether `host` returns without waiting."""
        return self.np_value is not None or buffers.is_ready(self.buf)

    def block_until_ready(self) -> "ArrayImpl":
        """Wait until the value is computed; returns the array.

        Raises:
          RuntimeFailure: the computation failed, or the array was deleted.
        """
        if self.is_deleted():
            raise deleted(self)
        if self.np_value is None:
            try:
                buffers.block(self.buf)
            except BackendError as error:
                raise RuntimeFailure(str(error)) from None
        return self

    def is_deleted(self) -> bool:
        """Whether the memory was freed by `delete` or by donation."""
        return self.buf is not None and buffers.is_deleted(self.buf)

    def delete(self) -> None:
        """Free the memory now; using the array afterwards is an error."""
        buffers.delete(self.buffer())
        self.np_value = None

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        value = self._public()
        if dtype is not None and np.dtype(dtype) != value.dtype:
            if copy is False:
                raise ArgumentError(
                    f"the NumPy value of {self.aval.short()} as {np.dtype(dtype)}",
                    rule="a conversion needs a copy",
                    fix="leave out copy=False",
                )
            return value.astype(dtype)
        return value.copy() if copy else value

    def _host_view(self) -> np.ndarray:
        return self._public()

    def _public(self) -> np.ndarray:
        if isinstance(self.aval.dtype, dtypes.ExtendedDType):
            raise ArgumentTypeError(
                f"the NumPy value of {self.aval.short()}",
                rule="PRNG keys have no NumPy dtype",
                fix="use pullback.random.key_data",
            )
        return self.host()

    def _scalar(self, what: str) -> Any:
        if self.aval.size != 1 or (self.aval.ndim and what != "bool"):
            is_bool = what == "bool"
            kind = "" if is_bool else " of 0 dimensions"
            if self.aval.size != 1:
                raise (AmbiguousTruthError if is_bool else ArgumentTypeError)(
                    f"{what}() of an array of shape {self.aval.shape}",
                    rule=f"only an array of one element{kind} converts to {what}",
                    fix="index it, reduce it, or use any() or all()",
                )
        return self._public().reshape(())[()]

    def __bool__(self) -> bool:
        return bool(self._scalar("bool"))

    def __int__(self) -> int:
        return int(self._scalar("int"))

    def __float__(self) -> float:
        return float(self._scalar("float"))

    def __complex__(self) -> complex:
        return complex(self._scalar("complex"))

    def __index__(self) -> int:
        if self.aval.ndim or not (
            dtypes.is_integer(self.aval.dtype) or dtypes.is_bool(self.aval.dtype)
        ):
            raise ArgumentTypeError(
                f"{self.aval.short()} used as an index",
                rule="only integer scalar arrays can be converted to a scalar index",
            )
        return int(self._public())

    def item(self, *args: int) -> Any:
        """The one element, or element `args`, as a Python scalar."""
        return self._public().item(*args)

    def tolist(self) -> Any:
        """The elements as nested lists of Python scalars."""
        return self._public().tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """The elements as bytes, in row-major order unless `order` is `"F"`."""
        return self._public().tobytes(order)

    def __format__(self, spec: str) -> str:
        if not self.aval.ndim and self.aval.carrier is None:
            return format(self._public()[()], spec)
        return format(str(self), spec)

    def __repr__(self) -> str:
        if self.is_deleted():
            return f"Array({self.aval}, deleted)"
        if isinstance(self.aval.dtype, dtypes.ExtendedDType):
            return _key_repr(self)
        return _repr(self)

    def __str__(self) -> str:
        if isinstance(self.aval.dtype, dtypes.ExtendedDType) or self.is_deleted():
            return repr(self)
        return str(self.host())

    def __reduce__(self):
        if isinstance(self.aval.dtype, dtypes.ExtendedDType):
            return _restore_key, (self.aval, self.host().copy())
        return _restore, (self.host().copy(), self.aval.weak_type)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return ArrayImpl(self.aval, None, self.host().copy())


def carrier(dtype: Any) -> np.dtype:
    """The NumPy dtype that carries `dtype` on the host: 64-bit words for PRNG keys."""
    return CARRIER if isinstance(dtype, dtypes.ExtendedDType) else dtype


def _repr(x: ArrayImpl) -> str:
    weak = ", weak_type=True" if x.aval.weak_type else ""
    tail = f"dtype={x.aval.dtype.name}{weak})"
    value = x.host()
    if value.size == 0 and value.ndim != 1:
        return f"Array([], shape={value.shape}, {tail}"
    text = np.array2string(value, separator=", ", prefix="Array(", suffix=",")
    last = text.rpartition("\n")[2]
    start = "" if "\n" in text else "Array("
    gap = " " if len(start) + len(last) + len(tail) <= 79 else "\n      "
    return f"Array({text},{gap}{tail}"


def _key_repr(x: ArrayImpl) -> str:
    """The type of keys, and their words."""
    words = x.host()[..., None].view(x.aval.dtype.physical_dtype)
    return f"Array({x.aval.shape}, dtype={x.aval.dtype.name}) overlaying:\n{words}"


def _restore(value: np.ndarray, weak_type: bool) -> ArrayImpl:
    dtype = dtypes.canonicalize(value.dtype)
    aval = ShapedArray(value.shape, dtype, weak_type)
    return ArrayImpl(aval, None, value.astype(dtype, copy=False))


def _restore_key(aval: ShapedArray, value: np.ndarray) -> ArrayImpl:
    return ArrayImpl(aval, None, value)


def deleted(x: ArrayImpl) -> RuntimeFailure:
    """The error for using an array whose memory was freed."""
    return RuntimeFailure(
        f"using a deleted array, {x.aval.short()}: it was freed by delete() or donated "
        "to a compiled function"
    )


def from_host(value: np.ndarray, aval: ShapedArray) -> ArrayImpl:
    """An array of a NumPy value, in the carrier's dtype, that nobody else changes."""
    return ArrayImpl(aval, None, value)


def wrapper(aval: ShapedArray) -> Any:
    """What makes an array from a buffer that a program returns."""
    return functools.partial(ArrayImpl, aval)
