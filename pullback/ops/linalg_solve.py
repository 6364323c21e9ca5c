"""Solutions of equations: derivatives from the equation, not from the algorithm.

Each primitive here takes the matrix and what an algorithm found for it. Its meaning,
and so its derivative in every order, is that of the matrix; what was found has none.
"""

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Smooth
from pullback.core.errors import DtypeError, ShapeError
from pullback.core.primitive import Primitive
from pullback.ops.complex import real
from pullback.ops.convert import stop_gradient
from pullback.ops.cumulative import cumprod
from pullback.ops.elementwise import add, mul, neg, no_tangent, sub
from pullback.ops.joining import concatenate
from pullback.ops.linalg_lu import lu, take_rows
from pullback.ops.linalg_triangular import (
    folded_columns,
    left_solve,
    triangular_solve,
    unfolded_columns,
)
from pullback.ops.logic import eq, select_n
from pullback.ops.matrices import (
    adjoint,
    along_rows,
    batch_rule,
    by_matrix,
    check_matrices,
    diagonal,
    diagonal_mask,
    identity,
    is_complex,
    of_imaginary_part,
    product,
    transposed,
)
from pullback.ops.nary import quiet
from pullback.ops.reduce import reduce_prod
from pullback.ops.shape import broadcast_in_dim, full, reduce_sum
from pullback.ops.slicing import slice_in_dim


def solve(a, b):
    """`x` with `a @ x = b`, by LU decomposition.

    Args:
      a: `[*batch, n, n]`
      b: `[*batch, n, k]`

    Source: LAPACK getrf, BLAS trsm. Derivative: Giles (2008), section 2.3.1.
    """
    check_matrices("solve", aval_of(a), square=True)
    factors, _, permutation = lu(stop_gradient(a))
    return lu_solve_p.bind(a, factors, permutation, b, transpose_a=False)


def det(a):
    """The determinant, by LU decomposition; its first derivative is right also where
    the rank is one short.

    Args:
      a: `[*batch, n, n]`, `n >= 1`.

    Source: LAPACK getrf. Derivative: Giles (2008), section 2.2.4, by cofactors.
    """
    check_matrices("det", aval_of(a), square=True)
    factors, pivots, permutation = lu(a)
    return det_p.bind(a, factors, permutation, parity(pivots, factors))


def slogdet(a):
    """Sign and logarithm of the absolute value of the determinant, by LU.

    Args:
      a: `[*batch, n, n]`

    Source: LAPACK getrf. Derivative: Giles (2008), section 2.2.4.
    """
    check_matrices("slogdet", aval_of(a), square=True)
    factors, pivots, permutation = lu(stop_gradient(a))
    sign = parity(pivots, factors)
    return tuple(slogdet_p.bind(a, factors, permutation, sign))


def pseudo_inverse(a, value):
    """`value`, known to be the pseudo-inverse of `a` with a rank that stays.

    Source: Golub and Pereyra, The differentiation of pseudo-inverses (1973), eq. 4.12.
    """
    return pinv_p.bind(a, stop_gradient(value))


# ---- lu_solve ----


def _solve_abstract(a, factors, permutation, b, *, transpose_a):
    check_matrices("solve", a, square=True)
    what = f"solve of {a.short()} and {b.short()}"
    if a.dtype != b.dtype:
        raise DtypeError(what, rule="both have the same dtype")
    if a.shape[:-2] != b.shape[:-2] or b.shape[-2:-1] != a.shape[-1:]:
        raise ShapeError(
            what,
            rule="batch axes are equal, and the second-last axis of b is as long as a",
        )
    return b.strong()


def _solve_reference(a, factors, permutation, b, *, transpose_a):
    a = np.swapaxes(a, -1, -2) if transpose_a else a
    n = a.shape[-1]
    both = np.concatenate([a, b], -1)
    core = (b.shape[-2:], b.dtype)
    return by_matrix(lambda ab: [np.linalg.solve(ab[:, :n], ab[:, n:])], both, [core])[
        0
    ]


def _emit_rows(b, x, rows, aval: ShapedArray):
    """Rows in the order of permutations."""
    last = aval.ndim - 1
    batch = list(range(last - 1))
    index = b.reshape(ShapedArray((*aval.shape[:-1], 1), np.dtype(np.int32)), rows)
    return b.gather(
        aval,
        x,
        index,
        offset_dims=[last],
        collapsed_slice_dims=[last - 1],
        operand_batching_dims=batch,
        start_indices_batching_dims=batch,
        start_index_map=[last - 1],
        index_vector_dim=last,
        slice_sizes=[*(1 for _ in range(last)), aval.shape[-1]],
    )


def _emit_inverse(b, rows, aval: ShapedArray):
    """The inverse of permutations."""
    counts = b.iota(aval, aval.ndim - 1)
    return b.sort(
        [rows, counts], aval.ndim - 1, lambda b, x, y, *_: b.compare(x, y, "LT")
    )[1]


