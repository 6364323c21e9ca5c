"""Arrays as sets: membership, union, intersection, differences."""

from typing import Any

import numpy as np

from pullback.api.arrays.comparisons import logical_not
from pullback.api.arrays.creation import asarray, zeros
from pullback.api.arrays.known import known_value
from pullback.api.arrays.shape_functions import ravel
from pullback.core.aval import aval_of
from pullback.numpy.sorting import searchsorted
from pullback.numpy.uniqueness import unique
from pullback.ops.joining import concatenate
from pullback.ops.logic import eq, min
from pullback.ops.promote import as_operand, promote_dtypes
from pullback.ops.shape import full, reshape
from pullback.ops.sort import sort, take_along

NO_SIZE = "call it outside of the traced function: the size depends on values"


def isin(element, test_elements, assume_unique: bool = False, invert: bool = False):
    """Whether each element is among others; NaN never is.

    Args:
      element: `t[*s]`
      test_elements: an array of any shape.
      assume_unique: accepted as in NumPy.
      invert: whether to tell which are not.

    Returns:
      `bool[*s]`

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.isin(pnp.array([1, 2, 3]), pnp.array([3, 1])).tolist()
      [True, False, True]
    """
    del assume_unique
    x, y = promote_dtypes(asarray(element), ravel(asarray(test_elements)))
    shape, n = aval_of(x).shape, aval_of(y).size
    if not n:
        found = zeros(shape, bool)
    else:
        line = sort(y, 0)
        x = reshape(x, (aval_of(x).size,))
        at = searchsorted(line, x)
        at = min(at, full(aval_of(at), n - 1))
        found = reshape(eq(take_along(line, at, 0), x), shape)
    return logical_not(found) if invert else found


def union1d(ar1, ar2, *, size: int | None = None, fill_value: Any = None):
    """The values of two arrays, in order, each once.

    `size`, `fill_value`: as for `unique`.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.union1d(pnp.array([1, 3]), pnp.array([3, 2])).tolist()
      [1, 2, 3]
    """
    x, y = promote_dtypes(*(ravel(as_operand("union1d", v)) for v in (ar1, ar2)))
    return unique(concatenate([x, y], 0), size=size, fill_value=fill_value)


def _known_pair(name: str, ar1, ar2) -> list[np.ndarray]:
    pair = promote_dtypes(asarray(ar1), asarray(ar2))
    return [known_value(name, x, NO_SIZE) for x in pair]


def intersect1d(
    ar1, ar2, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """The values that two arrays share, in order.

    `return_indices`: also return where each is first in both arrays.

    Raises:
      ConcretizationTypeError: an array is traced.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.intersect1d(pnp.array([1, 3]), pnp.array([3, 2])).tolist()
      [3]
    """
    x, y = _known_pair("intersect1d", ar1, ar2)
    out = np.intersect1d(x, y, assume_unique, return_indices)
    return tuple(map(asarray, out)) if return_indices else asarray(out)


def setdiff1d(ar1, ar2, assume_unique: bool = False):
    """The values of the first array that are not in the second, in order.

    Raises:
      ConcretizationTypeError: an array is traced.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.setdiff1d(pnp.array([1, 3]), pnp.array([3, 2])).tolist()
      [1]
    """
    x, y = _known_pair("setdiff1d", ar1, ar2)
    return asarray(np.setdiff1d(x, y, assume_unique))


def setxor1d(ar1, ar2, assume_unique: bool = False):
    """The values that are in exactly one of two arrays, in order.

    Raises:
      ConcretizationTypeError: an array is traced.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.setxor1d(pnp.array([1, 3]), pnp.array([3, 2])).tolist()
      [1, 2]
    """
    x, y = _known_pair("setxor1d", ar1, ar2)
    return asarray(np.setxor1d(x, y, assume_unique))
