"""What arrays answer to other libraries: DLPack, the array API, buffers, devices.

Import is in `api/exchange.py`. An exported view shares memory and is read-only for who
asks properly; the memory lives as long as the view.
"""

import importlib
import sys
from typing import Any

from pullback.core.aval import ShapedArray
from pullback.core.errors import ArgumentError, ArgumentTypeError
from pullback.core.value import Array
from pullback.xla import buffers, dlpack
from pullback.xla.client import BackendError

CPU = 1  # the number of the DLPack standard


class Exchange(Array):
    """The part of a concrete array that other libraries see."""

    __slots__ = ()
    aval: ShapedArray

    def buffer(self) -> Any:
        """The device buffer."""
        raise NotImplementedError

    def _host_view(self) -> Any:
        """The value in NumPy."""
        raise NotImplementedError

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        if dl_device is not None and dl_device[0] != CPU:
            raise BufferError(f"{self.aval.short()} is on the CPU, not on {dl_device}")
        if self.aval.carrier is not None:
            raise BufferError(f"{self.aval.short()} has no DLPack type")
        buffer = self.buffer()
        if copy:
            buffer = buffers.move(buffer, buffers.device_of(buffer))
        try:
            return dlpack.to_dlpack(buffer)
        except BackendError as error:
            raise BufferError(str(error)) from None

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU, 0

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        if api_version not in (None, "2022.12", "2023.12", "2024.12"):
            raise ArgumentError(f"version {api_version!r} of the array API")
        return importlib.import_module("pullback.numpy")

    if sys.version_info >= (3, 12):

        def __buffer__(self, flags: int) -> memoryview:
            view = memoryview(self._host_view())
            if flags & 1:  # PyBUF_WRITABLE
                raise BufferError("arrays are immutable")
            return view

    @property
    def device(self):
        """The device that holds the array."""
        return buffers.device_of(self.buffer())

    def devices(self) -> set:
        """The devices that hold the array."""
        return {self.device}

    @property
    def committed(self) -> bool:
        """Whether the array was put on its device by name, or computed from such.

        Programs run where their committed arguments are; others are moved there.
        """
        return buffers.is_committed(self.buffer())

    def to_device(self, device: Any, *, stream: Any = None) -> Any:
        """The array on another device.

        Raises:
          ArgumentTypeError: `device` is not a device, or `stream` is given.
        """
        if stream is not None:
            raise ArgumentTypeError(
                f"to_device(stream={stream!r})", rule="streams are XLA's own affair"
            )
        put = importlib.import_module("pullback.api.placement").device_put
        return put(self, device)

    def unsafe_buffer_pointer(self) -> int:
        """The address of the memory, which is only read and only while the array lives.

        Raises:
          RuntimeFailure: the array was deleted.
        """
        return self.buffer().unsafe_buffer_pointer()

    def on_device_size_in_bytes(self) -> int:
        """How many bytes the array takes on its device."""
        return buffers.nbytes(self.buffer())

    def copy_to_host_async(self) -> None:
        """Start to copy the value to the host: the CPU's memory is the host's."""

    @property
    def is_fully_addressable(self) -> bool:
        """Whether this process holds the whole array."""
        return True

    @property
    def is_fully_replicated(self) -> bool:
        """Whether every device of the array holds the whole of it."""
        return True
