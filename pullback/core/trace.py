"""Dispatch: `bind` hands a primitive application to the interpreter in charge.

1. Every thread has one interpreter in charge (`state.trace`); transformations put their
   own in charge for the length of a call and hand on to their parent.
2. An interpreter unwraps its own tracers and no others. Values of outer interpreters
   are constants to it.
3. A tracer dies with its trace; using it later is an `UnexpectedTracerError`.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pullback.core import (
    config,
    printer as _printer,  # noqa: F401 - gives jaxprs their repr
    provenance,
)
from pullback.core.aval import aval_of
from pullback.core.derivative import Region
from pullback.core.errors import (
    ConcretizationTypeError,
    InternalError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnboundAxisError,
    UnexpectedTracerError,
)
from pullback.core.jaxpr import (
    NO_DEBUG_INFO,
    NO_EFFECTS,
    Atom,
    DebugInfo,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    effects_of,
)
from pullback.core.provenance import Origin
from pullback.core.value import Array


class Trace:
    """An interpreter. `process` applies a primitive to values and returns values."""

    __slots__ = ("alive",)

    def __init__(self):
        self.alive = True

    def process(self, prim, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Apply `prim`; a list for primitives with several results."""
        raise NotImplementedError

    def box(self, value: np.ndarray, aval) -> Any:
        """A value of type `aval` from NumPy, where the interpreter is a base."""
        raise NotImplementedError


class _Uninstalled(Trace):
    def process(self, prim, args, params):
        raise InternalError(f"{prim}: no base interpreter is installed")


class _State(threading.local):
    """Per thread: the interpreter in charge, the origin to give to equations, the
    named axes in scope with their sizes, innermost last, and the name of the axis that
    a batch rule is mapping.
    """

    trace: Trace = _Uninstalled()
    origin: Origin | None = None
    axes: tuple[tuple[Any, int], ...] = ()
    mapped_axis: Any = None


state = _State()


def context() -> tuple:
    """What a trace depends on besides its arguments: part of every key."""
    return config.local.current, state.axes


def axis_size(name: Any) -> int:
    """The size of the named axis in scope.

    Raises:
      UnboundAxisError: there is none of that name.
    """
    for known, size in reversed(state.axes):
        if known == name:
            return size
    names = [n for n, _ in state.axes]
    raise UnboundAxisError(
        f"no axis named {name!r} is in scope",
        rule=f"a collective names an axis of an enclosing vmap; those are {names}",
        fix="call the function under vmap with axis_name",
    )


def install_base(trace: Trace) -> None:
    """Called once by the compile layer: the interpreter under every other."""
    _State.trace = trace


def boxed(value: np.ndarray, aval) -> Any:
    """What the base interpreter makes of a NumPy array that nobody else changes."""
    return _State.trace.box(value, aval)


def bind(prim, *args: Any, **params: Any) -> Any:
    """Apply `prim` to values under the interpreter in charge: a primitive's method."""
    return state.trace.process(prim, args, params)


@contextmanager
def in_charge(trace: Trace) -> Iterator[Trace]:
    """Put `trace` in charge within a `with` block."""
    saved, state.trace = state.trace, trace
    try:
        yield trace
    finally:
        state.trace = saved


