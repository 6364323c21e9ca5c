"""Small tools of the rules of linear algebra: matrices are in the last two axes.

It knows no factorization. `emit_` functions are for lowering rules.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import DtypeError, ShapeError
from pullback.ops.complex import complex, conj, imag, real
from pullback.ops.contract import Precision, batch_matmul
from pullback.ops.elementwise import add, mul
from pullback.ops.iota import broadcasted_iota
from pullback.ops.logic import eq, ge, select_n
from pullback.ops.shape import broadcast_in_dim, full, moveaxis, reduce_sum
from pullback.ops.slicing import batched_front

INT32 = np.dtype(np.int32)
Core = tuple[tuple[int, ...], Any]  # the shape and dtype of a result for one matrix


def check_matrices(name: str, x: ShapedArray, *, square: bool = False) -> None:
    """Raise unless `x` holds (square) matrices of a type that LAPACK computes in."""
    if square and (x.ndim < 2 or x.shape[-1] != x.shape[-2]):
        raise ShapeError(
            f"{name} of {x.short()}",
            rule="the last two axes are equally long: square matrices [*batch, n, n]",
        )
    if x.ndim < 2:
        raise ShapeError(
            f"{name} of {x.short()}",
            rule="there are at least two axes: matrices [*batch, m, n]",
        )
    if not dtypes.is_inexact(x.dtype) or x.dtype.itemsize < 4:
        raise DtypeError(
            f"{name} of {x.short()}",
            rule="it is computed in float32, float64, complex64 or complex128",
            fix="convert with astype(...)",
        )


def is_complex(x) -> bool:
    """Whether an array is complex."""
    return dtypes.is_complex(aval_of(x).dtype)


def transposed(x):
    """The matrices, transposed."""
    ndim = aval_of(x).ndim
    return moveaxis(x, ndim - 1, ndim - 2)


def adjoint(x):
    """The matrices, transposed and conjugated."""
    return conj(transposed(x)) if is_complex(x) else transposed(x)


def product(x, *others):
    """Products of matrices with equal batch axes, from the left to the right."""
    for y in others:
        x = batch_matmul(x, y, Precision.HIGHEST)
    return x


def _counts(shape: Sequence[int]) -> tuple[Any, Any]:
    ndim = len(shape)
    rows = broadcasted_iota(INT32, shape, ndim - 2)
    return rows, broadcasted_iota(INT32, shape, ndim - 1)


def masked(x, mask):
    """`x` where `mask`, 0 elsewhere."""
    return select_n(mask, full(aval_of(x).strong(), 0), x)


def diagonal_mask(shape: Sequence[int]):
    """`bool[*shape]`: the places on the diagonal."""
    return eq(*_counts(shape))


def lower_triangle(x, k: int = 0):
    """What stands on and below diagonal `k`, 0 above it."""
    rows, columns = _counts(aval_of(x).shape)
    return masked(x, ge(add(rows, INT32.type(k)) if k else rows, columns))


def upper_triangle(x, k: int = 0):
    """What stands on and above diagonal `k`, 0 below it."""
    rows, columns = _counts(aval_of(x).shape)
    return masked(x, ge(columns, add(rows, INT32.type(k)) if k else rows))


def triangle(x, lower: bool, strict: bool = False):
    """One triangle with or without the diagonal, 0 elsewhere."""
    if lower:
        return lower_triangle(x, -1 if strict else 0)
    return upper_triangle(x, 1 if strict else 0)


def identity(like: ShapedArray, n: int):
    """`[*b, n, n]`: identity matrices for the batch axes and the dtype of `like`."""
    shape = (*like.shape[:-2], n, n)
    one = ShapedArray(shape, like.dtype)
    return select_n(diagonal_mask(shape), full(one, 0), full(one, 1))


def diagonal(x):
    """`[*b, n]`: the diagonals of square matrices."""
    aval = aval_of(x)
    return reduce_sum(masked(x, diagonal_mask(aval.shape)), (aval.ndim - 1,))


def along_columns(s, like):
    """`[*b, n]` repeated to `[*b, m, n]`: one number a column."""
    shape = aval_of(like).shape
    return broadcast_in_dim(s, shape, (*range(len(shape) - 2), len(shape) - 1))


def along_rows(s, like):
    """`[*b, m]` repeated to `[*b, m, n]`: one number a row."""
    shape = aval_of(like).shape
    return broadcast_in_dim(s, shape, range(len(shape) - 1))


def hermitian(x, lower: bool = True):
    """Hermitian matrices from one triangle, and the real part of the diagonal."""
    strict = triangle(x, lower, strict=True)
    middle = masked(x, diagonal_mask(aval_of(x).shape))
    return add(add(strict, adjoint(strict)), of_real_part(middle))


def of_real_part(x):
    """`x` with its imaginary part set to 0."""
    if not is_complex(x):
        return x
    part = real(x)
    return complex(part, full(aval_of(part).strong(), 0))


def of_imaginary_part(x):
    """Complex `x` with its real part set to 0."""
    part = imag(x)
    return complex(full(aval_of(part).strong(), 0), part)


def real_diagonal(x):
    """The real part of the diagonals of square matrices."""
    d = diagonal(x)
    return real(d) if is_complex(d) else d


def as_like(s, like):
    """Real numbers in the dtype of `like`."""
    if not is_complex(like):
        return s
    return complex(s, full(aval_of(s).strong(), 0))


def scaled(x, factors):
    """`x` times real numbers of its shape."""
    return mul(x, as_like(factors, x))


# ---- batching ----


def batch_rule(bind: Callable) -> Callable:
    """The rule of an operation on matrices: a batch axis becomes the first one."""

    def batch(n, xs, ds, **params):
        out = bind(*map(batched_front, xs, ds, [n] * len(xs)), **params)
        return out, [0] * len(out) if isinstance(out, list | tuple) else 0

    return batch


# ---- references ----


def by_matrix(function: Callable, x: np.ndarray, cores: Sequence[Core]) -> list[Any]:
    """Results of `function` for every matrix of `x`; NaN where it fails."""
    batch = x.shape[:-2]
    outs = [np.zeros((*batch, *shape), dtype) for shape, dtype in cores]
    for i in np.ndindex(*batch):
        try:
            results = function(x[i])
        except np.linalg.LinAlgError:
            results = [np.nan] * len(cores)
        for out, value in zip(outs, results, strict=True):
            out[i] = value
    return outs


# ---- lowering ----


def info_aval(x: ShapedArray) -> ShapedArray:
    """The type of LAPACK's reports, one a matrix."""
    return ShapedArray(x.shape[:-2], INT32)


