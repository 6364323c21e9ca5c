"""Parts of complex arrays, rounding, clipping, choosing, and change of element type."""

from typing import Any

from pullback.api.arguments import own
from pullback.api.arrays.comparisons import maximum, minimum, truth
from pullback.api.arrays.positions import nonzero
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.dtype import bool_
from pullback.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    UnsupportedError,
)
from pullback.ops import complex as parts
from pullback.ops.convert import bitcast_convert_type, convert, copy_p
from pullback.ops.elementwise import (
    RoundingMethod,
    div,
    mul,
    round as round_to_integer,
    scalar_like,
)
from pullback.ops.logic import select_n
from pullback.ops.promote import (
    as_operand,
    broadcast_shapes,
    broadcast_to,
    promote_dtypes,
)
from pullback.ops.shape import zeros


def real(val, /):
    """The real part.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.real(1 + 2j)
      Array(1., dtype=float32, weak_type=True)
    """
    x = as_operand("real", val)
    return parts.real(x) if dtypes.is_complex(aval_of(x).dtype) else own(x)


def imag(val, /):
    """The imaginary part; zeros for real numbers."""
    x = as_operand("imag", val)
    aval = aval_of(x)
    return parts.imag(x) if dtypes.is_complex(aval.dtype) else own(zeros(aval))


def conjugate(x, /):
    """The complex conjugate; real numbers stay."""
    x = as_operand("conjugate", x)
    return parts.conj(x) if dtypes.is_complex(aval_of(x).dtype) else own(x)


conj = conjugate


def by_parts(function, x):
    """A function of real arrays applied to both parts of a complex one."""
    return parts.complex(function(parts.real(x)), function(parts.imag(x)))


def round(a, decimals: int = 0, out: None = None):
    """Rounds to `decimals` places after the point, halves to even.

    Raises:
      UnsupportedError: integers and negative `decimals`.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.round(2.675, 1)
      Array(2.7, dtype=float32, weak_type=True)
    """
    no_out("round", out)
    x = as_operand("round", a)
    dtype = aval_of(x).dtype
    if dtypes.is_bool(dtype):
        raise ArgumentError("round of booleans", fix="convert them first")
    if dtypes.is_complex(dtype):
        return by_parts(lambda part: round(part, decimals), x)
    if dtypes.is_float(dtype):
        return _round_float(x, decimals)
    if decimals < 0:
        raise UnsupportedError(
            f"round of integers to {decimals} decimals",
            rule="integer round is not implemented for decimals < 0",
            fix="convert to a floating type first",
        )
    return own(x)


def _round_float(x, decimals: int):
    even = RoundingMethod.TO_NEAREST_EVEN
    if decimals == 0:
        return round_to_integer(x, even)
    dtype = aval_of(x).dtype
    narrow = dtype.itemsize < 4
    wide = convert(x, dtypes.float32) if narrow else x
    factor = scalar_like(wide, 10.0**decimals)
    out = div(round_to_integer(mul(wide, factor), even), factor)
    return convert(out, dtype) if narrow else out


around = round


def no_out(name: str, out: None) -> None:
    """Raise UnsupportedError unless the argument `out` is None."""
    if out is not None:
        raise UnsupportedError(
            f"{name}: the argument out",
            rule="arrays never change, so nothing can be written into `out`",
            fix="use the result",
        )


def clip(arr=None, /, min=None, max=None, *, a=None, a_min=None, a_max=None):
    """`arr` with what lies beyond the bounds replaced by them; None: no bound.

    Raises:
      ArgumentError: complex numbers.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.clip(pnp.arange(5), 1, 3)
      Array([1, 1, 2, 3, 3], dtype=int32)
    """
    x = as_operand("clip", a if arr is None else arr)
    low = a_min if min is None else min
    high = a_max if max is None else max
    for value in (x, low, high):
        if value is not None and dtypes.is_complex(aval_of(value).dtype):
            raise ArgumentError(
                "clip of a complex value",
                rule="complex values have no ordering and cannot be clipped",
                fix="clip the real or imaginary part",
            )
    if low is not None:
        x = maximum(low, x)
    if high is not None:
        x = minimum(high, x)
    return own(x)


