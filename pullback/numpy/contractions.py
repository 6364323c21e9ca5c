"""Products of arrays other than `x @ y` and `dot`: over named, last or paired axes."""

import operator
from typing import Any

from pullback.api.arrays.axes import AxisError, one_axis
from pullback.api.arrays.contractions import contract, mismatch, typed_dot
from pullback.api.arrays.ufuncs import multiply
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ShapeError
from pullback.ops.complex import conj
from pullback.ops.elementwise import mul, neg, sub
from pullback.ops.joining import concatenate
from pullback.ops.promote import as_operand, broadcast_to, operands, promote_dtypes
from pullback.ops.shape import expand_dims, moveaxis, reshape
from pullback.ops.slicing import index_in_dim


def vdot(a, b, *, precision=None, preferred_element_type=None):
    """Sum of products of all elements of `a`, conjugated, with those of `b`.

    Raises:
      ShapeError: they differ in the number of elements.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.vdot(pnp.arange(3), pnp.arange(3)).item()
      5
    """
    a, b = (as_operand("vdot", x) for x in (a, b))
    flat = [reshape(x, (aval_of(x).size,)) for x in (a, b)]
    first, second = map(aval_of, flat)
    if first.size != second.size:
        raise mismatch("vdot(x, y)", first, second)
    numbers = (((0,), (0,)), ((), ()))
    x = _conjugate(flat[0])
    return typed_dot(x, flat[1], numbers, precision, preferred_element_type)


def _conjugate(x):
    return conj(x) if dtypes.is_complex(aval_of(x).dtype) else x


def vecdot(x1, x2, /, *, axis: int = -1, precision=None, preferred_element_type=None):
    """Sum over `axis` of products of `x1`, conjugated, with `x2`; others broadcast."""
    x, y = (as_operand("vecdot", v) for v in (x1, x2))
    moved = []
    for v in (x, y):
        ndim = aval_of(v).ndim
        moved.append(moveaxis(v, one_axis("vecdot", axis, ndim), ndim - 1))
    x, y = operands("vecdot", *moved)
    labels = range(aval_of(x).ndim)
    options = (precision, preferred_element_type)
    return contract(_conjugate(x), labels, y, labels, labels[:-1], *options)


def inner(a, b, *, precision=None, preferred_element_type=None):
    """Sum over the last axes of both; every pair of the other axes.

    Raises:
      ShapeError: the last axes differ in size.
    """
    a, b = (as_operand("inner", x) for x in (a, b))
    x, y = aval_of(a), aval_of(b)
    last = ((), ())
    if x.ndim and y.ndim:
        last = ((x.ndim - 1,), (y.ndim - 1,))
    if x.ndim and y.ndim and x.shape[-1] != y.shape[-1]:
        raise ShapeError(
            f"inner: x is {x.short()}, y is {y.short()}",
            rule=f"the last axes ({x.shape[-1]} and {y.shape[-1]}) have the same size",
            fix="use matmul to contract the second-last axis of y",
        )
    numbers = (last, ((), ()))
    return typed_dot(a, b, numbers, precision, preferred_element_type)


def outer(a, b, out=None):
    """Every element of `a` times every one of `b`: `[size of a, size of b]`."""
    del out
    x, y = promote_dtypes(as_operand("outer", a), as_operand("outer", b))
    m, n = aval_of(x).size, aval_of(y).size
    columns = broadcast_to(reshape(x, (m, 1)), (m, n))
    return multiply(columns, broadcast_to(reshape(y, (1, n)), (m, n)))


def tensordot(a, b, axes: Any = 2, *, precision=None, preferred_element_type=None):
    """Sum of products over paired axes.

    Args:
      a, b: any number type.
      axes: how many of the last axes of `a` and first ones of `b`; or two lists.

    Returns:
      The other axes of `a`, then those of `b`.

    Raises:
      ShapeError: paired axes differ in size or number; too many axes.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.tensordot(pnp.ones((2, 3, 4)), pnp.ones((3, 4, 5))).shape
      (2, 5)
    """
    a, b = (as_operand("tensordot", x) for x in (a, b))
    x, y = aval_of(a), aval_of(b)
    xc, yc = _paired(axes, x.ndim, y.ndim)
    sizes = [(x.shape[i], y.shape[j]) for i, j in zip(xc, yc, strict=True)]
    if any(m != n for m, n in sizes):
        raise ShapeError(
            f"tensordot of {x.short()} and {y.short()} over axes {xc} and {yc}",
            rule=f"paired axes have the same size; theirs are {sizes}",
            fix="name other axes: axes=([axes of a], [axes of b])",
        )
    numbers = ((xc, yc), ((), ()))
    return typed_dot(a, b, numbers, precision, preferred_element_type)


