"""Linear algebra: norms, powers and products; the rest is taken from the modules of
factorizations and of solutions.
"""

import operator
from typing import Any

import numpy as np

from pullback.api.arrays.axes import Axis, axes_of, kept, one_axis
from pullback.api.arrays.contractions import matmul as matmul, trace as _trace
from pullback.api.arrays.reductions import max, min, sum
from pullback.api.arrays.taking import diagonal as _diagonal
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ShapeError
from pullback.numpy.contractions import (
    cross as _cross,
    outer as _outer,
    tensordot as tensordot,
    vecdot as vecdot,
)
from pullback.numpy.linalg_factors import (
    EighResult as EighResult,
    EigResult as EigResult,
    QRResult as QRResult,
    SVDResult as SVDResult,
    cholesky as cholesky,
    eig as eig,
    eigh as eigh,
    eigvals as eigvals,
    eigvalsh as eigvalsh,
    matrices,
    matrix_rank as matrix_rank,
    qr as qr,
    svd as svd,
    svdvals as svdvals,
)
from pullback.numpy.linalg_solving import (
    SlogdetResult as SlogdetResult,
    det as det,
    inv as inv,
    lstsq as lstsq,
    pinv as pinv,
    slogdet as slogdet,
    solve as solve,
    tensorinv as tensorinv,
    tensorsolve as tensorsolve,
)
from pullback.ops.complex import abs, imag, real
from pullback.ops.convert import convert
from pullback.ops.elementwise import add, div, mul
from pullback.ops.iota import broadcasted_iota
from pullback.ops.logic import eq, ne
from pullback.ops.powers import integer_pow, pow, sqrt
from pullback.ops.promote import as_operand, promote_inexact
from pullback.ops.shape import (
    broadcast_to_axis,
    expand_dims,
    moveaxis,
    reshape,
    transpose,
)
from pullback.ops.slicing import index_in_dim


def _inexact(name: str, x):
    (x,) = promote_inexact(as_operand(name, x))
    aval = aval_of(x)
    return convert(x, aval.dtype)


def _square_norm(x):
    """`|x|**2`, elementwise and real."""
    if not dtypes.is_complex(aval_of(x).dtype):
        return mul(x, x)
    return add(mul(real(x), real(x)), mul(imag(x), imag(x)))


def _vector(x, order: Any, axes: tuple[int, ...], keepdims: bool):
    match order:
        case None | 2:
            return sqrt(sum(_square_norm(x), axes, keepdims=keepdims))
        case 0:
            zero = np.zeros((), aval_of(x).dtype)
            count = convert(ne(x, zero), dtypes.to_real(aval_of(x).dtype))
            return sum(count, axes, keepdims=keepdims)
        case 1:
            return sum(abs(x), axes, keepdims=keepdims)
        case float() if order == np.inf:
            return max(abs(x), axes, keepdims=keepdims, initial=0)
        case float() if order == -np.inf:
            return min(abs(x), axes, keepdims=keepdims, initial=np.inf)
        case int():
            total = sum(integer_pow(abs(x), order), axes, keepdims=keepdims)
            return pow(total, np.asarray(1 / order, aval_of(total).dtype))
        case float():
            exponent = np.asarray(order, dtypes.to_real(aval_of(x).dtype))
            total = sum(pow(abs(x), exponent), axes, keepdims=keepdims)
            return pow(total, np.asarray(1 / order, aval_of(total).dtype))
    raise ArgumentError(
        f"norm of a vector with ord={order!r}",
        rule="the order is a number, inf, -inf or None",
    )


