"""Samples of slices, reversal, padding, joining, splitting, and computed windows."""

import numpy as np

from pullback.core.errors import DtypeError, ShapeError
from tests.rules.sample import Bad, Sample, bools, ints, rand

ALL = ("float64", "float32", "bfloat16", "complex64", "int32", "bool")
DISCRETE = ("int32", "uint8")


def at(*positions: int) -> tuple:
    """Starts, kept as they are: int32 scalars."""
    return tuple(np.asarray(p, np.int32) for p in positions)


def cut(starts, limits, strides=None) -> dict:
    return {"start_indices": starts, "limit_indices": limits, "strides": strides}


def by(*config) -> dict:
    return {"padding_config": config}


SAMPLES = {
    "slice": [
        Sample((rand(4, 5),), cut((1, 0), (3, 5)), ALL),
        Sample((rand(7, 3),), cut((1, 2), (6, 3), (2, 1))),
        Sample((rand(2, 3, 7),), cut((0, 1, 0), (2, 2, 7), (1, 1, 3))),
        Sample((rand(3),), cut((2,), (2,))),
        Sample((rand(0, 2),), cut((0, 0), (0, 2))),
        Sample((rand(),), cut((), ())),
        Sample((ints(5),), cut((0,), (5,), (4,)), DISCRETE),
        Sample((bools(5),), cut((1,), (4,)), ("bool",)),
    ],
    "rev": [
        Sample((rand(3),), {"dimensions": (0,)}, ALL),
        Sample((rand(2, 3, 4),), {"dimensions": (2, 0)}),
        Sample((rand(0, 2),), {"dimensions": (0,)}),
        Sample((rand(1, 2),), {"dimensions": ()}),
        Sample((ints(4),), {"dimensions": (0,)}, DISCRETE),
    ],
    "concatenate": [
        Sample((rand(2), rand(3, seed=1)), {"dimension": 0}, ALL),
        Sample((rand(2, 1), rand(2, 3, seed=1), rand(2, 2, seed=2)), {"dimension": 1}),
        Sample((rand(0, 2), rand(1, 2, seed=1)), {"dimension": 0}),
        Sample((rand(2, 3, 2),), {"dimension": 2}),
        Sample((ints(2), ints(1)), {"dimension": 0}, DISCRETE),
    ],
    "pad": [
        Sample((rand(3), rand()), by((1, 2, 0)), ALL),
        Sample((rand(3, 4), rand(seed=1)), by((0, 1, 2), (2, 0, 1))),
        Sample((rand(5), rand(seed=1)), by((-1, -2, 0))),
        Sample((rand(5), rand(seed=1)), by((-2, 1, 1))),
        Sample((rand(4), rand(seed=1)), by((-3, -3, 2))),
        Sample((rand(3), rand(seed=1)), by((3, -8, 1))),
        Sample((rand(0, 2), rand(seed=1)), by((1, 1, 0), (0, 0, 0))),
        Sample((rand(1), rand(seed=1)), by((0, 0, 3))),
        Sample((rand(), rand(seed=1)), by()),
        Sample((ints(3), ints()), by((1, -1, 1)), DISCRETE),
    ],
    "split": [
        Sample((rand(5),), {"sizes": (2, 0, 3), "axis": 0}, ALL),
        Sample((rand(2, 4, 3),), {"sizes": (1, 3), "axis": 1}),
        Sample((rand(2, 0),), {"sizes": (0, 0), "axis": 1}),
        Sample((ints(4),), {"sizes": (4,), "axis": 0}, DISCRETE),
    ],
    "dynamic_slice": [
        Sample((rand(5), *at(1)), {"slice_sizes": (3,)}, ALL),
        Sample((rand(4, 5), *at(-2, 9)), {"slice_sizes": (2, 3)}),
        Sample((rand(2, 3, 4), *at(1, 0, 2)), {"slice_sizes": (1, 3, 1)}),
        Sample((rand(3), *at(7)), {"slice_sizes": (0,)}),
        Sample((rand(0, 2), *at(0, 1)), {"slice_sizes": (0, 1)}),
        Sample((rand(),), {"slice_sizes": ()}),
        Sample((rand(300), np.asarray(120, np.int8)), {"slice_sizes": (2,)}),
        Sample((ints(5), np.asarray(200, np.uint8)), {"slice_sizes": (2,)}, DISCRETE),
    ],
    "dynamic_update_slice": [
        Sample((rand(5), rand(2, seed=1), *at(1)), {}, ALL),
        Sample((rand(4, 5), rand(2, 3, seed=1), *at(-2, 9)), {}),
        Sample((rand(2, 3, 4), rand(1, 3, 2, seed=1), *at(1, 0, 1)), {}),
        Sample((rand(3), rand(0, seed=1), *at(2)), {}),
        Sample((rand(), rand(seed=1)), {}),
        Sample((ints(5), ints(2, seed=1), *at(4)), {}, DISCRETE),
    ],
}

BAD = {
    "slice": [
        Bad((rand(3),), cut((1,), (4,)), ShapeError, "start <= limit"),
        Bad((rand(3),), cut((0,), (3,), (0,)), ShapeError, "stride >= 1"),
    ],
    "rev": [Bad((rand(3),), {"dimensions": (0, 0)}, ShapeError, "distinct")],
    "concatenate": [
        Bad((rand(2), rand(2, 2)), {"dimension": 0}, ShapeError, "equal sizes"),
        Bad((rand(2), ints(2)), {"dimension": 0}, DtypeError, "same dtype"),
    ],
    "pad": [
        Bad((rand(2), ints()), by((0, 0, 0)), DtypeError, "same dtype"),
        Bad((rand(2), rand()), by((-2, -1, 0)), ShapeError, "negative size"),
        Bad((rand(2), rand()), by(), ShapeError, "axis"),
    ],
    "split": [Bad((rand(5),), {"sizes": (2, 2), "axis": 0}, ShapeError, "add up")],
    "dynamic_slice": [
        Bad((rand(3), *at(0, 0)), {"slice_sizes": (1,)}, ShapeError, "start an axis"),
        Bad((rand(3), rand()), {"slice_sizes": (1,)}, DtypeError, "integers"),
        Bad((rand(3), *at(0)), {"slice_sizes": (4,)}, ShapeError, "at most"),
    ],
    "dynamic_update_slice": [
        Bad((rand(3), rand(4), *at(0)), {}, ShapeError, "fits inside"),
        Bad((rand(3), ints(2), *at(0)), {}, DtypeError, "same dtype"),
    ],
}
