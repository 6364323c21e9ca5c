"""LU family: factors with partial pivoting, and the permutations that pivots make."""

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import NotDifferentiable, Smooth
from pullback.core.errors import ArgumentError, DtypeError
from pullback.core.primitive import Primitive
from pullback.ops.dimensions import GatherDimensionNumbers
from pullback.ops.elementwise import add
from pullback.ops.index import gather
from pullback.ops.linalg_triangular import left_solve, triangular_solve
from pullback.ops.logic import select_n
from pullback.ops.matrices import (
    INT32,
    batch_rule,
    by_matrix,
    check_matrices,
    emit_filled,
    identity,
    info_aval,
    lower_triangle,
    product,
    upper_triangle,
)
from pullback.ops.nary import quiet
from pullback.ops.shape import expand_dims, full, zeros
from pullback.ops.slicing import pad, slice_in_dim


def lu(x):
    """LU decomposition with partial pivoting: `x[permutation] = l @ u`.

    Args:
      x: `[*b, m, n]`

    Returns:
      The tuple of `[*b, m, n]`, `u` on and above the diagonal and `l`, whose diagonal
      is 1, below it; pivots `int32[*b, min(m, n)]`: row i was swapped with row
      `pivots[i]`, one after the other; the permutation `int32[*b, m]`.

    Raises:
      ShapeError, DtypeError: no matrices, or no type that LAPACK computes in.

    Source: LAPACK getrf. Derivative: de Hoog, Anderssen and Lukas, Differentiation of
    matrix functionals using triangular factorization (2011), for square `x`.
    """
    return tuple(lu_p.bind(x))


def lu_pivots_to_permutation(pivots, permutation_size: int):
    """The permutation that swapping row i with row `pivots[i]`, one by one, makes.

    Args:
      pivots: `int32[*b, k]`
      permutation_size: the number of rows, at least `k`.

    Returns:
      `int32[*b, permutation_size]`
    """
    return lu_pivots_to_permutation_p.bind(
        pivots, permutation_size=int(permutation_size)
    )


def take_rows(x, rows):
    """Rows of the matrices `[*b, m, n]` in the order of the permutations `[*b, m]`."""
    ndim = aval_of(x).ndim
    if not aval_of(x).size:
        return x
    batch = tuple(range(ndim - 2))
    numbers = GatherDimensionNumbers(
        offset_dims=(ndim - 1,),
        collapsed_slice_dims=(ndim - 2,),
        start_index_map=(ndim - 2,),
        operand_batching_dims=batch,
        start_indices_batching_dims=batch,
    )
    sizes = (*(1,) * (ndim - 1), aval_of(x).shape[-1])
    index = expand_dims(rows, (ndim - 1,))
    return gather(
        x, index, numbers, sizes, unique_indices=True, mode="promise_in_bounds"
    )


# ---- lu ----


def _lu_abstract(x):
    check_matrices("lu", x)
    *batch, m, n = x.shape
    pivots = ShapedArray((*batch, min(m, n)), INT32)
    return [x.strong(), pivots, ShapedArray((*batch, m), INT32)]


def _size(z):
    """What LAPACK compares to find a pivot."""
    return np.abs(z.real) + np.abs(z.imag) if np.iscomplexobj(z) else np.abs(z)


def _factored(x):
    """One matrix, right-looking, as the textbook has it."""
    x = x.copy()
    m, n = x.shape
    pivots, order = np.zeros(min(m, n), INT32), np.arange(m, dtype=INT32)
    for i in range(min(m, n)):
        p = i + int(np.argmax(_size(x[i:, i])))
        pivots[i] = p
        x[[i, p]], order[[i, p]] = x[[p, i]], order[[p, i]]
        if x[i, i] != 0:
            x[i + 1 :, i] /= x[i, i]
        x[i + 1 :, i + 1 :] -= np.outer(x[i + 1 :, i], x[i, i + 1 :])
    return x, pivots, order


def _lu_reference(x):
    m, n = x.shape[-2:]
    cores = [((m, n), x.dtype), ((min(m, n),), INT32), ((m,), INT32)]
    return by_matrix(_factored, x, cores)


def _lu_lower(b, outs, x):
    out, pivots, permutation = outs
    if not out.size:
        order = b.iota(permutation, permutation.ndim - 1)
        return [b.full(0, out), b.full(0, pivots), order]
    factors, places, info = b.lapack(
        "getrf",
        [out, pivots, info_aval(out)],
        [x],
        dtype=out.dtype,
        batch=out.ndim - 2,
        aliases={0: 0},
    )
    places = b.subtract(places, b.full(1, pivots))
    (factors,) = emit_filled(b, info, [factors], [out], failed="LT")
    return [factors, places, _emit_permutation(b, permutation, places, pivots)]


