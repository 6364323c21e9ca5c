"""Comparisons, extremes, bitwise and logical functions, with promotion."""

from collections.abc import Callable

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.dtype import bool_
from pullback.ops import logic
from pullback.ops.bits import (
    shift_left,
    shift_right_arithmetic,
    shift_right_logical,
)
from pullback.ops.complex import imag, real
from pullback.ops.promote import agree, as_operand, numeric_operands, promote_shapes


def equal(x, y, /):
    """Whether `x == y`, elementwise.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.equal(pnp.arange(3), 1)
      Array([False,  True, False], dtype=bool)
    """
    x, y, _ = agree("equal", x, y)
    return logic.eq_p.bind(x, y)


def not_equal(x, y, /):
    """Whether `x != y`, elementwise; true for NaN."""
    x, y, _ = agree("not_equal", x, y)
    return logic.ne_p.bind(x, y)


def less(x, y, /):
    """Whether `x < y`, elementwise; complex numbers compare by real part first."""
    x, y, dtype = agree("less", x, y)
    return _ordered(logic.lt, x, y, dtype)


def less_equal(x, y, /):
    """Whether `x <= y`, elementwise; complex numbers compare by real part first."""
    x, y, dtype = agree("less_equal", x, y)
    return _ordered(logic.le, x, y, dtype)


def greater(x, y, /):
    """Whether `x > y`, elementwise; complex numbers compare by real part first."""
    x, y, dtype = agree("greater", x, y)
    return _ordered(logic.gt, x, y, dtype)


def greater_equal(x, y, /):
    """Whether `x >= y`, elementwise; complex numbers compare by real part first."""
    x, y, dtype = agree("greater_equal", x, y)
    return _ordered(logic.ge, x, y, dtype)


def _ordered(compare: Callable, x, y, dtype):
    if dtype not in dtypes.COMPLEX:
        return compare(x, y)
    same = logic.eq(real(x), real(y))
    return logic.select(same, compare(imag(x), imag(y)), compare(real(x), real(y)))


def maximum(x, y, /):
    """The larger of `x` and `y`, elementwise; NaN if one is.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.maximum(pnp.arange(3), 1)
      Array([1, 1, 2], dtype=int32)
    """
    x, y, _ = agree("maximum", x, y)
    return logic.max_p.bind(x, y)


def minimum(x, y, /):
    """The smaller of `x` and `y`, elementwise; NaN if one is."""
    x, y, _ = agree("minimum", x, y)
    return logic.min_p.bind(x, y)


def bitwise_and(x, y, /):
    """`x & y` of integers or booleans."""
    x, y, _ = agree("bitwise_and", x, y)
    return logic.and_p.bind(x, y)


def bitwise_or(x, y, /):
    """`x | y` of integers or booleans."""
    x, y, _ = agree("bitwise_or", x, y)
    return logic.or_p.bind(x, y)


def bitwise_xor(x, y, /):
    """`x ^ y` of integers or booleans."""
    x, y, _ = agree("bitwise_xor", x, y)
    return logic.xor_p.bind(x, y)


def invert(x, /):
    """`~x` of integers or booleans."""
    return logic.not_p.bind(as_operand("invert", x))


bitwise_not = bitwise_invert = invert


def left_shift(x, y, /):
    """`x << y` of integers; 0 when `y` is at least the width.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.left_shift(3, 2)
      Array(12, dtype=int32, weak_type=True)
    """
    return shift_left(*numeric_operands("left_shift", x, y))


def right_shift(x, y, /):
    """`x >> y` of integers, filled with the sign."""
    x, y = numeric_operands("right_shift", x, y)
    if aval_of(x).dtype in dtypes.UNSIGNED:
        return shift_right_logical(x, y)
    return shift_right_arithmetic(x, y)


bitwise_left_shift, bitwise_right_shift = left_shift, right_shift


def truth(name: str, x):
    """Whether elements differ from zero."""
    x = as_operand(name, x)
    dtype = aval_of(x).dtype
    return x if dtype is bool_ else logic.ne(x, np.zeros((), dtype))


def logical_and(x, y, /):
    """Whether `x` and `y` are both nonzero, elementwise."""
    x, y = promote_shapes(
        "logical_and", truth("logical_and", x), truth("logical_and", y)
    )
    return logic.and_p.bind(x, y)


def logical_or(x, y, /):
    """Whether `x` or `y` is nonzero, elementwise."""
    x, y = promote_shapes("logical_or", truth("logical_or", x), truth("logical_or", y))
    return logic.or_p.bind(x, y)


def logical_xor(x, y, /):
    """Whether just one of `x` and `y` is nonzero, elementwise."""
    x, y = promote_shapes(
        "logical_xor", truth("logical_xor", x), truth("logical_xor", y)
    )
    return logic.xor_p.bind(x, y)


def logical_not(x, /):
    """Whether `x` is zero, elementwise."""
    return logic.not_p.bind(truth("logical_not", x))


METHODS = {"__invert__": invert}
