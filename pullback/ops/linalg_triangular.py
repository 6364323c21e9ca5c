"""Triangular family: Cholesky factors, and equations with triangular matrices."""

import numpy as np

from pullback.core.aval import aval_of
from pullback.core.derivative import Smooth
from pullback.core.errors import DtypeError, ShapeError
from pullback.core.primitive import Primitive
from pullback.ops.complex import conj
from pullback.ops.elementwise import add, mul, neg, scalar_like
from pullback.ops.logic import select_n
from pullback.ops.matrices import (
    adjoint,
    batch_rule,
    by_matrix,
    check_matrices,
    diagonal_mask,
    emit_filled,
    emit_triangle,
    hermitian,
    info_aval,
    is_complex,
    lower_triangle,
    product,
    transposed,
    triangle,
)
from pullback.ops.nary import quiet
from pullback.ops.shape import expand_dims, moveaxis, reshape, squeeze


def cholesky(x, *, symmetrize_input: bool = True):
    """Lower triangular `l` with `l @ l.conj().T = x`, positive on the diagonal.

    Args:
      x: `[*b, n, n]`, Hermitian and positive definite.
      symmetrize_input: take `(x + x.conj().T) / 2`; else only the lower triangle of
        `x` is read, and only it has a derivative.

    Returns:
      `[*b, n, n]`; its lower triangle is NaN where `x` is not positive definite.

    Raises:
      ShapeError: not square.
      DtypeError: not float32, float64, complex64 or complex128.

    Source: LAPACK potrf. Derivative: Murray, Differentiation of the Cholesky
    decomposition (2016), eq. 8.
    """
    if symmetrize_input:
        check_matrices("cholesky", aval_of(x), square=True)
        x = symmetrized(x)
    return cholesky_p.bind(x)


def symmetrized(x):
    """The Hermitian part, `(x + x.conj().T) / 2`."""
    return mul(add(x, adjoint(x)), scalar_like(x, 0.5))


def triangular_solve(
    a,
    b,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
):
    """Solve `op(a) @ x = b`, or `x @ op(a) = b`, with triangular `a`.

    Args:
      a: `[*batch, n, n]`, of which one triangle is read.
      b: `[*batch, n, k]` if `left_side`, else `[*batch, k, n]`; or without the axis k.
      left_side: whether `a` stands to the left of `x`.
      lower: which triangle is read.
      transpose_a, conjugate_a: what `op` does.
      unit_diagonal: take the diagonal for ones, without reading it.

    Returns:
      The shape of `b`; infinite or NaN where `a` is singular.

    Raises:
      ShapeError: `a` is not square, or `b` does not fit.
      DtypeError: different dtypes, or none that LAPACK computes in.

    Source: BLAS trsm. Derivative: Giles (2008), section 2.3.1.
    """
    vector = aval_of(b).ndim == aval_of(a).ndim - 1
    if vector:
        last = aval_of(b).ndim
        b = expand_dims(b, (last if left_side else last - 1,))
    x = bind_triangular(
        a,
        b,
        left_side=bool(left_side),
        lower=bool(lower),
        transpose_a=bool(transpose_a),
        conjugate_a=bool(conjugate_a and is_complex(a)),
        unit_diagonal=bool(unit_diagonal),
    )
    return squeeze(x, (aval_of(x).ndim - (1 if left_side else 2),)) if vector else x


def bind_triangular(a, b, **params):
    """`triangular_solve` of matrices with every parameter given."""
    return triangular_solve_p.bind(a, b, **params)


def left_solve(a, b, lower: bool):
    """`a**-1 @ b` for a triangle of `a`."""
    return triangular_solve(a, b, left_side=True, lower=lower)


# ---- cholesky ----


def _cholesky_abstract(x):
    check_matrices("cholesky", x, square=True)
    return x


def _cholesky_reference(x):
    (out,) = by_matrix(lambda m: [np.linalg.cholesky(m)], x, [(x.shape[-2:], x.dtype)])
    return np.tril(out)


def _cholesky_lower(b, out, x):
    if not out.size:
        return b.full(0, out)
    factor, info = b.lapack(
        "potrf",
        [out, info_aval(out)],
        [x],
        dtype=out.dtype,
        batch=out.ndim - 2,
        aliases={0: 0},
        uplo="L",
    )
    (factor,) = emit_filled(b, info, [factor], [out])
    return emit_triangle(b, factor, out, "GE")


def _half_lower(x):
    """The lower triangle, with half of the diagonal."""
    half = mul(x, scalar_like(x, 0.5))
    return lower_triangle(select_n(diagonal_mask(aval_of(x).shape), x, half))