def _emit_permutation(b, out: ShapedArray, pivots, aval: ShapedArray):
    """Swap by swap, for all members of the batch at once."""
    last, scalar = out.ndim - 1, ShapedArray((), INT32)
    batch = range(last)
    column = ShapedArray((*out.shape[:-1], 1), INT32)
    counts = b.iota(out, last)
    if not aval.shape[-1]:
        return counts

    def at(b, x, i):
        starts = [b.full(0, scalar)] * last
        one = b.dynamic_slice(x, [*starts, i], column.shape)
        return b.broadcast_in_dim(out, one, range(out.ndim))

    def swap(b, i, order):
        here, there = b.broadcast_in_dim(out, i, ()), at(b, pivots, i)
        at_there = b.compare(counts, there, "EQ")
        none = b.full(0, out)
        found = ShapedArray(out.shape[:-1], INT32)
        value = b.reduce(
            [found],
            [b.select(at_there, order, none)],
            [b.full(0, scalar)],
            [last],
            lambda b, p, q: [b.add(p, q)],
        )[0]
        value = b.broadcast_in_dim(out, value, batch)
        swapped = b.select(at_there, at(b, order, i), order)
        swapped = b.select(b.compare(counts, here, "EQ"), value, swapped)
        return [b.add(i, b.full(1, scalar)), swapped]

    count = b.full(aval.shape[-1], scalar)
    return b.while_loop(
        [b.full(0, scalar), counts],
        lambda b, i, order: b.compare(i, count, "LT"),
        swap,
    )[1]


def _unit_lower(factors, m: int, n: int):
    """The factor `l`, made square with columns of the identity."""
    aval = aval_of(factors)
    k = min(m, n)
    part = lower_triangle(slice_in_dim(factors, 0, k, axis=aval.ndim - 1), -1)
    config = [(0, 0, 0)] * (aval.ndim - 1)
    square = pad(part, zeros(ShapedArray((), aval.dtype)), [*config, (0, m - k, 0)])
    return add(square, identity(aval, m))


def _square_upper(factors, m: int, n: int):
    """The factor `u`, made square with rows of the identity."""
    aval = aval_of(factors)
    k = min(m, n)
    part = upper_triangle(slice_in_dim(factors, 0, k, axis=aval.ndim - 2))
    config = [(0, 0, 0)] * (aval.ndim - 2)
    zero = zeros(ShapedArray((), aval.dtype))
    square = pad(part, zero, [*config, (0, n - k, 0), (0, 0, 0)])
    if n == k:
        return square
    shape = aval_of(square).shape
    rows = pad(
        full(ShapedArray((*shape[:-2], k, n), dtypes.bool_), True),
        False,
        [*config, (0, n - k, 0), (0, 0, 0)],
    )
    return select_n(rows, identity(aval, n), square)


def _lu_tangent(ts, outs, x):
    """`l**-1 @ t[permutation] @ u**-1`, split below the diagonal."""
    factors, _, permutation = outs
    m, n = aval_of(x).shape[-2:]
    low, u = _unit_lower(factors, m, n), _square_upper(factors, m, n)
    inner = left_solve(low, take_rows(ts[0], permutation), True)
    inner = triangular_solve(u, inner)
    below = product(low, lower_triangle(inner, -1))
    return [add(below, product(upper_triangle(inner), u)), None, None]


lu_p = Primitive(
    "lu",
    abstract=_lu_abstract,
    reference=quiet(_lu_reference),
    lower=_lu_lower,
    derivative=Smooth(_lu_tangent),
    batch=batch_rule(lambda x: lu_p.bind(x)),
    multiple_results=True,
)


# ---- lu_pivots_to_permutation ----


def _permutation_abstract(pivots, *, permutation_size):
    if pivots.dtype != INT32:
        raise DtypeError(
            f"lu_pivots_to_permutation of {pivots.short()}", rule="pivots are int32"
        )
    if not pivots.ndim or permutation_size < pivots.shape[-1]:
        raise ArgumentError(
            f"lu_pivots_to_permutation of {pivots.short()} with "
            f"permutation_size={permutation_size}",
            rule="there are at least as many rows as pivots",
        )
    return ShapedArray((*pivots.shape[:-1], permutation_size), INT32)


def _permutation_reference(pivots, *, permutation_size):
    batch = pivots.shape[:-1]
    out = np.zeros((*batch, permutation_size), INT32)
    for place in np.ndindex(*batch):
        order = np.arange(permutation_size, dtype=INT32)
        for i, p in enumerate(pivots[place]):
            order[[i, p]] = order[[p, i]]
        out[place] = order
    return out


lu_pivots_to_permutation_p = Primitive(
    "lu_pivots_to_permutation",
    abstract=_permutation_abstract,
    reference=_permutation_reference,
    lower=lambda b, out, pivots, *, permutation_size: _emit_permutation(
        b, out, pivots, b.avals_in[0]
    ),
    derivative=NotDifferentiable("its result is made of integers"),
    batch=batch_rule(lambda x, **params: lu_pivots_to_permutation_p.bind(x, **params)),
)
