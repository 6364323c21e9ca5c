"""Equations with matrices, inverses and determinants in NumPy's form."""

from math import prod
from typing import Any, NamedTuple

import numpy as np

from pullback.api.arrays.contractions import matmul
from pullback.api.arrays.creation import ones
from pullback.api.arrays.parts import where
from pullback.api.arrays.reductions import max, sum
from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import ArgumentError, ShapeError
from pullback.numpy.linalg_factors import matrices, svd
from pullback.ops.complex import abs
from pullback.ops.convert import convert, stop_gradient
from pullback.ops.elementwise import mul, sub
from pullback.ops.linalg_solve import (
    det as _det,
    pseudo_inverse,
    slogdet as _slogdet,
    solve as _solve,
)
from pullback.ops.matrices import adjoint, along_columns, as_like, identity
from pullback.ops.promote import (
    as_operand,
    broadcast_shapes,
    broadcast_to,
    promote_inexact,
)
from pullback.ops.shape import expand_dims, full, moveaxis, reshape, squeeze, transpose
from pullback.ops.slicing import index_in_dim


class SlogdetResult(NamedTuple):
    """Sign and logarithm of the absolute value of a determinant."""

    sign: Any
    logabsdet: Any


def solve(a, b):
    """`x` with `a @ x = b`.

    Args:
      a: `[*p, n, n]`
      b: `[n]`, or `[*q, n, k]`; leading axes broadcast.

    Returns:
      `[*p, n]` or `[*batch, n, k]`; infinite or NaN where `a` is singular.

    Raises:
      ShapeError: not square; sizes of `n` differ; leading axes do not broadcast.

    Example:
      >>> import pullback.numpy as pnp
      >>> a = pnp.array([[2.0, 0.0], [1.0, 4.0]])
      >>> pnp.linalg.solve(a, pnp.array([2.0, 9.0])).tolist()
      [1.0, 2.0]
    """
    a, b = promote_inexact(*(as_operand("linalg.solve", x) for x in (a, b)))
    a = matrices("solve", a, square=True)
    x, y = aval_of(a), aval_of(b)
    if not y.ndim or y.shape[-2 if y.ndim > 1 else -1] != x.shape[-1]:
        raise ShapeError(
            f"linalg.solve: a is {x.short()}, b is {y.short()}",
            rule=f"b is a vector [n] or matrices [*batch, n, k] with n = {x.shape[-1]}",
            fix="for a batch of vectors write solve(a, b[..., None])[..., 0]",
        )
    b = convert(b, y.dtype)
    if y.ndim == 1:
        column = broadcast_to(expand_dims(b, (1,)), (*x.shape[:-1], 1))
        return squeeze(_solve(a, column), (x.ndim - 1,))
    if x.ndim == 2 < y.ndim:
        return _one_matrix(a, b)
    batch = broadcast_shapes("linalg.solve", [x.shape[:-2], y.shape[:-2]])
    a, b = (broadcast_to(v, (*batch, *aval_of(v).shape[-2:])) for v in (a, b))
    return _solve(a, b)


def _one_matrix(a, b):
    """One matrix and many right sides: they become columns."""
    *batch, n, k = aval_of(b).shape
    order = (len(batch), *range(len(batch)), len(batch) + 1)
    x = _solve(a, reshape(transpose(b, order), (n, prod(batch) * k)))
    x = reshape(x, (n, *batch, k))
    return moveaxis(x, 0, len(batch))


def inv(a):
    """The inverses of square matrices `[*b, n, n]`.

    Raises:
      ShapeError: not square.
    """
    a = matrices("inv", a, square=True)
    aval = aval_of(a)
    return _solve(a, identity(aval, aval.shape[-1]))


def det(a):
    """Determinants of square matrices `[*b, n, n]`.

    Up to n = 3 they are polynomials, right in every derivative; for larger ones the
    first derivative is right up to one missing rank, others where `a` is regular.

    Raises:
      ShapeError: not square.
    """
    a = matrices("det", a, square=True)
    n = aval_of(a).shape[-1]
    if n > 3:
        return _det(a)
    if not n:
        return ones(aval_of(a).shape[:-2], aval_of(a).dtype)

    def at(i: int, j: int):
        ndim = aval_of(a).ndim
        return index_in_dim(
            index_in_dim(a, i, ndim - 2, keepdims=False), j, ndim - 2, keepdims=False
        )

    if n == 1:
        return at(0, 0)
    if n == 2:
        return sub(mul(at(0, 0), at(1, 1)), mul(at(0, 1), at(1, 0)))
    total = None
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        minor = sub(mul(at(1, j), at(2, k)), mul(at(1, k), at(2, j)))
        term = mul(at(0, i), minor)
        total = term if total is None else total + term
    return total


def slogdet(a, *, method: str | None = None) -> SlogdetResult:
    """Sign, and logarithm of the absolute value, of determinants of `[*b, n, n]`.

    `method`: "lu" or None.

    Raises:
      ShapeError: not square.
      ArgumentError: another method.
    """
    if method not in (None, "lu"):
        raise ArgumentError(f"linalg.slogdet with method={method!r}", rule='it is "lu"')
    return SlogdetResult(*_slogdet(matrices("slogdet", a, square=True)))


def _cutoff(s, factor: float):
    """The largest singular value times a factor, `[*b, 1]`."""
    if not aval_of(s).shape[-1]:
        return full(aval_of(s), 0)
    return max(s, -1, keepdims=True) * factor


