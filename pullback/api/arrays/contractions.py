"""Products that are operators or methods of arrays: `x @ y` and `x.dot(y)`.

Every product of two arrays is a sum over labelled axes, `contract`, which becomes one
`dot_general` and, where the order differs, one `transpose`.
"""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from pullback.api.arrays.axes import axes_of, masked, no_out
from pullback.api.arrays.reductions import sum
from pullback.core import config, dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import ShapeError
from pullback.ops.contract import MATRIX_PRODUCT, bind_dot, dot_general_p
from pullback.ops.convert import convert
from pullback.ops.elementwise import add
from pullback.ops.iota import broadcasted_iota
from pullback.ops.logic import eq
from pullback.ops.promote import as_operand, promote_dtypes
from pullback.ops.shape import reduce_sum, squeeze, transpose

Labels = Sequence[Any]


def matmul(
    x, y, /, *, precision=None, preferred_element_type=None, out_sharding=None
) -> Any:
    """`x @ y`: products of matrices, or of a matrix with a vector.

    Args:
      x: `[*b, m, k]`, or `[k]`.
      y: `[*b, k, n]`, or `[k]`; the leading axes `b` broadcast.
      precision: "default", "high", "highest", or a pair, one an operand.
      preferred_element_type: the dtype to accumulate in and to return.

    Returns:
      `[*b, m, n]`, without the axes that a vector lacks.

    Raises:
      ShapeError: a scalar operand; sizes of `k` differ; leading axes do not broadcast.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.matmul(pnp.ones((2, 3)), pnp.ones((3, 4))).shape
      (2, 4)

    Source: StableHLO `dot_general`.
    """
    if precision is None and preferred_element_type is None:
        try:
            a, b = x.aval, y.aval
        except AttributeError:
            pass
        else:
            if a.ndim == 2 == b.ndim and a.dtype == b.dtype:
                if a.shape[1] != b.shape[0]:
                    raise mismatch("x @ y", a, b)
                if config.current().default_matmul_precision is None:
                    return dot_general_p.bind(
                        x,
                        y,
                        dimension_numbers=MATRIX_PRODUCT,
                        precision=None,
                        preferred_element_type=a.dtype,
                    )
    return _matmul(x, y, precision, preferred_element_type)


def _matmul(x, y, precision, dtype):
    x, y = as_operand("matmul", x), as_operand("matmul", y)
    a, b = aval_of(x), aval_of(y)
    if not a.ndim or not b.ndim:
        raise ShapeError(
            f"x @ y: x is {a.short()}, y is {b.short()}",
            rule="operands of matmul have at least one axis",
            fix="write x * y to multiply by a scalar",
        )
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise mismatch("x @ y", a, b)
    batch = list(range(max(a.ndim, b.ndim) - 2))  # a label is its place in the result
    xl = [*batch[len(batch) - a.ndim + 2 :], "m"] if a.ndim > 1 else []
    yl = batch[len(batch) - b.ndim + 2 :] if b.ndim > 1 else []
    x, x_batch = _without_ones(x, xl, b.shape[:-2], yl)
    y, y_batch = _without_ones(y, yl, a.shape[:-2], xl[:-1])
    _check_batch(a, b)
    tail = ["n"] if b.ndim > 1 else []
    out = [*batch, *(["m"] if a.ndim > 1 else []), *tail]
    return contract(
        x, [*x_batch, "k"], y, [*y_batch, "k", *tail], out, precision, dtype
    )


def _without_ones(x, labels, other_shape, other_labels):
    """Drop axes of size 1 that broadcast against a longer axis of the other operand."""
    other = dict(zip(other_labels, other_shape, strict=True))
    shape = aval_of(x).shape
    drop = [
        i
        for i, label in enumerate(labels)
        if shape[i] == 1 and label != "m" and other.get(label, 1) != 1
    ]
    kept = [label for i, label in enumerate(labels) if i not in drop]
    return squeeze(x, drop), kept


def _check_batch(a: ShapedArray, b: ShapedArray) -> None:
    pairs = zip(a.shape[-3::-1], b.shape[-3::-1], strict=False)
    if a.ndim > 2 and b.ndim > 2 and any(m != n and 1 not in (m, n) for m, n in pairs):
        raise ShapeError(
            f"x @ y: x is {a.short()}, y is {b.short()}",
            rule="axes before the last two broadcast: sizes are equal, or one is 1",
            fix="insert an axis with x[:, None], or reorder axes with moveaxis",
        )


def mismatch(call: str, a: ShapedArray, b: ShapedArray) -> ShapeError:
    """The error for a product whose contracted axes differ in size."""
    which = "second-last" if b.ndim > 1 else "only"
    size = b.shape[-2] if b.ndim > 1 else b.shape[0]
    return ShapeError(
        f"{call}: x is {a.short()}, y is {b.short()}",
        rule=f"the last axis of x ({a.shape[-1]}) and the {which} axis of y ({size}) "
        "must have the same size",
        fix=_remedy(a, b),
    )


