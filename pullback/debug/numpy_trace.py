"""An interpreter that computes in NumPy, from the references of the primitives.

It compiles nothing. Bodies of regions run equation by equation.
"""

import numpy as np

from pullback.compile.array import ArrayImpl
from pullback.core.aval import aval_of
from pullback.core.trace import Trace, Tracer, unexpected
from pullback.regions.reference import apply_reference, host


class NumpyTrace(Trace):
    """A base interpreter: `with in_charge(NumpyTrace()):` runs everything in NumPy."""

    __slots__ = ()

    def process(self, prim, args, params):
        """Run the reference of `prim`."""
        for a in args:
            if isinstance(a, Tracer):
                raise unexpected(a, prim.name)
        avals = list(map(aval_of, args))
        out = prim.out_avals(avals, params)
        outs = list(out) if prim.multiple_results else [out]
        values = apply_reference(prim, list(map(host, args, avals)), outs, params)
        boxed = [
            ArrayImpl(a, None, frozen(v)) for v, a in zip(values, outs, strict=True)
        ]
        return boxed if prim.multiple_results else boxed[0]


def frozen(value: np.ndarray) -> np.ndarray:
    """A read-only view of a NumPy array."""
    view = value.view()
    view.flags.writeable = False
    return view
