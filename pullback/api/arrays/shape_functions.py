"""Functions of shape that are methods: reshape, transpose, squeeze, repeat."""

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pullback.api.arrays.creation import asarray
from pullback.api.arrays.known import known_value
from pullback.core.errors import ArgumentError, ShapeError
from pullback.core.trace import Tracer
from pullback.ops import shape as ops
from pullback.ops.promote import as_operand


def as_array(name: str, x: Any):
    """An operand of the user function `name` as an array.

    Raises:
      ArgumentTypeError: it is a list, None, ...
    """
    return asarray(as_operand(name, x))


def axis_of(name: str, axis: Any, ndim: int) -> int:
    """`axis` counted from the front.

    Raises:
      ArgumentError: it is outside the array.
    """
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise ArgumentError(
            f"{name}: axis {axis} is out of bounds for array of dimension {ndim}",
            rule=f"an axis lies in [{-ndim}, {ndim})",
        )
    return axis % ndim


def axes_of(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """One axis or several, counted from the front and distinct.

    Raises:
      ArgumentError: one is outside the array, or given twice.
    """
    given = axis if isinstance(axis, Sequence) else (axis,)
    axes = tuple(axis_of(name, a, ndim) for a in given)
    if len(set(axes)) != len(axes):
        raise ArgumentError(f"{name}: repeated axis in {tuple(given)}")
    return axes


def reshape(a, shape, order: str = "C", *, copy=None, out_sharding=None):
    """The elements of `a` in an array of another shape.

    Args:
      shape: sizes of the axes; -1 for one that is computed.
      order: `"C"`: the last axis counts fastest, `"F"`: the first one.

    Raises:
      ShapeError: the number of elements differs.

    Example:
      >>> from pullback import numpy as pnp
      >>> pnp.reshape(pnp.arange(6), (2, -1)).shape
      (2, 3)
    """
    x = as_array("reshape", a)
    sizes = _full_shape(x, shape)
    if order == "C":
        return ops.reshape(x, sizes)
    if order != "F":
        raise ArgumentError(f"reshape: order {order!r}", rule="it is 'C' or 'F'")
    back = ops.reshape(ops.transpose(x, range(x.ndim)[::-1]), sizes[::-1])
    return ops.transpose(back, range(len(sizes))[::-1])


def _full_shape(x, shape) -> tuple[int, ...]:
    given = shape if isinstance(shape, Sequence | np.ndarray) else (shape,)
    sizes = tuple(map(operator.index, given))
    if -1 not in sizes:
        return sizes
    known = prod(n for n in sizes if n != -1)
    if sizes.count(-1) > 1 or not known or x.size % known:
        raise ShapeError(
            f"reshape of an array of shape {x.shape}, {x.size} elements, to {sizes}",
            rule="one size may be -1, and the product of the others divides the size",
        )
    return tuple(x.size // known if n == -1 else n for n in sizes)


def _reshape_method(a, *shape, order: str = "C", copy=None, out_sharding=None):
    """`reshape(shape)`, the sizes given as a tuple or one by one."""
    one = len(shape) == 1 and isinstance(shape[0], Sequence | np.ndarray)
    return reshape(a, shape[0] if one else shape, order)


def ravel(a, order: str = "C", *, out_sharding=None):
    """The elements of `a` as an array of one axis."""
    x = as_array("ravel", a)
    return reshape(x, (x.size,), "C" if order == "K" else order)


def flatten(a, order: str = "C", *, out_sharding=None):
    """As `ravel`."""
    return ravel(a, order)


def transpose(a, axes: Sequence[int] | None = None):
    """The axes of `a` in another order (None: reversed).

    Raises:
      ShapeError: `axes` is not a permutation.
    """
    x = as_array("transpose", a)
    if axes is None:
        return ops.transpose(x, range(x.ndim)[::-1])
    order = [a + x.ndim if a < 0 else a for a in map(operator.index, axes)]
    if len(order) != x.ndim:
        raise ShapeError(
            f"transpose of {x.aval.short()} with axes {tuple(axes)}",
            rule="axes must be a permutation of the axes of the array",
        )
    return ops.transpose(x, order)


def _transpose_method(a, *axes):
    """`transpose(axes)`, the axes given as a tuple or one by one; reversed if none."""
    if not axes or axes == (None,):
        return transpose(a)
    one = len(axes) == 1 and isinstance(axes[0], Sequence)
    return transpose(a, axes[0] if one else axes)


def matrix_transpose(x, /):
    """The last two axes of `x` swapped.

    Raises:
      ArgumentError: there are fewer than two.
    """
    x = as_array("matrix_transpose", x)
    if x.ndim < 2:
        raise ArgumentError(
            f"matrix_transpose of {x.aval.short()}",
            rule="it needs at least two axes",
        )
    return swapaxes(x, -1, -2)


def swapaxes(a, axis1: int, axis2: int):
    """Two axes of `a` swapped."""
    x = as_array("swapaxes", a)
    order = list(range(x.ndim))
    i, j = axis_of("swapaxes", axis1, x.ndim), axis_of("swapaxes", axis2, x.ndim)
    order[i], order[j] = j, i
    return ops.transpose(x, order)


def squeeze(a, axis=None):
    """`a` without axes of size 1: those given, or all.

    Raises:
      ShapeError: an axis has another size.
    """
    x = as_array("squeeze", a)
    if axis is None:
        axes = tuple(i for i, n in enumerate(x.shape) if n == 1)
    else:
        axes = axes_of("squeeze", axis, x.ndim)
    return ops.squeeze(x, axes)


def repeat(a, repeats, axis=None, *, total_repeat_length=None, out_sharding=None):
    """Each element along an axis several times, one after the other.

    Args:
      repeats: how often: an integer, or one for each element.
      axis: which axis (None: of the flattened array).
      total_repeat_length: the size of the result; needed where `repeats` is traced. The
        last element fills up, or the end is cut off.

    Raises:
      ConcretizationTypeError: `repeats` is traced and no length is given.
    """
    x = as_array("repeat", a)
    if axis is None:
        x, axis = ravel(x), 0
    axis = axis_of("repeat", axis, max(x.ndim, 1))
    x = x if x.ndim else ops.reshape(x, (1,))
    counts = repeats if isinstance(repeats, Tracer) else np.asarray(repeats)
    if (
        not isinstance(counts, Tracer)
        and counts.size == 1
        and (total_repeat_length is None)
    ):
        return _evenly(x, int(counts.reshape(())), axis)
    if total_repeat_length is None:
        fix = "give total_repeat_length=, or make the argument static"
        data = known_value("repeat: repeats", counts, fix)
        index = _repeated(data, x.shape[axis], None)
    elif isinstance(counts, Tracer):
        index = _repeated_traced(counts, x.shape[axis], int(total_repeat_length))
    else:
        index = _repeated(counts, x.shape[axis], total_repeat_length)
    return x[(slice(None),) * axis + (index,)]


def _evenly(x, n: int, axis: int):
    if n == 1:
        return x
    shape = list(x.shape)
    dims = [i if i <= axis else i + 1 for i in range(x.ndim)]
    wide = ops.broadcast_in_dim(x, (*shape[: axis + 1], n, *shape[axis + 1 :]), dims)
    shape[axis] *= n
    return ops.reshape(wide, shape)


def _repeated(counts: np.ndarray, size: int, length: int | None) -> np.ndarray:
    """For each element of the result, the position that it is read from."""
    if counts.size != size and counts.size != 1:
        raise ArgumentError(
            f"repeat: {counts.size} repeats for {size} elements",
            rule="there is one for each element, or one for all",
        )
    index = np.repeat(np.arange(size), np.broadcast_to(counts, (size,)))
    if length is None:
        return index
    fill = np.full(max(length - index.size, 0), max(size - 1, 0))
    return np.concatenate([index, fill])[:length]


def _repeated_traced(counts: Tracer, size: int, length: int):
    """As `_repeated`, for counts not known yet."""
    counts = ops.broadcast_in_dim(counts, (size,), () if not counts.ndim else (0,))
    return _count_below(_running_sum(counts), length, size)


def _running_sum(counts):
    n = counts.shape[0]
    lower = np.tril(np.ones((n, n), counts.dtype))
    rows = ops.broadcast_in_dim(counts, (n, n), (1,))
    return ops.reduce_sum(rows * lower, (1,))


def _count_below(ends, length: int, size: int):
    places = np.arange(length, dtype=np.int32)
    before = ends[None, :] <= places[:, None]
    found = ops.reduce_sum(before.astype(np.int32), (1,))
    return found.clip(0, size - 1)


def T(a):
    """`a` with its axes reversed."""
    return transpose(a)


METHODS = {
    "reshape": _reshape_method,
    "ravel": ravel,
    "flatten": flatten,
    "transpose": _transpose_method,
    "T": property(T, doc="The array with its axes reversed."),
    "mT": property(matrix_transpose, doc="The array with its last two axes swapped."),
    "swapaxes": swapaxes,
    "squeeze": squeeze,
    "repeat": repeat,
}
