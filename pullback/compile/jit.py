"""The front door of compiled functions: keys, caches and the fast path of a call.

1. A call whose arguments are all concrete arrays costs one look-up by their avals.
2. A trace is kept for a function, its static arguments, the structure and types of the
   others, and the settings in force.
3. Under another interpreter the traced body is bound as one `jit` equation.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.compile.array import ArrayImpl
from pullback.compile.eager import EAGER
from pullback.compile.executable import Staged, to_buffer, usable_donations
from pullback.compile.stages import Lowered, Traced, as_typed
from pullback.compile.static import (
    DonatedArguments,
    StaticArguments,
    argument_names,
)
from pullback.core import config, tree
from pullback.core.aval import aval_of, is_array_like
from pullback.core.errors import ArgumentTypeError
from pullback.core.jaxpr import ClosedJaxpr, DebugInfo, consts_as_inputs
from pullback.core.trace import Tracer, context, eval_jaxpr, stage, state
from pullback.regions.jit import jit_p
from pullback.xla import buffers, pytree

MAX_ENTRIES = 4096
_PLAIN = frozenset({ArrayImpl, np.ndarray, bool, int, float, complex})

tree.on_register(pytree.register)


class JitFunction:
    """What `jit` returns: calls compile once per types of the arguments."""

    def __init__(
        self,
        fun: Callable,
        static: StaticArguments,
        inline: bool = False,
        donated: DonatedArguments | None = None,
    ):
        functools.update_wrapper(self, fun)
        self._fun, self._static, self._inline = fun, static, inline
        self._donated = donated
        self._name = getattr(fun, "__name__", type(fun).__name__)
        self._traces: dict[tuple, Staged] = {}
        self._missed: tuple | None = None
        self._flat: dict[tuple, Any] = {}
        self._trees: dict[tuple, Any] = {}
        self._none_static = static.empty

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the compiled function."""
        if state.trace is not EAGER or not self._none_static:
            return self._call(args, kwargs)
        settings = config.local.current
        avals = [a.aval for a in args if type(a) is ArrayImpl]
        if len(avals) == len(args) and not kwargs:
            found = self._flat.get((settings, *avals))
            if found is not None:
                return found([a.buffer() if a.buf is None else a.buf for a in args])
            return self._call(args, kwargs)
        leaves, treedef = pytree.flatten((args, kwargs))
        if _PLAIN.issuperset(map(type, leaves)):
            avals = [a.aval if type(a) is ArrayImpl else aval_of(a) for a in leaves]
            found = self._trees.get((settings, treedef, *avals))
            if found is not None:
                return found(_buffers(leaves, avals))
        return self._call(args, kwargs)

    def _call(self, args: tuple, kwargs: dict) -> Any:
        """The general path."""
        if config.local.current.disable_jit:
            return self._fun(*args, **kwargs)
        leaves, traced = self._traced(args, kwargs)
        if self._inline and state.trace is not EAGER:
            outs = eval_jaxpr(traced.closed.jaxpr, traced.closed.consts, leaves)
            return traced.out_tree.unflatten(outs)
        if state.trace is not EAGER:
            outs = self._bind(traced, leaves)
        else:
            run = _runner(traced)
            outs = run(_buffers(leaves, traced.closed.in_avals))
            if self._none_static:
                result = traced.out_tree.unflatten(outs)
                self._remember(args, kwargs, _finisher(run, result))
                return result
        return traced.out_tree.unflatten(outs)

    def _bind(self, traced: Staged, leaves: Sequence[Any]) -> list[Any]:
        closed = traced.closed
        body = closed
        if closed.consts:
            cache = closed.jaxpr.cache
            body = cache.get("as inputs")
            if body is None:
                body = cache["as inputs"] = ClosedJaxpr(consts_as_inputs(closed.jaxpr))
        return jit_p.bind(*closed.consts, *leaves, jaxpr=body, name=traced.name)

    def _remember(self, args: tuple, kwargs: dict, finish: Callable) -> None:
        """Make the next call with these types take the fast path."""
        leaves, treedef = pytree.flatten((args, kwargs))
        settings, avals = config.local.current, [aval_of(x) for x in leaves]
        if len(self._trees) + len(self._flat) >= MAX_ENTRIES:
            self._trees.clear()
            self._flat.clear()
        if not kwargs and all(type(a) is ArrayImpl for a in args):
            self._flat[(settings, *avals)] = finish
        else:
            self._trees[(settings, treedef, *avals)] = finish

    def _traced(self, args: tuple, kwargs: dict) -> tuple[list[Any], Staged]:
        """The flat arguments, and the trace for their types."""
        dynamic, statics = (args, kwargs), ()
        if not self._none_static:
            dynamic, statics = self._static.split(args, kwargs)
        leaves, treedef = _flatten(dynamic)
        avals = [_argument_aval(x, i, self, treedef) for i, x in enumerate(leaves)]
        key = (*context(), treedef, statics, *avals)
        traced = self._traces.get(key)
        if traced is None:
            self._missed = key
            traced = self._stage(treedef, statics, avals)
            if not any(isinstance(c, Tracer) for c in traced.closed.consts):
                if len(self._traces) >= MAX_ENTRIES:
                    self._traces.clear()
                self._traces[key] = traced
        return leaves, traced

    def _stage(self, treedef, statics, avals) -> Staged:
        out_tree = None

        def flat(*xs):
            nonlocal out_tree
            args, kwargs = treedef.unflatten(xs)
            if statics:
                args, kwargs = self._static.merge((args, kwargs), statics)
            outs, out_tree = _flatten(self._fun(*args, **kwargs))
            for i, x in enumerate(outs):
                if not is_array_like(x):
                    raise _bad_result(self._name, x, i, out_tree)
            return outs

        debug = DebugInfo(self._name, lambda: argument_names(self._fun, treedef))
        jaxpr, consts = stage(flat, avals, debug)
        donated = self._donated
        given = donated.leaves(treedef, self._static) if donated is not None else ()
        closed = ClosedJaxpr(jaxpr, consts)
        return Staged(closed, treedef, out_tree, self._name, given)

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """The traced program for arguments of these types.

        Arguments may be arrays, or `ShapeDtypeStruct`s in their places.
        """
        return Traced(self._traced(*as_typed(args, kwargs))[1])

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """The StableHLO module for arguments of these types; see `trace`."""
        return self.trace(*args, **kwargs).lower()

    def clear_cache(self) -> None:
        """Forget all traces and programs of this function."""
        for cache in (self._traces, self._flat, self._trees):
            cache.clear()

    def _cache_size(self) -> int:
        return len(self._traces)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<jit of {self._fun!r}>"


