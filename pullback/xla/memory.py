"""What memory a compiled program takes, buffer by buffer."""

from typing import NamedTuple

from pullback.xla.client import Executable
from pullback.xla.hlo_program import fields, instruction_names

_BUFFERS, _ALLOCATIONS = 1, 3  # of BufferAssignmentProto
_ID, _SIZE, _PLACE, _INSTRUCTION = 1, 2, 3, 4  # of LogicalBufferProto
_THREAD_LOCAL, _IS_PARAMETER, _PARAMETER, _OUT, _ASSIGNED, _CONSTANT = 3, 5, 6, 7, 9, 12


class Allocation(NamedTuple):
    """One piece of memory: `parameter` is the argument that it is, None for others.

    `buffers`: the name of an instruction, an offset and a size for each value that it
    holds, at one time or another.
    """

    size: int
    parameter: int | None
    output: bool
    constant: bool
    buffers: list[tuple[str, int, int]]


def allocations(program: Executable) -> list[Allocation]:
    """The memory of a program, as XLA has assigned it."""
    names = instruction_names(program)
    found: list[Allocation] = []
    for data in program.buffer_assignments():
        message = list(fields(data))
        makers = {}
        for number, value in message:
            if number == _BUFFERS:
                buffer = dict(fields(value))
                place = dict(fields(buffer.get(_PLACE, b"")))
                makers[buffer.get(_ID, 0)] = names.get(place.get(_INSTRUCTION, 0), "")
        found += [
            _allocation(value, makers)
            for number, value in message
            if number == _ALLOCATIONS and not dict(fields(value)).get(_THREAD_LOCAL)
        ]
    return found


def _allocation(data: bytes, makers: dict[int, str]) -> Allocation:
    rows = list(fields(data))
    known = dict(rows)
    assigned = [dict(fields(value)) for number, value in rows if number == _ASSIGNED]
    return Allocation(
        known.get(_SIZE, 0),
        known.get(_PARAMETER, 0) if known.get(_IS_PARAMETER) else None,
        bool(known.get(_OUT)),
        bool(known.get(_CONSTANT)),
        [(makers.get(a.get(1, 0), ""), a.get(2, 0), a.get(3, 0)) for a in assigned],
    )
