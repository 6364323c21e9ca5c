"""Logic family: comparisons, choices, extremes and Boolean operations."""

from collections.abc import Callable

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Linear, NotDifferentiable, Smooth
from pullback.core.errors import ArgumentTypeError, DtypeError, ShapeError
from pullback.core.jaxpr import Var
from pullback.core.primitive import Primitive
from pullback.ops.elementwise import mul
from pullback.ops.nary import (
    ANY,
    align,
    full_operands,
    joint_dtype,
    joint_shape,
    nary,
    quiet,
)
from pullback.ops.shape import broadcast_in_dim, full, zeros

DISCRETE = ("int", "bool")
ORDERED = ("float", "int", "bool")


def eq(x, y):
    """`x == y`, elementwise. Source: StableHLO `compare`."""
    return eq_p.bind(x, y)


def ne(x, y):
    """`x != y`, elementwise; true for NaN. Source: StableHLO `compare`."""
    return ne_p.bind(x, y)


def lt(x, y):
    """`x < y`, elementwise. Source: StableHLO `compare`."""
    return lt_p.bind(x, y)


def le(x, y):
    """`x <= y`, elementwise. Source: StableHLO `compare`."""
    return le_p.bind(x, y)


def gt(x, y):
    """`x > y`, elementwise. Source: StableHLO `compare`."""
    return gt_p.bind(x, y)


def ge(x, y):
    """`x >= y`, elementwise. Source: StableHLO `compare`."""
    return ge_p.bind(x, y)


def max(x, y):
    """The larger operand, elementwise; NaN if one is. Complex numbers compare by real
    part first. At ties each operand has half the derivative.

    Source: StableHLO `maximum`.
    """
    return max_p.bind(x, y)


def min(x, y):
    """The smaller operand, elementwise; see `max`. Source: StableHLO `minimum`."""
    return min_p.bind(x, y)


def bitwise_and(x, y):
    """`x & y` of integers or booleans. Source: StableHLO `and`."""
    return and_p.bind(x, y)


def bitwise_or(x, y):
    """`x | y` of integers or booleans. Source: StableHLO `or`."""
    return or_p.bind(x, y)


def bitwise_xor(x, y):
    """`x ^ y` of integers or booleans. Source: StableHLO `xor`."""
    return xor_p.bind(x, y)


def bitwise_not(x):
    """`~x` of integers or booleans. Source: StableHLO `not`."""
    return not_p.bind(x)


def select_n(which, *cases):
    """Each element from the one of the arrays `cases` that `which` names there.

    Args:
      which: `bool[*s]` (at most two cases, False names the first) or `int32[*s]`; or of
        rank 0.
      *cases: `t[*s]`, all of one shape and dtype.

    Raises:
      ShapeError, DtypeError: the operands do not fit.

    Source: StableHLO `select`.
    """
    if not cases:
        raise ArgumentTypeError(
            "select_n with no cases",
            rule="select_n() must have at least one case",
        )
    return select_n_p.bind(which, *cases)


def select(pred, on_true, on_false):
    """`on_true` where `pred`, else `on_false`; shapes as in `select_n`."""
    return select_n_p.bind(pred, on_false, on_true)


def clamp(min, x, max):
    """`x`, or the bound that it is beyond, elementwise; the upper bound wins.

    `min`, `max`: of the shape of `x` or of rank 0. The derivative in `x` is 0 at and
    beyond the bounds.

    Source: StableHLO `clamp`.
    """
    return clamp_p.bind(min, x, max)


# ---- comparisons ----


def _comparison(name: str, reference: Callable, direction: str, accepts):
    return nary(
        name,
        accepts=accepts,
        reference=reference,
        emit=lambda b, x, y: b.compare(x, y, direction),
        derivative=NotDifferentiable("its result is boolean"),
        result=lambda dtype: dtypes.bool_,
    )