def _remedy(a: ShapedArray, b: ShapedArray) -> str:
    if b.ndim == 2 and a.shape[-1] == b.shape[-1]:
        return "transpose the second operand: x @ y.T"
    if a.ndim == 2 and b.ndim <= 2 and a.shape[0] == b.shape[0]:
        return "transpose the first operand: x.T @ y"
    if a.ndim == 2 == b.ndim and b.shape[1] == a.shape[0]:
        return "swap the operands: y @ x"
    return "check the shapes, or name the axes with pullback.numpy.einsum"


def dot(a, b, *, precision=None, preferred_element_type=None, out_sharding=None):
    """Sum over the last axis of `a` and the second-last (or only) axis of `b`.

    Args:
      a: `[*p, k]`, or a scalar.
      b: `[*q, k, n]`, `[k]`, or a scalar.

    Returns:
      `[*p, *q, n]`; every pair of leading axes. With a scalar: the plain product.

    Raises:
      ShapeError: sizes of `k` differ.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.dot(pnp.arange(3), pnp.arange(3)).item()
      5
    """
    del out_sharding
    x, y = as_operand("dot", a), as_operand("dot", b)
    a, b = aval_of(x), aval_of(y)
    if not a.ndim or not b.ndim:
        xc = yc = ()
    else:
        xc, yc = (a.ndim - 1,), (max(b.ndim - 2, 0),)
        if a.shape[-1] != b.shape[yc[0]]:
            raise mismatch("dot(x, y)", a, b)
    numbers = ((xc, yc), ((), ()))
    return typed_dot(x, y, numbers, precision, preferred_element_type)


def typed_dot(x, y, numbers, precision=None, dtype=None):
    """`dot_general` with operands of any dtypes, in NumPy's promotion."""
    x, y = promote_dtypes(x, y)
    own = aval_of(x).dtype
    dtype = own if dtype is None else dtypes.named(dtype, "preferred_element_type")
    return bind_dot(x, y, numbers, precision, dtype)


def contract(
    x, xl: Labels, y, yl: Labels, out: Labels, precision=None, dtype=None
) -> Any:
    """Sum over the labels that are not in `out`, for each index of the others.

    Labels of one operand are distinct. A label in both operands has one size.
    """
    x, xl = _summed(x, xl, [*yl, *out])
    y, yl = _summed(y, yl, [*xl, *out])
    shared = [label for label in xl if label in yl]
    batch = [label for label in shared if label in out]
    summed = [label for label in shared if label not in out]
    numbers = (
        (tuple(map(xl.index, summed)), tuple(map(yl.index, summed))),
        (tuple(map(xl.index, batch)), tuple(map(yl.index, batch))),
    )
    product = typed_dot(x, y, numbers, precision, dtype)
    x_free = [label for label in xl if label not in shared]
    now = [*batch, *x_free, *(label for label in yl if label not in shared)]
    return transpose(product, [now.index(label) for label in out])


def _summed(x, labels: Labels, kept: Labels) -> tuple[Any, list[Any]]:
    """Sum over the axes whose label nobody else has."""
    lone = [i for i, label in enumerate(labels) if label not in kept]
    left = [label for label in labels if label in kept]
    return (sum_axes(x, lone) if lone else x), left


def sum_axes(x, axes: Sequence[int]):
    """`reduce_sum` of any dtype: booleans count as integers."""
    if dtypes.is_bool(aval_of(x).dtype):
        x = convert(x, dtypes.default_int())
    return reduce_sum(x, axes)


def on_diagonal(shape: Sequence[int], axis1: int, axis2: int, offset: int = 0) -> Any:
    """`bool[*shape]`: the places on a diagonal of two axes."""
    rows = broadcasted_iota(np.int32, shape, axis1)
    columns = broadcasted_iota(np.int32, shape, axis2)
    return eq(add(rows, np.int32(offset)) if offset else rows, columns)


def trace(
    a, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype=None, out=None
) -> Any:
    """Sum of the diagonal of two axes.

    Args:
      a: `[*b, m, n]` with the two axes anywhere.
      offset: how far to the right of the main diagonal.
      axis1, axis2: rows and columns.
      dtype: the dtype of the result.

    Returns:
      `[*b]`

    Raises:
      AxisError: there are no such axes.
      ArgumentError: they are one.
    """
    no_out("trace", out)
    x = as_operand("trace", a)
    aval = aval_of(x)
    axes = axes_of("trace", (axis1, axis2), aval.ndim)
    rows, columns = axes
    mask = on_diagonal(aval.shape, rows, columns, operator.index(offset))
    return sum(masked(x, mask, 0), axes, dtype)


METHODS = {"dot": dot, "trace": trace}
