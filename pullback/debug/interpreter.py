"""Run a program in NumPy, equation by equation, from the references of its primitives.

No compiler is involved: what it computes is the meaning of the program, slowly.
"""

import functools
from collections.abc import Callable
from typing import Any

from pullback.compile.array import ArrayImpl
from pullback.compile.jit import jit
from pullback.core import tree
from pullback.core.aval import aval_of
from pullback.debug.numpy_trace import frozen
from pullback.regions.reference import Observer, host, observed, run_reference


def interpret(fun: Callable, *, observe: Observer | None = None) -> Callable:
    """`fun`, traced once a call and run in NumPy instead of XLA.

    Args:
      fun: a function of trees of arrays, as `jit` takes it.
      observe: called as `observe(eqn, results)` after every equation, those of inner
        bodies included, with NumPy arrays. It may raise to stop the program.

    Returns:
      A function with the arguments and results of `fun`.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> from pullback import debug
      >>> names = []
      >>> note = lambda eqn, results: names.append(eqn.primitive.name)
      >>> debug.interpret(lambda x: pnp.sum(x * x), observe=note)(pnp.arange(3.0))
      Array(5., dtype=float32)
      >>> names
      ['mul', 'reduce_sum']
    """
    traced_by = jit(fun)

    @functools.wraps(fun)
    def run(*args: Any, **kwargs: Any) -> Any:
        traced = traced_by.trace(*args, **kwargs)
        closed = traced.jaxpr
        values = [host(x, aval_of(x)) for x in tree.leaves((args, kwargs))]
        with observed(observe):
            outs = run_reference(closed, *values)
        arrays = [
            ArrayImpl(a, None, frozen(x))
            for x, a in zip(outs, closed.out_avals, strict=True)
        ]
        return tree.unflatten(traced.out_tree, arrays)

    return run
