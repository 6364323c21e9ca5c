"""Arguments that samplers share: shapes, and types of what is drawn."""

import operator
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ArgumentTypeError, ShapeError
from pullback.ops.promote import broadcast_shapes


def sizes(name: str, shape: int | Sequence[int]) -> tuple[int, ...]:
    """The shape that a user gave, as integers.

    Raises:
      ArgumentTypeError: it is not a sequence of integers.
      ArgumentError: a size is negative.
    """
    try:
        if isinstance(shape, SupportsIndex):
            found: tuple[int, ...] = (operator.index(shape),)
        else:
            found = tuple(map(operator.index, shape))
    except TypeError:
        raise ArgumentTypeError(
            f"{name} of shape {shape!r}", rule="a shape is a sequence of integers"
        ) from None
    if any(n < 0 for n in found):
        raise ArgumentError(f"{name} of shape {found}", rule="sizes are not negative")
    return found


def drawn_shape(
    name: str, shape: int | Sequence[int] | None, *parameters: Any
) -> tuple[int, ...]:
    """The shape to draw: as given, or that of the parameters together.

    Raises:
      ShapeError: the parameters do not broadcast to the shape given.
    """
    shapes = [aval_of(x).shape for x in parameters]
    if shape is None:
        return broadcast_shapes(name, shapes)
    wanted = sizes(name, shape)
    if any(shapes) and broadcast_shapes(name, [wanted, *shapes]) != wanted:
        raise ShapeError(
            f"{name} of shape {wanted} with parameters of shapes {shapes}",
            rule="the parameters broadcast to the shape that is drawn",
        )
    return wanted


def float_type(name: str, dtype: Any) -> Any:
    """The floating type that a user named; None means the default.

    Raises:
      ArgumentError: it is not a floating type.
    """
    return _type(name, dtype, dtypes.default_float, dtypes.is_float, "a float")


def inexact_type(name: str, dtype: Any) -> Any:
    """As `float_type`, complex types included."""
    default = dtypes.default_float
    return _type(name, dtype, default, dtypes.is_inexact, "a float or complex")


def integer_type(name: str, dtype: Any) -> Any:
    """As `float_type`, for integers."""
    return _type(name, dtype, dtypes.default_int, dtypes.is_integer, "an integer")


def bits_type(name: str, dtype: Any) -> Any:
    """As `float_type`, for unsigned integers."""
    return _type(name, dtype, _word, _is_unsigned, "an unsigned int")


def _word() -> Any:
    return dtypes.canonicalize(dtypes.uint64)


def _is_unsigned(dtype: Any) -> bool:
    return dtype in dtypes.UNSIGNED


def _type(name, dtype, default: Callable, fits: Callable, kind: str) -> Any:
    if dtype is None:
        return default()
    found = dtypes.named(dtype, name)
    if not fits(found):
        raise (ArgumentTypeError if kind == "an integer" else ArgumentError)(
            f"{name} of dtype {dtypes.name(found)}",
            rule=f"dtype argument to `{name}` must be {kind} dtype",
        )
    return found
