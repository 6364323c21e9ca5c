"""Calls of Python functions from programs: pure, with effects, and for debugging.

Rules: a function gets and gives NumPy arrays, PRNG keys as the words that carry them;
what it returns must be of the types that the program was told, because XLA believes
them; what it raises is a `RuntimeFailure` that names it.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Region
from pullback.core.errors import (
    ArgumentError,
    DifferentiationError,
    RuntimeFailure,
    UnsupportedError,
)
from pullback.core.primitive import Primitive
from pullback.core.trace import boxed
from pullback.ops.shape import broadcast_to_axis, moveaxis

_LOOPS = ("sequential", "sequential_unrolled")
VMAP_METHODS = (*_LOOPS, "expand_dims", "broadcast_all", None)


class Effect:
    """A reason to keep an equation; those with `ordered` run in program order."""

    __slots__ = ("name", "ordered")

    def __init__(self, name: str, ordered: bool):
        self.name, self.ordered = name, ordered

    def __repr__(self) -> str:
        return self.name


_EFFECTS = {
    (kind, ordered): frozenset({Effect(("Ordered" if ordered else "") + kind, ordered)})
    for kind in ("IO", "Debug")
    for ordered in (False, True)
}


class HostFunction:
    """A function of flat NumPy arrays that returns a sequence of them.

    `name`: what errors call it.
    """

    __slots__ = ("fun", "name")
    fun: Any

    def __init__(self, fun: Callable[..., Sequence[Any]], name: str):
        self.fun, self.name = fun, name

    def __call__(self, *arrays: np.ndarray) -> Sequence[Any]:
        """Call the function."""
        return self.fun(*arrays)

    def __repr__(self) -> str:
        return self.name


class Looped(HostFunction):
    """A function called once for each example along axis 0 of the mapped arguments."""

    __slots__ = ("avals", "mapped", "n")

    def __init__(self, call: HostFunction, n: int, mapped, avals):
        super().__init__(call, call.name)
        self.n, self.mapped, self.avals = n, mapped, avals

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        """Call the function n times and stack its results."""
        results = [
            np.empty((self.n, *a.shape), (a.carrier or a).dtype) for a in self.avals
        ]
        for i in range(self.n):
            given = [x[i] if m else x for x, m in zip(arrays, self.mapped, strict=True)]
            outs = checked_call(self.fun, self.avals, given)
            for result, out in zip(results, outs, strict=True):
                result[i] = out
        return results


class Entrance(HostFunction):
    """What a compiled program calls. `failure`: the error of the last run, or None."""

    __slots__ = ("avals", "failure", "ordered")

    def __init__(self, call: HostFunction, avals, ordered: bool):
        super().__init__(call, call.name)
        self.avals, self.ordered = avals, ordered
        self.failure: RuntimeFailure | None = None

    def __call__(self, *arrays: Any) -> tuple:
        """Call the function; tokens come and go as None."""
        if self.ordered:
            arrays = arrays[1:]
        try:
            outs = checked_call(self.fun, self.avals, arrays)
        except RuntimeFailure as error:
            self.failure = error
            raise
        return (None, *outs) if self.ordered else tuple(outs)


def checked_call(
    call: HostFunction, avals: Sequence[ShapedArray], arrays: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """The results of a function, of the types `avals`.

    Raises:
      RuntimeFailure: it raised, or returned something else.
    """
    with _Named(call.name):
        outs = list(call(*arrays))
    if len(outs) != len(avals):
        raise RuntimeFailure(
            f"the callback {call.name} returned {len(outs)} arrays; the program was "
            f"told {len(avals)}"
        )
    return [_checked(call.name, y, aval) for y, aval in zip(outs, avals, strict=True)]


class _Named:
    """Errors that leave the `with` block become failures of the callback `name`."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, RuntimeFailure):
            raise RuntimeFailure(
                f"the callback {self.name} raised {kind.__name__}: {error}"
            ) from error


def _checked(name: str, y: Any, aval: ShapedArray) -> np.ndarray:
    want = (aval.carrier or aval).dtype
    value = np.asarray(y)
    if isinstance(y, int | float | complex) and np.can_cast(type(y), want, "same_kind"):
        value = value.astype(want)
    elif dtypes.canonicalize(value.dtype) == want:
        value = value.astype(want, copy=False)
    if value.shape != aval.shape or value.dtype != want:
        raise RuntimeFailure(
            f"the callback {name} returned {value.dtype}{list(value.shape)}; the "
            f"program was told {want}{list(aval.shape)}"
        )
    return np.ascontiguousarray(value).reshape(aval.shape)


def _host(x: Any) -> np.ndarray:
    aval = aval_of(x)
    value = x.host() if hasattr(x, "host") else x
    return np.asarray(value, (aval.carrier or aval).dtype)


def _run(args, *, callback, result_avals=(), **_):
    outs = checked_call(callback, result_avals, list(map(_host, args)))
    return list(map(boxed, outs, result_avals))


