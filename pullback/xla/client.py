"""PJRT clients, their devices, and the programs that are compiled for them.

Rules: one client a platform for the life of the process, made when first needed, under
a lock; no process-wide jaxlib state is ever set, because JAX may live here too. Calling
a program is one Python frame above C++; modules reach XLA as bytecode, so that no MLIR
context is shared between threads.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from pullback.xla.binding import hlo, runtime

COPY = runtime.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL
_device_put = runtime.batched_device_put

Device = Any
Buffer = Any
Wrapper = Callable[[Buffer], Any]
Run = Callable[[Sequence[Buffer]], list[Any]]
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


class _Default(threading.local):
    """The device that this thread puts new arrays on, None for the first."""

    device: Device | None = None


default = _Default()


def default_device() -> Device:
    """Returns the device that arrays go to when none is named, on this thread."""
    device = default.device
    return client().devices[0] if device is None else device


def default_placement() -> Placement:
    """Returns the placement on the default device."""
    return place((default_device(),))


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


class Executable:
    """A loaded program. All accessors return plain Python data."""

    __slots__ = ("_client", "_placement", "_raw")

    def __init__(self, raw: Any, owner: Client, placement: Placement):
        self._raw, self._client, self._placement = raw, owner, placement

    def bind(
        self,
        wrappers: Sequence[Wrapper],
        avals: Sequence[Any],
        *,
        committed: bool = False,
        wait: bool = False,
    ) -> Run:
        """Returns `run(buffers) -> list`, one item an output.

        Item i is `wrappers[i](buffer)`, called from C++; `buffer.aval` is `avals[i]`
        (see `aval_of_buffer`), an object with the physical `shape`, `dtype`,
        `weak_type` and `ndim`. Inputs are not checked against avals, only by XLA.
        committed: what `is_committed` says of the outputs
        wait: return only when all is done, callbacks included
        """
        sharding = self._placement.sharding
        handlers = [
            runtime.array_result_handler(aval, sharding, committed, True).wrap(wrap)
            for wrap, aval in zip(wrappers, avals, strict=True)
        ]
        execute = self._raw.execute_sharded

        def run(buffers: Sequence[Buffer]) -> list[Any]:
            return execute(buffers).consume_with_handlers(handlers)

        def run_and_wait(buffers: Sequence[Buffer]) -> list[Any]:
            results = execute(buffers, with_tokens=True)
            token = results.consume_token()
            outs = results.consume_with_handlers(handlers)
            token.block_until_ready()
            return outs

        return run_and_wait if wait else run

    def serialize(self) -> bytes:
        """Returns the compiled program, for `deserialize` on the same machine kind.

        Only where it was compiled: a deserialized program has lost its object code.
        """
        return self._raw.serialize()

    def cost_analysis(self) -> dict[str, float]:
        """Returns XLA's estimates, such as `flops` and `bytes accessed`."""
        return dict(self._raw.cost_analysis())

    def memory_stats(self) -> dict[str, int]:
        """Returns bytes for arguments, outputs, temporaries, aliases and the peak."""
        stats = self._raw.get_compiled_memory_stats()
        suffix = "_size_in_bytes"
        names = ("argument", "output", "temp", "alias", "generated_code")
        sizes = {name: getattr(stats, name + suffix) for name in names}
        return sizes | {"peak": stats.peak_memory_in_bytes}

    def buffer_assignments(self) -> list[bytes]:
        """Returns serialized `BufferAssignmentProto`s, where the back end has any."""
        stats = self._raw.get_compiled_memory_stats()
        data = stats.serialized_buffer_assignment_proto
        return [data] if data else []

    def optimized_hlo(self) -> str:
        """Returns the text of the program that XLA runs."""
        return "\n\n".join(module.to_string() for module in self.hlo_modules())

    def hlo_modules(self) -> list[Any]:
        """Returns jaxlib's modules of the optimized program, for use inside `xla`."""
        return self._raw.hlo_modules()

    def optimized_hlo_proto(self) -> list[bytes]:
        """Returns the serialized `HloModuleProto`s of the program that XLA runs."""
        modules = self.hlo_modules()
        return [module.as_serialized_hlo_module_proto() for module in modules]

    @property
    def fingerprint(self) -> bytes | None:
        """A hash of the optimized program, where the back end has one."""
        return self._raw.fingerprint

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices that the program runs on."""
        return tuple(self._placement.devices)


def aval_of_buffer(buffer: Buffer) -> Any:
    """Returns the aval that a buffer was made with (`bind`'s, or a plain one)."""
    return buffer.aval


def compile_module(
    module: Any,
    on: Sequence[Device] | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    callbacks: Sequence[Callable[..., Any]] = (),
) -> Executable:
    """Compiles a module for the devices `on` (the first CPU device when None).

    Several devices compile one partitioned (SPMD) program over all of them.
    module: bytecode or text; with callbacks, the raw module itself, on its own thread
    overrides: XLA debug options by name, such as `xla_cpu_enable_fast_math`
    callbacks: what the module's Python calls run, by their index

    Raises: BackendError when the module does not parse, verify or compile.
    """
    where = place(devices()[:1] if on is None else tuple(on))
    owner = client_of(where.devices[0])
    options = compile_options(where, overrides)
    given = (list(callbacks),) if callbacks else ()
    raw = owner.raw.compile_and_load(module, where.device_list, options, *given)
    return Executable(raw, owner, where)


def cost_of_module(bytecode: bytes) -> dict[str, float]:
    """Returns XLA's estimates for a module before it is optimized."""
    lowered = runtime.mlir.mlir_module_to_xla_computation(
        bytecode, use_tuple_args=False, return_tuple=False
    )
    raw = client().raw
    return dict(runtime.hlo_module_cost_analysis(raw, lowered.get_hlo_module()))


def deserialize(data: bytes, on: Sequence[Device] | None = None) -> Executable:
    """Loads what `Executable.serialize` returned.

    Raises: BackendError when the data is not a program for this platform.
    """
    where = place(devices()[:1] if on is None else tuple(on))
    owner = client_of(where.devices[0])
    options = compile_options(where)
    raw = owner.raw.deserialize_executable(data, where.device_list, options)
    return Executable(raw, owner, where)


class HostAval:
    """The aval that jaxlib reads when it is given an array."""

    __slots__ = ("dtype", "ndim", "shape", "weak_type")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype):
        self.shape, self.dtype, self.ndim = shape, dtype, len(shape)
        self.weak_type = False


def put(x: np.ndarray, device: Device | None = None) -> Buffer:
    """Copies a NumPy array to a device (the default one when none is named).

    x: any[*s], of any layout and any element type XLA knows
    Returns: an opaque buffer that shares no memory with `x`.
    Raises: BackendError for an element type that XLA does not know.
    """
    if device is None:
        return place_array(x, default_placement(), COPY, False)
    return place_array(x, place((device,)), COPY)


def place_array(
    x: np.ndarray, where: Placement, semantics: Any, committed: bool = True
) -> Buffer:
    """Hands a NumPy array to devices, copied or shared as `semantics` says."""
    aval = HostAval(x.shape, x.dtype)
    copies = [x] * len(where.devices)
    # enable_x64 is always given: without it 64-bit data narrows when JAX is loaded.
    return _device_put(
        aval, where.sharding, copies, where.devices, committed, False, semantics, True
    )
