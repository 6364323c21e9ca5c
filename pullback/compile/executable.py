"""Programs: a closed jaxpr compiled, with its constants on the device."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.compile.array import ArrayImpl, carrier, wrapper
from pullback.compile.lower import lower_module
from pullback.core.aval import ShapedArray
from pullback.core.errors import RuntimeFailure
from pullback.core.jaxpr import ClosedJaxpr
from pullback.transforms.dce import dce_jaxpr, prune_consts
from pullback.xla import buffers
from pullback.xla.client import BackendError, Executable, compile_module

_scalars: dict[tuple, Any] = {}
_MAX_SCALARS = 1024


class Program:
    """A compiled program. `run(buffers) -> arrays`, constants not included."""

    __slots__ = ("consts", "executable", "out_avals", "raw_run")

    def __init__(
        self, executable: Executable, out_avals: list[ShapedArray], consts: list[Any]
    ):
        self.executable, self.out_avals, self.consts = executable, out_avals, consts
        carriers = [a.carrier or a for a in out_avals]
        self.raw_run = executable.bind(list(map(wrapper, out_avals)), carriers)

    def run(self, args: Sequence[Any]) -> list[ArrayImpl]:
        """Run on device buffers.

        Raises:
          RuntimeFailure: the program failed, or a buffer was deleted.
        """
        try:
            return self.raw_run([*self.consts, *args] if self.consts else args)
        except BackendError as error:
            raise RuntimeFailure(str(error)) from None


def simplified(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Without dead code and unused constants."""
    jaxpr, _ = dce_jaxpr(closed.jaxpr)
    jaxpr, consts = prune_consts(jaxpr, closed.consts)
    return ClosedJaxpr(jaxpr, consts)


def compile_jaxpr(closed: ClosedJaxpr, name: str) -> Program:
    """Compile for the first device.

    Raises:
      RuntimeFailure: XLA refuses the program.
    """
    closed = simplified(closed)
    bytecode = lower_module(closed, name).bytecode()
    try:
        executable = compile_module(bytecode)
    except BackendError as error:
        raise RuntimeFailure(f"compiling {name}: {error}") from None
    consts = [
        to_buffer(c, v.aval)
        for c, v in zip(closed.consts, closed.jaxpr.constvars, strict=True)
    ]
    return Program(executable, closed.out_avals, consts)


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
