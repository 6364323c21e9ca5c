"""The base interpreter: one primitive at a time, compiled once per types.

Operations that are exact in NumPy run there when their operands are on the host and
small: a compiled call costs more than the work.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pullback.compile.array import ArrayImpl, carrier
from pullback.compile.executable import Program, compile_jaxpr, to_buffer
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Region
from pullback.core.errors import InternalError
from pullback.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var, subjaxprs
from pullback.core.primitive import Primitive
from pullback.core.provenance import here, install
from pullback.core.trace import Trace, Tracer, in_charge, install_base, unexpected
from pullback.ops.dynamic import dynamic_slice_p, dynamic_update_slice_p
from pullback.ops.host import is_exact
from pullback.ops.shape import broadcast_in_dim_p
from pullback.ops.slicing import pad_p, slice_p
from pullback.xla.traceback import capture_traceback, raw_frames

HOST_SIZE = 1024
CACHE_SIZE = 8192


class Entry:
    """What is known of one primitive at given types: result types and its program."""

    __slots__ = ("host", "out", "outs", "program")

    def __init__(self, out: Any, outs: list[ShapedArray], host: bool):
        self.out, self.outs, self.host = out, outs, host
        self.program: Program | None = None


class EagerTrace(Trace):
    """Runs primitives on concrete values."""

    __slots__ = ()

    def process(self, prim, args, params):
        """Apply `prim`; see `Trace`."""
        fact = prim.derivative
        if type(fact) is Region and fact.run is not None:
            return fact.run(args, **params)
        avals = []
        for a in args:
            if type(a) is ArrayImpl:
                avals.append(a.aval)
            elif isinstance(a, Tracer):
                raise unexpected(a, prim.name)
            else:
                avals.append(aval_of(a))
        key = (prim, *avals, *params.items())
        cache = _cache_for(prim, params)
        entry = cache.get(key)
        if entry is None:
            entry = _new_entry(cache, key, prim, avals, params)
        if entry.host and all(map(_on_host, args)):
            return _run_on_host(prim, entry.out, args, avals, params)
        program = entry.program
        if program is None:
            if prim is slice_p or prim is pad_p:
                out = _by_position(prim, args, avals, entry.out, params)
                if out is not None:
                    return out
            program = entry.program = _compile(prim, avals, entry.outs, params)
        outs = program.run(list(map(to_buffer, args, avals)))
        return outs if prim.multiple_results else outs[0]

    def box(self, value, aval):
        """An array that has not left the host; see `Trace`."""
        return ArrayImpl(aval, None, value)


_cache: dict[tuple, Entry] = {}


def _cache_for(prim: Primitive, params: dict) -> dict:
    """Programs of a region live with its body, all others in one bounded cache."""
    if type(prim.derivative) is Region:
        for value in params.values():
            body = value[0] if type(value) is tuple and value else value
            if isinstance(body, ClosedJaxpr):
                return body.jaxpr.cache
    return _cache


def _new_entry(cache, key, prim, avals, params) -> Entry:
    out = prim.out_avals(avals, params)
    outs = list(out) if prim.multiple_results else [out]
    small = all(a.size <= HOST_SIZE for a in (*avals, *outs))
    host = small and is_exact(prim.name, avals)
    if cache is _cache and len(cache) >= CACHE_SIZE:
        cache.clear()
    entry = cache[key] = Entry(out, outs, host)
    return entry


def _on_host(x: Any) -> bool:
    return type(x) is not ArrayImpl or x.np_value is not None or x.ready()


def _run_on_host(prim, out: ShapedArray, args: Sequence, avals: Sequence, params):
    values = [
        x.host() if type(x) is ArrayImpl else np.asarray(x, a.dtype)
        for x, a in zip(args, avals, strict=True)
    ]
    value = np.asarray(prim.reference(*values, **params), carrier(out.dtype))
    value.flags.writeable = False
    return ArrayImpl(out, None, value)


def _by_position(prim, args, avals, out: ShapedArray, params):
    """A slice, or its transpose, as programs that serve all positions; or None."""
    if not out.size or max((*avals[0].shape, *out.shape), default=1) >= 1 << 31:
        return None
    if prim is slice_p:
        return _sliced(args[0], avals[0].shape, out.shape, **params)
    config = params["padding_config"]
    if not avals[0].size or any(min(c) < 0 for c in config):
        return None
    x, value = args
    if any(interior for _, _, interior in config):
        if not any(low or high for low, high, _ in config):
            return None
        inner = tuple((0, 0, interior) for _, _, interior in config)
        x = pad_p.bind(x, value, padding_config=inner)
    around = broadcast_in_dim_p.bind(value, shape=out.shape, broadcast_dimensions=())
    starts = (np.int32(low) for low, _, _ in config)
    return dynamic_update_slice_p.bind(around, x, *starts)


def _sliced(x, shape, sizes, *, start_indices, limit_indices, strides):
    """A window from where the slice starts; then its strides."""
    if strides is None:
        boxes = sizes
    else:
        boxes = tuple((k - 1) * s + 1 for k, s in zip(sizes, strides, strict=True))
        if boxes == shape:
            return None
    x = dynamic_slice_p.bind(x, *map(np.int32, start_indices), slice_sizes=boxes)
    if strides is None:
        return x
    first = (0,) * len(shape)
    return slice_p.bind(x, start_indices=first, limit_indices=boxes, strides=strides)


def _compile(prim, avals, outs, params) -> Program:
    invars = [Var(a) for a in avals]
    outvars = [Var(a) for a in outs]
    effects = prim.effects_of(avals, params)
    eqn = JaxprEqn(prim, invars, outvars, params, effects, here())
    name = params.get("name", prim.name) if any(subjaxprs(eqn)) else prim.name
    closed = ClosedJaxpr(Jaxpr([], invars, outvars, [eqn], effects))
    return compile_jaxpr(closed, name if isinstance(name, str) else prim.name)


EAGER = EagerTrace()
install_base(EAGER)
install(capture_traceback, raw_frames)


@contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """Compute at once within a `with` block, also while a function is being traced.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> @pullback.jit
      ... def f(x):
      ...     with pullback.ensure_compile_time_eval():
      ...         n = int(pnp.sum(pnp.arange(3)))
      ...     return x * n
      >>> f(2.0)
      Array(6., dtype=float32, weak_type=True)
    """
    with in_charge(EAGER):
        yield


def concrete(x: Any) -> ArrayImpl:
    """A concrete value as an array of ours.

    Raises:
      InternalError: `x` is traced.
    """
    if type(x) is ArrayImpl:
        return x
    if isinstance(x, Tracer):
        raise InternalError(f"{x} is traced")
    aval = aval_of(x)
    value = np.array(x, carrier(aval.dtype), order="C")
    value.flags.writeable = False
    return ArrayImpl(aval, None, value)
