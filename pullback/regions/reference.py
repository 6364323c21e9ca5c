"""Programs in NumPy: each equation from the reference of its primitive.

The meaning of bodies, for the references of the primitives that hold them. Values are
NumPy arrays; a PRNG key is one 64-bit word.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray
from pullback.core.errors import InternalError
from pullback.core.jaxpr import ClosedJaxpr, Literal

_KEY = np.dtype(np.uint64)


def run_reference(body: ClosedJaxpr, *arrays: np.ndarray) -> list[np.ndarray]:
    """The results of `body` on NumPy arrays."""
    jaxpr = body.jaxpr
    env: dict = {}
    for var, x in zip(jaxpr.constvars, body.consts, strict=True):
        env[var] = on_host(x, var.aval)
    env.update(zip(jaxpr.invars, arrays, strict=True))

    def read(v):
        return on_host(v.val, v.aval) if type(v) is Literal else env[v]

    for eqn in jaxpr.eqns:
        outs = [v.aval for v in eqn.outvars]
        values = apply_reference(
            eqn.primitive, list(map(read, eqn.invars)), outs, eqn.params
        )
        env.update(zip(eqn.outvars, values, strict=True))
    return list(map(read, jaxpr.outvars))


def on_host(x: Any, aval: ShapedArray) -> np.ndarray:
    """A concrete value as a NumPy array of the dtype that carries it."""
    host = getattr(x, "host", None)
    return host() if host is not None else np.asarray(x, dtype=carried_by(aval))


def carried_by(aval: ShapedArray) -> np.dtype:
    """The NumPy dtype of the values of a type."""
    return _KEY if isinstance(aval.dtype, dtypes.ExtendedDType) else aval.dtype


def apply_reference(
    prim, args: Sequence[np.ndarray], outs: Sequence[ShapedArray], params: dict
) -> list[np.ndarray]:
    """The results of one primitive, cast to the types that its abstract rule gave.

    Raises:
      InternalError: the reference and the abstract rule disagree on a shape or on the
        number of results.
    """
    values = prim.reference(*args, **params)
    values = list(values) if prim.multiple_results else [values]
    shapes = [np.shape(v) for v in values]
    if shapes != [a.shape for a in outs]:
        want = ", ".join(a.short() for a in outs)
        raise InternalError(
            f"{prim.name}: its reference gives shapes {shapes}, its abstract rule {want}"
        )
    with np.errstate(all="ignore"):
        return [
            np.asarray(v).astype(carried_by(a), copy=False)
            for v, a in zip(values, outs, strict=True)
        ]
