"""Programs: a closed jaxpr compiled, with its constants on the device."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pullback.compile.array import ArrayImpl, carrier, wrapper
from pullback.compile.lower import lower_module
from pullback.compile.persistent import load_or_compile
from pullback.core.aval import ShapedArray
from pullback.core.errors import RuntimeFailure
from pullback.core.jaxpr import ClosedJaxpr
from pullback.transforms.dce import dce_jaxpr, prune_consts
from pullback.xla import buffers, client
from pullback.xla.builder import ModuleBuilder
from pullback.xla.client import BackendError, Executable

# Called with each program before it is compiled: the program as traced, its name, and
# the arguments that it may reuse.
watchers: list[Callable[[ClosedJaxpr, str, Sequence[int]], None]] = []

_scalars: dict[tuple, Any] = {}
_MAX_SCALARS = 1024


class Staged:
    """A function traced for given types: what the key of a call leads to.

    `donated`: positions of the flat arguments whose memory the program may reuse.
    """

    __slots__ = ("closed", "donated", "in_tree", "name", "out_tree", "program")

    def __init__(self, closed: ClosedJaxpr, in_tree, out_tree, name: str, donated=()):
        self.closed, self.in_tree, self.out_tree = closed, in_tree, out_tree
        self.name, self.donated = name, donated
        self.program: Program | None = None

    def compiled(self) -> "Program":
        """The program, compiled when first asked for."""
        program = self.program
        if program is None:
            program = compile_jaxpr(self.closed, self.name, self.donated)
            self.program = program
        return program


class Program:
    """A compiled program. `run(buffers) -> arrays`, constants not included."""

    __slots__ = ("callbacks", "consts", "executable", "name", "out_avals", "raw_run")

    def __init__(
        self,
        executable: Executable,
        out_avals: list[ShapedArray],
        consts: list[Any],
        name: str = "",
        callbacks: Sequence[Any] = (),
        committed: bool = False,
    ):
        self.executable, self.out_avals, self.consts = executable, out_avals, consts
        self.name, self.callbacks = name, callbacks
        carriers = [a.carrier or a for a in out_avals]
        self.raw_run = executable.bind(
            list(map(wrapper, out_avals)),
            carriers,
            committed=committed,
            wait=bool(callbacks),
        )

    def run(self, args: Sequence[Any]) -> list[ArrayImpl]:
        """Run on device buffers.

        Raises:
          RuntimeFailure: the program failed, or a buffer was deleted.
        """
        try:
            return self.raw_run([*self.consts, *args] if self.consts else args)
        except BackendError as error:
            cause = self._cause()
            raise self._failure(cause or error, args) from cause

    def _failure(self, error: Exception, args: Sequence[Any]) -> RuntimeFailure:
        """What went wrong, in words, with the name of the program."""
        gone = [i for i, x in enumerate(args) if buffers.is_deleted(x)]
        if gone:
            return RuntimeFailure(
                f"{self.name}: argument {gone[0]} has been deleted: it was donated to "
                "a compiled function (donate_argnums) or freed by delete()"
            )
        return RuntimeFailure(f"{self.name}: {error}")

    def _cause(self) -> Exception | None:
        """What a Python function that the program calls has raised in this run."""
        for callback in self.callbacks:
            if callback.failure is not None:
                cause, callback.failure = callback.failure, None
                return cause
        return None


class PlacedProgram(Program):
    """A program of a process with several devices: it runs where its arguments are."""

    __slots__ = ("by_place", "make")

    def __init__(self, make: Any):
        """`make(device, committed)`: the program on that device."""
        self.make, self.by_place = make, {}
        first = self._on(client.default_device(), False)
        self.executable, self.out_avals = first.executable, first.out_avals
        self.consts, self.name = first.consts, first.name
        self.callbacks, self.raw_run = first.callbacks, first.raw_run

    def _on(self, device: Any, committed: bool) -> Program:
        key = device.id, committed
        found = self.by_place.get(key)
        if found is None:
            found = self.by_place[key] = self.make(device, committed)
        return found

    def run(self, args: Sequence[Any]) -> list[ArrayImpl]:
        """Run on the device of the committed arguments, else on the default device.

        Raises:
          RuntimeFailure: they are on several devices, or as `Program.run`.
        """
        where = {buffers.device_of(x) for x in args if buffers.is_committed(x)}
        if len(where) > 1:
            raise RuntimeFailure(
                f"{self.name}: its arguments are on several devices: "
                f"{', '.join(sorted(map(str, where)))}. Move them to one with "
                "pullback.device_put(x, device)"
            )
        device = next(iter(where)) if where else client.default_device()
        moved = [
            x if buffers.device_of(x) == device else buffers.move(x, device)
            for x in args
        ]
        return self._on(device, bool(where)).run(moved)


def simplified(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Without dead code and unused constants."""
    jaxpr, _ = dce_jaxpr(closed.jaxpr)
    jaxpr, consts = prune_consts(jaxpr, closed.consts)
    return ClosedJaxpr(jaxpr, consts)


