"""Samples of `ops/shape.py` and `ops/iota.py`."""

import numpy as np

from pullback.core.errors import ShapeError
from tests.rules.sample import Bad, Sample, bools, ints, rand

ALL = ("float64", "float32", "bfloat16", "float16", "complex64")
INTS = ("int32", "uint8", "int64")


def everywhere(size: tuple[int, ...], /, **params) -> list[Sample]:
    """One application to floats, integers and booleans."""
    return [
        Sample((rand(*size),), params, ALL),
        Sample((ints(*size),), params, INTS),
        Sample((bools(*size),), params, ("bool",)),
    ]


SAMPLES = {
    "broadcast_in_dim": [
        *everywhere((), shape=(2, 3), broadcast_dimensions=()),
        *everywhere((3,), shape=(2, 3, 2), broadcast_dimensions=(1,)),
        Sample((rand(2, 1),), dict(shape=(2, 4), broadcast_dimensions=(0, 1))),
        Sample((rand(1, 1),), dict(shape=(1, 2, 3), broadcast_dimensions=(0, 2))),
        Sample((rand(0),), dict(shape=(2, 0), broadcast_dimensions=(1,))),
        Sample((rand(2, 3),), dict(shape=(2, 3), broadcast_dimensions=(0, 1))),
        Sample((rand(1),), dict(shape=(0,), broadcast_dimensions=(0,))),
    ],
    "reshape": [
        *everywhere((2, 3), new_sizes=(3, 2)),
        Sample((rand(),), dict(new_sizes=(1, 1))),
        Sample((rand(1, 1),), dict(new_sizes=())),
        Sample((rand(2, 3, 4),), dict(new_sizes=(6, 4))),
        Sample((rand(0, 3),), dict(new_sizes=(5, 0))),
    ],
    "transpose": [
        *everywhere((2, 3), permutation=(1, 0)),
        Sample((rand(2, 3, 4),), dict(permutation=(2, 0, 1))),
        Sample((rand(2, 1, 3),), dict(permutation=(0, 2, 1))),
        Sample((rand(),), dict(permutation=())),
        Sample((rand(0, 2),), dict(permutation=(1, 0))),
    ],
    "squeeze": [
        *everywhere((2, 1), dimensions=(1,)),
        Sample((rand(1, 3, 1),), dict(dimensions=(0, 2))),
        Sample((rand(1),), dict(dimensions=(0,))),
        Sample((rand(2, 3),), dict(dimensions=())),
        Sample((rand(1, 0),), dict(dimensions=(0,))),
    ],
    "reduce_sum": [
        Sample((rand(2, 3),), dict(axes=(1,)), ALL),
        Sample((ints(2, 3),), dict(axes=(0,)), INTS),
        Sample((rand(2, 3, 4),), dict(axes=(0, 2))),
        Sample((rand(2, 3, 4),), dict(axes=(2, 1))),
        Sample((rand(2, 3),), dict(axes=())),
        Sample((rand(),), dict(axes=())),
        Sample((rand(0, 2),), dict(axes=(0,))),
        Sample((rand(2, 1),), dict(axes=(0, 1))),
    ],
    "iota": [
        Sample((), dict(dtype=np.dtype(t), shape=shape, dimension=d), ("float32",))
        for t, shape, d in (
            ("float32", (3,), 0),
            ("int32", (2, 3), 1),
            ("uint8", (2, 3, 2), 1),
            ("complex64", (4,), 0),
            ("int32", (0, 2), 1),
        )
    ],
}

BAD = {
    "broadcast_in_dim": [
        Bad(
            (rand(2),),
            dict(shape=(3,), broadcast_dimensions=(0,)),
            ShapeError,
            "each size is 1 or that of the result",
        ),
        Bad(
            (rand(2, 2),),
            dict(shape=(2, 2), broadcast_dimensions=(1, 0)),
            ShapeError,
            "axes are increasing",
        ),
    ],
    "reshape": [
        Bad((rand(2, 3),), dict(new_sizes=(4,)), ShapeError, "elements stays"),
        Bad((rand(2, 3),), dict(new_sizes=(-1, -6)), ShapeError, "elements stays"),
    ],
    "transpose": [
        Bad((rand(2, 3),), dict(permutation=(0, 0)), ShapeError, "a permutation"),
        Bad((rand(2, 3),), dict(permutation=(0,)), ShapeError, "a permutation"),
    ],
    "squeeze": [
        Bad((rand(2, 3),), dict(dimensions=(0,)), ShapeError, "only axes of size 1"),
        Bad((rand(1, 1),), dict(dimensions=(0, 0)), ShapeError, "distinct"),
    ],
    "reduce_sum": [
        Bad((rand(2, 3),), dict(axes=(2,)), ShapeError, "axes are distinct"),
        Bad((rand(2, 3),), dict(axes=(1, 1)), ShapeError, "axes are distinct"),
    ],
}
