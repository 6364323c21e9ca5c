"""The optimized program as a level: instructions by the places XLA carried along."""

import re

from pullback.explaining.level import Level, Rows
from pullback.explaining.stablehlo_level import StableHloLevel
from pullback.explaining.table import Equation, Table
from pullback.xla.client import Executable, compile_module
from pullback.xla.hlo_program import Instruction, instructions, text

FILE = "pullback.stablehlo"
LINE = re.compile(r"(\s*)(?:ROOT )?%?([\w.\-]+) = ")
CALLS = re.compile(r"calls=%?([\w.\-]+)")
CALLED = re.compile(
    r"(?:calls|to_apply|body|condition|select|scatter|comparator)=%?([\w.\-]+)"
)


class HloLevel(Level):
    """The optimized HLO text.

    `program`: it, compiled. `line_of`: where each instruction stands, by name. `via`:
    for an instruction, its equation and the calls that XLA inlined around it.
    """

    program: Executable
    line_of: dict[str, int]
    via: dict[int, list[Equation]]
    instructions: list[Instruction]


def hlo_level(table: Table, above: StableHloLevel) -> HloLevel:
    """Compile the module of `above`, past all caches, and read the result back."""
    above.printed.place(FILE)
    bytecode = above.module.bytecode()
    module = above.module.raw if above.module.callbacks else bytecode
    program = compile_module(module, callbacks=above.module.callbacks)
    printed = text(program)
    found = instructions(program)
    lines = printed.split("\n")
    line_of = {m[2]: i for i, s in enumerate(lines) if (m := LINE.match(s))}
    via, places = _equations(found, line_of, above)
    owners = [via[i][0].number if i in via else -1 for i in range(len(lines))]
    inferred = _infer(found, lines, line_of, owners)
    rows = Rows(lines)
    up: list = [[] for _ in lines]
    for line in sorted(line_of.values()):
        column = len(LINE.match(lines[line])[1])  # type: ignore[index]
        if line in via and via[line][0].spot is not None:
            rows.put(line, column, via[line][0].spot, None)
            rows.put(line, len(lines[line]), None, None)
            up[line] = [(column, places[line]), (len(lines[line]), None)]
    level = HloLevel("hlo", "hlo.txt", printed, rows.rows, owners, up)
    level.program, level.line_of, level.via = program, line_of, via
    level.instructions, level.inferred = found, inferred
    level.inner = _fused(lines, found, line_of, owners)
    return level


def _equations(found, line_of, above: StableHloLevel) -> tuple[dict, dict]:
    """For each line its equation with the calls around it, and its place above."""
    via: dict[int, list[Equation]] = {}
    places: dict[int, tuple[int, int]] = {}
    for instruction in found:
        at = [(ln - 1, col - 1) for file, ln, col in instruction.places if file == FILE]
        known = [above.at[p] for p in at if p in above.at]
        if known and at[0] in above.at and instruction.name in line_of:
            line = line_of[instruction.name]
            via[line] = known
            text = above.lines[at[0][0]].encode()[: at[0][1]].decode()
            places[line] = at[0][0], len(text)
    return via, places


def _infer(found, lines, line_of, owners: list[int]) -> set[int]:
    """Give instructions without a place the equation of a neighbour.

    That is an operand or a user, else the instruction that calls their computation.
    """
    neighbours = _neighbours(found, lines, line_of)
    missing = [i for i in neighbours if owners[i] < 0]
    inferred: set[int] = set()
    for i in [*missing, *reversed(missing), *missing]:
        known = [owners[j] for j in neighbours[i] if owners[j] >= 0]
        if owners[i] < 0 and known:
            owners[i] = known[0]
            inferred.add(i)
    return inferred


def _neighbours(found, lines, line_of) -> dict[int, list[int]]:
    """For the line of each instruction the lines to take its equation from."""
    callers: dict[str, list[int]] = {}
    for line in line_of.values():
        for computation in CALLED.findall(lines[line]):
            callers.setdefault(computation, []).append(line)
    near: dict[int, list[int]] = {}
    users: dict[int, list[int]] = {}
    rows = [x for x in found if x.name in line_of and x.opcode != "parameter"]
    for x in rows:
        mine = near[line_of[x.name]] = [line_of[n] for n in x.operands if n in line_of]
        for line in mine:
            users.setdefault(line, []).append(line_of[x.name])
    for x in rows:
        line = line_of[x.name]
        near[line] = [
            *near[line],
            *users.get(line, []),
            *callers.get(x.computation, []),
        ]
    return near


def _fused(lines, found, line_of, owners) -> dict[int, list[int]]:
    """The equations inside each fusion, by its line."""
    members: dict[str, list[int]] = {}
    for x in found:
        owner = owners[line_of[x.name]] if x.name in line_of else -1
        if owner >= 0:
            mine = members.setdefault(x.computation, [])
            if owner not in mine:
                mine.append(owner)
    inner = {}
    for line in line_of.values():
        match = CALLS.search(lines[line])
        if match and match[1] in members:
            inner[line] = members[match[1]]
    return inner