def emit_filled(b, info, values, outs, failed: str = "NE"):
    """`values`, NaN for the matrices whose report compares so with 0."""
    batch = outs[0].shape[: len(info.type.shape)]
    zero = b.full(0, ShapedArray(batch, INT32))
    bad = b.compare(info, zero, failed)
    filled = []
    for value, out in zip(values, outs, strict=True):
        mask = ShapedArray(out.shape, dtypes.bool_)
        where = b.broadcast_in_dim(mask, bad, range(len(batch)))
        filled.append(b.select(where, b.full(np.nan, out), value))
    return filled


def emit_triangle(b, x, out: ShapedArray, direction: str):
    """`x` where its row compares so with its column, 0 elsewhere."""
    where = _emit_places(b, out, direction)
    return b.select(where, x, b.full(0, out))


def _emit_places(b, out: ShapedArray, direction: str):
    counts = ShapedArray(out.shape, INT32)
    rows, columns = b.iota(counts, out.ndim - 2), b.iota(counts, out.ndim - 1)
    return b.compare(rows, columns, direction)


def emit_identity(b, out: ShapedArray):
    """Identity matrices; for results that no element decides."""
    return b.select(_emit_places(b, out, "EQ"), b.full(1, out), b.full(0, out))


def emit_columns(b, x, aval: ShapedArray, n: int):
    """The first `n` columns, with columns of zeros where there are fewer."""
    zero = b.full(0, ShapedArray((), aval.dtype))
    none = [0] * aval.ndim
    return b.pad(x, zero, none, [*none[:-1], n - aval.shape[-1]], none)