def _cholesky_tangent(t, out, x):
    inner = left_solve(out, hermitian(t), True)
    inner = adjoint(left_solve(out, adjoint(inner), True))
    return product(out, _half_lower(inner))


cholesky_p = Primitive(
    "cholesky",
    abstract=_cholesky_abstract,
    reference=quiet(_cholesky_reference),
    lower=_cholesky_lower,
    derivative=Smooth((_cholesky_tangent,)),
    batch=batch_rule(lambda x: cholesky_p.bind(x)),
)


# ---- triangular_solve ----


def _solve_abstract(a, b, *, left_side, **params):
    check_matrices("triangular_solve", a, square=True)
    what = f"triangular_solve of {a.short()} and {b.short()}, left_side={left_side}"
    if a.dtype != b.dtype:
        raise DtypeError(what, rule="both have the same dtype")
    fits = a.ndim == b.ndim and a.shape[:-2] == b.shape[:-2]
    if not fits or b.shape[-2 if left_side else -1] != a.shape[-1]:
        raise ShapeError(
            what,
            rule="batch axes are equal, and the "
            f"{'second-last' if left_side else 'last'} axis of b is as long as a",
        )
    return b.strong()


def _operator(a, lower, transpose_a, conjugate_a, unit_diagonal):
    """`op(a)` in NumPy, and whether it is lower triangular."""
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        n = a.shape[-1]
        a[..., range(n), range(n)] = 1
    if transpose_a:
        a = np.swapaxes(a, -1, -2)
    return (np.conj(a) if conjugate_a else a), lower != transpose_a


def _solve_reference(a, b, *, left_side, **params):
    a, lower = _operator(a, **params)
    if not left_side:
        a, b, lower = np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2), not lower
    n = a.shape[-1]
    x = np.zeros_like(b)
    for i in range(n) if lower else reversed(range(n)):
        known = np.matmul(a[..., i : i + 1, :], x)[..., 0, :]
        x[..., i, :] = (b[..., i, :] - known) / a[..., i, i, None]
    return x if left_side else np.swapaxes(x, -1, -2)


def _solve_lower(
    b, out, a, y, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal
):
    if not out.size:
        return b.full(0, out)
    if conjugate_a and not transpose_a:
        a = b.complex(b.real(a), b.negate(b.imag(a)))
    letter = ("C" if conjugate_a else "T") if transpose_a else "N"
    return b.lapack(
        "trsm",
        [out],
        [a, y],
        dtype=out.dtype,
        batch=out.ndim - 2,
        aliases={0: 1},
        side="L" if left_side else "R",
        uplo="L" if lower else "U",
        trans_x=letter,
        diag="U" if unit_diagonal else "N",
    )[0]


def _solve_tangent(t, out, a, b, **params):
    """`-op(a)**-1 @ op(t) @ x`, of `t` what is read of `a`."""
    t = triangle(t, params["lower"], strict=params["unit_diagonal"])
    t = transposed(t) if params["transpose_a"] else t
    t = conj(t) if params["conjugate_a"] else t
    moved = product(t, out) if params["left_side"] else product(out, t)
    return neg(bind_triangular(a, moved, **params))


def _solve_transpose(ct, a, b, *, transpose_a, **params):
    return bind_triangular(a, ct, transpose_a=not transpose_a, **params)


def folded_columns(x, d: int, axis: int):
    """A batch axis merged into `axis` of the unbatched operand, as its minor part."""
    x = moveaxis(x, d, axis + 1)
    shape = aval_of(x).shape
    merged = shape[axis] * shape[axis + 1]
    return reshape(x, (*shape[:axis], merged, *shape[axis + 2 :]))


def unfolded_columns(x, n: int, axis: int):
    """The reverse, with the batch axis behind `axis`."""
    shape = aval_of(x).shape
    return reshape(x, (*shape[:axis], shape[axis] // n, n, *shape[axis + 1 :]))


def _solve_batch(n, xs, ds, **params):
    if ds[0] is not None:
        return _solve_matched(n, xs, ds, **params)
    ndim = aval_of(xs[1]).ndim - 1
    axis = ndim - 1 if params["left_side"] else ndim - 2
    b = folded_columns(xs[1], ds[1], axis)
    return unfolded_columns(bind_triangular(xs[0], b, **params), n, axis), axis + 1


_solve_matched = batch_rule(bind_triangular)

triangular_solve_p = Primitive(
    "triangular_solve",
    abstract=_solve_abstract,
    reference=quiet(_solve_reference),
    lower=_solve_lower,
    derivative=Smooth((_solve_tangent, None), transpose={1: _solve_transpose}),
    batch=_solve_batch,
)
