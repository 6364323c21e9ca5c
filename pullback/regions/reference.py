"""Bodies in NumPy: every equation by its primitive's `reference`.

What the references of regions are made of, and an oracle for compiled programs. Values
are NumPy arrays throughout; PRNG keys are the words that carry them.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray
from pullback.core.errors import InternalError
from pullback.core.jaxpr import ClosedJaxpr, JaxprEqn, Literal, Var

KEY_WORD = np.dtype(np.uint64)
Observer = Callable[[JaxprEqn, list[np.ndarray]], None]


class Tape(Protocol):
    """What is told of every equation in full, in the order of running."""

    def before(self, eqn: JaxprEqn) -> None:
        """The equation is about to run; those of its bodies come next."""
        ...

    def after(
        self, eqn: JaxprEqn, operands: list[np.ndarray], results: list[np.ndarray]
    ) -> None:
        """It has run."""
        ...

    def returned(self, results: list[np.ndarray]) -> None:
        """A body, or the program itself, has returned."""
        ...


class _Watch(threading.local):
    observe: Observer | None = None
    tape: Tape | None = None


_watch = _Watch()


@contextmanager
def observed(observe: Observer | None) -> Iterator[None]:
    """Call `observe(eqn, results)` after each equation, those of bodies included."""
    saved, _watch.observe = _watch.observe, observe
    try:
        yield
    finally:
        _watch.observe = saved


@contextmanager
def taped(tape: Tape | None) -> Iterator[None]:
    """Tell `tape` of everything that runs; None to tell of nothing."""
    saved, _watch.tape = _watch.tape, tape
    try:
        yield
    finally:
        _watch.tape = saved


def run_reference(body: ClosedJaxpr, *args: Any) -> list[np.ndarray]:
    """The results of `body` on NumPy arrays."""
    jaxpr = body.jaxpr
    env: dict[Var, np.ndarray] = {}
    for var, x in zip(
        [*jaxpr.constvars, *jaxpr.invars], [*body.consts, *args], strict=True
    ):
        env[var] = host(x, var.aval)
    for eqn in jaxpr.eqns:
        tape = _watch.tape
        if tape is not None:
            tape.before(eqn)
        values = [_read(env, v) for v in eqn.invars]
        outs = [v.aval for v in eqn.outvars]
        results = apply_reference(eqn.primitive, values, outs, eqn.params)
        if tape is not None:
            tape.after(eqn, values, results)
        env.update(zip(eqn.outvars, results, strict=True))
        if _watch.observe is not None:
            _watch.observe(eqn, results)
    outs = [_read(env, v) for v in jaxpr.outvars]
    if _watch.tape is not None:
        _watch.tape.returned(outs)
    return outs


def apply_reference(
    prim, values: Sequence[np.ndarray], outs: Sequence[ShapedArray], params: dict
) -> list[np.ndarray]:
    """The results of one primitive, in the dtypes that its abstract rule gave.

    Raises:
      InternalError: the reference and the abstract rule disagree on a shape or on the
        number of results.
    """
    results = prim.reference(*values, **params)
    results = list(results) if prim.multiple_results else [results]
    shapes = [np.shape(y) for y in results]
    if shapes != [a.shape for a in outs]:
        want = ", ".join(a.short() for a in outs)
        raise InternalError(
            f"{prim.name}: its reference gives {shapes}, its abstract rule {want}"
        )
    with np.errstate(all="ignore"):
        return [host(y, a) for y, a in zip(results, outs, strict=True)]


def host(x: Any, aval: Any) -> np.ndarray:
    """A value as a NumPy array of the dtype that carries `aval`."""
    value = x.host() if hasattr(x, "host") else x
    key = isinstance(aval.dtype, dtypes.ExtendedDType)
    return np.asarray(value, KEY_WORD if key else aval.dtype)


def _read(env: dict[Var, np.ndarray], v: Any) -> np.ndarray:
    return host(v.val, v.aval) if type(v) is Literal else env[v]
