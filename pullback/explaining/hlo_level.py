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
    inferred = _infer(found, line_of, owners)
    rows = Rows(lines)
    up: list = [[] for _ in lines]
    for name, line in sorted(line_of.items(), key=lambda item: item[1]):
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


def _infer(found, line_of, owners: list[int]) -> set[int]:
    """Give instructions without a place the equation of a neighbour."""
    inferred: set[int] = set()
    users: dict[tuple[str, str], list[str]] = {}
    for x in found:
        for name in x.operands:
            users.setdefault((x.computation, name), []).append(x.name)
    missing = [x for x in found if x.name in line_of and owners[line_of[x.name]] < 0]
    missing = [x for x in missing if x.opcode != "parameter"]
    for x in [*missing, *reversed(missing)]:
        line = line_of[x.name]
        near = [*x.operands, *users.get((x.computation, x.name), [])]
        known = [owners[line_of[n]] for n in near if n in line_of]
        known = [owner for owner in known if owner >= 0]
        if owners[line] < 0 and known:
            owners[line] = known[0]
            inferred.add(line)
    return inferred


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
