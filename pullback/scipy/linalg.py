"""Linear algebra of SciPy on arrays that transform."""

from typing import Any

import numpy as np

from pullback import lax, numpy as pnp
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ShapeError, UnsupportedError
from pullback.numpy.linalg import det as _det, inv as _inv, solve as _solve
from pullback.numpy.linalg_factors import matrices
from pullback.ops.linalg_lu import take_rows
from pullback.ops.matrices import adjoint, identity, product, transposed
from pullback.ops.promote import (
    as_operand,
    broadcast_to,
    promote_dtypes,
    promote_inexact,
)
from pullback.scipy.matrix_exponential import expm as expm


def cholesky(a, lower: bool = False, overwrite_a=False, check_finite=True):
    """Triangular `r` with `r.conj().T @ r = a`; with `lower`, its adjoint.

    Only one triangle of `a`, `[*b, n, n]`, is read: the upper one unless `lower`.
    Where `a` is not positive definite the result is NaN.

    Raises:
      ShapeError: not square.
    """
    del overwrite_a, check_finite
    a = matrices("cholesky", a, square=True)
    factor = lax.linalg.cholesky(a if lower else adjoint(a), symmetrize_input=False)
    return factor if lower else adjoint(factor)


def cho_factor(a, lower: bool = False, overwrite_a=False, check_finite=True):
    """The Cholesky factor of `a`, and `lower`: what `cho_solve` takes."""
    return cholesky(a, lower, overwrite_a, check_finite), lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """Solve `a @ x = b` with the Cholesky factor of `a`.

    Args:
      c_and_lower: the result of `cho_factor`, `c: [*batch, n, n]`.
      b: `[n]` or `[*batch, n, k]`.
    """
    del overwrite_b, check_finite
    c, lower = c_and_lower
    c, b, vector = _system("cho_solve", c, b)
    first = _triangular(c, b, lower=lower, transpose_a=not lower)
    x = _triangular(c, first, lower=lower, transpose_a=lower)
    return x[..., 0] if vector else x


def solve_triangular(
    a,
    b,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b=False,
    debug=None,
    check_finite=True,
):
    """Solve `a @ x = b` with triangular `a`.

    Args:
      a: `[*batch, n, n]`, of which one triangle is read.
      b: `[n]` or `[*batch, n, k]`.
      trans: 0 or "N" for `a`, 1 or "T" for its transpose, 2 or "C" for its adjoint.
      lower: which triangle.
      unit_diagonal: take the diagonal for ones.

    Raises:
      ArgumentError: another `trans`.
      ShapeError: sizes do not fit.

    Example:
      >>> import pullback.numpy as pnp
      >>> from pullback.scipy.linalg import solve_triangular
      >>> a = pnp.array([[2.0, 0.0], [1.0, 4.0]])
      >>> solve_triangular(a, pnp.array([2.0, 9.0]), lower=True).tolist()
      [1.0, 2.0]
    """
    del overwrite_b, debug, check_finite
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ArgumentError(
            f"solve_triangular with trans={trans!r}", rule="it is one of 0 1 2 N T C"
        )
    a, b, vector = _system("solve_triangular", a, b)
    x = lax.linalg.triangular_solve(
        a,
        b,
        left_side=True,
        lower=lower,
        transpose_a=trans not in (0, "N"),
        conjugate_a=trans in (2, "C"),
        unit_diagonal=unit_diagonal,
    )
    return x[..., 0] if vector else x


def _triangular(a, b, *, lower: bool, transpose_a: bool):
    return lax.linalg.triangular_solve(
        a,
        b,
        left_side=True,
        lower=lower,
        transpose_a=transpose_a,
        conjugate_a=transpose_a,
    )


def _system(name: str, a, b) -> tuple[Any, Any, bool]:
    """Matrix and right sides with equal leading axes; whether those were a vector."""
    a, b = promote_inexact(*(as_operand(name, x) for x in (a, b)))
    a = matrices(name, a, square=True)
    vector = aval_of(b).ndim == 1
    b = pnp.asarray(b)[:, None] if vector else pnp.asarray(b)
    x, y = aval_of(a), aval_of(b)
    if y.ndim < 2 or y.shape[-2] != x.shape[-1]:
        raise ShapeError(
            f"{name}: the matrix is {x.short()}, b is {y.short()}",
            rule=f"b is [n] or [*batch, n, k] with n = {x.shape[-1]}",
        )
    batch = pnp.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    a, b = (broadcast_to(v, (*batch, *aval_of(v).shape[-2:])) for v in (a, b))
    return a, b, vector


