"""Compiled programs: compile, run, store, and read what XLA says of them.

Rules: `run` is one Python frame above C++; modules reach XLA as bytecode, so that no
MLIR context is shared between threads.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pullback.xla.binding import runtime
from pullback.xla.buffers import Buffer
from pullback.xla.client import (
    Client,
    Device,
    Placement,
    client_of,
    compile_options,
    devices,
    place,
)

Wrapper = Callable[[Buffer], Any]
Run = Callable[[Sequence[Buffer]], list[Any]]


class Executable:
    """A loaded program. All accessors return plain Python data."""

    __slots__ = ("_client", "_placement", "_raw")

    def __init__(self, raw: Any, owner: Client, placement: Placement):
        self._raw, self._client, self._placement = raw, owner, placement

    def bind(self, wrappers: Sequence[Wrapper], avals: Sequence[Any]) -> Run:
        """Returns `run(buffers) -> list`, one item an output.

        Item i is `wrappers[i](buffer)`, called from C++; `buffer.aval` is `avals[i]`
        (see `aval_of_buffer`), an object with the physical `shape`, `dtype`,
        `weak_type` and `ndim`. Inputs are not checked against avals, only by XLA.
        """
        sharding = self._placement.sharding
        handlers = [
            runtime.array_result_handler(aval, sharding, True, True).wrap(wrap)
            for wrap, aval in zip(wrappers, avals, strict=True)
        ]
        execute = self._raw.execute_sharded

        def run(buffers: Sequence[Buffer]) -> list[Any]:
            return execute(buffers).consume_with_handlers(handlers)

        return run

    def serialize(self) -> bytes:
        """Returns the compiled program, for `deserialize` on the same machine kind."""
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

    def optimized_hlo(self) -> str:
        """Returns the text of the program that XLA runs."""
        return "\n\n".join(module.to_string() for module in self._raw.hlo_modules())

    def optimized_hlo_proto(self) -> list[bytes]:
        """Returns the serialized `HloModuleProto`s of the program that XLA runs."""
        modules = self._raw.hlo_modules()
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
    bytecode: bytes | str,
    on: Sequence[Device] | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
) -> Executable:
    """Compiles a module for the devices `on` (the first CPU device when None).

    Several devices compile one partitioned (SPMD) program over all of them.
    overrides: XLA debug options by name, such as `xla_cpu_enable_fast_math`

    Raises: BackendError when the module does not parse, verify or compile.
    """
    where = place(devices()[:1] if on is None else tuple(on))
    owner = client_of(where.devices[0])
    options = compile_options(where, overrides)
    raw = owner.raw.compile_and_load(bytecode, where.device_list, options)
    return Executable(raw, owner, where)


def deserialize(data: bytes, on: Sequence[Device] | None = None) -> Executable:
    """Loads what `Executable.serialize` returned.

    Raises: BackendError when the data is not a program for this platform.
    """
    where = place(devices()[:1] if on is None else tuple(on))
    owner = client_of(where.devices[0])
    options = compile_options(where)
    raw = owner.raw.deserialize_executable(data, where.device_list, options)
    return Executable(raw, owner, where)