def _paired(axes, x_ndim: int, y_ndim: int):
    if not isinstance(axes, tuple | list):
        count = operator.index(axes)
        if count > min(x_ndim, y_ndim):
            raise ShapeError(
                f"tensordot over {count} axes of arrays of {x_ndim} and {y_ndim}",
                rule="there are that many axes in both",
            )
        return tuple(range(x_ndim - count, x_ndim)), tuple(range(count))
    first, second = axes
    xs = first if isinstance(first, tuple | list) else (first,)
    ys = second if isinstance(second, tuple | list) else (second,)
    if len(xs) != len(ys):
        raise ShapeError(
            f"tensordot over axes {axes}", rule="the two lists have the same length"
        )
    xc = tuple(one_axis("tensordot", i, x_ndim) for i in xs)
    yc = tuple(one_axis("tensordot", i, y_ndim) for i in ys)
    return xc, yc


def kron(a, b):
    """Kronecker product: every element of `a` times the whole of `b`, in blocks."""
    x, y = promote_dtypes(as_operand("kron", a), as_operand("kron", b))
    ndim = max(aval_of(x).ndim, aval_of(y).ndim)
    rows, columns = _ranked(x, ndim), _ranked(y, ndim)
    x_shape, y_shape, both, merged = [], [], [], []
    for m, n in zip(rows, columns, strict=True):
        x_shape.append(m)
        x_shape.append(1)
        y_shape.append(1)
        y_shape.append(n)
        both += [m, n]
        merged.append(m * n)
    x = broadcast_to(reshape(x, x_shape), tuple(both))
    y = broadcast_to(reshape(y, y_shape), tuple(both))
    return reshape(multiply(x, y), merged)


def _ranked(x, ndim: int) -> tuple[int, ...]:
    shape = aval_of(x).shape
    return (1,) * (ndim - len(shape)) + shape


def cross(
    a, b, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
):
    """Cross product of vectors of 3 (or 2) components along an axis.

    Args:
      a: `[*b, 3]` or `[*b, 2]`, the components along `axisa`.
      b: as `a`, along `axisb`; leading axes broadcast.
      axisc: where the components of the result go.
      axis: sets all three.

    Returns:
      `[*b, 3]`; for two vectors of 2 components the third component alone, `[*b]`.

    Raises:
      ShapeError: other numbers of components.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _components("cross", a, axisa), _components("cross", b, axisb)
    flat = len(x) == 2 == len(y)
    if not {len(x), len(y)} <= {2, 3}:
        raise ShapeError(
            f"cross of vectors with {len(x)} and {len(y)} components",
            rule="both input arrays must be (arrays of) 3-dimensional vectors",
            fix="give the axis with the components: axis=...",
        )
    x, y = _padded(x), _padded(y)
    pairs = [(0, 1)] if flat else [(1, 2), (2, 0), (0, 1)]
    parts = [_determinant(x, y, i, j) for i, j in pairs]
    if flat:
        return parts[0]
    ndim = aval_of(parts[0]).ndim
    stacked = concatenate([expand_dims(p, (ndim,)) for p in parts], ndim)
    return moveaxis(stacked, ndim, one_axis("cross", axisc, ndim + 1))


def _components(name: str, x, axis: int) -> list[Any]:
    x = as_operand(name, x)
    aval = aval_of(x)
    if not aval.ndim:
        raise AxisError(f"{name} of a scalar", rule="the operands are vectors")
    axis = one_axis(name, axis, aval.ndim)
    return [index_in_dim(x, i, axis, False) for i in range(aval.shape[axis])]


def _padded(parts: list[Any]) -> list[Any]:
    """Three components; None for a third that is zero."""
    return parts if len(parts) == 3 else [*parts, None]


def _determinant(x, y, i: int, j: int):
    """`x[i] * y[j] - x[j] * y[i]`, without the products that are zero."""
    first, second = _times(x[i], y[j]), _times(x[j], y[i])
    if first is None:
        return None if second is None else neg(second)
    return first if second is None else sub(*operands("cross", first, second))


def _times(x, y):
    if x is None or y is None:
        return None
    x, y = operands("cross", x, y)
    return mul(x, y)