def solve(
    a,
    b,
    lower: bool = False,
    overwrite_a=False,
    overwrite_b=False,
    debug=False,
    check_finite=True,
    assume_a: str = "gen",
):
    """Solve `a @ x = b`.

    Args:
      a: `[*batch, n, n]`
      b: `[n]` or `[*batch, n, k]`.
      lower: which triangle is read, for "pos".
      assume_a: what is known of `a`: "gen", "sym", "her", or "pos" for positive
        definite, solved by Cholesky.

    Raises:
      ArgumentError: another `assume_a`.
      ShapeError: sizes do not fit.
    """
    del overwrite_a, overwrite_b, debug, check_finite
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise ArgumentError(
            f"solve with assume_a={assume_a!r}", rule="it is gen, sym, her or pos"
        )
    return cho_solve(cho_factor(a, lower), b) if assume_a == "pos" else _solve(a, b)


def lu_factor(a, overwrite_a=False, check_finite=True):
    """LU decomposition as LAPACK keeps it.

    Returns:
      `(lu, pivots)`: `[*b, m, n]`, with `u` on and above the diagonal, and
      `int32[*b, k]`: row i was swapped with row `pivots[i]`.
    """
    del overwrite_a, check_finite
    factors, pivots, _ = lax.linalg.lu(matrices("lu_factor", a))
    return factors, pivots


def lu_solve(lu_and_piv, b, trans: int = 0, overwrite_b=False, check_finite=True):
    """Solve `op(a) @ x = b` with the result of `lu_factor(a)`.

    `trans`: 0 for `a`, 1 for its transpose, 2 for its adjoint.

    Raises:
      ArgumentError: another `trans`.
    """
    del overwrite_b, check_finite
    factors, pivots = lu_and_piv
    if trans not in (0, 1, 2):
        raise ArgumentError(f"lu_solve with trans={trans!r}", rule="it is 0, 1 or 2")
    factors, b, vector = _system("lu_solve", factors, b)
    n = aval_of(factors).shape[-1]
    order = lax.linalg.lu_pivots_to_permutation(pivots, n)
    order = broadcast_to(order, aval_of(factors).shape[:-1])
    how = {"left_side": True, "transpose_a": trans > 0, "conjugate_a": trans == 2}
    lower, upper = {"lower": True, "unit_diagonal": True}, {"lower": False}
    if trans:
        x = lax.linalg.triangular_solve(factors, b, **how, **upper)
        x = lax.linalg.triangular_solve(factors, x, **how, **lower)
        x = take_rows(x, pnp.argsort(order, -1).astype(np.int32))
    else:
        x = take_rows(b, order)
        x = lax.linalg.triangular_solve(factors, x, **how, **lower)
        x = lax.linalg.triangular_solve(factors, x, **how, **upper)
    return x[..., 0] if vector else x


def lu(a, permute_l: bool = False, overwrite_a=False, check_finite=True):
    """LU decomposition, `a = p @ l @ u`.

    Args:
      a: `[*b, m, n]`
      permute_l: give `p @ l` in the place of `p` and `l`.

    Returns:
      `p: [*b, m, m]`, `l: [*b, m, k]`, `u: [*b, k, n]`, with `k = min(m, n)`.
    """
    del overwrite_a, check_finite
    a = matrices("lu", a)
    m, n = aval_of(a).shape[-2:]
    k = min(m, n)
    factors, _, order = lax.linalg.lu(a)
    p = transposed(take_rows(identity(aval_of(a), m), order))
    low = pnp.tril(factors[..., :, :k], -1) + pnp.eye(m, k, dtype=aval_of(a).dtype)
    u = pnp.triu(factors)[..., :k, :]
    return (product(p, low), u) if permute_l else (p, low, u)


