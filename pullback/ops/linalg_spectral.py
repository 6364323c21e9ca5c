"""Spectral family: eigenvalues of Hermitian matrices, and singular values.

Vectors that belong to equal values are not determined, so their derivative is not
finite there; that of the values alone is.
"""

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Region, Smooth
from pullback.core.errors import InternalError, UnsupportedError
from pullback.core.primitive import Primitive
from pullback.ops.elementwise import add, div, sub
from pullback.ops.linalg_triangular import symmetrized
from pullback.ops.logic import eq, select_n
from pullback.ops.matrices import (
    adjoint,
    along_columns,
    along_rows,
    batch_rule,
    by_matrix,
    check_matrices,
    diagonal_mask,
    emit_filled,
    emit_identity,
    hermitian,
    info_aval,
    is_complex,
    masked,
    of_imaginary_part,
    product,
    real_diagonal,
    scaled,
)
from pullback.ops.nary import quiet
from pullback.ops.shape import full


def eigh(x, *, lower: bool = True, symmetrize_input: bool = True):
    """Eigenvectors and eigenvalues of Hermitian matrices, the smallest first.

    Args:
      x: `[*b, n, n]`
      lower: which triangle is read.
      symmetrize_input: take the Hermitian part first; else only one triangle is read,
        and only it has a derivative.

    Returns:
      `(v, w)`: orthonormal columns `[*b, n, n]` and real `[*b, n]`.

    Raises:
      ShapeError, DtypeError: not square, or no type that LAPACK computes in.

    Source: LAPACK syevd, heevd. Derivative: Giles, Collected matrix derivative results
    (2008), section 3.1.
    """
    if symmetrize_input:
        check_matrices("eigh", aval_of(x), square=True)
        x = symmetrized(x)
    return tuple(eigh_p.bind(x, lower=bool(lower)))


def svd(x, *, full_matrices: bool = True, compute_uv: bool = True):
    """Singular value decomposition, `x = (u * s) @ vh`, the largest values first.

    Args:
      x: `[*b, m, n]`
      full_matrices: whether `u` and `vh` are square.
      compute_uv: whether to give them.

    Returns:
      `(u, s, vh)`, or only `s`: real `[*b, min(m, n)]`.

    Raises:
      ShapeError, DtypeError: no matrices, or no type that LAPACK computes in.
      UnsupportedError: in the derivative, for full matrices of an `x` that is not
        square, whose last vectors are not determined.

    Source: LAPACK gesdd. Derivative: Giles (2008), section 3.2; Townsend,
    Differentiating the singular value decomposition (2016).
    """
    outs = svd_p.bind(x, full_matrices=bool(full_matrices), compute_uv=bool(compute_uv))
    return (outs[1], outs[0], outs[2]) if compute_uv else outs[0]


def inverse_gaps(values, others, like):
    """`1 / (values[j] - others[i])` at `[i, j]`, 0 on the diagonal."""
    mask = diagonal_mask(aval_of(like).shape)
    gaps = sub(along_columns(values, like), along_rows(others, like))
    one = full(aval_of(gaps).strong(), 1)
    return masked(div(one, select_n(mask, gaps, one)), mask_not(mask))


def mask_not(mask):
    """The opposite of a mask."""
    return eq(mask, full(aval_of(mask), False))


# ---- eigh ----


def _eigh_abstract(x, *, lower):
    check_matrices("eigh", x, square=True)
    return [x.strong(), ShapedArray(x.shape[:-1], dtypes.to_real(x.dtype))]


def _eigh_reference(x, *, lower):
    def function(a):
        return np.linalg.eigh(a, "L" if lower else "U")[::-1]

    n = x.shape[-1]
    return by_matrix(function, x, [((n, n), x.dtype), ((n,), dtypes.to_real(x.dtype))])


def _eigh_lower(b, outs, x, *, lower):
    v, w = outs
    if not v.size:
        return [b.full(0, out) for out in outs]
    *values, info = b.lapack(
        "syevd",
        [v, w, info_aval(v)],
        [x],
        dtype=v.dtype,
        batch=v.ndim - 2,
        aliases={0: 0},
        mode="V",
        uplo="L" if lower else "U",
    )
    return emit_filled(b, info, values, outs)


def _eigh_tangent(ts, outs, x, *, lower):
    v, w = outs
    inner = product(adjoint(v), hermitian(ts[0], lower), v)
    turn = scaled(inner, inverse_gaps(w, w, inner))
    return [product(v, turn), real_diagonal(inner)]


