"""Arithmetic of arrays with NumPy's broadcasting and JAX's promotion: the operators.

Every function takes arrays, NumPy arrays and numbers, `x: t[*s]` and `y: u[*r]`, and
raises TypePromotionError or ShapeError when types or shapes have nothing in common.
"""

from pullback.api.arguments import own
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.dtype import bool_, default_int
from pullback.core.errors import DtypeError
from pullback.ops import complex as parts, elementwise as ops
from pullback.ops.bits import shift_right_logical
from pullback.ops.elementwise import RoundingMethod, add_p, div_p, mul_p, sub_p
from pullback.ops.logic import and_p, bitwise_and, eq, lt, ne, or_p, select
from pullback.ops.powers import integer_pow, pow_p
from pullback.ops.promote import (
    agree_inexact,
    as_operand,
    binary,
    inexact_binary,
    numeric_operands,
    promote_shapes,
    to_dtype,
)
from pullback.ops.shape import full

add = binary(
    "add",
    add_p,
    or_p,
    """The sum `x + y`; of booleans, whether one is true.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.add(pnp.arange(3), 0.5)
      Array([0.5, 1.5, 2.5], dtype=float32, weak_type=True)
    """,
)
subtract = binary("subtract", sub_p, sub_p, "The difference `x - y`; not of booleans.")
multiply = binary(
    "multiply",
    mul_p,
    and_p,
    "The product `x * y`; of booleans, whether both are true.",
)
divide = inexact_binary(
    "divide",
    div_p,
    """The quotient `x / y`, a floating or complex array.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.divide(7, 2)
      Array(3.5, dtype=float32, weak_type=True)
    """,
)


true_divide = divide


def floor_divide(x, y, /):
    """The largest integers not above `x / y`: `x // y`.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.floor_divide(-7, 2)
      Array(-4, dtype=int32, weak_type=True)
    """
    x, y = numeric_operands("floor_divide", x, y)
    dtype = aval_of(x).dtype
    if dtypes.is_complex(dtype):
        raise _complex_floor("floor_divide", dtype)
    if dtypes.is_integer(dtype):
        return _integer_floor_divide(x, y)
    return _float_divmod(x, y)[0]


def remainder(x, y, /):
    """What `x // y` leaves, with the sign of `y`: `x % y`; 0 for integers if `y` is 0.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.remainder(-7, 2)
      Array(1, dtype=int32, weak_type=True)
    """
    x, y = numeric_operands("remainder", x, y)
    if dtypes.is_integer(aval_of(x).dtype):
        y = one_for_zero(y)
    rest = ops.rem(x, y)
    return select(_other_side(rest, y), ops.add(rest, y), rest)


mod = remainder


def divmod(x, y, /):
    """The pair `(x // y, x % y)`."""
    x, y = numeric_operands("divmod", x, y)
    if dtypes.is_float(aval_of(x).dtype):
        return _float_divmod(x, y)
    return floor_divide(x, y), remainder(x, y)


def power(x, y, /):
    """`x` to the power `y`; by multiplications if `y` is a Python int.

    Raises:
      DtypeError: the base is an integer and `y` a negative int.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.power(2.0, pnp.arange(3))
      Array([1., 2., 4.], dtype=float32)
    """
    x = as_operand("power", x)
    if isinstance(y, int) and not isinstance(y, bool):
        if aval_of(x).dtype is bool_:
            x = to_dtype(x, default_int())
        return integer_pow(x, y)
    y = as_operand("power", y)
    base, exponent = aval_of(x).dtype, aval_of(y).dtype
    if dtypes.is_inexact(base) and dtypes.is_integer(exponent):
        return pow_p.bind(*promote_shapes("power", x, y))
    x, y = numeric_operands("power", x, y)
    if dtypes.is_integer(aval_of(x).dtype):
        return _integer_power(x, y)
    return pow_p.bind(x, y)


pow = power


def float_power(x, y, /):
    """`x` to the power `y`, computed in a floating or complex type."""
    return pow_p.bind(*agree_inexact("float_power", x, y))


def negative(x, /):
    """`-x`; not of booleans."""
    return ops.neg_p.bind(as_operand("negative", x))


def positive(x, /):
    """`+x`: the same numbers."""
    return own(as_operand("positive", x))


def absolute(x, /):
    """The absolute value `abs(x)`; of complex numbers the modulus.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.abs(3 - 4j)
      Array(5., dtype=float32, weak_type=True)
    """
    x = as_operand("abs", x)
    dtype = aval_of(x).dtype
    if dtype is bool_ or dtype in dtypes.UNSIGNED:
        return own(x)
    return parts.abs_p.bind(x)


abs = absolute


# ---- rules ----


def one_for_zero(y):
    """Integers with 1 in the place of 0."""
    y = own(y)
    return select(eq(y, ops.scalar_like(y, 0)), full(y.aval, 1), y)


def _other_side(rest, y):
    """Whether a remainder is not zero and has another sign than `y`."""
    zero = ops.scalar_like(rest, 0)
    return bitwise_and(ne(lt(rest, zero), lt(y, zero)), ne(rest, zero))


def _integer_floor_divide(x, y):
    if aval_of(x).dtype in dtypes.UNSIGNED:
        return ops.div(x, y)
    quotient, rest = ops.div(x, y), ops.rem(x, y)
    apart = ne(parts.sign(x), parts.sign(y))
    low = bitwise_and(apart, ne(rest, ops.scalar_like(rest, 0)))
    return select(low, ops.sub(quotient, ops.scalar_like(quotient, 1)), quotient)


def _float_divmod(x, y):
    rest = own(ops.rem(x, y))
    y = own(y)
    zero, one = ops.scalar_like(rest, 0), ops.scalar_like(rest, 1)
    exact = ops.sub(x, rest)
    x, exact, zeros = same_shape(x, exact, eq(y, zero))
    quotient = ops.div(select(zeros, x, exact), y)
    low = bitwise_and(ne(rest, zero), ne(parts.sign(y), parts.sign(rest)))
    rest = select(low, ops.add(rest, y), rest)
    quotient = select(low, ops.sub(quotient, one), quotient)
    return ops.round(quotient, RoundingMethod.AWAY_FROM_ZERO), rest


def same_shape(*xs):
    """Operands with rank-0 ones repeated to the shape of the others."""
    shape = next((s for s in (aval_of(x).shape for x in xs) if s), ())
    return [x if aval_of(x).shape == shape else _repeat(x, shape) for x in xs]


def _repeat(x, shape):
    return ops.broadcast_in_dim(x, shape, ())


def _integer_power(x, y):
    """By repeated squaring over the low six bits of the exponent."""
    x, y = same_shape(x, y)
    one = ops.scalar_like(x, 1)
    lost = bitwise_and(eq(x, ops.scalar_like(x, 0)), ne(y, ops.scalar_like(y, 0)))
    result = select(lost, *same_zero_one(x))
    for i in range(6):
        odd = ne(bitwise_and(y, one), ops.scalar_like(y, 0))
        result = select(odd, ops.mul(result, x), result)
        if i < 5:
            x, y = ops.mul(x, x), shift_right_logical(y, one)
    return result


def same_zero_one(x):
    """Zeros and ones of the type of `x`, not weakly typed."""
    aval = aval_of(x).strong()
    return full(aval, 0), full(aval, 1)


def _complex_floor(name: str, dtype) -> DtypeError:
    return DtypeError(
        f"{name} of dtype {dtype.name}",
        rule="complex numbers have no order, so no largest integer below",
        fix="take real parts first",
    )


METHODS = {
    "__abs__": absolute,
    "__neg__": negative,
    "__pos__": positive,
}
