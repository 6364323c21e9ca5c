"""Conversion family: from one element type to another."""

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Linear
from pullback.core.dtype_info import iinfo
from pullback.core.primitive import Primitive
from pullback.ops.nary import quiet


def convert_element_type(operand, new_dtype=None):
    """`operand` with its elements converted to `new_dtype`.

    Floats become integers by truncation, anything becomes bool by `!= 0`, complex
    numbers lose their imaginary part. The result is not weakly typed, except when
    `new_dtype` is a Python scalar type.

    Raises:
      DtypeError: a 64-bit dtype is named while 64-bit types are off.

    Source: StableHLO `convert`.
    """
    weak = new_dtype in (bool, int, float, complex) and new_dtype is not bool
    return convert(operand, dtypes.named(new_dtype), weak)


def convert(x, dtype, weak_type: bool = False):
    """As `convert_element_type`, of a canonical dtype and an explicit weak type."""
    aval = aval_of(x)
    if aval.dtype == dtype and aval.weak_type == weak_type and hasattr(x, "aval"):
        return x
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak_type)


def _reference(x, *, new_dtype, weak_type):
    if dtypes.is_complex(x.dtype) and not dtypes.is_complex(new_dtype):
        x = np.real(x)
    if dtypes.is_bool(new_dtype):
        return x != 0
    if dtypes.is_integer(new_dtype) and dtypes.is_float(x.dtype):
        return _saturated(x, new_dtype)
    return x.astype(new_dtype)


def _saturated(x, dtype):
    """Floats out of range go to the nearest integer, NaN to zero, as XLA does."""
    info = iinfo(dtype)
    wide = np.trunc(x.astype(np.float64))
    whole = np.where(np.isfinite(wide), wide, 0).astype(object)
    inside = np.vectorize(int, otypes=[object])(whole) if whole.size else whole
    clipped = np.clip(inside, int(info.min), int(info.max))
    clipped = np.where(wide == np.inf, int(info.max), clipped)
    clipped = np.where(wide == -np.inf, int(info.min), clipped)
    return clipped.astype(dtype)


def _transpose(ct, x, *, new_dtype, weak_type):
    aval = aval_of(x)
    return convert(ct, aval.dtype, aval.weak_type)


def _lower(b, out, x, *, new_dtype, weak_type):
    aval = b.avals_in[0]
    if dtypes.is_complex(aval.dtype) and not dtypes.is_complex(new_dtype):
        x = b.real(x)
        aval = aval.update(dtype=dtypes.to_real(aval.dtype))
    if dtypes.is_bool(new_dtype) and not dtypes.is_bool(aval.dtype):
        zero = b.constant(np.zeros(aval.shape, aval.dtype), aval)
        return b.compare(x, zero, "NE")
    return b.convert(out, x)


convert_element_type_p = Primitive(
    "convert_element_type",
    abstract=lambda x, *, new_dtype, weak_type: ShapedArray(
        x.shape, new_dtype, weak_type
    ),
    reference=quiet(_reference),
    lower=_lower,
    derivative=Linear((_transpose,)),
    batch=lambda n, xs, ds, **params: (
        convert_element_type_p.bind(xs[0], **params),
        ds[0],
    ),
)