def qr(
    a,
    overwrite_a=False,
    lwork=None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite=True,
):
    """QR decomposition.

    `mode`: "full" for square `q`, "economic" for `k = min(m, n)` columns, "r" for the
    triangle alone, in a tuple.

    Raises:
      ArgumentError: another mode.
      UnsupportedError: with pivoting.
    """
    del overwrite_a, lwork, check_finite
    if pivoting:
        raise UnsupportedError(
            "scipy.linalg.qr with pivoting=True",
            rule="only the decomposition without pivoting is there",
            fix="use numpy.linalg.svd to find the rank",
        )
    if mode not in ("full", "r", "economic"):
        raise ArgumentError(
            f"scipy.linalg.qr with mode={mode!r}", rule="it is full, economic or r"
        )
    q, r = lax.linalg.qr(matrices("qr", a), full_matrices=mode != "economic")
    return (r,) if mode == "r" else (q, r)


def svd(
    a,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a=False,
    check_finite=True,
    lapack_driver="gesdd",
):
    """Singular value decomposition `(u, s, vh)`, or `s`; see `numpy.linalg.svd`."""
    del overwrite_a, check_finite, lapack_driver
    out = pnp.linalg.svd(a, full_matrices, compute_uv)
    return tuple(out) if compute_uv else out


def eigh(
    a,
    b=None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a=False,
    overwrite_b=False,
    turbo=True,
    eigvals=None,
    type: int = 1,
    check_finite=True,
):
    """Eigenvalues, the smallest first, and eigenvectors of Hermitian `[*b, n, n]`.

    `lower`: which triangle is read. `eigvals_only`: give only the values.

    Raises:
      UnsupportedError: a generalized problem, or a range of values.
    """
    del overwrite_a, overwrite_b, turbo, check_finite
    if b is not None or eigvals is not None or type != 1:
        raise UnsupportedError(
            "scipy.linalg.eigh with b, eigvals or type",
            rule="only the standard problem, all values, is there",
            fix="reduce a @ v = w * b @ v by the Cholesky factor of b",
        )
    a = matrices("eigh", a, square=True)
    v, w = lax.linalg.eigh(a, lower=lower, symmetrize_input=False)
    return w if eigvals_only else (w, v)


def det(a, overwrite_a=False, check_finite=True):
    """Determinants of square matrices `[*b, n, n]`."""
    del overwrite_a, check_finite
    return _det(a)


def inv(a, overwrite_a=False, check_finite=True):
    """The inverses of square matrices `[*b, n, n]`."""
    del overwrite_a, check_finite
    return _inv(a)


def block_diag(*arrs):
    """A matrix with the given matrices along its diagonal; vectors count as rows.

    Raises:
      ShapeError: more than two axes.
    """
    given = arrs or (np.zeros((1, 0), dtypes.default_float()),)
    blocks: list[Any] = [pnp.atleast_2d(x) for x in promote_dtypes(*given)]
    for x in blocks:
        if x.ndim != 2:
            raise ShapeError(
                f"block_diag with {aval_of(x).short()}",
                rule="operands have at most two axes",
            )
    columns = sum(x.shape[1] for x in blocks)
    rows, at = [], 0
    for x in blocks:
        rows.append(pnp.pad(x, ((0, 0), (at, columns - at - x.shape[1]))))
        at += x.shape[1]
    return pnp.concatenate(rows)


def toeplitz(c, r=None):
    """Matrices that are constant along diagonals.

    Args:
      c: `[*b, m]`, the first columns.
      r: `[*b, n]`, the first rows, whose first element is not read; None for `conj(c)`.

    Returns:
      `[*b, m, n]`

    Example:
      >>> from pullback.scipy.linalg import toeplitz
      >>> import pullback.numpy as pnp
      >>> toeplitz(pnp.array([1, 2]), pnp.array([9, 5, 6])).tolist()
      [[1, 5, 6], [2, 1, 5]]
    """
    c = pnp.atleast_1d(as_operand("toeplitz", c))
    r = pnp.conj(c) if r is None else pnp.atleast_1d(as_operand("toeplitz", r))
    c, r = promote_dtypes(c, r)
    batch = pnp.broadcast_shapes(c.shape[:-1], r.shape[:-1])
    m, n = c.shape[-1], r.shape[-1]
    if not m or not n:
        return pnp.zeros((*batch, m, n), c.dtype)
    c, r = (broadcast_to(x, (*batch, x.shape[-1])) for x in (c, r))
    line = pnp.concatenate([pnp.flip(c, -1), r[..., 1:]], -1)
    return line[..., np.arange(m)[::-1, None] + np.arange(n)]