def _reference(*arrays, callback, result_avals=(), **_):
    return checked_call(callback, result_avals, arrays)


def _lower(b, outs, *xs, callback, result_avals=(), ordered=False, **_):
    entrance = Entrance(callback, result_avals, ordered)
    return b.python_callback(entrance, outs, xs, ordered=ordered, pure=False)


def _lower_pure(b, outs, *xs, callback, result_avals, vmap_method):
    entrance = Entrance(callback, result_avals, False)
    return b.python_callback(entrance, outs, xs, ordered=False, pure=True)


def _grown(avals: Sequence[ShapedArray], n: int) -> tuple[ShapedArray, ...]:
    return tuple(a.update(shape=(n, *a.shape)) for a in avals)


def _in_front(xs, ds) -> list[Any]:
    return [moveaxis(x, d, 0) if d else x for x, d in zip(xs, ds, strict=True)]


def _looped(n, ds, callback: HostFunction, avals) -> Looped:
    return Looped(callback, n, tuple(d is not None for d in ds), avals)


# ---- pure_callback ----


def _batch_pure(n, xs, ds, *, callback, result_avals, vmap_method):
    if vmap_method is None:
        raise UnsupportedError(
            f"vmap of pure_callback({callback.name})",
            rule="only the caller knows whether the function takes a leading axis",
            fix='pass vmap_method="sequential", "expand_dims" or "broadcast_all"',
        )
    xs = _in_front(xs, ds)
    if vmap_method in _LOOPS:
        callback = _looped(n, ds, callback, result_avals)
    else:
        size = n if vmap_method == "broadcast_all" else 1
        xs = [
            broadcast_to_axis(x, size, 0) if d is None else x
            for x, d in zip(xs, ds, strict=True)
        ]
    outs = pure_callback_p.bind(
        *xs,
        callback=callback,
        result_avals=_grown(result_avals, n),
        vmap_method=vmap_method,
    )
    return outs, [0] * len(outs)


def _no_derivative(prim_name: str):
    def jvp(primals, tangents, *, callback, **params):
        if any(t is not None for t in tangents):
            raise DifferentiationError(
                f"the derivative of {prim_name}({callback.name})",
                rule="nothing is known of a Python function but its results",
                fix="give it a rule with custom_jvp or custom_vjp, or stop the "
                "gradient of its arguments with lax.stop_gradient",
            )
        outs = _BY_NAME[prim_name].bind(*primals, callback=callback, **params)
        return outs, [None] * len(outs)

    return jvp


def _no_transpose(cts, operands, *, callback, **_):
    raise DifferentiationError(
        f"the transpose of a call of {callback.name}",
        rule="a Python function is not known to be linear",
    )


pure_callback_p = Primitive(
    "pure_callback",
    abstract=lambda *avals, result_avals, **_: list(result_avals),
    reference=_reference,
    lower=_lower_pure,
    derivative=Region(
        jvp=_no_derivative("pure_callback"), transpose=_no_transpose, run=_run
    ),
    batch=_batch_pure,
    multiple_results=True,
)


# ---- io_callback ----


def _batch_io(n, xs, ds, *, callback, result_avals, ordered):
    if ordered:
        raise ArgumentError(
            f"vmap of io_callback({callback.name}, ordered=True)",
            rule="the examples of a mapped axis have no order",
            fix="leave out ordered=True, or use lax.map",
        )
    outs = io_callback_p.bind(
        *_in_front(xs, ds),
        callback=_looped(n, ds, callback, result_avals),
        result_avals=_grown(result_avals, n),
        ordered=False,
    )
    return outs, [0] * len(outs)


io_callback_p = Primitive(
    "io_callback",
    abstract=lambda *avals, result_avals, **_: list(result_avals),
    reference=_reference,
    lower=_lower,
    derivative=Region(
        jvp=_no_derivative("io_callback"), transpose=_no_transpose, run=_run
    ),
    batch=_batch_io,
    multiple_results=True,
    effects=lambda *avals, ordered, **_: _EFFECTS["IO", ordered],
)


# ---- debug_callback: sees values, gives none ----


def _jvp_debug(primals, tangents, **params):
    return debug_callback_p.bind(*primals, **params), []


def _batch_debug(n, xs, ds, *, callback, ordered):
    looped = _looped(n, ds, callback, ())
    return debug_callback_p.bind(
        *_in_front(xs, ds), callback=looped, ordered=ordered
    ), []


debug_callback_p = Primitive(
    "debug_callback",
    abstract=lambda *avals, **_: [],
    reference=_reference,
    lower=_lower,
    derivative=Region(
        jvp=_jvp_debug,
        transpose=lambda cts, operands, **_: [None] * len(operands),
        run=_run,
    ),
    batch=_batch_debug,
    multiple_results=True,
    effects=lambda *avals, ordered, **_: _EFFECTS["Debug", ordered],
)
_BY_NAME = {p.name: p for p in (pure_callback_p, io_callback_p)}
