"""QR family: orthonormal columns times a triangle, and Householder reflectors."""

import numpy as np

from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import NotDifferentiable, Smooth
from pullback.core.errors import DtypeError, ShapeError, UnsupportedError
from pullback.core.primitive import Primitive
from pullback.ops.elementwise import add, sub
from pullback.ops.joining import concatenate
from pullback.ops.linalg_triangular import triangular_solve
from pullback.ops.matrices import (
    adjoint,
    batch_rule,
    by_matrix,
    check_matrices,
    diagonal_mask,
    emit_columns,
    emit_identity,
    emit_triangle,
    is_complex,
    lower_triangle,
    masked,
    of_imaginary_part,
    product,
)
from pullback.ops.nary import quiet
from pullback.ops.slicing import slice_in_dim


def qr(x, *, full_matrices: bool = True):
    """QR decomposition, `x = q @ r`, with orthonormal columns and upper triangular `r`.

    Args:
      x: `[*b, m, n]`
      full_matrices: whether `q` is square; else, with `k = min(m, n)`, it is `[m, k]`.

    Returns:
      `(q, r)`: `[*b, m, m]` and `[*b, m, n]`, or `[*b, m, k]` and `[*b, k, n]`.

    Raises:
      ShapeError, DtypeError: no matrices, or no type that LAPACK computes in.
      UnsupportedError: in the derivative, for a full `q` with `m > n`, whose last
        columns are not determined.

    Source: LAPACK geqrf, orgqr. Derivative: Walter and Lehmann, Algorithmic
    differentiation of linear algebra functions (2012).
    """
    return tuple(qr_p.bind(x, full_matrices=bool(full_matrices)))


def geqrf(x):
    """QR decomposition as LAPACK keeps it.

    Returns:
      `r` on and above the diagonal with the reflectors below it, `[*b, m, n]`, and the
      scales of the reflectors, `[*b, min(m, n)]`.

    Source: LAPACK geqrf.
    """
    return tuple(geqrf_p.bind(x))


def householder_product(a, taus):
    """The orthonormal columns that reflectors make.

    Args:
      a: `[*b, m, n]`, `m >= n`, the reflectors below the diagonal.
      taus: `[*b, k]`, `k <= n`, their scales.

    Returns:
      `[*b, m, n]`: the first columns of `H_1 @ ... @ H_k`.

    Source: LAPACK orgqr.
    """
    return householder_product_p.bind(a, taus)


# ---- qr ----


def _shapes(x, full: bool):
    m, n = x.shape[-2:]
    k = m if full else min(m, n)
    return (m, k), (k, n)


def _qr_abstract(x, *, full_matrices):
    check_matrices("qr", x)
    batch = x.shape[:-2]
    return [ShapedArray((*batch, *core), x.dtype) for core in _shapes(x, full_matrices)]


def _qr_reference(x, *, full_matrices):
    mode = "complete" if full_matrices else "reduced"
    cores = [(core, x.dtype) for core in _shapes(x, full_matrices)]
    return by_matrix(lambda a: np.linalg.qr(a, mode), x, cores)


def _emit_geqrf(b, x, aval):
    taus = ShapedArray((*aval.shape[:-2], min(aval.shape[-2:])), aval.dtype)
    return b.lapack(
        "geqrf",
        [aval, taus],
        [x],
        dtype=aval.dtype,
        batch=aval.ndim - 2,
        aliases={0: 0},
    )


def _emit_product(b, out, a, taus):
    return b.lapack(
        "orgqr", [out], [a, taus], dtype=out.dtype, batch=out.ndim - 2, aliases={0: 0}
    )[0]


def _qr_lower(b, outs, x, *, full_matrices):
    aval, (q, r) = b.avals_in[0], outs
    if not aval.size:
        return [emit_identity(b, q), b.full(0, r)]
    a, taus = _emit_geqrf(b, x, aval)
    k = q.shape[-1]
    factor = _emit_product(b, q, emit_columns(b, a, aval, k), taus)
    kept = b.slice(a, [0] * r.ndim, r.shape) if r.shape != aval.shape else a
    return [factor, emit_triangle(b, kept, r, "LE")]