def _inverted(u, s, vh, kept):
    """The pseudo-inverse from a decomposition and the values to keep."""
    inverse = where(kept, 1 / where(kept, s, 1), 0).astype(aval_of(s).dtype)
    v = adjoint(vh)
    return matmul(mul(v, along_columns(as_like(inverse, v), v)), adjoint(u))


def pinv(a, rtol=None, hermitian: bool = False, *, rcond=None):
    """Moore-Penrose pseudo-inverses of `[*b, m, n]`.

    Args:
      a: `[*b, m, n]`
      rtol: singular values below this times the largest are taken for 0; None for
        `10 * max(m, n)` machine epsilons.
      hermitian: `a` is Hermitian: computed by eigenvalues.
      rcond: another name of `rtol`.

    Returns:
      `[*b, n, m]`. Its derivative is that at constant rank.

    Raises:
      ShapeError: fewer than two axes.
    """
    a = matrices("pinv", a, square=hermitian)
    m, n = aval_of(a).shape[-2:]
    rtol = rcond if rtol is None else rtol
    if rtol is None:
        larger = m if m > n else n
        rtol = 10.0 * larger * float(np.finfo(aval_of(a).dtype).eps)
    elif getattr(rtol, "ndim", 0):
        rtol = expand_dims(rtol, (rtol.ndim,))
    u, s, vh = svd(stop_gradient(a), False, True, hermitian)
    value = _inverted(u, s, vh, s > _cutoff(s, rtol))
    return pseudo_inverse(a, value)


def lstsq(a, b, rcond: float | None = None, *, numpy_resid: bool = False):
    """The shortest `x` that makes the length of `b - a @ x` least.

    Args:
      a: `[m, n]`
      b: `[m]` or `[m, k]`
      rcond: singular values below this times the largest are taken for 0; None for
        `max(m, n)` machine epsilons, negative for one.
      numpy_resid: give residuals only where NumPy does, for `m > n = rank`.

    Returns:
      `(x, residuals, rank, singular values)`: `[n]` or `[n, k]`, `[k]`, int, `[k]`.

    Raises:
      ShapeError: `a` is no matrix, or `b` does not fit.
    """
    a, b = promote_inexact(*(as_operand("linalg.lstsq", x) for x in (a, b)))
    a = matrices("lstsq", a)
    x, y = aval_of(a), aval_of(b)
    if x.ndim != 2 or y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise ShapeError(
            f"linalg.lstsq: a is {x.short()}, b is {y.short()}",
            rule="a is [m, n] and b is [m] or [m, k]",
        )
    b = convert(b, y.dtype)
    columns = b if y.ndim == 2 else expand_dims(b, (1,))
    m, n = x.shape
    eps = float(np.finfo(x.dtype).eps)
    if rcond is None:
        rcond = eps * (m if m > n else n)
    elif rcond < 0:
        rcond = eps
    u, s, vh = svd(a, False)
    u, vh = stop_gradient(u), stop_gradient(vh)
    fixed = stop_gradient(s)
    kept = fixed >= _cutoff(fixed, rcond)
    kept = kept & (fixed > 0)
    inverse = pseudo_inverse(a, _inverted(u, fixed, vh, kept))
    rank = sum(kept, dtype=np.int32)
    solution = matmul(inverse, columns)
    if numpy_resid and (m <= n or int(rank) < n):
        residuals = full(ShapedArray((0,), dtypes.to_real(x.dtype)), 0)
    else:
        rest = abs(sub(columns, matmul(a, solution)))
        residuals = sum(mul(rest, rest), 0)
    solution = squeeze(solution, (1,)) if y.ndim == 1 else solution
    return solution, residuals, rank, s


def tensorsolve(a, b, axes: tuple[int, ...] | None = None):
    """`x` with `tensordot(a, x, x.ndim) = b`.

    Args:
      a: `[*b.shape, *x.shape]`, square when each group of axes is one.
      b: any shape.
      axes: axes of `a` to move to the end first.

    Raises:
      ShapeError: the sizes do not make a square matrix.
    """
    a, b = as_operand("linalg.tensorsolve", a), as_operand("linalg.tensorsolve", b)
    if axes is not None:
        ndim = aval_of(a).ndim
        moved = [i % ndim for i in axes]
        a = transpose(a, [i for i in range(ndim) if i not in moved] + moved)
    x, y = aval_of(a), aval_of(b)
    shape = x.shape[y.ndim :]
    size = prod(shape)
    if x.size != size * y.size or size != y.size:
        raise ShapeError(
            f"linalg.tensorsolve: a is {x.short()}, b is {y.short()}",
            rule="a has the axes of b and those of x, and both are as many elements",
        )
    flat = solve(reshape(a, (size, size)), reshape(b, (size,)))
    return reshape(flat, shape)


def tensorinv(a, ind: int = 2):
    """The inverse of `a` as a map from its last axes to the first `ind` ones.

    Raises:
      ArgumentError: `ind` is not positive.
      ShapeError: the groups of axes differ in size.
    """
    a = as_operand("linalg.tensorinv", a)
    if ind <= 0:
        raise ArgumentError(f"linalg.tensorinv with ind={ind}", rule="ind is positive")
    aval = aval_of(a)
    first, rest = aval.shape[:ind], aval.shape[ind:]
    if prod(first) != prod(rest):
        raise ShapeError(
            f"linalg.tensorinv of {aval.short()} with ind={ind}",
            rule=f"the first {ind} axes have as many elements as the others",
        )
    return reshape(inv(reshape(a, (prod(first), prod(rest)))), (*rest, *first))
