"""Functions of vectors applied along axes, and of choices by condition."""

from collections.abc import Callable, Sequence
from typing import Any

from pullback.api.arrays.axes import one_axis
from pullback.api.arrays.creation import asarray, zeros
from pullback.api.arrays.parts import where
from pullback.api.batch import vmap
from pullback.core.errors import ArgumentError
from pullback.ops.shape import expand_dims


def apply_along_axis(func1d: Callable, axis: int, arr, *args: Any, **kwargs: Any):
    """A function of vectors applied to all the vectors along an axis.

    Args:
      func1d: takes `t[n]` and `args`, returns an array `u[*r]`.
      axis: where the vectors lie in `arr`; the axes of the result take its place.
      arr: an array.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.apply_along_axis(pnp.sum, 0, pnp.ones((2, 3))).tolist()
      [2.0, 2.0, 2.0]
    """
    x = asarray(arr)
    axis = one_axis("apply_along_axis", axis, x.ndim)

    def function(line):
        return func1d(line, *args, **kwargs)

    for _ in range(x.ndim - axis - 1):
        function = vmap(function, 1, -1)
    for _ in range(axis):
        function = vmap(function)
    return function(x)


def apply_over_axes(func: Callable, a, axes: int | Sequence[int]):
    """`func(a, axis)` for one axis after the other, axes kept with size 1.

    Raises:
      ArgumentError: the function changes the number of axes by more than one.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.apply_over_axes(pnp.sum, pnp.ones((2, 3)), (0, 1)).tolist()
      [[6.0]]
    """
    x = asarray(a)
    for axis in (axes,) if isinstance(axes, int) else axes:
        axis = one_axis("apply_over_axes", axis, x.ndim)
        out = func(x, axis)
        if out.ndim == x.ndim - 1:
            out = expand_dims(out, (axis,))
        if out.ndim != x.ndim:
            raise ArgumentError(
                f"apply_over_axes: a result with {out.ndim} axes of {x.ndim}",
                rule="the function keeps the axis, or drops it",
            )
        x = out
    return x


def piecewise(x, condlist, funclist: Sequence[Any], *args: Any, **kwargs: Any):
    """For each element, the function or number of the last condition that holds.

    Args:
      x: `t[*s]`
      condlist: conditions `bool[*s]`.
      funclist: a function of `x` and `args`, or a number, for each condition; one
        more is for the elements that no condition holds for (none: 0).

    Raises:
      ArgumentError: other numbers of functions.

    Example:
      >>> import pullback.numpy as pnp
      >>> x = pnp.array([-1.0, 2.0])
      >>> pnp.piecewise(x, [x < 0, x >= 0], [0.0, lambda v: v * v]).tolist()
      [0.0, 4.0]
    """
    x = asarray(x)
    conditions = [asarray(c) for c in condlist]
    functions = list(funclist)
    extra = len(functions) - len(conditions)
    if extra not in (0, 1):
        raise ArgumentError(
            f"piecewise with {len(conditions)} conditions, {len(functions)} functions",
            rule="one function for each condition, and perhaps one more",
        )
    values = [f(x, *args, **kwargs) if callable(f) else f for f in functions]
    out = zeros(x.shape, x.dtype) + (values.pop() if extra else 0)
    for c, value in zip(conditions, values, strict=True):
        out = where(c, value, out)
    return out.astype(x.dtype)


def partition(a, kth: int, axis: int = -1):
    """Elements so that those before position `kth` are not above it: sorted.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.partition(pnp.array([3, 1, 2]), 1).tolist()
      [1, 2, 3]
    """
    x = asarray(a)
    one_axis("partition", kth, x.shape[one_axis("partition", axis, x.ndim)])
    return x.sort(axis)


def argpartition(a, kth: int, axis: int = -1):
    """Positions that put `a` in the order of `partition`."""
    x = asarray(a)
    one_axis("argpartition", kth, x.shape[one_axis("argpartition", axis, x.ndim)])
    return x.argsort(axis)
