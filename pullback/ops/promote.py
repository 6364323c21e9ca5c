"""Operands made to agree: one element type, one shape.

NumPy's rules of broadcasting and JAX's of promotion, for the functions that users call;
primitives themselves take operands that agree already.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import ArgumentTypeError, ShapeError
from pullback.core.primitive import Primitive
from pullback.core.value import Array
from pullback.ops.convert import convert
from pullback.ops.promotion import promote, promote_pair
from pullback.ops.shape import broadcast_in_dim, reshape

SCALARS = (bool, int, float, complex)
OPERANDS = (Array, *SCALARS, np.ndarray, np.generic)
SAFE = 240.0  # within the range of every floating type of 8 bits and more


def as_operand(name: str, x: Any) -> Any:
    """`x` if it is an array, a NumPy array or a number; what `__jax_array__` gives.

    Raises:
      ArgumentTypeError: `x` is a list, a string, None, ...
    """
    if hasattr(x, "aval") or isinstance(x, (np.ndarray, np.generic, *SCALARS)):
        return x
    if hasattr(x, "__jax_array__"):
        return x.__jax_array__()
    raise ArgumentTypeError(
        f"{name} of a value of type {type(x).__name__}",
        rule=f"{name} takes arrays and numbers",
        fix="convert it with pullback.numpy.asarray",
    )


def to_dtype(x: Any, dtype: Any, weak_type: bool = False) -> Any:
    """`x` with the given element type; an equation only where something changes.

    A Python or NumPy scalar becomes a scalar of that type; integers wrap around.
    """
    kind = type(x)
    if kind in SCALARS:
        return _scalar(x, kind, dtype, weak_type)
    aval = aval_of(x)
    if aval.dtype == dtype and (aval.weak_type or not weak_type):
        return x
    if kind is np.ndarray or isinstance(x, np.generic):
        x = np.asarray(x, aval.dtype)
        if not weak_type and not x.ndim:
            return x.astype(dtype)
    return convert(x, dtype, weak_type)


def _scalar(x: Any, kind: type, dtype: Any, weak_type: bool) -> Any:
    own: Any = dtypes.of_scalar(x)[0]
    if weak_type:
        wanted = dtypes.scalar_type_of(dtype)
        if dtypes.canonicalize(wanted) == dtype:
            return x if kind is wanted else wanted(x)
        return convert(x, dtype, True)
    with np.errstate(all="ignore"):
        return np.asarray(x, own).astype(dtype)


def promote_dtypes(*xs: Any) -> list[Any]:
    """The operands, converted to the one type that they promote to.

    Raises:
      TypePromotionError: no type holds all of them.
    """
    avals = [aval_of(x) for x in xs]
    if len(xs) == 2:
        a, b = avals
        dtype, weak = promote_pair(a.dtype, a.weak_type, b.dtype, b.weak_type)
    else:
        dtype, weak = promote([(a.dtype, a.weak_type) for a in avals])
    return [to_dtype(x, dtype, weak) for x in xs]


def promote_inexact(*xs: Any) -> list[Any]:
    """As `promote_dtypes`, with integers and booleans converted to floating."""
    avals = [aval_of(x) for x in xs]
    dtype, weak = promote([(a.dtype, a.weak_type) for a in avals])
    return [to_dtype(x, dtypes.to_inexact(dtype), weak) for x in xs]


def promote_numeric(*xs: Any) -> list[Any]:
    """As `promote_dtypes`, with booleans converted to the default integer type."""
    out = promote_dtypes(*xs)
    if dtypes.is_bool(aval_of(out[0]).dtype):
        return [to_dtype(x, dtypes.default_int()) for x in out]
    return out


def broadcast_shapes(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that operands of the given shapes broadcast to.

    Raises:
      ShapeError: two sizes of one axis, counted from the last, differ and are not 1.
    """
    ndim = max(map(len, shapes))
    out = [1] * ndim
    for shape in shapes:
        start = ndim - len(shape)
        for i, n in enumerate(shape, start):
            if out[i] == 1:
                out[i] = n
            elif n not in (1, out[i]):
                raise _incompatible(name, shapes)
    return tuple(out)


