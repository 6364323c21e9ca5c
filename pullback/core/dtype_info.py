"""The category of an element type, as `issubdtype` sees it, and its limits.

Types are taken in full width, whatever the 64-bit switch says. Knows nothing of arrays.
"""

import functools
from typing import Any

import ml_dtypes
import numpy as np

from pullback.core import dtype as dt
from pullback.core.errors import ArgumentError

_CONCRETE = {d.type: d for d in dt.PLAIN}


def _category(dtype_like: Any) -> Any:
    """A dtype, or the NumPy class of a category."""
    if isinstance(dtype_like, type) and issubclass(dtype_like, np.generic):
        return _CONCRETE.get(dtype_like, dtype_like)
    if dtype_like is object or dtype_like is str:
        return dtype_like
    return dt.parse(dtype_like, "issubdtype")


@functools.lru_cache(4096)
def issubdtype(a: Any, b: Any) -> bool:
    """Whether type `a` is `b` or belongs to the category `b`.

    Like `np.issubdtype`, and true of bfloat16, float8 and int4 as of NumPy's own types;
    keys belong to `prng_key`, which belongs to `extended`.

    Raises:
      DtypeError: one of them names no element type and no category.

    Example:
      >>> issubdtype("bfloat16", np.floating), issubdtype("int4", np.inexact)
      (True, False)
    """
    a, b = _category(a), _category(b)
    if not isinstance(b, type):
        return a == b
    if isinstance(a, dt.ExtendedDType):
        return issubclass(a.type, b)
    return np.issubdtype(a if isinstance(a, type) else dt.CATEGORY[a], b)


@functools.lru_cache(256)
def finfo(dtype_like: Any):
    """The limits of a floating or complex type: `eps`, `max`, `tiny`, `bits`, ...

    Raises:
      ArgumentError: it is not floating or complex.

    Example:
      >>> float(finfo("bfloat16").eps)
      0.0078125
    """
    dtype = dt.parse(dtype_like, "finfo")
    if dtype not in dt.INEXACT:
        raise ArgumentError(
            f"finfo: {dt.name(dtype)} is neither floating nor complex",
            fix="use iinfo for integers" if dtype in dt.INTEGER else None,
        )
    return ml_dtypes.finfo(dtype)


@functools.lru_cache(256)
def iinfo(dtype_like: Any):
    """The limits of an integer type: `min`, `max`, `bits`.

    Raises:
      ArgumentError: it is not an integer type.

    Example:
      >>> iinfo("int4").max
      7
    """
    dtype = dt.parse(dtype_like, "iinfo")
    if dtype not in dt.INTEGER:
        raise ArgumentError(
            f"iinfo: {dt.name(dtype)} is not an integer type",
            fix="use finfo for floating types" if dtype in dt.INEXACT else None,
        )
    return ml_dtypes.iinfo(dtype)


def itemsize_bits(dtype_like: Any) -> int:
    """Bits in one element; 8 for bool, 4 for int4.

    Raises:
      ArgumentError: a type without a width of its own (float0, keys).
    """
    dtype = dt.parse(dtype_like)
    if dtype in dt.INTEGER:
        return iinfo(dtype).bits
    if dtype == dt.float4_e2m1fn:
        return 4
    if dtype in dt.PLAIN:
        return dtype.itemsize * 8
    raise ArgumentError(f"itemsize_bits: {dt.name(dtype)} has no width in bits")
