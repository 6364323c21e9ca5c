"""How long each instruction of a program takes, by XLA's own profiler."""

from collections.abc import Callable, Iterable
from typing import Any

from jaxlib import (
    _profile_data,  # pyright: ignore[reportAttributeAccessIssue]
    _profiler,  # pyright: ignore[reportAttributeAccessIssue]
)

PROFILE = _profile_data.ProfileData  # what a session hands back: must be loaded


def instruction_seconds(run: Callable[[], None]) -> dict[str, float]:
    """Seconds by the name of each instruction that `run()` executes.

    Time that an instruction spends in others, as a loop does, is theirs.
    """
    session = _profiler.ProfilerSession()
    try:
        run()
    finally:
        data = session.stop_and_get_profile_data()
    seconds: dict[str, float] = {}
    for plane in data.planes:
        for line in plane.lines:
            for name, spent in _own(_instructions(line.events)):
                seconds[name] = seconds.get(name, 0.0) + spent * 1e-9
    return seconds


def _instructions(events: Iterable[Any]) -> list[tuple[float, float, str]]:
    """Start, negative duration and name, in an order that puts an outer event first."""
    found = []
    for event in events:
        name = dict(event.stats).get("hlo_op")
        if name is not None:
            found.append((event.start_ns, -event.duration_ns, str(name)))
    return sorted(found)


def _own(events: list[tuple[float, float, str]]) -> list[tuple[str, float]]:
    """Names with durations less those of the events inside."""
    own = [-negative for _, negative, _ in events]
    open_: list[int] = []
    for i, (start, negative, _) in enumerate(events):
        while open_ and events[open_[-1]][0] - events[open_[-1]][1] <= start:
            open_.pop()
        if open_:
            own[open_[-1]] += negative
        open_.append(i)
    names = [name for _, _, name in events]
    return list(zip(names, own, strict=True))