eigh_p = Primitive(
    "eigh",
    abstract=_eigh_abstract,
    reference=quiet(_eigh_reference),
    lower=_eigh_lower,
    derivative=Smooth(_eigh_tangent),
    batch=batch_rule(lambda x, **params: eigh_p.bind(x, **params)),
    multiple_results=True,
)


# ---- svd ----


def _svd_abstract(x, *, full_matrices, compute_uv):
    check_matrices("svd", x)
    *batch, m, n = x.shape
    k = min(m, n)
    values = ShapedArray((*batch, k), dtypes.to_real(x.dtype))
    if not compute_uv:
        return [values]
    left, right = ((m, m), (n, n)) if full_matrices else ((m, k), (k, n))
    return [values, *(ShapedArray((*batch, *c), x.dtype) for c in (left, right))]


def _svd_reference(x, *, full_matrices, compute_uv):
    def function(a):
        if not compute_uv:
            return [np.linalg.svd(a, compute_uv=False)]
        u, s, vh = np.linalg.svd(a, full_matrices)
        return [s, u, vh]

    aval = ShapedArray(x.shape[-2:], x.dtype)
    outs = _svd_abstract(aval, full_matrices=full_matrices, compute_uv=compute_uv)
    return by_matrix(function, x, [(out.shape, out.dtype) for out in outs])


def _svd_lower(b, outs, x, *, full_matrices, compute_uv):
    aval = b.avals_in[0]
    if not aval.size:
        return [b.full(0, outs[0]), *(emit_identity(b, out) for out in outs[1:])]
    vectors = _svd_abstract(aval, full_matrices=full_matrices, compute_uv=True)
    _, *values, info = b.lapack(
        "gesdd",
        [aval, *vectors, info_aval(aval)],
        [x],
        dtype=aval.dtype,
        batch=aval.ndim - 2,
        aliases={0: 0},
        mode=("A" if full_matrices else "S") if compute_uv else "N",
    )
    return emit_filled(b, info, values[: len(outs)], outs)


def _svd_jvp(primals, tangents, *, full_matrices, compute_uv):
    """One decomposition with vectors, for the values and for their tangents."""
    (x,), (t,) = primals, tangents
    m, n = aval_of(x).shape[-2:]
    if compute_uv and full_matrices and m != n:
        raise UnsupportedError(
            f"the derivative of svd of {aval_of(x).short()} with full_matrices=True",
            rule="the last vectors of a matrix that is not square are not determined",
            fix="use full_matrices=False",
        )
    s, u, vh = outs = svd_p.bind(x, full_matrices=False, compute_uv=True)
    inner = product(adjoint(u), t, adjoint(vh))
    ds = real_diagonal(inner)
    if not compute_uv:
        return [s], [ds]
    columns, rows = along_columns(s, inner), along_rows(s, inner)
    # 1 / (s_j**2 - s_i**2), in factors that do not cancel
    total = add(columns, rows)
    total = select_n(
        diagonal_mask(aval_of(inner).shape), total, full(aval_of(total), 1)
    )
    weight = div(inverse_gaps(s, s, inner), total)
    du = _turn(scaled(inner, columns), weight)
    dv = _turn(scaled(inner, rows), weight)
    if is_complex(inner):
        mask = diagonal_mask(aval_of(inner).shape)
        phase = of_imaginary_part(masked(inner, mask))
        du = add(du, scaled(phase, along_columns(_inverse(s), inner)))
    du, dv = product(u, du), product(adjoint(vh), dv)
    if m > n:
        du = add(du, _outside(u, product(t, adjoint(vh)), s))
    if n > m:
        dv = add(dv, _outside(adjoint(vh), product(adjoint(t), u), s))
    return outs, [ds, du, adjoint(dv)]


def _turn(x, weight):
    return scaled(add(x, adjoint(x)), weight)


def _inverse(s):
    """`1 / s`, 0 where `s` is 0."""
    zero, one = full(aval_of(s), 0), full(aval_of(s), 1)
    none = eq(s, zero)
    return select_n(none, div(one, select_n(none, s, one)), zero)


def _outside(u, moved, s):
    """What moves vectors out of the space that they span."""
    rest = sub(moved, product(u, product(adjoint(u), moved)))
    return scaled(rest, along_columns(_inverse(s), rest))


def _not_linear(cts, operands, **params):
    raise InternalError("values and vectors are not linear in the matrix")


svd_p = Primitive(
    "svd",
    abstract=_svd_abstract,
    reference=quiet(_svd_reference),
    lower=_svd_lower,
    derivative=Region(jvp=_svd_jvp, transpose=_not_linear),
    batch=batch_rule(lambda x, **params: svd_p.bind(x, **params)),
    multiple_results=True,
)
