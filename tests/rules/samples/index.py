"""Samples of gather and the scatters, in all modes, with and without batching axes."""

import numpy as np

from pullback.core.errors import DtypeError, ShapeError
from pullback.ops.dimensions import (
    CLIP,
    FILL_OR_DROP,
    PROMISE_IN_BOUNDS,
    GatherDimensionNumbers,
    as_scatter,
)
from pullback.ops.inverse import Inverse
from tests.rules.sample import Bad, Sample, ints, rand

ALL = ("float64", "float32", "bfloat16", "int32")
REAL = ("float64", "float32", "bfloat16")
DISCRETE = ("int32", "uint8")


def at(*rows, dtype=np.int32) -> np.ndarray:
    """Index vectors, kept as they are."""
    return np.array(rows, dtype)


COLUMNS = GatherDimensionNumbers((0,), (1,), (1,))
INVERSE = Inverse(np.array([1, -1, -1, 0], np.int32))
ROWS = GatherDimensionNumbers((1,), (0,), (0,))
POINTS = GatherDimensionNumbers((), (0, 1), (1, 0))
WINDOWS = GatherDimensionNumbers((1, 2), (), (0, 1))
SCALAR = GatherDimensionNumbers((0,), (0,), (0,))
BATCHED = GatherDimensionNumbers((), (1,), (1,), (0,), (0,))


def reads(numbers, sizes, mode=CLIP, fill=None, **hints) -> dict:
    fill = (0 if fill is None else fill) if mode is FILL_OR_DROP else None
    flags = {"unique_indices": False, "indices_are_sorted": False} | hints
    fields = {"dimension_numbers": numbers, "slice_sizes": sizes, "mode": mode}
    return {**fields, "fill_value": fill, **flags}


def writes(numbers, mode=FILL_OR_DROP, **hints) -> dict:
    flags = {"unique_indices": False, "indices_are_sorted": False} | hints
    if isinstance(numbers, GatherDimensionNumbers):
        numbers = as_scatter(numbers)
    return {"dimension_numbers": numbers, "mode": mode, **flags}


OUTSIDE = at([2], [-1], [0], [9])
SORTED = {"unique_indices": True, "indices_are_sorted": True}


def scatters(dtypes=ALL, **kind) -> list[Sample]:
    """Samples of one scatter."""
    x, wide = rand(4, 3), rand(3, 5)
    grid, grid_y = at([1, 2], [0, 0]), rand(2, 2, 2, seed=3)
    pairs, batch = at([0, 1], [2, 2], [2, 2]), at([[1], [4]], [[0], [0]])
    empty, one = np.zeros((0, 1), np.int32), at(1)
    params = {**kind}
    return [
        Sample((x, OUTSIDE, rand(4, 3, seed=1)), writes(ROWS), dtypes, **params),
        Sample((x, OUTSIDE, rand(4, 3, seed=1)), writes(ROWS, CLIP), **params),
        Sample((x, at([0], [2]), rand(2, 3, seed=1)), writes(ROWS, **SORTED), **params),
        Sample((rand(3, 3), pairs, rand(3, seed=1)), writes(POINTS), **params),
        Sample((wide, grid, grid_y), writes(WINDOWS), **params),
        Sample((wide, at([2, 4], [0, 1]), grid_y), writes(WINDOWS, CLIP), **params),
        Sample((wide, at([2, 4], [0, 1]), grid_y), writes(WINDOWS), **params),
        Sample((x, one, rand(3, seed=1)), writes(SCALAR), **params),
        Sample((rand(2, 5), batch, rand(2, 2, seed=1)), writes(BATCHED), **params),
        Sample((x, empty, rand(0, 3)), writes(ROWS), **params),
        Sample(
            (ints(4, 3), OUTSIDE, ints(4, 3, seed=1)), writes(ROWS), DISCRETE, **params
        ),
    ]


SAMPLES = {
    "gather": [
        Sample((rand(4, 3), OUTSIDE), reads(ROWS, (1, 3)), ALL),
        Sample((rand(4, 3), OUTSIDE), reads(ROWS, (1, 3), FILL_OR_DROP)),
        Sample((rand(4, 3), OUTSIDE), reads(ROWS, (1, 3), FILL_OR_DROP, 7)),
        Sample((rand(4, 3), at([0], [3])), reads(ROWS, (1, 3), PROMISE_IN_BOUNDS)),
        Sample((rand(4, 3), at([0], [3])), reads(ROWS, (1, 3), **SORTED)),
        Sample((rand(4, 3), at([3], [0])), reads(ROWS, (1, 3), inverse=INVERSE)),
        Sample((rand(2, 4), at([3], [0])), reads(COLUMNS, (2, 1), inverse=INVERSE)),
        Sample((rand(3, 3), at([0, 1], [2, 2])), reads(POINTS, (1, 1))),
        Sample((rand(3, 5), at([1, 2], [9, -3])), reads(WINDOWS, (2, 2))),
        Sample((rand(3, 5), at([1, 2], [2, 0])), reads(WINDOWS, (2, 2), FILL_OR_DROP)),
        Sample((rand(4, 3), at(1)), reads(SCALAR, (1, 3))),
        Sample((rand(2, 5), at([[1], [4]], [[0], [0]])), reads(BATCHED, (1, 1))),
        Sample((rand(4, 3), np.zeros((0, 1), np.int32)), reads(ROWS, (1, 3))),
        Sample((rand(4, 0), at([1])), reads(ROWS, (1, 0))),
        Sample(
            (rand(300, 2), at([-1], [120], dtype=np.int8)),
            reads(ROWS, (1, 2), FILL_OR_DROP),
        ),
        Sample((ints(4, 3), OUTSIDE), reads(ROWS, (1, 3), FILL_OR_DROP), DISCRETE),
    ],
    "scatter": scatters(),
    "scatter-add": scatters(),
    "scatter-mul": scatters(),
    "scatter-min": scatters(REAL),
    "scatter-max": scatters(REAL),
}

_MISFIT = (rand(4, 3), at([0], [1]), rand(3, 3))

BAD = {
    "gather": [
        Bad((rand(4, 3), rand(2, 1)), reads(ROWS, (1, 3)), DtypeError, "integers"),
        Bad((rand(4, 3), at([0, 1])), reads(ROWS, (1, 3)), ShapeError, "last axis"),
        Bad((rand(4, 3), at([0])), reads(ROWS, (2, 3)), ShapeError, "collapsed"),
        Bad((rand(4, 3), at([0])), reads(ROWS, (1, 4)), ShapeError, "fit"),
    ],
    "scatter": [
        Bad(_MISFIT, writes(ROWS), ShapeError, "shape"),
        Bad((rand(4, 3), at([0]), ints(1, 3)), writes(ROWS), DtypeError, "same dtype"),
    ],
    **{
        f"scatter-{name}": [Bad(_MISFIT, writes(ROWS), ShapeError, "shape")]
        for name in ("add", "mul", "min", "max")
    },
}
