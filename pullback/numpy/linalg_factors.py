"""Factorizations of matrices in NumPy's form, and the ranks that they show."""

from typing import Any, NamedTuple

import numpy as np

from pullback.api.arrays.parts import where
from pullback.api.arrays.reductions import max, sum
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError
from pullback.ops.complex import abs
from pullback.ops.convert import convert
from pullback.ops.elementwise import mul
from pullback.ops.linalg_eig import eig as _eig
from pullback.ops.linalg_qr import geqrf, qr as _qr
from pullback.ops.linalg_spectral import eigh as _eigh, svd as _svd
from pullback.ops.linalg_triangular import cholesky as _cholesky
from pullback.ops.logic import ge, ne
from pullback.ops.matrices import (
    adjoint,
    along_columns,
    as_like,
    check_matrices,
    transposed,
)
from pullback.ops.promote import as_operand, promote_inexact
from pullback.ops.shape import expand_dims
from pullback.ops.slicing import rev, slice_in_dim
from pullback.ops.sort import sort, take_along


class EighResult(NamedTuple):
    """Eigenvalues `[*b, n]` and eigenvectors, as columns `[*b, n, n]`."""

    eigenvalues: Any
    eigenvectors: Any


class EigResult(NamedTuple):
    """Eigenvalues `[*b, n]` and eigenvectors, as columns `[*b, n, n]`."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """Orthonormal columns and an upper triangle."""

    Q: Any
    R: Any


class SVDResult(NamedTuple):
    """Left vectors as columns, singular values, right vectors as conjugated rows."""

    U: Any
    S: Any
    Vh: Any


def matrices(name: str, x, *, square: bool = False):
    """`x` as floating matrices.

    Raises:
      ShapeError: it has fewer than two axes, or is not square.
      DtypeError: an element type of fewer than 32 bits.
    """
    (x,) = promote_inexact(as_operand(f"linalg.{name}", x))
    aval = aval_of(x)
    check_matrices(f"linalg.{name}", aval, square=square)
    return convert(x, aval.dtype)


def cholesky(a, *, upper: bool = False, symmetrize_input: bool = True):
    """Triangular `l` with `l @ l.conj().T = a`; with `upper`, `l.conj().T`.

    Args:
      a: `[*b, n, n]`, Hermitian and positive definite.
      upper: give the upper triangular factor.
      symmetrize_input: take the Hermitian part of `a` first; else one triangle is read.

    Returns:
      `[*b, n, n]`; NaN where `a` is not positive definite.

    Raises:
      ShapeError: not square.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.linalg.cholesky(pnp.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
      [[2.0, 0.0], [1.0, 2.0]]
    """
    a = matrices("cholesky", a, square=True)
    if upper and not symmetrize_input:
        a = adjoint(a)
    out = _cholesky(a, symmetrize_input=symmetrize_input)
    return adjoint(out) if upper else out


def eigh(a, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices, the smallest first.

    Args:
      a: `[*b, n, n]`
      UPLO: "L" or "U", the triangle that is read; None for "L".
      symmetrize_input: take the Hermitian part of `a` first.

    Raises:
      ShapeError: not square.
      ArgumentError: another `UPLO`.
    """
    a = matrices("eigh", a, square=True)
    if UPLO not in (None, "L", "U"):
        raise ArgumentError(
            f"linalg.eigh with UPLO={UPLO!r}", rule='UPLO is "L", "U" or None'
        )
    v, w = _eigh(a, lower=UPLO != "U", symmetrize_input=symmetrize_input)
    return EighResult(w, v)


def eigvalsh(a, UPLO: str | None = "L", *, symmetrize_input: bool = True):
    """Eigenvalues of Hermitian matrices, the smallest first; see `eigh`."""
    return eigh(a, UPLO, symmetrize_input).eigenvalues


def eig(a) -> EigResult:
    """Eigenvalues and right eigenvectors, in no order; both complex.

    Args:
      a: `[*b, n, n]`

    Raises:
      ShapeError: not square.
    """
    a = matrices("eig", a, square=True)
    return EigResult(*_eig(a, compute_left_eigenvectors=False))


def eigvals(a):
    """Eigenvalues, complex and in no order."""
    a = matrices("eigvals", a, square=True)
    without = {"compute_left_eigenvectors": False, "compute_right_eigenvectors": False}
    return _eig(a, **without)[0]


def qr(a, mode: str = "reduced"):
    """QR decomposition of `[*b, m, n]`, `k = min(m, n)`.

    Args:
      a: `[*b, m, n]`
      mode: "reduced" for `[m, k]` and `[k, n]`; "complete" for `[m, m]` and `[m, n]`;
        "r" for `[k, n]` alone; "raw" for LAPACK's reflectors, transposed, and scales.

    Raises:
      ShapeError: fewer than two axes.
      ArgumentError: another mode.

    Example:
      >>> import pullback.numpy as pnp
      >>> q, r = pnp.linalg.qr(pnp.ones((3, 2)))
      >>> q.shape, r.shape
      ((3, 2), (2, 2))
    """
    a = matrices("qr", a)
    match mode:
        case "raw":
            packed, scales = geqrf(a)
            return QRResult(transposed(packed), scales)
        case "reduced" | "r" | "full" | "complete":
            q, r = _qr(a, full_matrices=mode == "complete")
            return r if mode == "r" else QRResult(q, r)
    raise ArgumentError(
        f"linalg.qr with mode={mode!r}",
        rule='the mode is "reduced", "complete", "r" or "raw"',
    )


def svd(
    a,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
):
    """Singular value decomposition of `[*b, m, n]`, the largest values first.

    Args:
      a: `[*b, m, n]`
      full_matrices: square `U` and `Vh`; else with `k = min(m, n)` vectors.
      compute_uv: give the vectors, not only the values.
      hermitian: `a` is Hermitian: computed by eigenvalues.
      subset_by_index: which values to keep, from the first to before the second.

    Returns:
      `(U, S, Vh)`, or `S` alone.

    Raises:
      ShapeError: fewer than two axes, or not square though Hermitian.
    """
    a = matrices("svd", a, square=hermitian)
    if hermitian:
        parts = _svd_of_hermitian(a)
    elif not compute_uv:
        parts = (None, _svd(a, full_matrices=False, compute_uv=False), None)
    else:
        whole = full_matrices and subset_by_index is None
        parts = _svd(a, full_matrices=whole)
    if subset_by_index is not None:
        parts = _subset(parts, *subset_by_index)
    return SVDResult(*parts) if compute_uv else parts[1]


def _subset(parts, first: int, last: int):
    u, s, vh = parts
    ndim = aval_of(s).ndim
    s = slice_in_dim(s, first, last, axis=ndim - 1)
    if u is None:
        return u, s, vh
    u = slice_in_dim(u, first, last, axis=ndim)
    return u, s, slice_in_dim(vh, first, last, axis=ndim - 1)


def _svd_of_hermitian(a):
    v, w = _eigh(a)
    size = abs(w)
    places = _descending(size)
    axis = aval_of(w).ndim - 1
    s = take_along(size, places, axis)
    columns = along_columns(places, v)
    u = take_along(v, columns, axis + 1)
    signs = where(ge(w, np.zeros((), aval_of(w).dtype)), 1, -1).astype(aval_of(w).dtype)
    signs = as_like(take_along(signs, places, axis), v)
    return u, s, adjoint(mul(u, along_columns(signs, v)))


def _descending(x):
    """Positions of the elements along the last axis, the largest first."""
    aval = aval_of(x)
    last = aval.ndim - 1
    counts = np.broadcast_to(np.arange(aval.shape[-1], dtype=np.int32), aval.shape)
    return rev(sort((x, counts), last, num_keys=1)[1], (last,))


def svdvals(x, /):
    """Singular values of `[*b, m, n]`, the largest first."""
    return svd(x, compute_uv=False)


def matrix_rank(M, rtol=None, *, hermitian: bool = False, tol=None):
    """How many singular values are larger than a tolerance.

    Args:
      M: `[*b, m, n]`; of fewer axes, whether any element is not zero.
      rtol: relative to the largest value; None for `max(m, n)` machine epsilons.
      hermitian: `M` is Hermitian: computed by eigenvalues.
      tol: the tolerance itself.

    Returns:
      int32 `[*b]`, int64 where 64-bit types are enabled.
    """
    (x,) = promote_inexact(as_operand("linalg.matrix_rank", M))
    aval = aval_of(x)
    if aval.ndim < 2:
        return convert(max(ne(x, np.zeros((), aval.dtype))), dtypes.default_int())
    s = svd(x, compute_uv=False, hermitian=hermitian)
    if tol is None:
        if rtol is None:
            m, n = aval.shape[-2:]
            rtol = (m if m > n else n) * np.finfo(aval_of(s).dtype).eps
        tol = max(s, -1) * rtol
    last = aval.ndim - 2
    limit = expand_dims(tol, (last,)) if getattr(tol, "ndim", 0) else tol
    return sum(s > limit, -1)
