"""Samples of convolutions."""

import numpy as np

from pullback.core.errors import ArgumentError, DtypeError, ShapeError
from pullback.ops.contract import Precision
from pullback.ops.convolution_shapes import ConvDimensionNumbers
from tests.rules.sample import Bad, Sample, ints, rand

ALL = ("float64", "float32", "bfloat16", "complex64", "int32")
ORDERS = {
    1: ((0, 1, 2), (0, 1, 2), (0, 1, 2)),
    2: ((0, 1, 2, 3), (0, 1, 2, 3), (0, 1, 2, 3)),
}
NHWC = ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
MIXED = ((1, 2, 0, 3), (2, 1, 3, 0), (3, 0, 2, 1))


def by(axes, strides=1, pads=(0, 0), lhs=1, rhs=1, order=None, f=1, b=1, **more):
    """Parameters; one number or pair stands for all spatial axes."""
    return {
        "window_strides": strides if isinstance(strides, tuple) else (strides,) * axes,
        "padding": pads if pads and isinstance(pads[0], tuple) else (pads,) * axes,
        "lhs_dilation": (lhs,) * axes,
        "rhs_dilation": (rhs,) * axes,
        "dimension_numbers": ConvDimensionNumbers(*(order or ORDERS[axes])),
        "feature_group_count": f,
        "batch_group_count": b,
        "precision": None,
        "preferred_element_type": None,
        **more,
    }


NONE = by(0, pads=(), order=((0, 1), (0, 1), (0, 1)))
SAMPLES = {
    "conv_general_dilated": [
        Sample((rand(2, 3, 6), rand(4, 3, 3, seed=1)), by(1), ALL),
        Sample((ints(2, 3, 6), ints(4, 3, 3, seed=1)), by(1), ("int32",)),
        Sample((rand(2, 3, 5, 6), rand(4, 3, 3, 2)), by(2, (2, 1), ((1, 2), (0, 1)))),
        Sample((rand(2, 3, 7), rand(2, 3, 3)), by(1, 2, (1, 1))),
        Sample((rand(1, 2, 5), rand(2, 2, 3)), by(1, 1, (2, 3), lhs=2)),
        Sample((rand(1, 2, 8), rand(2, 2, 3)), by(1, 2, (1, 0), rhs=2)),
        Sample((rand(1, 2, 5), rand(2, 2, 2)), by(1, 3, (4, 1), lhs=3, rhs=2)),
        Sample((rand(2, 2, 7), rand(3, 2, 2)), by(1, 1, (-1, -2))),
        Sample((rand(2, 2, 4), rand(3, 2, 2)), by(1, 1, (-1, 2), lhs=2)),
        Sample((rand(2, 4, 5), rand(6, 2, 3)), by(1, 1, (1, 1), f=2), ALL[:4]),
        Sample((rand(2, 3, 5), rand(6, 1, 3)), by(1, 2, (1, 0), f=3)),
        Sample((rand(4, 3, 5), rand(6, 3, 3)), by(1, 1, (1, 1), b=2)),
        Sample((rand(3, 2, 5), rand(3, 2, 2)), by(1, 2, (0, 2), b=3)),
        Sample((rand(2, 4, 4, 3), rand(3, 2, 3, 4)), by(2, 1, (1, 0), order=NHWC)),
        Sample(
            (rand(4, 2, 4, 3), rand(3, 2, 4, 2)), by(2, 1, (1, 0), order=MIXED, f=2)
        ),
        Sample(
            (rand(4, 2, 2, 3), rand(3, 2, 4, 2)), by(2, 1, (1, 1), order=MIXED, b=2)
        ),
        Sample((rand(2, 3), rand(4, 3)), NONE),
        Sample((rand(2, 2, 2), rand(3, 2, 3)), by(1)),
        Sample((rand(0, 2, 4), rand(3, 2, 3)), by(1)),
        Sample((rand(2, 0, 4), rand(3, 0, 3)), by(1)),
        Sample((rand(1, 1, 1), rand(1, 1, 1)), by(1)),
        Sample(
            (rand(2, 3, 6), rand(4, 3, 3)),
            by(1, preferred_element_type=np.dtype("float32")),
            ("bfloat16",),
            grad=False,
        ),
        Sample(
            (rand(2, 3, 6), rand(4, 3, 3)),
            by(1, precision=(Precision.HIGHEST, Precision.HIGHEST)),
        ),
    ]
}
BAD = {
    "conv_general_dilated": [
        Bad((rand(2, 3, 6), rand(4, 2, 3)), by(1), ShapeError, "features of the input"),
        Bad((rand(2, 3, 6), rand(4, 3)), by(1), ShapeError, "number of axes"),
        Bad((rand(2, 3, 6), ints(4, 3, 2)), by(1), DtypeError, "same dtype"),
        Bad((rand(2, 4, 6), rand(3, 2, 3)), by(1, f=2), ShapeError, "divided evenly"),
        Bad((rand(3, 2, 6), rand(4, 2, 3)), by(1, b=2), ShapeError, "divided evenly"),
        Bad((rand(2, 3, 6), rand(4, 3, 3)), by(1, 0), ArgumentError, "at least 1"),
        Bad((rand(2, 3, 6), rand(4, 3, 3)), by(1, f=0), ArgumentError, "one of them"),
        Bad((rand(2, 3, 6), rand(4, 3, 3)), by(1, (1, 1)), ArgumentError, "1 entries"),
    ]
}
