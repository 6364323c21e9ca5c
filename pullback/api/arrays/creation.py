"""Making arrays: from data of the host, of one value, of counting numbers."""

import operator
from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from pullback.api.arrays.known import known_value
from pullback.compile.array import ArrayImpl, from_host
from pullback.compile.eager import EAGER, concrete
from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.dtype import ScalarOverflowError
from pullback.core.errors import ArgumentError, ArgumentTypeError, ShapeError
from pullback.core.trace import Tracer, state
from pullback.core.value import Array
from pullback.ops.convert import convert, copy_p
from pullback.ops.elementwise import add, mul
from pullback.ops.iota import broadcasted_iota
from pullback.ops.joining import concatenate
from pullback.ops.promote import as_operand, broadcast_to, promote_dtypes
from pullback.ops.shape import expand_dims, full as filled

SCALARS = (bool, int, float, complex)
Shape = int | Sequence[int]


# ---- from data ----


def asarray(a, dtype=None, order=None, *, copy=None, device=None, out_sharding=None):
    """`a` as an array; NumPy arrays are copied, arrays are returned as they are.

    Args:
      a: an array, a NumPy array, a number, nested sequences of these, or an object that
        NumPy turns into an array.
      dtype: the element type (None: that of the data, 64 bits narrowed to 32 unless
        64-bit types are on).
      copy: True for a copy even of an array.

    Raises:
      ArgumentTypeError: the data is not numeric.
      ArgumentError: None, or nested sequences of unequal lengths.

    Example:
      >>> from pullback import numpy as pnp
      >>> pnp.asarray([1, 2.5]).dtype
      dtype('float32')
    """
    del order, device, out_sharding
    if dtype is not None:
        dtype = dtypes.named(dtype, "asarray")
    if isinstance(a, Array):
        return _of_array(a, dtype, bool(copy))
    if type(a) in SCALARS:
        return concrete(a if dtype is None else np.asarray(a).astype(dtype))
    if isinstance(a, np.ndarray | np.generic):
        return _of_numpy(np.asarray(a), dtype)
    if hasattr(a, "__jax_array__"):
        return asarray(a.__jax_array__(), dtype)
    if isinstance(a, list | tuple):
        return _of_sequence(a, dtype)
    if a is None:
        raise ArgumentError("None is not a valid value for array(...)")
    return _of_numpy(np.asarray(a), dtype)


def array(
    object,
    dtype=None,
    copy: bool = True,
    order=None,
    ndmin: int = 0,
    *,
    device=None,
    out_sharding=None,
):
    """As `asarray`, with a copy of arrays unless `copy` is False.

    `ndmin`: axes of size 1 are put in front until there are as many.
    """
    out = asarray(object, dtype, copy=copy)
    missing = ndmin - out.ndim
    return expand_dims(out, range(missing)) if missing > 0 else out


def copy(a, order=None):
    """A copy of an array."""
    del order
    return _of_array(asarray(a), None, True)


def _of_array(a, dtype, copies: bool):
    if dtype is not None and (a.dtype != dtype or a.aval.weak_type):
        return convert(a, dtype)
    return copy_p.bind(a) if copies else a


def _of_numpy(a: np.ndarray, dtype):
    kind = a.dtype
    if kind.hasobject or (kind.kind in "USMmV" and kind not in dtypes.CATEGORY):
        raise ArgumentTypeError(
            f"array of a value with dtype {kind}",
            rule="arrays hold numbers and booleans",
            fix="convert the data to a numeric dtype first",
        )
    dtype = dtypes.canonicalize(kind) if dtype is None else dtype
    if kind != dtype:
        a = _narrowed(a, dtype)
    return concrete(a)


def _narrowed(a: np.ndarray, dtype) -> np.ndarray:
    with np.errstate(all="ignore"):
        if dtypes.is_complex(a.dtype) and not dtypes.is_complex(dtype):
            a = np.real(a)
        return a.astype(dtype)