def _buffers(leaves: Sequence[Any], avals: Sequence[Any]) -> list[Any]:
    return [
        x.buf if type(x) is ArrayImpl and x.buf is not None else to_buffer(x, aval)
        for x, aval in zip(leaves, avals, strict=True)
    ]


def _flatten(x: Any) -> tuple[list[Any], Any]:
    """Leaves and structure by the C++ walk; errors by the one that words them."""
    try:
        return pytree.flatten(x)
    except ValueError:
        tree.flatten(x)
        raise


def _runner(traced: Staged) -> Callable[[list], list]:
    """What runs the program on buffers, and ends the life of donated ones."""
    run = traced.compiled().run
    reused = usable_donations(traced.closed, traced.donated)
    if not reused:
        return run

    def run_and_free(args: list) -> list:
        outs = run(args)
        for i in reused:
            buffers.delete(args[i])  # XLA keeps those that a NumPy view looks at
        return outs

    return run_and_free


def _finisher(run: Callable[[list], list], result: Any) -> Callable[[list], Any]:
    """What runs the program on buffers and shapes its results like `result`."""
    if isinstance(result, ArrayImpl):
        return lambda args: run(args)[0]
    treedef = pytree.flatten(result)[1]
    return lambda args: pytree.unflatten(treedef, run(args))


def _argument_aval(x: Any, i: int, jitted: JitFunction, treedef):
    if type(x) is ArrayImpl:
        return x.aval
    if not is_array_like(x):
        name = argument_names(jitted._fun, treedef)[i]
        raise ArgumentTypeError(
            f"{jitted._name}: argument {name} is {x!r} of type {type(x).__name__}",
            rule="arguments of a compiled function are trees of arrays and numbers",
            fix="mark it static with static_argnums or static_argnames",
        )
    return aval_of(x)


def _bad_result(name: str, x: Any, i: int, out_tree) -> ArgumentTypeError:
    index = out_tree.unflatten(range(out_tree.num_leaves))
    path = next(tree.keystr(p) for p, j in tree.leaves_with_path(index) if j == i)
    return ArgumentTypeError(
        f"{name} returned {x!r} of type {type(x).__name__} at result{path}",
        rule="a traced function returns arrays, numbers, or trees of them",
        fix="leave it out, or return it from the caller",
    )


def jit(
    fun: Callable | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Sequence[str] | None = None,
    inline: bool = False,
    keep_unused: bool = False,
) -> Any:
    """Compile `fun` with XLA, once for each set of types of its arguments.

    Args:
      fun: a function of trees of arrays. It must depend on its arguments only: it runs
        once a type, while its operations are recorded.
      static_argnums: positions of arguments that are Python values to trace with; they
        must be hashable, and a new value means a new trace.
      static_argnames: the same, by name.
      donate_argnums: positions of arguments that the caller gives up, so that results
        may take their memory; using such an array again is a `RuntimeFailure`.
      donate_argnames: the same, by name.
      inline: inside another traced function, write the body out instead of a call.
      keep_unused: accepted for compatibility; arguments are never dropped.

    Returns:
      A function that behaves as `fun`. Without `fun`: a decorator.

    Raises:
      ArgumentTypeError: an argument or a result is not an array, a static argument is
        not hashable, or a name is not in the signature.
      RuntimeFailure: the program failed, an argument was deleted or donated before, or
        the arguments are on different devices.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> pullback.jit(lambda x: pnp.sum(x * x))(pnp.arange(3.0))
      Array(5., dtype=float32)
    """
    if fun is None:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            inline=inline,
            keep_unused=keep_unused,
        )
    if not callable(fun):
        raise ArgumentTypeError(
            f"jit of {fun!r} of type {type(fun).__name__}", rule="it takes a function"
        )
    static = StaticArguments(fun, static_argnums, static_argnames)
    donated = None
    if donate_argnums is not None or donate_argnames is not None:
        donated = DonatedArguments(fun, donate_argnums, donate_argnames)
    return JitFunction(fun, static, inline, donated)
