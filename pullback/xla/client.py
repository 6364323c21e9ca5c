"""PJRT clients and their devices, made when first needed.

Rules: one client a platform for the life of the process; clients are made under a
lock; no process-wide jaxlib state is ever set, because JAX may live here too.
"""

import threading
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from pullback.xla.binding import hlo, runtime

Device = Any
BackendError: type[Exception] = runtime.JaxRuntimeError


class Client:
    """One PJRT client: its platform's name, its devices and an opaque handle."""

    __slots__ = ("devices", "platform", "raw", "version")

    def __init__(self, raw: Any):
        self.raw = raw
        self.platform: str = raw.platform
        self.version: str = raw.platform_version
        self.devices: tuple[Device, ...] = tuple(raw.devices())

    def __repr__(self) -> str:
        return f"Client({self.platform}, {len(self.devices)} devices)"


class Placement(NamedTuple):
    """What jaxlib asks for wherever an array is placed on devices."""

    devices: list[Device]
    device_list: Any
    sharding: Any


_clients: dict[str, Client] = {}
_makers: dict[str, Callable[[], Any]] = {"cpu": runtime.get_tfrt_cpu_client}
_lock = threading.Lock()


def client(platform: str = "cpu") -> Client:
    """Returns the client of `platform`, making it when it does not exist yet.

    `XLA_FLAGS=--xla_force_host_platform_device_count=N` gives the CPU N devices.

    Raises: ValueError when no such platform is registered; BackendError when it
    cannot start.
    """
    found = _clients.get(platform)
    return found if found is not None else _make(platform)


def _make(platform: str) -> Client:
    with _lock:
        if platform in _clients:
            return _clients[platform]
        if platform not in _makers:
            known = ", ".join(sorted(_makers))
            raise ValueError(f"no platform named {platform!r}; there are: {known}")
        made = _clients[platform] = Client(_makers[platform]())
        return made


def register_plugin(
    platform: str,
    library_path: str,
    options: Callable[[], Mapping[str, Any]] = dict,
) -> None:
    """Makes the PJRT plugin in the shared library at `library_path` a platform.

    `options()` is called when the client is made, not before.
    """

    def make() -> Any:
        if not runtime.pjrt_plugin_loaded(platform):
            runtime.load_pjrt_plugin(platform, library_path, None)
        if not runtime.pjrt_plugin_initialized(platform):
            runtime.initialize_pjrt_plugin(platform)
        return runtime.get_c_api_client(platform, dict(options()))

    _makers[platform] = make


def platforms() -> list[str]:
    """Returns the names of the platforms that can be asked for."""
    return sorted(_makers)


def devices(platform: str = "cpu") -> tuple[Device, ...]:
    """Returns the devices of a platform. `id`, `platform`, `device_kind` are plain."""
    return client(platform).devices


def device_count(platform: str = "cpu") -> int:
    """Returns how many devices a platform has."""
    return len(client(platform).devices)


def client_of(device: Device) -> Client:
    """Returns the client that a device belongs to."""
    for made in _clients.values():
        if device in made.devices:
            return made
    raise ValueError(f"{device} belongs to no client of this process")


@cache
def place(devices: tuple[Device, ...]) -> Placement:
    """Returns the placement that holds a whole copy on each of `devices`."""
    device_list = runtime.DeviceList(devices)
    sharding = runtime.GSPMDSharding(device_list, hlo.HloSharding.replicate())
    return Placement(list(devices), device_list, sharding)


def default_placement() -> Placement:
    """Returns the placement on the first CPU device."""
    return place(client().devices[:1])


def compile_options(
    where: Placement, overrides: Mapping[str, Any] | None = None
) -> Any:
    """Returns jaxlib's options for a program over the devices of `where`.

    Several devices run one partitioned (SPMD) program.
    overrides: XLA debug options by name
    """
    options = runtime.CompileOptions()
    build = options.executable_build_options
    ids = np.asarray([[device.id for device in where.devices]], np.int32)
    assignment = runtime.DeviceAssignment.create(ids)
    build.device_assignment = options.device_assignment = assignment
    if len(where.devices) > 1:
        options.num_partitions = build.num_partitions = len(where.devices)
        build.use_spmd_partitioning = True
        build.use_shardy_partitioner = True
    if overrides:
        options.env_option_overrides = list(overrides.items())
    return options