def _solve_lower(b, out, a, factors, permutation, y, *, transpose_a):
    if not out.size:
        return b.full(0, out)

    def triangular(y, uplo: str, diag: str):
        return b.lapack(
            "trsm",
            [out],
            [factors, y],
            dtype=out.dtype,
            batch=out.ndim - 2,
            aliases={0: 1},
            side="L",
            uplo=uplo,
            trans_x="T" if transpose_a else "N",
            diag=diag,
        )[0]

    if transpose_a:
        x = triangular(triangular(y, "U", "N"), "L", "U")
        rows = _emit_inverse(b, permutation, b.avals_in[2])
        return _emit_rows(b, x, rows, out)
    y = _emit_rows(b, y, permutation, out)
    return triangular(triangular(y, "L", "U"), "U", "N")


def _solve_tangent(t, out, a, factors, permutation, b, *, transpose_a):
    moved = product(transposed(t) if transpose_a else t, out)
    x = lu_solve_p.bind(a, factors, permutation, moved, transpose_a=transpose_a)
    return neg(x)


def _solve_transpose(ct, a, factors, permutation, b, *, transpose_a):
    return lu_solve_p.bind(a, factors, permutation, ct, transpose_a=not transpose_a)


def _solve_batch(n, xs, ds, **params):
    if any(d is not None for d in ds[:3]):
        return _solve_matched(n, xs, ds, **params)
    axis = aval_of(xs[3]).ndim - 2
    b = folded_columns(xs[3], ds[3], axis)
    return unfolded_columns(lu_solve_p.bind(*xs[:3], b, **params), n, axis), axis + 1


_solve_matched = batch_rule(lambda *xs, **params: lu_solve_p.bind(*xs, **params))

lu_solve_p = Primitive(
    "lu_solve",
    abstract=_solve_abstract,
    reference=quiet(_solve_reference),
    lower=_solve_lower,
    derivative=Smooth(
        (_solve_tangent, no_tangent, no_tangent, None),
        transpose={3: _solve_transpose},
    ),
    batch=_solve_batch,
)


# ---- det ----


def parity(pivots, like):
    """1 or -1 by the number of swaps, in the dtype of `like`."""
    aval = aval_of(pivots)
    from_rows = np.arange(aval.shape[-1], dtype=aval.dtype)
    rows = broadcast_in_dim(from_rows, aval.shape, (aval.ndim - 1,))
    shape = aval.shape
    one = full(ShapedArray(shape, aval_of(like).dtype), 1)
    signs = select_n(eq(pivots, rows), neg(one), one)
    return reduce_prod(signs, (aval.ndim - 1,))


def _det_abstract(a, factors, permutation, sign):
    check_matrices("det", a, square=True)
    return ShapedArray(a.shape[:-2], a.dtype)


def _emit_diagonal(b, x, aval: ShapedArray):
    """`x` on the diagonal, 1 elsewhere."""
    counts = ShapedArray(aval.shape, np.dtype(np.int32))
    rows, columns = b.iota(counts, aval.ndim - 2), b.iota(counts, aval.ndim - 1)
    return b.select(b.compare(rows, columns, "EQ"), x, b.full(1, aval))


def _det_lower(b, out, a, factors, permutation, sign):
    aval, scalar = b.avals_in[1], ShapedArray((), out.dtype)
    kept = _emit_diagonal(b, factors, aval)
    axes = (aval.ndim - 2, aval.ndim - 1)
    one = b.full(1, scalar)
    value = b.reduce([out], [kept], [one], axes, lambda b, p, q: [b.multiply(p, q)])
    return b.multiply(value[0], sign)


def _adjugate(factors, permutation, sign):
    """`det(a) * a**-1` by LU; the last pivot, which may be 0, is never divided by."""
    aval = aval_of(factors)
    n, last = aval.shape[-1], aval.ndim - 1
    pivots = diagonal(factors)
    one = full(ShapedArray((*aval.shape[:-2], 1), aval.dtype), 1)
    before = slice_in_dim(pivots, 0, n - 1, axis=last - 1)
    partial = cumprod(concatenate([one, before], last - 1), last - 1)
    minor = slice_in_dim(partial, n - 1, n, axis=last - 1)  # without the last pivot
    end = slice_in_dim(pivots, n - 1, n, axis=last - 1)
    # u, its last pivot replaced by 1, and right sides scaled to make up for it
    rest = broadcast_in_dim(mul(minor, end), (*aval.shape[:-2], n - 1), range(last))
    scales = along_rows(concatenate([rest, minor], last - 1), factors)
    corner = _corner(aval)
    u = select_n(corner, factors, full(aval, 1))
    y = left_solve(_unit(factors), take_rows(identity(aval, n), permutation), True)
    x = triangular_solve(u, mul(y, scales), left_side=True)
    signs = broadcast_in_dim(sign, aval.shape, range(last - 1))
    return mul(x, signs)