def compile_jaxpr(
    closed: ClosedJaxpr,
    name: str,
    donated: Sequence[int] = (),
    overrides: Mapping[str, Any] | None = None,
) -> Program:
    """Compile for the default device, or for each device when there are several.

    Raises:
      RuntimeFailure: XLA refuses the program.
    """
    for watch in watchers:
        watch(closed, name, donated)
    closed = simplified(closed)
    aliases = _aliases(closed, donated) if donated else None

    def make(device: Any, committed: bool) -> Program:
        module = lower_module(closed, name, aliases)
        return _loaded(closed, module, name, overrides, device, committed)

    if len(client.devices()) > 1:
        return PlacedProgram(make)
    return make(None, False)


def _loaded(
    closed: ClosedJaxpr, module: ModuleBuilder, name, overrides, device, committed
) -> Program:
    on = None if device is None else (device,)
    try:
        executable = load_or_compile(module, on, overrides=overrides)
    except BackendError as error:
        raise RuntimeFailure(f"compiling {name}: {error}") from None
    consts = [
        to_buffer(c, v.aval)
        for c, v in zip(closed.consts, closed.jaxpr.constvars, strict=True)
    ]
    if device is not None:
        consts = [buffers.move(c, device) for c in consts]
    callbacks = module.callbacks
    return Program(executable, closed.out_avals, consts, name, callbacks, committed)


def usable_donations(closed: ClosedJaxpr, donated: Sequence[int]) -> dict[int, int]:
    """Which result takes the memory of each donated argument, where one fits."""
    free = [(a.shape, carrier(a.dtype)) for a in closed.out_avals]
    found: dict[int, int] = {}
    for i in donated:
        aval = closed.in_avals[i]
        kind = aval.shape, carrier(aval.dtype)
        if kind in free:
            at = found[i] = free.index(kind)
            free[at] = None  # type: ignore[call-overload]
    return found


def _aliases(closed: ClosedJaxpr, donated: Sequence[int]) -> dict[int, int]:
    """As `lower_module` takes them; says which arguments nothing can reuse."""
    usable = usable_donations(closed, donated)
    unused = [closed.in_avals[i].short() for i in donated if i not in usable]
    if unused:
        warnings.warn(
            f"Some donated buffers were not usable: {', '.join(unused)}; no result "
            "has their shape and dtype",
            stacklevel=6,
        )
    first = len(closed.jaxpr.constvars)
    return {first + i: out for i, out in usable.items()}


def to_buffer(x: Any, aval: ShapedArray) -> Any:
    """The device buffer of an argument of type `aval`."""
    if type(x) is ArrayImpl:
        return x.buf if x.buf is not None else x.buffer()
    if isinstance(x, np.ndarray):
        return buffers.put(np.asarray(x, carrier(aval.dtype)))
    if hasattr(x, "__jax_array__"):
        return to_buffer(x.__jax_array__(), aval)
    return _scalar_buffer(x, aval)


def _scalar_buffer(x: Any, aval: ShapedArray) -> Any:
    """Python numbers come again and again: the last ones stay on the device."""
    # repr tells -0.0 from 0.0, which are equal as keys
    key = (type(x), repr(x), aval.dtype)
    found = _scalars.get(key)
    if found is None:
        found = buffers.put(np.asarray(x, aval.dtype))
        if len(_scalars) >= _MAX_SCALARS:
            _scalars.clear()
        _scalars[key] = found
    return found
