"""Eigenvalues of matrices that need not be Hermitian."""

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Region
from pullback.core.errors import InternalError
from pullback.core.primitive import Primitive
from pullback.ops.complex import abs, conj
from pullback.ops.convert import convert
from pullback.ops.elementwise import div, mul, sub
from pullback.ops.iota import broadcasted_iota
from pullback.ops.linalg_solve import solve
from pullback.ops.linalg_spectral import inverse_gaps
from pullback.ops.logic import eq
from pullback.ops.matrices import (
    INT32,
    adjoint,
    along_columns,
    batch_rule,
    by_matrix,
    check_matrices,
    diagonal,
    emit_filled,
    info_aval,
    masked,
    of_imaginary_part,
    of_real_part,
    product,
)
from pullback.ops.nary import quiet
from pullback.ops.reduce import argmax
from pullback.ops.shape import reduce_sum


def eig(
    x,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
):
    """Eigenvalues, and left and right eigenvectors of length 1.

    Args:
      x: `[*b, n, n]`

    Returns:
      A list of complex arrays: the eigenvalues `[*b, n]` in no order, and as asked for
      the left and the right eigenvectors, as columns `[*b, n, n]`.

    Raises:
      ShapeError, DtypeError: not square, or no type that LAPACK computes in.

    Source: LAPACK geev, which makes the largest element of a vector real. Derivative:
    Giles (2008), section 3.1, under that convention.
    """
    return eig_p.bind(
        x,
        compute_left_eigenvectors=bool(compute_left_eigenvectors),
        compute_right_eigenvectors=bool(compute_right_eigenvectors),
    )


def _abstract(x, *, compute_left_eigenvectors, compute_right_eigenvectors):
    check_matrices("eig", x, square=True)
    dtype = dtypes.to_complex(x.dtype)
    count = compute_left_eigenvectors + compute_right_eigenvectors
    return [ShapedArray(x.shape[:-1], dtype)] + [ShapedArray(x.shape, dtype)] * count


def _normal(v):
    """Columns of length 1 whose largest element is real."""
    v = v / np.linalg.norm(v, axis=0)
    if not v.size:
        return v
    largest = np.take_along_axis(v, np.argmax(np.abs(v), 0)[None], 0)
    return v * (largest.conj() / np.abs(largest))


def _reference(x, *, compute_left_eigenvectors, compute_right_eigenvectors):
    def function(a):
        values, right = np.linalg.eig(a)
        outs = [values]
        if compute_left_eigenvectors:
            outs.append(_normal(np.linalg.inv(right).conj().T))
        return [*outs, right] if compute_right_eigenvectors else outs

    n, dtype = x.shape[-1], dtypes.to_complex(x.dtype)
    count = compute_left_eigenvectors + compute_right_eigenvectors
    return by_matrix(function, x, [((n,), dtype)] + [((n, n), dtype)] * count)


def _lower(b, outs, x, *, compute_left_eigenvectors, compute_right_eigenvectors):
    aval, values = b.avals_in[0], outs[0]
    if not aval.size:
        return [b.full(0, out) for out in outs]
    vectors = ShapedArray(aval.shape, values.dtype)
    real = not dtypes.is_complex(aval.dtype)
    parts = [values.update(dtype=aval.dtype)] * 2 if real else [values]
    *found, left, right, info = b.lapack(
        "geev",
        [*parts, vectors, vectors, info_aval(aval)],
        [x],
        dtype=aval.dtype,
        batch=aval.ndim - 2,
        compute_left="V" if compute_left_eigenvectors else "N",
        compute_right="V" if compute_right_eigenvectors else "N",
    )
    wanted = [b.complex(*found) if real else found[0]]
    wanted += [left] if compute_left_eigenvectors else []
    wanted += [right] if compute_right_eigenvectors else []
    return emit_filled(b, info, wanted, outs)


def _jvp(primals, tangents, *, compute_left_eigenvectors, compute_right_eigenvectors):
    (x,), (t,) = primals, tangents
    left = compute_left_eigenvectors
    w, *others, v = eig_p.bind(
        x, compute_left_eigenvectors=left, compute_right_eigenvectors=True
    )
    t = convert(t, aval_of(v).dtype)
    inner = solve(v, product(t, v))
    outs, ts = [w], [diagonal(inner)]
    if left:  # they are right ones of the adjoint
        (u,) = others
        across = solve(u, product(adjoint(t), u))
        outs, ts = [w, u], [*ts, _turned(u, conj(w), across)]
    if compute_right_eigenvectors:
        outs, ts = [*outs, v], [*ts, _turned(v, w, inner)]
    return outs, ts


def _turned(v, w, inner):
    """Tangents of eigenvectors whose length is 1 and whose largest element is real."""
    moved = product(v, mul(inner, inverse_gaps(w, w, inner)))
    axis = aval_of(v).ndim - 2
    if not aval_of(v).size:
        return moved
    along = reduce_sum(mul(conj(v), moved), (axis,))
    moved = sub(moved, mul(v, along_columns(of_real_part(along), v)))
    places = argmax(abs(v), axis)
    rows = broadcasted_iota(INT32, aval_of(v).shape, axis)
    largest = eq(rows, along_columns(places, v))
    at, by = (reduce_sum(masked(y, largest), (axis,)) for y in (v, moved))
    phase = of_imaginary_part(div(by, at))
    return sub(moved, mul(v, along_columns(phase, v)))


def _not_linear(cts, operands, **params):
    raise InternalError("eigenvalues are not linear in the matrix")


eig_p = Primitive(
    "eig",
    abstract=_abstract,
    reference=quiet(_reference),
    lower=_lower,
    derivative=Region(jvp=_jvp, transpose=_not_linear),
    batch=batch_rule(lambda x, **params: eig_p.bind(x, **params)),
    multiple_results=True,
)