def where(condition, x=None, y=None, /, *, size=None, fill_value=None) -> Any:
    """The elements of `x` where `condition` is nonzero, else those of `y`.

    `condition: bool[*r]`, `x: t[*s]`, `y: u[*q]`, broadcast together. Without `x` and
    `y`: the positions of its nonzeros, as `nonzero(condition)`.

    Args:
      size, fill_value: as for `nonzero`, only without `x` and `y`.

    Raises:
      ArgumentTypeError: one of `x` and `y` is missing.
      ArgumentError: `size` or `fill_value` with `x` and `y`.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.where(pnp.arange(3) > 0, 1.0, 0.0)
      Array([0., 1., 1.], dtype=float32, weak_type=True)
    """
    if x is None or y is None or size is not None or fill_value is not None:
        return _where_nonzero(condition, x, y, size, fill_value)
    try:
        aval = x.aval
        if aval is y.aval and condition.aval is aval.update(
            dtype=bool_, weak_type=False
        ):
            return select_n(condition, y, x)
    except AttributeError:
        pass
    which = truth("where", condition)
    x, y = promote_dtypes(as_operand("where", x), as_operand("where", y))
    shapes = [aval_of(v).shape for v in (which, x, y)]
    shape = broadcast_shapes("where", shapes)
    if shapes[0]:
        which = broadcast_to(which, shape)
    return select_n(which, broadcast_to(y, shape), broadcast_to(x, shape))


def _where_nonzero(condition, x, y, size, fill_value) -> tuple:
    if x is None and y is None:
        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise ArgumentTypeError(
            "where with one of x and y",
            rule="where takes both values or none",
            fix="pass both; for the places of nonzeros call nonzero",
        )
    raise ArgumentError(
        "where with x, y and size or fill_value",
        rule="they say how many positions where(condition) gives",
    )


def astype(x, dtype, /, *, copy: bool = False, device: Any = None):
    """`x` converted to `dtype`; floats become integers by truncation.

    Raises:
      DtypeError: a 64-bit dtype while 64-bit types are off.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.astype(pnp.arange(3), pnp.float32)
      Array([0., 1., 2.], dtype=float32)
    """
    del device
    out = own(convert(as_operand("astype", x), dtypes.named(dtype, "astype")))
    return copy_p.bind(out) if copy and out is x else out


def view(x, dtype=None):
    """The bits of `x` as elements of `dtype`; the last axis takes up the difference.

    Raises:
      DtypeError: the last axis does not divide.
    """
    x = own(as_operand("view", x))
    if dtype is None:
        return x
    new = dtypes.named(dtype, "view")
    old_size, new_size = x.aval.dtype.itemsize, new.itemsize
    if old_size == new_size:
        return bitcast_convert_type(x, new)
    shape = x.aval.shape
    bytes_in_line = (shape[-1] if shape else 0) * old_size
    if not shape or bytes_in_line % new_size:
        raise DtypeError(
            f"view of {x.aval.short()} as {new.name}",
            rule="the bytes of the last axis hold whole elements of the new dtype",
        )
    lines = (*shape[:-1], bytes_in_line // new_size)
    if old_size < new_size:
        split = x.reshape((*lines, new_size // old_size))
        return bitcast_convert_type(split, new)
    return bitcast_convert_type(x, new).reshape(lines)


def copied(x):
    """An array with the same elements."""
    return copy_p.bind(x)


def _round_method(self, ndigits: int | None = None):
    """`round(x)` gives integers, `round(x, n)` numbers of the same type."""
    if ndigits is not None:
        return round(self, ndigits)
    return astype(round(self), int)


METHODS = {
    "real": property(real, doc=real.__doc__),
    "imag": property(imag, doc=imag.__doc__),
    "conj": conjugate,
    "conjugate": conjugate,
    "round": round,
    "clip": lambda self, min=None, max=None: clip(self, min, max),
    "astype": astype,
    "view": view,
    "copy": copied,
    "__round__": _round_method,
}
