"""Times of two things that take turns, so that what disturbs one disturbs both.

The least of many repetitions is kept: other work on the machine only ever adds.
"""

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 60
CHUNK_SECONDS = 0.002

Thunk = Callable[[], Any]


class Pair(NamedTuple):
    """The figure of ours and that of the peer."""

    ours: float
    peer: float


def calls(ours: Thunk, peer: Thunk, rounds: int = ROUNDS) -> Pair:
    """Seconds of one call of each; both are warm, and the collector sleeps."""
    thunks = (ours, peer)
    counts = [_calls_per_chunk(thunk) for thunk in thunks]
    best = [float("inf")] * 2
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for i, thunk in enumerate(thunks):
                best[i] = min(best[i], _chunk(thunk, counts[i]))
    finally:
        gc.enable()
    return Pair(*best)


def _calls_per_chunk(thunk: Thunk) -> int:
    """How many calls last about as long as a chunk should; warms `thunk` up."""
    for _ in range(3):
        thunk()
    return max(1, int(CHUNK_SECONDS / _chunk(thunk, 3)))


def _chunk(thunk: Thunk, count: int) -> float:
    repetitions = range(count)
    start = perf_counter()
    for _ in repetitions:
        thunk()
    return (perf_counter() - start) / count


def once(
    ours: Thunk, peer: Thunk, before: Thunk = lambda: None, rounds: int = 7
) -> Pair:
    """Seconds of one call of each, `before` called first and not timed.

    The collector runs as it does for users: what a call allocates is part of its cost.
    """
    best = [float("inf")] * 2
    for _ in range(rounds):
        for i, thunk in enumerate((ours, peer)):
            before()
            gc.collect()
            best[i] = min(best[i], _chunk(thunk, 1))
    return Pair(*best)


def _environment() -> dict[str, str]:
    """That of a user: this checkout in front, compiled files kept between runs."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": str(ROOT)}


def in_fresh_process(arguments: Sequence[str]) -> Any:
    """What a new interpreter prints as JSON."""
    result = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise RuntimeError(f"{' '.join(arguments)}\n{result.stderr}")
    return json.loads(result.stdout)


def fresh_processes(programs: Sequence[str], rounds: int = 7) -> list[float]:
    """The least number that each of `programs`, run in turn, prints.

    A first turn that is not counted leaves their files compiled and in memory.
    """
    turns = [
        [in_fresh_process(("-c", program)) for program in programs]
        for _ in range(rounds + 1)
    ]
    return [min(column) for column in zip(*turns[1:], strict=True)]
