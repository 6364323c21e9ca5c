"""Values at the border: leaves that are arrays, and results that are arrays of ours."""

from typing import Any

import numpy as np

from pullback.compile.array import ArrayImpl
from pullback.compile.eager import concrete
from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of, is_array_like
from pullback.core.errors import ArgumentTypeError
from pullback.core.trace import Tracer
from pullback.ops.shape import zeros


def check_array_leaf(x: Any, what: str) -> ShapedArray:
    """The aval of a leaf: an array, a number, or a type with shape and dtype.

    Raises:
      ArgumentTypeError: it is something else.
    """
    if is_array_like(x):
        return aval_of(x)
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return ShapedArray(tuple(x.shape), dtypes.canonicalize(x.dtype))
    raise ArgumentTypeError(
        f"{what}: {x!r} of type {type(x).__name__} is not an array",
        rule="leaves are arrays, NumPy arrays or numbers",
        fix="close over other values with a lambda or functools.partial",
    )


def own(x: Any) -> Any:
    """A result as the user gets it: numbers and NumPy values become arrays."""
    if type(x) is ArrayImpl or isinstance(x, Tracer):
        return x
    if isinstance(x, np.ndarray) and x.dtype == dtypes.float0:
        return x
    return concrete(x)


def zero_tangent(aval: ShapedArray) -> Any:
    """A zero tangent of a value: zeros of its type, or of `float0` for integers."""
    if dtypes.is_inexact(aval.dtype):
        return zeros(aval)
    return np.zeros(aval.shape, dtypes.float0)
