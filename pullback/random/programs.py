"""Samplers run as one program: calls on values compile whole, traced ones are inlined.

A sampler is several operations; one at a time they would round otherwise than fused,
so the numbers drawn would depend on who calls.
"""

import functools
from collections.abc import Callable
from typing import Any

from pullback.compile.eager import EAGER
from pullback.compile.jit import jit
from pullback.core.trace import Trace, state

MAX_PROGRAMS = 4096


def one_program(fun: Callable[..., Any]) -> Callable[..., Any]:
    """`fun(facts, *arrays)`, whose tuple `facts` is hashable, as one program."""

    @functools.lru_cache(MAX_PROGRAMS)
    def compiled(facts: tuple) -> Callable[..., Any]:
        def body(*arrays: Any) -> Any:
            return fun(facts, *arrays)

        body.__name__ = fun.__name__.lstrip("_")
        return jit(body)

    @functools.wraps(fun)
    def run(facts: tuple, *arrays: Any) -> Any:
        if state.trace is EAGER or _runs_now(state.trace):
            return compiled(facts)(*arrays)
        return fun(facts, *arrays)

    return run


def _runs_now(trace: Trace | None) -> bool:
    """Whether what is given to the interpreter is run in the end, not recorded."""
    while trace is not EAGER:
        trace = getattr(trace, "parent", None)
        if trace is None:
            return False
    return True
