"""Samples of primitives in `regions/` that have operands of any shape."""

import numpy as np

from pullback.core.aval import ShapedArray
from pullback.core.jaxpr import ClosedJaxpr
from pullback.core.trace import stage
from pullback.ops.elementwise import mul
from pullback.ops.transcendental import sin
from tests.rules.sample import Sample, bools, ints, rand


def body(fun, *shapes):
    """A body on float64 operands, without constants."""
    avals = [ShapedArray(shape, np.dtype(np.float64)) for shape in shapes]
    jaxpr, consts = stage(fun, avals)
    return ClosedJaxpr(jaxpr, consts)


def call(fun, *shapes):
    """A call of a function of operands of the given shapes."""
    args = tuple(rand(*shape, seed=i) for i, shape in enumerate(shapes))
    params = {"jaxpr": body(fun, *shapes), "name": "body"}
    return Sample(args, params, ("float64",))


SAMPLES = {
    "jit": [
        call(lambda x: [mul(x, sin(x))], (2, 3)),
        call(lambda x, y: [mul(x, y), y, x], (3,), (3,)),
        call(lambda x, y: [sin(x)], (), (2,)),
        call(lambda x: [], (2,)),
        call(lambda x: [x, np.float32(2.0)], (0, 2)),
    ],
    "name": [
        Sample((rand(2, 3),), {"name": "x"}),
        Sample((rand(),), {"name": "x"}, ("complex64",)),
        Sample((ints(0, 2),), {"name": "x"}, ("int32",)),
        Sample((bools(1),), {"name": "x"}, ("bool",)),
    ],
}