def _matrix(x, order: Any, axes: tuple[int, ...], keepdims: bool):
    rows, columns = axes
    if order in (None, "fro", "f"):
        return sqrt(sum(_square_norm(x), axes, keepdims=keepdims))
    if order in (1, -1, np.inf, -np.inf):
        first, then = (rows, columns) if order in (1, -1) else (columns, rows)
        pick = max if order > 0 else min
        sums = sum(abs(x), first, keepdims=True)
        out = pick(sums, then, keepdims=True)
        return out if keepdims else sum(out, axes)
    if order in ("nuc", 2, -2):
        ndim = aval_of(x).ndim
        others = [i for i in range(ndim) if i not in axes]
        s = svdvals(transpose(x, [*others, *axes]))
        out = {"nuc": sum, 2: max, -2: min}[order](s, -1)
        return expand_dims(out, axes) if keepdims else out
    raise ArgumentError(
        f"norm of a matrix with ord={order!r}",
        rule="the order is 'fro', 'nuc', 1, -1, 2, -2, inf, -inf or None",
    )


def norm(x, ord: Any = None, axis: Axis = None, keepdims: bool = False):
    """Norm of vectors or of matrices.

    Args:
      x: any number type.
      ord: for vectors a number `p`, inf or -inf; for matrices "fro", "nuc", 1, -1, 2,
        -2, inf, -inf. None: the root of the sum of squares.
      axis: one axis for vectors, two for matrices; None takes all of `x`, and with an
        `ord` the rank of `x` says which.
      keepdims: keep the axes with size 1.

    Returns:
      Real floating numbers. The derivative of the 2-norm at zero is NaN, as in JAX.

    Raises:
      ArgumentError: an unknown order, or a rank that does not fit it.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.linalg.norm(pnp.array([3.0, 4.0])).item()
      5.0
    """
    x = _inexact("norm", x)
    ndim = aval_of(x).ndim
    axes = axes_of("norm", axis, ndim)
    if axis is None and ord is None:
        return sqrt(sum(_square_norm(x), keepdims=keepdims))
    if len(axes) == 1:
        return _vector(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix(x, ord, axes, keepdims)
    raise ArgumentError(
        f"norm of {aval_of(x).short()} over axes {axes}",
        rule="a norm is over one axis (vectors) or two (matrices)",
        fix="give axis=, or flatten with ravel()",
    )


def vector_norm(x, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2):
    """Norm of vectors over one or several axes, all for None; orders as for `norm`."""
    x = _inexact("vector_norm", x)
    aval = aval_of(x)
    axes = axes_of("vector_norm", axis, aval.ndim)
    return kept(_vector(x, ord, axes, False), aval.shape, axes, keepdims)


def matrix_norm(x, /, *, keepdims: bool = False, ord: Any = "fro"):
    """Norm of the matrices in the last two axes; orders as for `norm`."""
    x = _inexact("matrix_norm", x)
    axes = axes_of("matrix_norm", (-2, -1), aval_of(x).ndim)
    return _matrix(x, ord, axes, keepdims)


def outer(x1, x2, /):
    """Every element of vector `x1` times every one of `x2`.

    Raises:
      ShapeError: operands that are not vectors.
    """
    avals = [aval_of(as_operand("outer", x)) for x in (x1, x2)]
    if any(a.ndim != 1 for a in avals):
        raise ShapeError(
            f"linalg.outer of {avals[0].short()} and {avals[1].short()}",
            rule="operands are vectors",
            fix="use pullback.numpy.outer, which flattens them",
        )
    return _outer(x1, x2)


def cross(x1, x2, /, *, axis: int = -1):
    """Cross product of vectors of 3 components along `axis`.

    Raises:
      ShapeError: another number of components.
    """
    for x in (x1, x2):
        aval = aval_of(as_operand("cross", x))
        if aval.shape[one_axis("cross", axis, aval.ndim)] != 3:
            raise ShapeError(
                f"linalg.cross of {aval.short()} along axis {axis}",
                rule="vectors have 3 components",
            )
    return _cross(x1, x2, axis=axis)


def trace(x, /, *, offset: int = 0, dtype=None):
    """Sums of the diagonals of the matrices in the last two axes."""
    return _trace(x, offset, -2, -1, dtype)


def matrix_transpose(x, /):
    """The matrices in the last two axes, transposed.

    Raises:
      ShapeError: fewer than two axes.
    """
    x = as_operand("matrix_transpose", x)
    aval = aval_of(x)
    if aval.ndim < 2:
        raise ShapeError(
            f"matrix_transpose of {aval.short()}", rule="there are at least two axes"
        )
    return moveaxis(x, aval.ndim - 1, aval.ndim - 2)


def matrix_power(a, n: int):
    """Square matrices multiplied `n` times: by squaring, in log(n) products.

    For a negative `n`, powers of the inverse.

    Raises:
      ShapeError: not square.
    """
    a = as_operand("matrix_power", a)
    aval, n = aval_of(a), operator.index(n)
    a = convert(a, aval.dtype)
    if aval.ndim < 2 or aval.shape[-1] != aval.shape[-2]:
        raise ShapeError(
            f"matrix_power of {aval.short()}", rule="the last two axes are equally long"
        )
    if n < 0:
        a, n = inv(a), -n
        aval = aval_of(a)
    if not n:
        rows, columns = (broadcasted_iota(np.int32, aval.shape[-2:], i) for i in (0, 1))
        one = convert(eq(rows, columns), aval.dtype)
        for size in reversed(aval.shape[:-2]):
            one = broadcast_to_axis(one, size, 0)
        return one
    result = None
    while n:
        if n & 1:
            result = a if result is None else matmul(result, a)
        n >>= 1
        a = matmul(a, a) if n else a
    return result


def cond(x, p: Any = None):
    """Condition numbers of `[*b, m, n]`: the norm times that of the inverse.

    `p`: the order of the norm, as for `norm`; None or 2 for the ratio of the largest
    singular value to the smallest, -2 for the reverse.

    Raises:
      ShapeError: no matrices, or not square for another order.
    """
    if p in (None, 2, -2):
        s = svdvals(x)
        last = aval_of(s).ndim - 1
        largest, least = (index_in_dim(s, i, last, keepdims=False) for i in (0, -1))
        return div(least, largest) if p == -2 else div(largest, least)
    x = matrices("cond", x, square=True)
    axes = (-2, -1)
    return mul(norm(x, p, axes), norm(inv(x), p, axes))


def diagonal(x, /, *, offset: int = 0):
    """The diagonals of the matrices in the last two axes."""
    return _diagonal(x, offset, -2, -1)


def multi_dot(arrays, *, precision=None):
    """The product of matrices in the order that takes the fewest multiplications.

    Args:
      arrays: matrices; the first and the last may be vectors.

    Raises:
      ShapeError: neighbours do not fit.

    Source: Cormen et al., Introduction to Algorithms, 15.2.
    """
    arrays = [as_operand("multi_dot", x) for x in arrays]
    if len(arrays) < 2:
        raise ArgumentError("multi_dot of fewer than two arrays")
    first, last = aval_of(arrays[0]), aval_of(arrays[-1])
    if first.ndim == 1:
        arrays[0] = reshape(arrays[0], (1, first.size))
    if last.ndim == 1:
        arrays[-1] = reshape(arrays[-1], (last.size, 1))
    shapes = [aval_of(x).shape for x in arrays]
    if any(len(s) != 2 for s in shapes):
        raise ShapeError(f"multi_dot of shapes {shapes}", rule="they are matrices")
    sizes = [shapes[0][0], *(s[1] for s in shapes)]
    product = _chain(arrays, _cuts(sizes), 0, len(arrays) - 1, precision)
    shape = (first.shape[:-1] if first.ndim > 1 else ()) + (
        last.shape[1:] if last.ndim > 1 else ()
    )
    return reshape(product, shape)


def _cuts(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to cut each run of matrices i..j so that the work is least."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    cuts = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            options = []
            for k in range(i, j):
                product = sizes[i] * sizes[k + 1] * sizes[j + 1]
                options.append((cost[i, k] + cost[k + 1, j] + product, k))
            cost[i, j], cuts[i, j] = sorted(options)[0]
    return cuts


def _chain(arrays, cuts, i: int, j: int, precision):
    if i == j:
        return arrays[i]
    k = cuts[i, j]
    left = _chain(arrays, cuts, i, k, precision)
    right = _chain(arrays, cuts, k + 1, j, precision)
    return matmul(left, right, precision=precision)
