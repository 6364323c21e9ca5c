"""Contraction family: sums of products over shared axes."""

from collections.abc import Callable
from enum import Enum
from math import prod
from typing import Any

import numpy as np

from pullback.core import config, dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Multilinear
from pullback.core.errors import ArgumentError, ShapeError
from pullback.core.primitive import Primitive
from pullback.ops.convert import convert
from pullback.ops.nary import quiet
from pullback.ops.promotion import promote_types
from pullback.ops.shape import transpose

Axes = tuple[int, ...]
DimensionNumbers = tuple[tuple[Axes, Axes], tuple[Axes, Axes]]


class Precision(Enum):
    """How exact a product of float32 must be; CPU computes all of them exactly."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    def __repr__(self) -> str:
        return self.name


_PRECISIONS: dict[Any, Precision] = {
    "default": Precision.DEFAULT,
    "fastest": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT,
    "high": Precision.HIGH,
    "tensorfloat32": Precision.HIGH,
    "bfloat16_3x": Precision.HIGH,
    "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST,
}
_PRECISIONS |= {p: p for p in Precision}
MATRIX_PRODUCT: DimensionNumbers = (((1,), (0,)), ((), ()))


def dot_general(
    x,
    y,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    *,
    out_sharding=None,
):
    """Sum of products over contracting axes, for each index of the batch axes.

    Args:
      x: `[...]`, with the contracting and batch axes named below.
      y: `[...]`; sizes of contracting and of batch axes agree pairwise.
      dimension_numbers: `((contracting of x, of y), (batch of x, of y))`.
      precision: "default", "high", "highest" or a `Precision`; or a pair of them.
      preferred_element_type: the dtype to accumulate in and to return.

    Returns:
      `[*batch, *other axes of x, *other axes of y]`.

    Raises:
      ShapeError: axes repeat, are out of range, or their sizes differ.
      ArgumentError: an unknown precision.

    Example:
      >>> from pullback import lax, numpy as pnp
      >>> x, y = pnp.ones((2, 3)), pnp.ones((3, 4))
      >>> lax.dot_general(x, y, (((1,), (0,)), ((), ()))).shape
      (2, 4)

    Source: StableHLO `dot_general`.
    """
    del out_sharding
    (xc, yc), (xb, yb) = dimension_numbers
    numbers = ((tuple(xc), tuple(yc)), (tuple(xb), tuple(yb)))
    dtype = preferred_element_type
    if dtype is not None:
        dtype = dtypes.named(dtype, "dot_general: preferred_element_type")
    return bind_dot(x, y, numbers, precision, dtype)


def dot(x, y, *, precision=None, preferred_element_type=None, dimension_numbers=None):
    """Product of vectors and matrices: the last axis of `x` with the first of `y`.

    Raises:
      ShapeError: a rank other than 1 or 2, or sizes that differ.

    Source: StableHLO `dot_general`.
    """
    if dimension_numbers is None:
        a, b = aval_of(x), aval_of(y)
        if not (1 <= a.ndim <= 2 and 1 <= b.ndim <= 2 and a.shape[-1] == b.shape[0]):
            raise ShapeError(
                f"lax.dot of {a.short()} and {b.short()}",
                rule="operands are vectors or matrices, and the last axis of the first "
                "is as long as the first axis of the second",
                fix="use pullback.numpy.matmul for more axes, or dot_general",
            )
        dimension_numbers = (((a.ndim - 1,), (0,)), ((), ()))
    return dot_general(x, y, dimension_numbers, precision, preferred_element_type)


def batch_matmul(x, y, precision=None):
    """Products of matrices `[*b, m, k]` and `[*b, k, n]`."""
    ndim = aval_of(x).ndim
    batch = tuple(range(ndim - 2))
    return bind_dot(x, y, (((ndim - 1,), (ndim - 2,)), (batch, batch)), precision, None)


def bind_dot(x, y, numbers: DimensionNumbers, precision, dtype):
    """`dot_general` of canonical arguments."""
    if precision is None:
        precision = config.current().default_matmul_precision
    return dot_general_p.bind(
        x,
        y,
        dimension_numbers=numbers,
        precision=None if precision is None else canonical_precision(precision),
        preferred_element_type=dtype,
    )


def canonical_precision(precision: Any) -> tuple[Precision, Precision] | None:
    """A pair of precisions, one an operand; None stands for the default.

    Raises:
      ArgumentError: not a precision.
    """
    pair = precision if isinstance(precision, tuple | list) else (precision,) * 2
    if len(pair) != 2 or any(p is not None and p not in _PRECISIONS for p in pair):
        names = sorted(p for p in _PRECISIONS if isinstance(p, str))
        raise ArgumentError(
            f"precision={precision!r}",
            rule=f"a precision is a lax.Precision, one of {names}, or a pair of them",
        )
    x, y = (Precision.DEFAULT if p is None else _PRECISIONS[p] for p in pair)
    return x, y


# ---- rules ----


def free_axes(ndim: int, contracting: Axes, batch: Axes) -> Axes:
    """The axes that are neither contracted nor batch axes."""
    return tuple(i for i in range(ndim) if i not in contracting and i not in batch)


def _fits(x: ShapedArray, y: ShapedArray, xs: Axes, ys: Axes) -> bool:
    return (
        len(xs) == len(ys)
        and len(set(xs)) == len(xs)
        and len(set(ys)) == len(ys)
        and all(0 <= i < x.ndim for i in xs)
        and all(0 <= i < y.ndim for i in ys)
        and all(x.shape[i] == y.shape[j] for i, j in zip(xs, ys, strict=True))
    )


def _abstract(x, y, *, dimension_numbers, precision, preferred_element_type):
    if dimension_numbers == MATRIX_PRODUCT and x.ndim == 2 == y.ndim:
        (m, k), (n, p) = x.shape, y.shape  # the hottest case, without the general one
        if k == n:
            dtype = preferred_element_type or _joint(x.dtype, y.dtype)
            return ShapedArray((m, p), dtype, x.weak_type and y.weak_type)
    (xc, yc), (xb, yb) = dimension_numbers
    if not _fits(x, y, (*xc, *xb), (*yc, *yb)):
        raise ShapeError(
            f"dot_general of {x.short()} and {y.short()} with contracting axes "
            f"{(xc, yc)} and batch axes {(xb, yb)}",
            rule="axes are distinct, in range, and their sizes agree pairwise",
        )
    shape = (
        *(x.shape[i] for i in xb),
        *(x.shape[i] for i in free_axes(x.ndim, xc, xb)),
        *(y.shape[i] for i in free_axes(y.ndim, yc, yb)),
    )
    dtype = preferred_element_type or _joint(x.dtype, y.dtype)
    return ShapedArray(shape, dtype, x.weak_type and y.weak_type)


def _joint(x, y):
    return x if x == y else promote_types(x, y)


def _wide(dtype):
    """The type that NumPy multiplies matrices in."""
    if dtypes.is_integer(dtype):
        return np.dtype(np.int64)
    if dtypes.is_float(dtype) and dtype.itemsize < 4:
        return np.dtype(np.float32)
    return dtype


def _as_matrices(x, contracting: Axes, batch: Axes, *, last: bool):
    """`x` as `[batch, free, contracted]`, or with the contracted axis in the middle."""
    free = free_axes(x.ndim, contracting, batch)
    order = (*batch, *free, *contracting) if last else (*batch, *contracting, *free)
    count = prod(x.shape[i] for i in batch)
    k = prod(x.shape[i] for i in contracting)
    m = prod(x.shape[i] for i in free)
    return np.transpose(x, order).reshape(count, *((m, k) if last else (k, m)))


def _reference(x, y, *, dimension_numbers, precision, preferred_element_type):
    (xc, yc), (xb, yb) = dimension_numbers
    dtype = preferred_element_type or _joint(x.dtype, y.dtype)
    wide = _wide(_joint(_joint(x.dtype, y.dtype), dtype))
    shape = (
        *(x.shape[i] for i in xb),
        *(x.shape[i] for i in free_axes(x.ndim, xc, xb)),
        *(y.shape[i] for i in free_axes(y.ndim, yc, yb)),
    )
    product = np.matmul(
        _as_matrices(x.astype(wide), xc, xb, last=True),
        _as_matrices(y.astype(wide), yc, yb, last=False),
    )
    return product.reshape(shape).astype(dtype)


def _lower(b, out, x, y, *, dimension_numbers, precision, preferred_element_type):
    ax, ay = b.avals_in
    if ax.dtype != ay.dtype:
        joint = promote_types(ax.dtype, ay.dtype)
        x = b.convert(ax.update(dtype=joint), x)
        y = b.convert(ay.update(dtype=joint), y)
    names = None if precision is None else [p.name for p in precision]
    contracting, batch = dimension_numbers
    return b.dot_general(out, x, y, contracting, batch, names)


def _transpose_rule(i: int) -> Callable:
    """The rule of operand `i`: the cotangent contracted with the other operand."""

    def rule(ct, *operands, dimension_numbers, precision, preferred_element_type):
        contracting, batch = dimension_numbers
        aval, other = aval_of(operands[i]), operands[1 - i]
        free = free_axes(aval.ndim, contracting[i], batch[i])
        summed = free_axes(aval_of(other).ndim, contracting[1 - i], batch[1 - i])
        n = len(batch[i])
        start = n if i else n + len(free)
        ct_summed = tuple(range(start, start + len(summed)))
        numbers = ((ct_summed, summed), (tuple(range(n)), batch[1 - i]))
        if i and precision:
            precision = precision[::-1]
        product = bind_dot(ct, other, numbers, precision, preferred_element_type)
        # its axes: batch, free, contracted in the order that the other operand has them
        pairs = sorted(zip(contracting[1 - i], contracting[i], strict=True))
        now = (*batch[i], *free, *(axis for _, axis in pairs))
        order = sorted(range(len(now)), key=now.__getitem__)
        return convert(transpose(product, order), aval.dtype, aval.weak_type)

    return rule


def _past(d: int, axes: Axes) -> Axes:
    return tuple(i if i < d else i + 1 for i in axes)


def _batch(n, xs, ds, *, dimension_numbers, precision, preferred_element_type):
    (xc, yc), (xb, yb) = dimension_numbers
    dx, dy = ds
    x_ndim = aval_of(xs[0]).ndim - (dx is not None)
    if dx is not None:
        xc, xb = _past(dx, xc), _past(dx, xb)
    if dy is not None:
        yc, yb = _past(dy, yc), _past(dy, yb)
    if dx is not None and dy is not None:
        xb, yb, d = (dx, *xb), (dy, *yb), 0
    elif dx is not None:  # one more free axis of x
        d = len(xb) + free_axes(x_ndim + 1, xc, xb).index(dx)
    else:
        y_free = free_axes(aval_of(xs[1]).ndim, yc, yb)
        d = x_ndim - len(xc) + y_free.index(dy)
    x, y = xs
    numbers = ((xc, yc), (xb, yb))
    return bind_dot(x, y, numbers, precision, preferred_element_type), d


dot_general_p = Primitive(
    "dot_general",
    abstract=_abstract,
    reference=quiet(_reference),
    lower=_lower,
    derivative=Multilinear((_transpose_rule(0), _transpose_rule(1))),
    batch=_batch,
)
