"""Time by line: an explained program is run under the profiler."""

from collections.abc import Sequence
from typing import Any

from pullback.compile.executable import Program, to_buffer
from pullback.explaining.cost import Costs
from pullback.explaining.hlo_level import CALLS, HloLevel
from pullback.explaining.stablehlo_level import StableHloLevel
from pullback.xla.profile import instruction_seconds


def seconds_by_line(
    level: HloLevel,
    above: StableHloLevel,
    costs: Costs,
    args: Sequence[Any],
    runs: int,
) -> dict[int, float]:
    """Mean seconds that one run spends in each line of the optimized program.

    The time of a fusion is split by the estimated cost of its instructions.
    """
    closed = above.closed
    types = [v.aval for v in closed.jaxpr.constvars]
    consts = list(map(to_buffer, closed.consts, types))
    program = Program(level.program, closed.out_avals, consts)
    given = list(map(to_buffer, args, closed.in_avals))

    def run(times: int) -> None:
        for _ in range(times):
            for out in program.run(given):
                out.block_until_ready()

    run(1)
    seconds: dict[int, float] = {}
    for name, spent in instruction_seconds(lambda: run(runs)).items():
        if name in level.line_of:
            for line, share in _shares(level, costs, level.line_of[name]):
                seconds[line] = seconds.get(line, 0.0) + spent * share / runs
    return seconds


def _shares(level: HloLevel, costs: Costs, line: int) -> list[tuple[int, float]]:
    """How much of an instruction's time each line has a share in."""
    match = CALLS.search(level.lines[line])
    inner = costs.bodies.get(match[1], []) if match else []
    known = [i for i in inner if i in costs.by_line]
    weights = [sum(costs.by_line[i][:2]) for i in known]
    total = sum(weights)
    if not total:
        return [(line, 1.0)]
    return [(i, w / total) for i, w in zip(known, weights, strict=True)]