def _of_sequence(a: Sequence, dtype):
    if _holds_arrays(a):
        parts = promote_dtypes(*[asarray(x) for x in a]) if a else []
        return asarray(stacked(parts), dtype)
    try:
        value = np.asarray(a)
    except ValueError as error:
        raise ArgumentError(
            f"array of nested sequences: {error}",
            rule="all sequences of one level have the same length",
        ) from None
    except OverflowError as error:
        raise ScalarOverflowError(str(error)) from None
    if dtypes.default_int() != value.dtype == np.int64 and _has_python_ints(a):
        _check_range(value if dtype is None else value[:0])
    return _of_numpy(value, dtype)


def _holds_arrays(a: Any) -> bool:
    if isinstance(a, list | tuple):
        return any(map(_holds_arrays, a))
    return isinstance(a, Array) or hasattr(a, "__jax_array__")


def _has_python_ints(a: Any) -> bool:
    while isinstance(a, list | tuple) and a:
        a = a[0]
    return isinstance(a, int)


def _check_range(value: np.ndarray) -> None:
    if value.size:
        dtypes.of_scalar(int(value.max()))
        dtypes.of_scalar(int(value.min()))


def stacked(parts: Sequence[Any]):
    """Arrays of one shape and dtype, along a new first axis.

    Raises:
      ShapeError: the shapes differ.
    """
    shapes = {aval_of(x).shape for x in parts}
    if len(shapes) > 1:
        raise ShapeError(
            "All input arrays must have the same shape. Got "
            + ", ".join(str(aval_of(x).shape) for x in parts),
            rule="arrays are stacked along a new axis",
        )
    return concatenate([expand_dims(x, (0,)) for x in parts], 0)


# ---- of one value ----


def shape_of(name: str, shape: Shape) -> tuple[int, ...]:
    """A shape argument as a tuple of sizes.

    Raises:
      ShapeError: it is not made of static integers, or one is negative.
    """
    given = shape if isinstance(shape, Sequence | np.ndarray) else (shape,)
    try:
        sizes = tuple(map(operator.index, given))
    except TypeError as error:
        if any(isinstance(n, Tracer) for n in given):
            raise
        raise ShapeError(
            f"{name} of shape {shape}",
            rule="Shapes must be 1D sequences of concrete values of integer type",
        ) from error
    if any(n < 0 for n in sizes):
        raise ShapeError(
            f"{name} of shape {sizes}",
            rule="every element of a shape must be nonnegative",
        )
    return sizes


def constant(shape: tuple[int, ...], dtype, value, weak_type: bool = False):
    """An array of one value: on the host where nothing is traced."""
    aval = ShapedArray(shape, dtype, weak_type)
    if state.trace is EAGER and not isinstance(dtype, dtypes.ExtendedDType):
        return from_host(np.full(shape, value, dtype), aval)
    out = filled(aval, value)
    return out if isinstance(out, Array) else concrete(out)


def zeros(shape, dtype=None, *, device=None, out_sharding=None):
    """Zeros, of the default floating type unless `dtype` says otherwise."""
    return constant(shape_of("zeros", shape), dtypes.named(dtype, "zeros"), 0)


def ones(shape, dtype=None, *, device=None, out_sharding=None):
    """Ones, of the default floating type unless `dtype` says otherwise."""
    return constant(shape_of("ones", shape), dtypes.named(dtype, "ones"), 1)


def empty(shape, dtype=None, *, device=None, out_sharding=None):
    """An array whose values may be anything: here, zeros."""
    return zeros(shape, dtype)


def full(shape, fill_value, dtype=None, *, device=None, out_sharding=None):
    """An array of `shape` filled with `fill_value`, a number or what broadcasts.

    Raises:
      ShapeError: the value does not broadcast to the shape.
    """
    sizes = shape_of("full", shape)
    value = asarray(fill_value)
    aval = aval_of(value)
    weak = dtype is None and aval.weak_type
    kind = aval.dtype if dtype is None else dtypes.named(dtype, "full")
    if type(value) is ArrayImpl and not aval.shape and not dtypes.is_key(kind):
        return constant(sizes, kind, _narrowed(value.host(), kind), weak)
    return spread(convert(value, kind, weak), sizes)


