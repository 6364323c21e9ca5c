"""The front door: trace a function and explain what became of it."""

import functools
import gc
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pullback.compile.executable import usable_donations
from pullback.compile.jit import JitFunction, jit
from pullback.core.errors import ArgumentError
from pullback.core.jaxpr import ClosedJaxpr
from pullback.explaining.explanation import Explanation
from pullback.explaining.hlo_level import HloLevel, hlo_level
from pullback.explaining.jaxpr_level import jaxpr_level
from pullback.explaining.level import Level
from pullback.explaining.measuring import seconds_by_line
from pullback.explaining.sources import name_sources
from pullback.explaining.stablehlo_level import StableHloLevel, stablehlo_level
from pullback.explaining.table import Table

LEVELS = ("jaxpr", "stablehlo", "hlo")


def explain(
    fun: Callable,
    *,
    levels: Sequence[str] = LEVELS,
    measure: int = 0,
    root: str | None = None,
    hide_source: bool = False,
    **options: Any,
) -> Callable[..., Explanation]:
    """Say of every line of a program where it comes from, and what became of it.

    Args:
      fun: a function of trees of arrays, compiled or not.
      levels: of `jaxpr`, `stablehlo`, `hlo` (the program that XLA runs), those to make;
        each needs the ones before it. The Python source is always there.
      measure: run the program this many times under the profiler, and tell the time of
        each source line. Inside a fusion it is split by estimated cost.
      root: the folder that names of files are relative to (None: the one of them all).
      hide_source: leave the text of the source out of maps.
      options: of `jit`, such as `static_argnums`.

    Returns:
      A function with the arguments of `fun` that returns an `Explanation`.

    Raises:
      ArgumentError: there is no such level, or `measure` without level `hlo`.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> told = pullback.explain(lambda x: pnp.sin(x) * 2.0, levels=["jaxpr"])(1.0)
      >>> [entry.primitive for entry in told.of("jaxpr", 1)]
      ['sin', 'mul']
    """
    unknown = [name for name in levels if name not in (*LEVELS, "python")]
    if unknown:
        raise ArgumentError(
            f"explain: no level is named {unknown[0]!r}",
            rule=f"levels are {', '.join(LEVELS)}",
        )
    if measure and "hlo" not in levels:
        raise ArgumentError(
            "explain: measure without level 'hlo'",
            rule="what is measured is the optimized program",
            fix="add 'hlo' to the levels",
        )
    jitted = fun if isinstance(fun, JitFunction) else jit(fun, **options)

    @functools.wraps(fun)
    def explained(*args: Any, **kwargs: Any) -> Explanation:
        traced = jitted.trace(*args, **kwargs)
        told = explain_program(
            traced.jaxpr,
            traced.fun_name,
            fun,
            levels=levels,
            donated=traced.donate_argnums,
            root=root,
            hide_source=hide_source,
        )
        if measure:
            _measure(told, jitted, args, kwargs, measure)
        return told

    return explained


def _measure(told: Explanation, jitted: JitFunction, args, kwargs, runs: int) -> None:
    leaves, _ = jitted._traced(args, kwargs)
    level, above = told.levels["hlo"], told.levels["stablehlo"]
    if (
        isinstance(level, HloLevel)
        and isinstance(above, StableHloLevel)
        and told.costs is not None
    ):
        told.seconds = seconds_by_line(level, above, told.costs, leaves, runs)


def explain_program(
    closed: ClosedJaxpr,
    name: str,
    fun: Callable | None = None,
    *,
    levels: Sequence[str] = LEVELS,
    donated: Sequence[int] = (),
    root: str | None = None,
    hide_source: bool = False,
) -> Explanation:
    """Explain a program that has been traced."""
    with _few_collections():
        table = Table(closed, fun)
        made: list[Level] = [first := jaxpr_level(table)]
        if "stablehlo" in levels or "hlo" in levels:
            aliases = _aliases(closed, donated)
            second = stablehlo_level(table, name, aliases, first.places)
            made.append(second)
            if "hlo" in levels:
                made.append(hlo_level(table, second))
    sources = table.sites.sources
    name_sources(sources.used(), root)
    for file in sources.changed:
        warnings.warn(
            f"{file} has changed since it was imported: its lines are left out",
            stacklevel=3,
        )
    return Explanation(file_name(name), table, made, contents=not hide_source)


def _aliases(closed: ClosedJaxpr, donated: Sequence[int]) -> dict[int, int] | None:
    return usable_donations(closed, donated) if donated else None


def file_name(name: str) -> str:
    """A function's name as the name of a file."""
    return re.sub(r"[^\w\-]+", "_", name)[:80].strip("_") or "program"


@contextmanager
def _few_collections() -> Iterator[None]:
    """Millions of small records are made, no garbage: let the collector rest."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