eq_p = _comparison("eq", np.equal, "EQ", (*ANY, "key"))
ne_p = _comparison("ne", np.not_equal, "NE", (*ANY, "key"))
lt_p = _comparison("lt", np.less, "LT", ORDERED)
le_p = _comparison("le", np.less_equal, "LE", ORDERED)
gt_p = _comparison("gt", np.greater, "GT", ORDERED)
ge_p = _comparison("ge", np.greater_equal, "GE", ORDERED)


# ---- extremes ----


def _share(x, y, out):
    """1 where `x` alone is the extreme, 1/2 where both are, else 0."""
    like = aval_of(out)
    alone = select_n(eq(y, out), full(like, 1), full(like, 0.5))
    return select_n(eq(x, out), full(like, 0), alone)


def _extreme(name: str, reference: Callable, emit: Callable, direction: str):
    def lower(b, x, y):
        if not dtypes.is_complex(b.avals_in[0].dtype):
            return emit(b, x, y)
        u, v = b.real(x), b.real(y)
        first = b.compare(u, v, direction)
        second = b.compare(b.imag(x), b.imag(y), direction)
        pick = b.select(b.compare(u, v, "EQ"), second, first)
        return b.select(pick, x, y)

    return nary(
        name,
        accepts=ANY,
        reference=reference,
        emit=lower,
        derivative=Smooth(
            (
                lambda t, out, x, y: mul(t, _share(x, y, out)),
                lambda t, out, x, y: mul(t, _share(y, x, out)),
            )
        ),
    )


def _maximum(x, y):
    """NumPy's, with 0 above -0."""
    if dtypes.is_complex(x.dtype) or not dtypes.is_inexact(x.dtype):
        return np.maximum(x, y)
    return np.where(x == y, np.where(np.signbit(x), y, x), np.maximum(x, y))


def _minimum(x, y):
    """NumPy's, with -0 below 0."""
    if dtypes.is_complex(x.dtype) or not dtypes.is_inexact(x.dtype):
        return np.minimum(x, y)
    return np.where(x == y, np.where(np.signbit(x), x, y), np.minimum(x, y))


max_p = _extreme("max", _maximum, lambda b, x, y: b.maximum(x, y), "GT")
min_p = _extreme("min", _minimum, lambda b, x, y: b.minimum(x, y), "LT")


# ---- Boolean operations ----


def _discrete(name: str, reference: Callable, emit: Callable):
    return nary(
        name,
        accepts=DISCRETE,
        reference=reference,
        emit=emit,
        derivative=NotDifferentiable("its result is discrete"),
    )


and_p = _discrete("and", np.bitwise_and, lambda b, x, y: b.and_(x, y))
or_p = _discrete("or", np.bitwise_or, lambda b, x, y: b.or_(x, y))
xor_p = _discrete("xor", np.bitwise_xor, lambda b, x, y: b.xor(x, y))
not_p = _discrete("not", np.invert, lambda b, x: b.not_(x))


# ---- select_n ----


def _check_predicate(which, cases) -> None:
    if not (dtypes.is_bool(which.dtype) or which.dtype == dtypes.int32):
        raise DtypeError(
            f"select_n with a predicate {which.short()}",
            rule="which must be boolean or int32",
        )
    if dtypes.is_bool(which.dtype) and len(cases) > 2:
        raise ArgumentTypeError(
            f"select_n of {len(cases)} cases by a boolean predicate",
            rule="a boolean names at most two cases",
            fix="use an int32 predicate",
        )


def _select_abstract(which, *cases):
    _check_predicate(which, cases)
    shape = cases[0].shape
    got = ", ".join(a.short() for a in cases)
    if any(a.shape != shape for a in cases):
        raise ShapeError(
            f"select_n of cases {got}", rule="select cases must have the same shapes"
        )
    if which.shape not in ((), shape):
        raise ShapeError(
            f"select_n of cases {got} by {which.short()}",
            rule="which must be scalar or have the same shape as cases",
        )
    dtype = joint_dtype("select_n", cases)
    return ShapedArray(shape, dtype, all(a.weak_type for a in cases))


