"""The optimized program as plain data: instructions with the places they come from.

Read from the protobuf, because the text prints a parent's number one too high.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pullback.xla.binding import hlo, runtime
from pullback.xla.client import Executable, client

_COMPUTATIONS, _FRAME_INDEX = 3, 17  # of HloModuleProto
_INSTRUCTIONS = 2  # of HloComputationProto
_NAME, _OPCODE, _METADATA, _ID, _OPERANDS = 1, 2, 7, 35, 36  # of HloInstructionProto
_FRAME = 15  # of OpMetadata
_FILES, _FUNCTIONS, _PLACES, _FRAMES = 1, 2, 3, 4  # of StackFrameIndexProto


class Instruction(NamedTuple):
    """One instruction of the optimized program.

    `places`: file, line and column of its location, innermost first, as the module
    gave them. `operands`: names, within its computation.
    """

    name: str
    opcode: str
    computation: str
    operands: list[str]
    places: list[tuple[str, int, int]]


def instructions(program: Executable) -> list[Instruction]:
    """Every instruction of the program that XLA runs."""
    found: list[Instruction] = []
    for data in program.optimized_hlo_proto():
        message = list(fields(data))
        frames = _Frames(b"".join(v for f, v in message if f == _FRAME_INDEX))
        for field, value in message:
            if field == _COMPUTATIONS:
                found += _computation(value, frames)
    return found


def text(program: Executable) -> str:
    """The program's text without metadata: equal for equal programs."""
    return "\n\n".join(module.to_string(_plain()) for module in program.hlo_modules())


def _plain():
    options = hlo.HloPrintOptions()
    options.print_metadata = False
    return options


def cost_of_text(module: str) -> dict[str, float]:
    """XLA's estimates for a module given as HLO text.

    Raises: BackendError where the text does not parse.
    """
    parsed = hlo.hlo_module_from_text(module)
    return dict(runtime.hlo_module_cost_analysis(client().raw, parsed))


def _computation(data: bytes, frames: "_Frames") -> Iterator[Instruction]:
    message = list(fields(data))
    name = next(v for f, v in message if f == _NAME).decode()
    rows = [list(fields(v)) for f, v in message if f == _INSTRUCTIONS]
    names = {dict(row)[_ID]: dict(row)[_NAME].decode() for row in rows}
    for row in rows:
        known = dict(row)
        frame = dict(fields(known.get(_METADATA, b""))).get(_FRAME, 0)
        operands = [i for f, v in row if f == _OPERANDS for i in _integers(v)]
        yield Instruction(
            names[known[_ID]],
            known[_OPCODE].decode(),
            name,
            [names[i] for i in operands if i in names],
            frames.places(frame),
        )


class _Frames:
    """The stack frames of a module; number 0 is none."""

    def __init__(self, data: bytes):
        message = list(fields(data))
        self.files = [v.decode() for f, v in message if f == _FILES]
        self.at = [dict(fields(v)) for f, v in message if f == _PLACES]
        self.frames = [dict(fields(v)) for f, v in message if f == _FRAMES]

    def places(self, number: int) -> list[tuple[str, int, int]]:
        """From the innermost frame outwards."""
        found = []
        while 0 < number <= len(self.frames):
            frame = self.frames[number - 1]
            at = self.at[frame[1] - 1]
            found.append((self.files[at[1] - 1], at.get(3, 0), at.get(4, 0)))
            number = frame.get(2, 0)
        return found


def _varint(data: bytes, i: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[i]
        i += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, i


def _integers(value: int | bytes) -> Iterator[int]:
    """A repeated number, packed or not."""
    if isinstance(value, int):
        yield value
        return
    i = 0
    while i < len(value):
        number, i = _varint(value, i)
        yield number


def instruction_names(program: Executable) -> dict[int, str]:
    """The name of each instruction by its number in the protobuf."""
    found = {}
    for data in program.optimized_hlo_proto():
        for number, computation in fields(data):
            if number != _COMPUTATIONS:
                continue
            for field, value in fields(computation):
                if field == _INSTRUCTIONS:
                    row = dict(fields(value))
                    found[row[_ID]] = row[_NAME].decode()
    return found


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Field numbers and values of a protobuf message; numbers or bytes."""
    i = 0
    while i < len(data):
        tag, i = _varint(data, i)
        kind = tag & 7
        if kind == 0:
            value, i = _varint(data, i)
        else:
            size = 8 if kind == 1 else 4
            if kind == 2:
                size, i = _varint(data, i)
            value, i = data[i : i + size], i + size
        yield tag >> 3, value