class Tracer(Array):
    """A value standing in for an array while a program is transformed."""

    __slots__ = ("aval", "owner")

    def __init__(self, trace: Trace, aval):
        self.owner, self.aval = trace, aval

    def concrete(self) -> Any:
        """The value that Python control flow may read, or None when there is none."""
        return None

    def origin(self) -> Origin | None:
        """Where the value was made."""
        return None

    def describe(self) -> str:
        """The value in words: its type, and the line and call that made it."""
        made = self.origin()
        frame = made.user_frame() if made else None
        where = f" made at {frame}: `{frame.text}`" if frame else ""
        return f"{self.aval.short()}{where}"

    def _need(self, error: type[ConcretizationTypeError], what: str, fix: str) -> Any:
        value = self.concrete()
        if value is None:
            raise error(
                f"{what} of a traced array, {self.describe()}",
                rule="while tracing (jit, vmap, scan, ...) only types are known",
                fix=fix,
            )
        return value

    def __bool__(self) -> bool:
        fix = "use lax.cond, lax.while_loop or numpy.where, or a static argument"
        return bool(self._need(TracerBoolConversionError, "bool()", fix))

    def __int__(self) -> int:
        fix = "keep it an array (astype(int)), or make the argument static"
        return int(self._need(ConcretizationTypeError, "int()", fix))

    def __index__(self) -> int:
        fix = "make the argument static (static_argnums), or index with the array"
        return self._need(
            TracerIntegerConversionError, "the integer value", fix
        ).__index__()

    def __float__(self) -> float:
        fix = "keep it an array (astype(float)), or return it from the function"
        return float(self._need(ConcretizationTypeError, "float()", fix))

    def __complex__(self) -> complex:
        fix = "keep it an array (astype(complex)), or return it from the function"
        return complex(self._need(ConcretizationTypeError, "complex()", fix))

    def __array__(self, dtype=None, copy=None):
        fix = "use pullback.numpy in place of numpy on traced values"
        value = self._need(TracerArrayConversionError, "the NumPy value", fix)
        return np.asarray(value, dtype)

    def item(self, *args):
        """The value as a Python scalar; only where it is known."""
        fix = "return the array from the function and call item() outside"
        return self._need(ConcretizationTypeError, "item()", fix).item(*args)

    def tolist(self):
        """The values as nested lists; only where they are known."""
        fix = "return the array from the function and call tolist() outside"
        return self._need(ConcretizationTypeError, "tolist()", fix).tolist()

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self.aval.short()}>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise ConcretizationTypeError(
            f"pickling a traced array, {self.describe()}",
            rule="a traced value has no data",
            fix="pickle the arrays that the traced function returns",
        )


def is_known(x: Any) -> bool:
    """Whether Python control flow may read the value of `x`."""
    return not isinstance(x, Tracer) or x.concrete() is not None


def unexpected(tracer: Tracer, where: str) -> UnexpectedTracerError:
    """The error for a tracer met outside the function that it belongs to."""
    return UnexpectedTracerError(
        f"{where} got a traced array that has left its function: {tracer.describe()}",
        rule="a traced value lives only while the function that is traced runs",
        fix="return it from the function instead of storing it in a global, an "
        "attribute or a closure",
    )


# ---- staging: record applications instead of running them ----


class StageTracer(Tracer):
    """A value of the program being recorded: `variable` in its jaxpr."""

    __slots__ = ("source", "variable")

    def __init__(self, trace: "StageTrace", var: Var, source: Origin | int):
        self.owner, self.aval, self.variable, self.source = trace, var.aval, var, source

    def origin(self) -> Origin | None:
        """Where the value was made."""
        return self.source if isinstance(self.source, Origin) else None

    def describe(self) -> str:
        """The value in words, with the function that it belongs to."""
        info = self.owner.debug_info
        if isinstance(self.source, int):
            argument = info.argument(self.source)
            return f"{self.aval.short()}, {argument} of {info.func_name}"
        return f"{Tracer.describe(self)}, in {info.func_name}"