def _corner(aval: ShapedArray):
    n = aval.shape[-1]
    corner = np.zeros((n, n), bool)
    corner[-1, -1] = True
    return broadcast_in_dim(corner, aval.shape, (aval.ndim - 2, aval.ndim - 1))


def _unit(factors):
    mask = diagonal_mask(aval_of(factors).shape)
    return select_n(mask, factors, full(aval_of(factors), 1))


def _det_tangent(t, out, a, factors, permutation, sign):
    weights = transposed(_adjugate(factors, permutation, sign))
    ndim = aval_of(a).ndim
    return reduce_sum(mul(t, weights), (ndim - 2, ndim - 1))


det_p = Primitive(
    "det",
    abstract=_det_abstract,
    reference=quiet(lambda a, factors, permutation, sign: np.linalg.det(a)),
    lower=_det_lower,
    derivative=Smooth((_det_tangent, no_tangent, no_tangent, no_tangent)),
    batch=batch_rule(lambda *xs: det_p.bind(*xs)),
)


# ---- slogdet ----


def _slogdet_abstract(a, factors, permutation, sign):
    check_matrices("slogdet", a, square=True)
    size = ShapedArray(a.shape[:-2], dtypes.to_real(a.dtype))
    return [ShapedArray(a.shape[:-2], a.dtype), size]


def _slogdet_lower(b, outs, a, factors, permutation, sign):
    signs, sizes = outs
    aval = b.avals_in[1]
    real = aval.update(dtype=sizes.dtype)
    kept = _emit_diagonal(b, factors, aval)
    size = b.abs(kept)
    axes = (aval.ndim - 2, aval.ndim - 1)
    zero = b.full(0, ShapedArray((), real.dtype))
    add_up, multiply = lambda b, p, q: [b.add(p, q)], lambda b, p, q: [b.multiply(p, q)]
    total = b.reduce([sizes], [b.log(size)], [zero], axes, add_up)[0]
    unit = b.sign(kept)
    one = b.full(1, ShapedArray((), aval.dtype))
    turned = b.reduce([signs], [unit], [one], axes, multiply)[0]
    return [b.multiply(turned, sign), total]


def _slogdet_tangent(ts, outs, a, factors, permutation, sign):
    """By the inverse: d log det a = trace(a**-1 @ da)."""
    aval = aval_of(a)
    one = identity(aval, aval.shape[-1])
    inverse = lu_solve_p.bind(a, factors, permutation, one, transpose_a=True)
    moved = reduce_sum(mul(ts[0], inverse), (aval.ndim - 2, aval.ndim - 1))
    if not is_complex(a):
        return [None, moved]
    return [mul(outs[0], of_imaginary_part(moved)), real(moved)]


slogdet_p = Primitive(
    "slogdet",
    abstract=_slogdet_abstract,
    reference=quiet(lambda a, factors, permutation, sign: list(np.linalg.slogdet(a))),
    lower=_slogdet_lower,
    derivative=Smooth(_slogdet_tangent),
    batch=batch_rule(lambda *xs: slogdet_p.bind(*xs)),
    multiple_results=True,
)


# ---- pinv ----


def _pinv_abstract(a, value):
    check_matrices("pinv", a)
    *batch, m, n = a.shape
    if value.shape != (*batch, n, m) or value.dtype != a.dtype:
        raise ShapeError(f"pinv of {a.short()} with {value.short()}")
    return value.strong()


def _pinv_reference(a, value):
    def function(both):
        m, n = a.shape[-2:]
        x, known = both[: m * n].reshape(m, n), both[m * n :].reshape(n, m)
        rank = int(np.linalg.matrix_rank(known)) if known.size else 0
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        kept = (vh[:rank].conj().T / s[:rank]) @ u[:, :rank].conj().T
        return [kept]

    batch = a.shape[:-2]
    flat = [y.reshape(*batch, y.shape[-1] * y.shape[-2], 1) for y in (a, value)]
    core = (value.shape[-2:], value.dtype)
    return by_matrix(function, np.concatenate(flat, -2), [core])[0]


def _pinv_tangent(t, out, a, value):
    p, ph = out, adjoint(out)
    rest = sub(adjoint(t), product(adjoint(t), a, p))
    total = sub(product(p, ph, rest), product(p, t, p))
    left = product(adjoint(t), ph, p)
    return add(total, sub(left, product(p, a, left)))


pinv_p = Primitive(
    "pinv",
    abstract=_pinv_abstract,
    reference=quiet(_pinv_reference),
    lower=lambda b, out, a, value: value,
    derivative=Smooth((_pinv_tangent, no_tangent)),
    batch=batch_rule(lambda *xs: pinv_p.bind(*xs)),
)
