"""Factorizations of matrices by LAPACK, as custom calls of programs for the CPU.

jaxlib holds the routines and takes their addresses from SciPy when they are first
needed, which loads it. They are registered under names of our own.
"""

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from jaxlib.cpu import _lapack  # pyright: ignore[reportAttributeAccessIssue]

from pullback.xla.binding import runtime
from pullback.xla.calls import Calls
from pullback.xla.types import AvalLike, Value

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_UNITARY = {"orgqr": "ungqr", "ormqr": "unmqr", "syevd": "heevd", "sytrd": "hetrd"}
_lock = threading.Lock()


@cache
def _addresses() -> dict[str, Any]:
    _lapack.initialize()
    return _lapack.registrations()


@cache
def target(routine: str, dtype: np.dtype) -> str:
    """The name, registered with XLA, of a LAPACK routine for an element type.

    routine: without the letter of the type, real form: `potrf`, `syevd`, `orgqr`, ...
    """
    letter = _LETTERS[dtype.name]
    routine = _UNITARY.get(routine, routine) if letter in "cz" else routine
    name = f"lapack_{letter}{routine}_ffi"
    with _lock:
        runtime.register_custom_call_target(
            f"pullback_{name}", _addresses()[name], "cpu", api_version=1
        )
    return f"pullback_{name}"


class Lapack(Calls):
    """One method: a routine applied to every matrix of a batch."""

    __slots__ = ()

    def lapack(
        self,
        routine: str,
        outs: Sequence[AvalLike],
        args: Sequence[Value],
        *,
        dtype: np.dtype,
        batch: int,
        aliases: dict[int, int] | None = None,
        **attributes: str,
    ) -> list[Value]:
        """Calls a routine on `args`, whose first `batch` dimensions are those of the
        batch; matrices are stored by columns.

        outs: the results as the routine orders them
        dtype: the element type that the routine is for
        aliases: operand index by output index, for results that reuse its memory
        attributes: one letter each, as LAPACK's arguments
        """
        return self.custom_call(
            target(routine, dtype),
            outs,
            args,
            backend_config={k: np.uint8(ord(v)) for k, v in attributes.items()},
            operand_layouts=[_layout(len(x.type.shape), batch) for x in args],
            result_layouts=[_layout(len(a.shape), batch) for a in outs],
            aliases=aliases,
        )


def _layout(ndim: int, batch: int) -> list[int]:
    """Dimensions from minor to major: a matrix by columns, the batch row-major."""
    inner = range(batch, ndim) if ndim - batch == 2 else reversed(range(batch, ndim))
    return [*inner, *reversed(range(batch))]