class StageTrace(Trace):
    """Records equations. Values of other traces become constants, scalars literals."""

    __slots__ = ("consts", "constvars", "debug_info", "eqns", "invars", "seen")

    def __init__(self, debug_info: DebugInfo = NO_DEBUG_INFO):
        self.alive, self.debug_info = True, debug_info
        self.eqns: list[JaxprEqn] = []
        self.invars: list[Var] = []
        self.constvars: list[Var] = []
        self.consts: list[Any] = []
        self.seen: dict[int, Var] = {}

    def new_input(self, aval) -> StageTracer:
        """A tracer for the next argument."""
        var = Var(aval)
        self.invars.append(var)
        return StageTracer(self, var, len(self.invars) - 1)

    def atom(self, x) -> Atom:
        """`x` as an operand of this program."""
        if type(x) is StageTracer and x.owner is self:
            return x.variable
        return self.constant(x)

    def constant(self, x) -> Atom:
        """A value from outside as an operand: a literal, or a constant of the jaxpr."""
        if isinstance(x, Tracer):
            if not x.owner.alive:
                raise unexpected(x, f"tracing {self.debug_info.func_name}")
        elif not isinstance(x, Array | np.ndarray) or (
            type(x) is np.ndarray and not x.shape
        ):
            return Literal(x, aval_of(x))
        var = self.seen.get(id(x))
        if var is None:
            var = self.seen[id(x)] = Var(aval_of(x))
            self.constvars.append(var)
            self.consts.append(x)
        return var

    def process(self, prim, args, params):
        """Apply `prim`; see `Trace`."""
        fact = prim.derivative
        if type(fact) is Region and fact.record is not None:
            args, params = fact.record(args, **params)
        invars, avals = [], []
        for a in args:
            if type(a) is StageTracer and a.owner is self:
                invars.append(a.variable)
                avals.append(a.aval)
            else:
                atom = self.constant(a)
                invars.append(atom)
                avals.append(atom.aval)
        out = prim.out_avals(avals, params)
        source = state.origin or Origin(
            provenance._capture(), (), None, provenance.scope.name
        )
        effects = NO_EFFECTS
        if prim.effects is not None:
            effects = prim.effects(*avals, **params)
        if prim.multiple_results:
            outvars = list(map(Var, out))
            self.eqns.append(JaxprEqn(prim, invars, outvars, params, effects, source))
            return [StageTracer(self, v, source) for v in outvars]
        var = Var(out)
        self.eqns.append(JaxprEqn(prim, invars, [var], params, effects, source))
        return StageTracer(self, var, source)

    def jaxpr(self, outs: Sequence[Any]) -> Jaxpr:
        """The recorded program with results `outs`."""
        outvars = [self.atom(x) for x in outs]
        return Jaxpr(
            self.constvars,
            self.invars,
            outvars,
            self.eqns,
            effects_of(self.eqns),
            self.debug_info,
        )


def stage(
    fun: Callable[..., Sequence[Any]],
    in_avals: Sequence[Any],
    debug_info: DebugInfo = NO_DEBUG_INFO,
) -> tuple[Jaxpr, list[Any]]:
    """Record `fun`, a function of flat values returning a flat sequence.

    Returns the jaxpr and the values of its constants. An aval is needed for every
    argument; dtypes of results are what `fun` made of them.
    """
    trace = StageTrace(debug_info)
    tracers = [trace.new_input(aval) for aval in in_avals]
    saved, origin = state.trace, state.origin
    state.trace, state.origin = trace, None
    try:
        jaxpr = trace.jaxpr(fun(*tracers))
    finally:
        trace.alive = False
        state.trace, state.origin = saved, origin
    return jaxpr, trace.consts


def eval_jaxpr(jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """Run `jaxpr` under the interpreter in charge, each equation with its origin."""
    env: dict[Atom, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    env.update(zip(jaxpr.invars, args, strict=True))
    outer = state.origin
    process = state.trace.process
    try:
        for eqn in jaxpr.eqns:
            state.origin = eqn.source if outer is None else _within(outer, eqn.source)
            values = [v.val if type(v) is Literal else env[v] for v in eqn.invars]
            out = process(eqn.primitive, values, eqn.params)
            if eqn.primitive.multiple_results:
                env.update(zip(eqn.outvars, out, strict=True))
            else:
                env[eqn.outvars[0]] = out
    finally:
        state.origin = outer
    return [v.val if type(v) is Literal else env[v] for v in jaxpr.outvars]


def _within(outer: Origin, inner: Origin | None) -> Origin:
    """The origin of an inner equation that a transformation of `outer` evaluates."""
    if inner is None:
        return outer
    trail = (*inner.trail, *outer.trail)
    return Origin(inner.traceback, trail, inner.born_from, inner.scope)