def _qr_tangent(ts, outs, x, *, full_matrices):
    """For a wide `x` the first square part decides `q`; the rest follows."""
    (t,), (q, r) = ts, outs
    aval = aval_of(x)
    m, n = aval.shape[-2:]
    if full_matrices and m > n:
        raise UnsupportedError(
            f"the derivative of qr of {aval.short()} with full_matrices=True",
            rule="with more rows than columns the last columns of q are not determined",
            fix='use full_matrices=False, mode="reduced"',
        )
    k, last = min(m, n), aval.ndim - 1
    square, moved = (slice_in_dim(y, 0, k, axis=last) for y in (r, t))
    ratio = triangular_solve(square, moved)
    inner = product(adjoint(q), ratio)
    below = lower_triangle(inner, -1)
    turn = sub(below, adjoint(below))
    if is_complex(inner):
        mask = diagonal_mask(aval_of(inner).shape)
        turn = add(turn, of_imaginary_part(masked(inner, mask)))
    dq = add(product(q, sub(turn, inner)), ratio)
    dr = product(sub(inner, turn), square)
    if n > k:
        rest, moved = (slice_in_dim(y, k, n, axis=last) for y in (x, t))
        more = add(product(adjoint(dq), rest), product(adjoint(q), moved))
        dr = concatenate([dr, more], last)
    return [dq, dr]


qr_p = Primitive(
    "qr",
    abstract=_qr_abstract,
    reference=quiet(_qr_reference),
    lower=_qr_lower,
    derivative=Smooth(_qr_tangent),
    batch=batch_rule(lambda x, **params: qr_p.bind(x, **params)),
    multiple_results=True,
)


# ---- reflectors ----


def _geqrf_abstract(x):
    check_matrices("geqrf", x)
    *batch, m, n = x.shape
    return [x.strong(), ShapedArray((*batch, min(m, n)), x.dtype)]


def _geqrf_reference(x):
    def factored(a):
        h, taus = np.linalg.qr(a, "raw")
        return h.T, taus

    k = min(x.shape[-2:])
    return by_matrix(factored, x, [(x.shape[-2:], x.dtype), ((k,), x.dtype)])


def _geqrf_lower(b, outs, x):
    if not outs[0].size:
        return [b.full(0, out) for out in outs]
    return _emit_geqrf(b, x, outs[0])


geqrf_p = Primitive(
    "geqrf",
    abstract=_geqrf_abstract,
    reference=quiet(_geqrf_reference),
    lower=_geqrf_lower,
    derivative=NotDifferentiable("reflectors are a form of storage; qr has one"),
    batch=batch_rule(lambda x: geqrf_p.bind(x)),
    multiple_results=True,
)


def _product_abstract(a, taus):
    check_matrices("householder_product", a)
    what = f"householder_product of {a.short()} and {taus.short()}"
    m, n = a.shape[-2:]
    fits = taus.ndim == a.ndim - 1 and taus.shape[:-1] == a.shape[:-2]
    if not fits or m < n or taus.shape[-1] > n:
        raise ShapeError(
            what, rule="[*b, m, n] with m >= n, and at most n scales a matrix, [*b, k]"
        )
    if a.dtype != taus.dtype:
        raise DtypeError(what, rule="both have the same dtype")
    return a.strong()


def _product_reference(a, taus):
    out = np.zeros_like(a)
    m, n = a.shape[-2:]
    for place in np.ndindex(*a.shape[:-2]):
        q = np.eye(m, n, dtype=a.dtype)
        for i in reversed(range(taus.shape[-1])):
            v = np.concatenate([np.zeros(i), [1], a[place][i + 1 :, i]]).astype(a.dtype)
            q = q - taus[place][i] * np.outer(v, v.conj() @ q)
        out[place] = q
    return out


householder_product_p = Primitive(
    "householder_product",
    abstract=_product_abstract,
    reference=quiet(_product_reference),
    lower=lambda b, out, a, taus: (
        _emit_product(b, out, a, taus) if out.size else b.full(0, out)
    ),
    derivative=NotDifferentiable("reflectors are a form of storage; qr has one"),
    batch=batch_rule(lambda a, taus: householder_product_p.bind(a, taus)),
)