def spread(x, shape: tuple[int, ...]):
    """`x` broadcast to a shape.

    Raises:
      ShapeError: it does not fit.
    """
    old = aval_of(x).shape
    fits = len(old) <= len(shape) and all(
        n in (1, m) for n, m in zip(old[::-1], shape[::-1], strict=False)
    )
    if not fits:
        raise ShapeError(
            f"Incompatible shapes for broadcasting: {old} and requested shape {shape}",
            rule="counted from the last axis, sizes are equal or that of x is 1",
        )
    return asarray(broadcast_to(x, shape))


def _like(name: str, a, dtype, shape):
    aval = aval_of(as_operand(name, a))
    weak = dtype is None and aval.weak_type
    kind = aval.dtype if dtype is None else dtypes.named(dtype, name)
    return aval.shape if shape is None else shape_of(name, shape), kind, weak


def zeros_like(a, dtype=None, shape=None, *, device=None, out_sharding=None):
    """Zeros of the shape and type of `a`, unless told otherwise."""
    sizes, kind, weak = _like("zeros_like", a, dtype, shape)
    return constant(sizes, kind, 0, weak)


def ones_like(a, dtype=None, shape=None, *, device=None, out_sharding=None):
    """Ones of the shape and type of `a`, unless told otherwise."""
    sizes, kind, weak = _like("ones_like", a, dtype, shape)
    return constant(sizes, kind, 1, weak)


def empty_like(prototype, dtype=None, shape=None, *, device=None, out_sharding=None):
    """As `zeros_like`."""
    return zeros_like(prototype, dtype, shape)


def full_like(a, fill_value, dtype=None, shape=None, *, device=None, out_sharding=None):
    """`fill_value` in the shape and type of `a`, unless told otherwise."""
    sizes, kind, weak = _like("full_like", a, dtype, shape)
    value = asarray(fill_value)
    if type(value) is ArrayImpl and not value.shape and not dtypes.is_key(kind):
        return constant(sizes, kind, _narrowed(value.host(), kind), weak)
    return spread(convert(value, kind, weak), sizes)


# ---- of counting numbers ----


def arange(start, stop=None, step=None, dtype=None, *, device=None, out_sharding=None):
    """`start, start + step, ...` below `stop`; from 0 if only one number is given.

    Args:
      start, stop, step: static numbers.
      dtype: the element type (None: what the numbers promote to).

    Raises:
      ArgumentTypeError: a number is missing.
      ArgumentError: an argument is no scalar, or complex.
      ConcretizationTypeError: one is traced: the shape depends on it.
    """
    if stop is None:
        start, stop = (
            (0 if step is None else 0 * start if start is not None else 0),
            start,
        )
    step = 1 if step is None else step
    given = [_arange_number(x, i) for i, x in enumerate((start, stop, step))]
    if dtype is None:
        kinds = [x for x in (start, stop, step) if type(x) is not int] or [0]
        kind = aval_of(promote_dtypes(*kinds, 0)[0]).dtype
    else:
        kind = dtypes.named(dtype, "arange")
    start, stop, step = given
    size = max(0, ceil((stop - start) / step))
    if state.trace is EAGER or not (isinstance(start, int) and isinstance(step, int)):
        return concrete(_counted(start, step, size, kind))
    out = broadcasted_iota(kind, (size,), 0)
    if step != 1:
        out = mul(out, np.asarray(step).astype(kind))
    return add(out, np.asarray(start).astype(kind)) if start else out


def _counted(start, step, size: int, kind) -> np.ndarray:
    wide = np.arange(size)
    if isinstance(start, int) and isinstance(step, int):
        return (start + step * wide).astype(kind)
    return (start + np.float64(step) * wide).astype(kind)


def _arange_number(x: Any, i: int) -> Any:
    name = ("start", "stop", "step")[i]
    if x is None:
        raise ArgumentTypeError(f"arange: {name} is None", rule="it is a number")
    fix = "make the argument static: jit(f, static_argnums=...)"
    value = known_value(f"arange: {name}", x, fix)
    if value.ndim:
        raise ArgumentError(
            f"arange: arguments must be scalars; got {name}={x}",
            rule="start, stop and step are scalars",
        )
    if value.dtype.kind == "c":
        raise ArgumentError(f"arange of complex numbers: {name}={x}")
    return value.item()


METHODS = {"copy": copy}