def _incompatible(name: str, shapes: Sequence[tuple[int, ...]]) -> ShapeError:
    shown = ", ".join(str(tuple(s)) for s in shapes)
    return ShapeError(
        f"{name} of operands with shapes {shown}, which do not broadcast",
        rule="counted from the last axis, sizes are equal or one of them is 1",
        fix="insert axes with reshape or x[:, None], or transpose one operand",
    )


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` repeated to `shape`, its last axis at the last place; `x` itself if equal."""
    old = aval_of(x).shape
    if old == shape:
        return x
    start = len(shape) - len(old)
    kept = [i for i, n in enumerate(old) if n == shape[start + i]]
    if len(kept) < len(old):
        x = reshape(x, [old[i] for i in kept])
    return broadcast_in_dim(x, shape, [start + i for i in kept])


def promote_shapes(name: str, *xs: Any) -> list[Any]:
    """The operands, repeated to the one shape that they broadcast to.

    Rank-0 operands stay: elementwise primitives let them stand for all elements.

    Raises:
      ShapeError: the shapes do not broadcast.
    """
    shapes = [aval_of(x).shape for x in xs]
    ranked = {shape for shape in shapes if shape}
    if len(ranked) < 2:
        return list(xs)
    shape = broadcast_shapes(name, shapes)
    return [broadcast_to(x, shape) if aval_of(x).shape else x for x in xs]


def operands(name: str, *xs: Any) -> list[Any]:
    """Operands of the user function `name`, of one type and one shape."""
    given = [as_operand(name, x) for x in xs]
    return promote_shapes(name, *promote_dtypes(*given))


FITS = {
    float: dtypes.INEXACT,
    int: dtypes.INEXACT | {dtypes.int32, dtypes.int64},
    complex: dtypes.COMPLEX,
}


def agree(name: str, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """As `operands` of two, and their dtype. Quick where little is to be done."""
    a, b = getattr(x, "aval", None), getattr(y, "aval", None)
    if a is not None and (a is b or (b is None and _takes(a, y))):
        return x, y if a is b else narrow(y, a.dtype), a.dtype
    if a is None and b is not None and _takes(b, x):
        return narrow(x, b.dtype), y, b.dtype
    x, y = operands(name, x, y)
    return x, y, aval_of(x).dtype


def _takes(aval: ShapedArray, x: Any) -> bool:
    """Whether a Python number joins arrays of a type without changing it."""
    kind = type(x)
    if kind not in FITS or aval.weak_type or aval.dtype not in FITS[kind]:
        return False
    return kind is not int or -(2**31) <= x < 2**31


def narrow(x: Any, dtype: Any) -> np.ndarray:
    """A number as a rank-0 NumPy array; infinite where the type does not reach."""
    if type(x) is not complex and -SAFE <= x <= SAFE:
        return np.asarray(x, dtype)
    with np.errstate(over="ignore"):
        return np.asarray(x, dtype)


def agree_inexact(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """As `agree`, with integers and booleans converted to floating."""
    a, b = getattr(x, "aval", None), getattr(y, "aval", None)
    known = a if b is None else b
    if known is not None and known.dtype in dtypes.INEXACT:
        x, y, dtype = agree(name, x, y)
        if dtype in dtypes.INEXACT:
            return x, y
    x, y = inexact_operands(name, x, y)
    return x, y


def inexact(name: str, x: Any) -> Any:
    """One operand, converted to floating if it is an integer or boolean."""
    try:
        if x.aval.dtype in dtypes.INEXACT:
            return x
    except AttributeError:
        x = as_operand(name, x)
    aval = aval_of(x)
    return to_dtype(x, dtypes.to_inexact(aval.dtype), aval.weak_type)


def unary(name: str, prim: Primitive, doc: str) -> Callable[[Any], Any]:
    """The user function `name` of one primitive on floating or complex numbers."""

    def function(x, /):
        return prim.bind(inexact(name, x))

    return _named(function, name, doc)


def binary(
    name: str, prim: Primitive, of_booleans: Primitive, doc: str
) -> Callable[[Any, Any], Any]:
    """The user function `name` of two operands that promote and broadcast."""

    def function(x, y, /):
        x, y, dtype = agree(name, x, y)
        return (of_booleans if dtype is dtypes.bool_ else prim).bind(x, y)

    return _named(function, name, doc)


def inexact_binary(name: str, prim: Primitive, doc: str) -> Callable[[Any, Any], Any]:
    """As `binary`, of operands converted to floating or complex numbers."""

    def function(x, y, /):
        return prim.bind(*agree_inexact(name, x, y))

    return _named(function, name, doc)


def _named(function: Callable, name: str, doc: str) -> Callable:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def operator_method(function: Callable) -> Callable:
    """The method `x.__op__(y)` of a function of `x` and `y`."""

    def operator(self, other, /):
        if isinstance(other, OPERANDS) or hasattr(other, "__jax_array__"):
            return function(self, other)
        return NotImplemented

    operator.__doc__ = function.__doc__
    return operator


def reflected_method(function: Callable) -> Callable:
    """The method `y.__rop__(x)` of a function of `x` and `y`."""

    def operator(self, other, /):
        if isinstance(other, OPERANDS) or hasattr(other, "__jax_array__"):
            return function(other, self)
        return NotImplemented

    operator.__doc__ = function.__doc__
    return operator


def inexact_operands(name: str, *xs: Any) -> list[Any]:
    """As `operands`, with integers and booleans converted to floating."""
    given = [as_operand(name, x) for x in xs]
    return promote_shapes(name, *promote_inexact(*given))


def numeric_operands(name: str, *xs: Any) -> list[Any]:
    """As `operands`, with booleans converted to the default integer type."""
    given = [as_operand(name, x) for x in xs]
    return promote_shapes(name, *promote_numeric(*given))


def broadcast_aval(name: str, *avals: ShapedArray) -> ShapedArray:
    """The type of an elementwise result of operands of the given types."""
    dtype, weak = promote([(a.dtype, a.weak_type) for a in avals])
    return ShapedArray(broadcast_shapes(name, [a.shape for a in avals]), dtype, weak)