def _select_reference(which, *cases):
    which = np.broadcast_to(which, cases[0].shape)
    if len(cases) == 1:
        return cases[0]
    last = len(cases) - 1
    index = np.clip(which.astype(np.int32), 0, last)
    out = cases[0]
    for i in range(1, last + 1):
        out = np.where(index == i, cases[i], out)
    return out


def _select_lower(b, out, which, *cases):
    if len(cases) == 1:
        return cases[0]
    aval = b.avals_in[0]
    if dtypes.is_bool(aval.dtype):
        return b.select(which, cases[1], cases[0])
    value = cases[-1]
    for i in range(len(cases) - 2, -1, -1):
        low = b.compare(which, b.full(i, aval), "LE")
        value = b.select(low, cases[i], value)
    return value


def _select_transpose(ct, which, *cases):
    zero = zeros(aval_of(ct))

    def cotangent(i):
        terms = [ct if j == i else zero for j in range(len(cases))]
        return select_n(which, *terms)

    linear = [isinstance(case, Var) for case in cases]
    return [None, *(cotangent(i) if x else None for i, x in enumerate(linear))]


def _select_batch(n, xs, ds):
    which, *cases = xs
    if ds[0] is None and not aval_of(which).ndim:
        cases, d = _aligned(n, cases, ds[1:])
        return select_n(which, *cases), d
    xs, d = align(n, xs, ds)
    return select_n(xs[0], *_ranked(xs[1:], xs)), d


def _aligned(n, cases, ds):
    cases, d = align(n, cases, ds)
    return _ranked(cases, cases), d


def _ranked(cases, among):
    """The cases with rank-0 ones repeated to the shape that one of `among` has."""
    shape = next(s for s in (aval_of(x).shape for x in among) if s)
    return [c if aval_of(c).shape else broadcast_in_dim(c, shape, ()) for c in cases]


select_n_p = Primitive(
    "select_n",
    abstract=_select_abstract,
    reference=_select_reference,
    lower=_select_lower,
    derivative=Linear(_select_transpose),
    batch=_select_batch,
)


# ---- clamp ----


def _between(low, x, high):
    return bitwise_and(gt(x, low), lt(x, high))


def _masked(t, mask, out):
    """`t` where `mask`, else zero."""
    aval = aval_of(out)
    t = t if aval_of(t).shape == aval.shape else broadcast_in_dim(t, aval.shape, ())
    if aval_of(mask).shape not in ((), aval.shape):
        mask = broadcast_in_dim(mask, aval.shape, ())
    return select_n(mask, zeros(aval_of(t)), t)


def _clamp_abstract(low, x, high):
    joint = joint_shape("clamp", (low, x, high))
    if joint != x.shape:
        raise ShapeError(
            f"clamp of {x.short()} between {low.short()} and {high.short()}",
            rule="bounds have the shape of the operand, or rank 0",
            fix="broadcast the operand, or use pullback.numpy.clip",
        )
    dtype = joint_dtype("clamp", (low, x, high))
    return ShapedArray(x.shape, dtype, x.weak_type)


def _clamp_lower(b, out, *xs):
    return b.clamp(*full_operands(b, out, xs))


def _clamp_batch(n, xs, ds):
    xs, d = align(n, xs, ds)
    if not aval_of(xs[1]).ndim:
        xs[1] = broadcast_in_dim(xs[1], (n,), ())
    return clamp(*xs), d


def _clamp_reference(low, x, high):
    return _minimum(_maximum(x, low), high)


clamp_p = Primitive(
    "clamp",
    abstract=_clamp_abstract,
    reference=quiet(_clamp_reference),
    lower=_clamp_lower,
    derivative=Smooth(
        (
            lambda t, out, low, x, high: _masked(t, gt(low, x), out),
            lambda t, out, low, x, high: _masked(t, _between(low, x, high), out),
            lambda t, out, low, x, high: _masked(t, lt(high, x), out),
        )
    ),
    batch=_clamp_batch,
)
