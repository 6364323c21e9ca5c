"""Reduction family: axes folded by max, min, product or logic; positions of extrema."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Derivative, NotDifferentiable, Smooth
from pullback.core.dtype_info import finfo, iinfo
from pullback.core.errors import ArgumentError
from pullback.core.primitive import Primitive
from pullback.ops.convert import convert
from pullback.ops.elementwise import add_any, div, mul
from pullback.ops.joining import concatenate
from pullback.ops.logic import eq
from pullback.ops.nary import ANY, check_kind, quiet
from pullback.ops.shape import (
    batched_axes,
    broadcast_in_dim,
    canonical_axis,
    reduce_sum,
    reduced_aval,
    reshape,
    transpose,
)
from pullback.ops.slicing import slice_in_dim


def reduce_max(x, axes: Sequence[int], *, out_sharding=None):
    """Largest element over `axes`; NaN wins; ties share the cotangent.

    Source: StableHLO `reduce` with `maximum`.
    """
    del out_sharding
    return reduce_max_p.bind(x, axes=tuple(axes))


def reduce_min(x, axes: Sequence[int], *, out_sharding=None):
    """Smallest element over `axes`; NaN wins; ties share the cotangent.

    Source: StableHLO `reduce` with `minimum`.
    """
    del out_sharding
    return reduce_min_p.bind(x, axes=tuple(axes))


def reduce_prod(x, axes: Sequence[int], *, out_sharding=None):
    """Product over `axes`; its derivative is right at zeros, too.

    Source: StableHLO `reduce` with `multiply`.
    """
    del out_sharding
    return reduce_prod_p.bind(x, axes=tuple(axes))


def reduce_and(x, axes: Sequence[int]):
    """Bitwise (of bool: logical) and over `axes`."""
    return reduce_and_p.bind(x, axes=tuple(axes))


def reduce_or(x, axes: Sequence[int]):
    """Bitwise (of bool: logical) or over `axes`."""
    return reduce_or_p.bind(x, axes=tuple(axes))


def reduce_xor(x, axes: Sequence[int]):
    """Bitwise (of bool: logical) exclusive or over `axes`."""
    return reduce_xor_p.bind(x, axes=tuple(axes))


def argmax(x, axis: int, index_dtype=np.int32):
    """Position of the first largest element along `axis`; the first NaN, if any.

    Raises:
      ArgumentError: `axis` is out of bounds, or has no elements.
    """
    axis = canonical_axis(axis, aval_of(x).ndim)
    return argmax_p.bind(x, axes=(axis,), index_dtype=dtypes.named(index_dtype))


def argmin(x, axis: int, index_dtype=np.int32):
    """Position of the first smallest element along `axis`; the first NaN, if any.

    Raises:
      ArgumentError: `axis` is out of bounds, or has no elements.
    """
    axis = canonical_axis(axis, aval_of(x).ndim)
    return argmin_p.bind(x, axes=(axis,), index_dtype=dtypes.named(index_dtype))


# ---- the start values of reductions ----


def lowest(dtype) -> Any:
    """The value below all others of a dtype, which max starts from."""
    if dtypes.is_bool(dtype):
        return False
    if dtypes.is_integer(dtype):
        return iinfo(dtype).min
    if dtypes.is_complex(dtype):
        return complex(-np.inf, -np.inf)
    return -np.inf if _has_inf(dtype) else float(finfo(dtype).min)


def highest(dtype) -> Any:
    """The value above all others of a dtype, which min starts from."""
    if dtypes.is_bool(dtype):
        return True
    if dtypes.is_integer(dtype):
        return iinfo(dtype).max
    if dtypes.is_complex(dtype):
        return complex(np.inf, np.inf)
    return np.inf if _has_inf(dtype) else float(finfo(dtype).max)


def _has_inf(dtype) -> bool:
    return bool(np.isinf(np.asarray(np.inf).astype(dtype)))


def _all_bits(dtype) -> Any:
    if dtypes.is_bool(dtype):
        return True
    info = iinfo(dtype)
    return -1 if info.min < 0 else info.max


# ---- the rules that reductions share ----


def widened(dtype):
    """The type that a sum or product of the given type accumulates in."""
    if dtypes.is_float(dtype) and dtype.itemsize < 4:
        return np.dtype(np.float32)
    return dtype


def _reference(ufunc: np.ufunc, start: Callable) -> Callable:
    def reference(x, *, axes):
        wide = widened(x.dtype)
        init = np.asarray(start(x.dtype)).astype(wide)
        return ufunc.reduce(x.astype(wide), axis=axes, dtype=wide, initial=init)

    return quiet(reference)


def lower_reduce(b, out, x, axes, start: Any, body: Any) -> Any:
    """Reduce `x` in its own type, or half precision in float32."""
    aval = b.avals_in[0]
    wide = widened(aval.dtype)
    init = b.constant(np.asarray(start).astype(wide), ShapedArray((), wide))
    if wide == aval.dtype:
        return b.reduce([out], [x], [init], axes, body)[0]
    x = b.convert(aval.update(dtype=wide), x)
    folded = b.reduce([out.update(dtype=wide)], [x], [init], axes, body)
    return b.convert(out, folded[0])


def _reduction(
    name: str,
    *,
    accepts: Sequence[str],
    ufunc: np.ufunc,
    start: Callable,
    emit: Callable,
    derivative: Derivative,
) -> Primitive:
    """A reduction that keeps the dtype; `emit(b, dtype)` gives its body."""

    def abstract(x, *, axes):
        check_kind(name, x.dtype, accepts)
        return reduced_aval(name, x, axes)

    def lower(b, out, x, *, axes):
        dtype = b.avals_in[0].dtype
        return lower_reduce(b, out, x, axes, start(dtype), emit(dtype))

    def batch(n, xs, ds, *, axes):
        moved, d = batched_axes(ds[0], axes)
        return prim.bind(xs[0], axes=moved), d

    prim = Primitive(
        name,
        abstract=abstract,
        reference=_reference(ufunc, start),
        lower=lower,
        derivative=derivative,
        batch=batch,
    )
    return prim


# ---- max and min ----


def _extremum_tangent(t, out, x, *, axes):
    """The mean of the tangents at all places of the extremum."""
    aval = aval_of(x)
    kept = [i for i in range(aval.ndim) if i not in axes]
    place = eq(x, broadcast_in_dim(out, aval.shape, kept))
    mask = convert(place, aval.dtype)
    return div(reduce_sum(mul(t, mask), axes), reduce_sum(mask, axes))


def _complex_pick(direction: str) -> Callable:
    """The body that keeps the lexicographically greater (GT) or smaller (LT)."""

    def body(b, x, y):
        p, q = b.real(x), b.real(y)
        first = b.compare(p, q, direction)
        second = b.compare(b.imag(x), b.imag(y), direction)
        wins = b.select(b.compare(p, q, "EQ"), second, first)
        return b.select(wins, x, y)

    return body


def _body(method: str, direction: str) -> Callable:
    return lambda dtype: (
        _complex_pick(direction) if dtypes.is_complex(dtype) else method
    )


reduce_max_p = _reduction(
    "reduce_max",
    accepts=ANY,
    ufunc=np.maximum,
    start=lowest,
    emit=_body("maximum", "GT"),
    derivative=Smooth((_extremum_tangent,)),
)

reduce_min_p = _reduction(
    "reduce_min",
    accepts=ANY,
    ufunc=np.minimum,
    start=highest,
    emit=_body("minimum", "LT"),
    derivative=Smooth((_extremum_tangent,)),
)


# ---- product ----


def _product_tangent(t, out, x, *, axes):
    """Halves are multiplied with the product rule, so no element is divided by."""
    aval = aval_of(x)
    kept = [i for i in range(aval.ndim) if i not in axes]
    shape = (-1, *(aval.shape[i] for i in kept))
    if not aval.size:
        return None
    count = aval.size // max(1, aval_of(out).size)
    shape = (count, *shape[1:])
    x, t = (reshape(transpose(v, (*axes, *kept)), shape) for v in (x, t))
    while count > 1:
        half, odd = divmod(count, 2)
        x0, x1 = slice_in_dim(x, 0, half), slice_in_dim(x, half, 2 * half)
        t0, t1 = slice_in_dim(t, 0, half), slice_in_dim(t, half, 2 * half)
        x_new, t_new = mul(x0, x1), add_any(mul(t0, x1), mul(x0, t1))
        if odd:
            x_new = concatenate([x_new, slice_in_dim(x, count - 1, count)], 0)
            t_new = concatenate([t_new, slice_in_dim(t, count - 1, count)], 0)
        x, t, count = x_new, t_new, half + odd
    return reshape(t, shape[1:])


reduce_prod_p = _reduction(
    "reduce_prod",
    accepts=ANY,
    ufunc=np.multiply,
    start=lambda dtype: 1,
    emit=lambda dtype: "multiply",
    derivative=Smooth((_product_tangent,)),
)


# ---- logic ----

_BITS = NotDifferentiable("its results are bits")

reduce_and_p = _reduction(
    "reduce_and",
    accepts=("int", "bool"),
    ufunc=np.bitwise_and,
    start=_all_bits,
    emit=lambda dtype: "and_",
    derivative=_BITS,
)

reduce_or_p = _reduction(
    "reduce_or",
    accepts=("int", "bool"),
    ufunc=np.bitwise_or,
    start=lambda dtype: 0,
    emit=lambda dtype: "or_",
    derivative=_BITS,
)

reduce_xor_p = _reduction(
    "reduce_xor",
    accepts=("int", "bool"),
    ufunc=np.bitwise_xor,
    start=lambda dtype: 0,
    emit=lambda dtype: "xor",
    derivative=_BITS,
)


# ---- positions of extrema ----


def _better(direction: str, dtype) -> Callable:
    """The body that keeps the better of two (value, position); the first on a tie."""

    def body(b, x, i, y, j):
        if dtypes.is_complex(dtype):
            p, q = b.real(x), b.real(y)
            second = b.compare(b.imag(x), b.imag(y), direction)
            first = b.compare(p, q, direction)
            wins = b.select(b.compare(p, q, "EQ"), second, first)
        else:
            wins = b.compare(x, y, direction)
        same = b.compare(x, y, "EQ")
        if dtypes.is_inexact(dtype):
            x_nan, y_nan = b.compare(x, x, "NE"), b.compare(y, y, "NE")
            wins = b.or_(wins, b.and_(x_nan, b.not_(y_nan)))
            same = b.or_(same, b.and_(x_nan, y_nan))
        first = b.or_(wins, b.and_(same, b.compare(i, j, "LT")))
        return [b.select(wins, x, y), b.select(first, i, j)]

    return body


def _position(name: str, direction: str, pick: Callable, start: Callable) -> Primitive:
    def abstract(x, *, axes, index_dtype):
        check_kind(name, x.dtype, ANY)
        out = reduced_aval(name, x, axes)
        if len(axes) != 1 or not x.shape[axes[0]]:
            raise ArgumentError(
                f"{name} of {x.short()} over axes {axes}",
                rule=f"attempt to get {name} of an empty sequence",
                fix="reduce one axis that has elements",
            )
        return ShapedArray(out.shape, index_dtype)

    def reference(x, *, axes, index_dtype):
        return pick(x.astype(widened(x.dtype)), axis=axes[0]).astype(index_dtype)

    def lower(b, out, x, *, axes, index_dtype):
        aval = b.avals_in[0]
        places = ShapedArray(aval.shape, index_dtype)
        values = ShapedArray(out.shape, aval.dtype)
        inits = [
            b.constant(start(aval.dtype), ShapedArray((), aval.dtype)),
            b.constant(0, ShapedArray((), index_dtype)),
        ]
        xs = [x, b.iota(places, axes[0])]
        body = _better(direction, aval.dtype)
        return b.reduce([values, out], xs, inits, axes, body)[1]

    def batch(n, xs, ds, *, axes, index_dtype):
        moved, d = batched_axes(ds[0], axes)
        return prim.bind(xs[0], axes=moved, index_dtype=index_dtype), d

    prim = Primitive(
        name,
        abstract=abstract,
        reference=quiet(reference),
        lower=lower,
        derivative=NotDifferentiable("its results are positions"),
        batch=batch,
    )
    return prim


argmax_p = _position("argmax", "GT", np.argmax, lowest)
argmin_p = _position("argmin", "LT", np.argmin, highest)
