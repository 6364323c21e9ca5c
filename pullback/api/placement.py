"""Devices: which there are, and moving trees of arrays to and from them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from pullback.api.arguments import check_array_leaf, own
from pullback.compile.array import ArrayImpl
from pullback.core import tree
from pullback.core.errors import ArgumentTypeError
from pullback.core.trace import Tracer
from pullback.xla import buffers, client as xla_client


def devices(backend: str = "cpu") -> list[Any]:
    """The devices of a platform, the first of which is the default.

    Raises:
      ValueError: no such platform.
    """
    return list(xla_client.devices(backend))


def local_devices(backend: str = "cpu") -> list[Any]:
    """The devices of a platform that this process can use."""
    return devices(backend)


def device_count(backend: str = "cpu") -> int:
    """How many devices a platform has."""
    return len(devices(backend))


def local_device_count(backend: str = "cpu") -> int:
    """How many devices of a platform this process can use."""
    return device_count(backend)


def default_backend() -> str:
    """The name of the default platform."""
    return "cpu"


def process_index() -> int:
    """The number of this process among those that work together."""
    return 0


def process_count() -> int:
    """How many processes work together."""
    return 1


def device_put(x: Any, device: Any = None) -> Any:
    """The tree `x` with its leaves as arrays on `device` (None: the default device).

    Raises:
      ArgumentTypeError: a leaf is not an array, or `device` is not a device.

    Example:
      >>> import numpy as np, pullback
      >>> pullback.device_put(np.arange(3))
      Array([0, 1, 2], dtype=int32)
    """
    if device is not None:
        _check_device(device, "device_put")
    return tree.map(lambda leaf: _put(leaf, device), x)


def _put(x: Any, device: Any) -> Any:
    check_array_leaf(x, "device_put")
    if isinstance(x, Tracer):
        return x
    value = own(x)
    if device is None:
        return value
    return ArrayImpl(value.aval, buffers.put(value.host(), device))


@contextmanager
def default_device(device: Any) -> Iterator[None]:
    """Make `device` the one for new arrays, on this thread, within a `with` block.

    Programs whose arguments were not put on a device by name run there too.

    Raises:
      ArgumentTypeError: it is not a device.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> last = pullback.devices()[-1]
      >>> with pullback.default_device(last):
      ...     assert (pnp.ones(3) + 1).device == last
    """
    if device is not None:
        _check_device(device, "default_device")
    outer, xla_client.default.device = xla_client.default.device, device
    try:
        yield
    finally:
        xla_client.default.device = outer


def _check_device(device: Any, what: str) -> None:
    if device not in xla_client.devices(getattr(device, "platform", "cpu")):
        raise ArgumentTypeError(
            f"{what}: {device!r} is not a device",
            fix="take one from pullback.devices()",
        )


def device_get(x: Any) -> Any:
    """The tree `x` with its arrays as NumPy arrays, once they are computed."""
    return tree.map(lambda leaf: np.asarray(leaf) if _is_array(leaf) else leaf, x)


def block_until_ready(x: Any) -> Any:
    """Wait until all arrays of the tree `x` are computed; returns `x`.

    Raises:
      RuntimeFailure: a computation failed.
    """
    for leaf in tree.leaves(x):
        if type(leaf) is ArrayImpl:
            leaf.block_until_ready()
    return x


def _is_array(x: Any) -> bool:
    return isinstance(x, ArrayImpl | Tracer)
