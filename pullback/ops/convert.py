"""Conversion family: another element type, other bits, fewer bits; and identities."""

import numpy as np

from pullback.core import dtype as dtypes, tree
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Linear, NotDifferentiable, Smooth
from pullback.core.dtype_info import iinfo, itemsize_bits
from pullback.core.errors import ArgumentError, ShapeError
from pullback.core.primitive import Primitive
from pullback.ops.elementwise import no_tangent
from pullback.ops.nary import ANY, nary, quiet
from pullback.ops.shape import moveaxis


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


def bitcast_convert_type(operand, new_dtype):
    """The bits of `operand`, read as elements of `new_dtype`.

    `operand`: `t[*s]`, or `t[*s, k]` when an element of `new_dtype` takes k of them.
    Returns `[*s]`, or `[*s, k]` when an element holds k of `new_dtype`.

    Raises:
      ShapeError: the last axis does not have size k.

    Source: StableHLO `bitcast_convert`.
    """
    return bitcast_convert_type_p.bind(operand, new_dtype=dtypes.named(new_dtype))


def reduce_precision(operand, exponent_bits: int, mantissa_bits: int):
    """`operand` rounded to the nearest number with so many bits; the dtype stays.

    Source: StableHLO `reduce_precision`.
    """
    return reduce_precision_p.bind(
        operand, exponent_bits=int(exponent_bits), mantissa_bits=int(mantissa_bits)
    )


def copy(x):
    """An array with the same elements."""
    return copy_p.bind(x)


def stop_gradient(x):
    """`x`, an array or a tree of arrays, with a derivative of zero.

    Example:
      >>> from pullback import grad, lax
      >>> float(grad(lambda x: x * lax.stop_gradient(x))(3.0))
      3.0
    """
    if hasattr(x, "aval"):
        return stop_gradient_p.bind(x)
    return tree.map(_stopped, x)


def _stopped(x):
    return stop_gradient_p.bind(x) if hasattr(x, "aval") else x


# ---- convert_element_type ----


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


# ---- bitcast_convert_type ----


def _ratio(x, new_dtype) -> tuple[int, int]:
    old, new = itemsize_bits(x.dtype), itemsize_bits(new_dtype)
    return old, new


def _bitcast_abstract(x, *, new_dtype):
    old, new = _ratio(x, new_dtype)
    if old == new:
        return ShapedArray(x.shape, new_dtype)
    if old > new:
        return ShapedArray((*x.shape, old // new), new_dtype)
    if not x.shape or x.shape[-1] * old != new:
        raise ShapeError(
            f"bitcast_convert_type of {x.short()} to {new_dtype.name}",
            rule=f"one element takes {new // old} of the operand: its last axis",
        )
    return ShapedArray(x.shape[:-1], new_dtype)


def _bitcast_reference(x, *, new_dtype):
    old, new = _ratio(x, new_dtype)
    x = np.ascontiguousarray(x).reshape(x.shape)
    if old == new:
        return x.view(new_dtype)
    if old > new:
        return x[..., None].view(new_dtype)
    return x.view(new_dtype)[..., 0]


def _bitcast_batch(n, xs, ds, *, new_dtype):
    x, d = xs[0], ds[0]
    if d == aval_of(x).ndim - 1:
        x, d = moveaxis(x, d, 0), 0
    return bitcast_convert_type_p.bind(x, new_dtype=new_dtype), d


bitcast_convert_type_p = Primitive(
    "bitcast_convert_type",
    abstract=_bitcast_abstract,
    reference=_bitcast_reference,
    lower=lambda b, out, x, *, new_dtype: b.bitcast_convert(out, x),
    derivative=NotDifferentiable("the bits of a number are no smooth function of it"),
    batch=_bitcast_batch,
)


# ---- reduce_precision ----


def _check_bits(x, *, exponent_bits, mantissa_bits):
    if exponent_bits < 1 or mantissa_bits < 0:
        raise ArgumentError(
            f"reduce_precision to {exponent_bits} and {mantissa_bits} bits",
            rule="exponent_bits is positive, mantissa_bits is not negative",
        )


def _precision_reference(x, *, exponent_bits, mantissa_bits):
    wide = x.astype(np.float64)
    mantissa, exponent = np.frexp(wide)
    bits = mantissa_bits + 1
    rounded = np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits)
    bias = 2 ** (exponent_bits - 1) - 1
    large = np.abs(rounded) >= np.ldexp(1.0, min(bias + 1, 1023))
    small = np.abs(rounded) < np.ldexp(1.0, max(1 - bias, -1022))
    rounded = np.where(large & (bias < 1023), np.copysign(np.inf, wide), rounded)
    rounded = np.where(small, np.copysign(0.0, wide), rounded)
    return np.where(np.isfinite(wide), rounded, wide).astype(x.dtype)


reduce_precision_p = nary(
    "reduce_precision",
    accepts=("float",),
    reference=_precision_reference,
    emit=lambda b, x, *, exponent_bits, mantissa_bits: b.reduce_precision(
        x, exponent_bits, mantissa_bits
    ),
    derivative=Linear((lambda ct, x, **params: reduce_precision_p.bind(ct, **params),)),
    check=_check_bits,
)


# ---- identities ----


copy_p = nary(
    "copy",
    accepts=(*ANY, "key"),
    reference=lambda x: x,
    emit=lambda b, x: x,
    derivative=Linear((lambda ct, x: ct,)),
)

stop_gradient_p = nary(
    "stop_gradient",
    accepts=(*ANY, "key"),
    reference=lambda x: x,
    emit=lambda b, x: x,
    derivative=Smooth((no_tangent,)),
)
