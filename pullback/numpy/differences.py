"""Differences, integrals and interpolation of sampled functions, and polynomials."""

from typing import Any

import numpy as np

from pullback.api.arrays.axes import one_axis
from pullback.api.arrays.comparisons import not_equal
from pullback.api.arrays.creation import asarray
from pullback.api.arrays.reductions import sum
from pullback.api.arrays.sorting import cumsum
from pullback.api.arrays.ufuncs import absolute, add, divide, multiply, subtract
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ShapeError
from pullback.numpy.sorting import searchsorted
from pullback.ops.convert import convert
from pullback.ops.elementwise import rem
from pullback.ops.joining import concatenate
from pullback.ops.logic import bitwise_and, clamp, eq, gt, lt, select_n
from pullback.ops.promote import as_operand, promote_dtypes, promote_inexact
from pullback.ops.shape import broadcast_in_dim, full, reshape
from pullback.ops.slicing import index_in_dim, slice_in_dim
from pullback.ops.sort import sort, take_along


def diff(a, n: int = 1, axis: int = -1, prepend=None, append=None):
    """Differences of neighbours along an axis, `n` times over.

    Args:
      a: `[..., m]`; of booleans: whether neighbours differ.
      n: how often.
      axis: the axis.
      prepend, append: values put before and behind, scalars or arrays.

    Returns:
      `[..., m - n]`, longer by what was put to it.

    Raises:
      ArgumentError: `a` is a scalar, `n` is negative, a bad axis.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.diff(pnp.array([1, 4, 9])).tolist()
      [3, 5]
    """
    x = as_operand("diff", a)
    aval = aval_of(x)
    if n < 0 or not aval.ndim:
        raise ArgumentError(
            f"diff of {aval.short()} with n={n}",
            rule="the array has an axis, and n is not negative",
        )
    axis = one_axis("diff", axis, aval.ndim)
    ends = [_end(v, aval.shape, axis) for v in (prepend, append)]
    parts = [v for v in (ends[0], x, ends[1]) if v is not None]
    x = asarray(x) if len(parts) == 1 else concatenate(promote_dtypes(*parts), axis)
    minus = not_equal if dtypes.is_bool(aval_of(x).dtype) else subtract
    for _ in range(n):
        size = aval_of(x).shape[axis]
        later = slice_in_dim(x, min(1, size), size, axis=axis)
        x = minus(later, slice_in_dim(x, 0, max(size - 1, 0), axis=axis))
    return x


def _end(value, shape: tuple[int, ...], axis: int):
    if value is None:
        return None
    value = as_operand("diff", value)
    if aval_of(value).shape:
        return value
    return broadcast_in_dim(value, (*shape[:axis], 1, *shape[axis + 1 :]), ())


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours in row-major order, with values put at both ends."""
    x = as_operand("ediff1d", ary)
    aval = aval_of(x)
    parts = [diff(reshape(x, (aval.size,)))]
    for place, value in ((0, to_begin), (2, to_end)):
        if value is not None:
            value = as_operand("ediff1d", value)
            line = reshape(convert(value, aval.dtype), (aval_of(value).size,))
            parts.insert(place, line)
    return concatenate(parts, 0) if len(parts) > 1 else parts[0]


def trapezoid(y, x=None, dx: Any = 1.0, axis: int = -1):
    """Integral along an axis of a function sampled at `x`, linear in between.

    Args:
      y: `[..., n]` values.
      x: `[n]` or `[..., n]` places.
      dx: distance of places, without `x`.
      axis: the axis.
    """
    y = as_operand("trapezoid", y)
    if x is None:
        y, steps = promote_inexact(y, as_operand("trapezoid", dx))
    else:
        y, x = promote_inexact(y, as_operand("trapezoid", x))
        steps = _along(diff(x, axis=-1 if aval_of(x).ndim == 1 else axis), y, axis)
    axis = one_axis("trapezoid", axis, aval_of(y).ndim)
    n = aval_of(y).shape[axis]
    pairs = add(slice_in_dim(y, 1, n, axis=axis), slice_in_dim(y, 0, n - 1, axis=axis))
    half = np.asarray(0.5, aval_of(y).dtype)
    return multiply(half, sum(multiply(steps, pairs), axis))


def _along(line, y, axis: int):
    """A vector as an array that broadcasts along an axis of `y`; others as they are."""
    aval, ndim = aval_of(line), aval_of(y).ndim
    if aval.ndim != 1:
        return line
    shape = [1] * ndim
    shape[one_axis("trapezoid", axis, ndim)] = aval.size
    return reshape(line, shape)


def interp(x, xp, fp, left: Any = None, right: Any = None, period: Any = None):
    """A function known at some places, linear between them.

    Args:
      x: `[*s]` places to evaluate at.
      xp: `[n]` known places, increasing.
      fp: `[n]` values there.
      left, right: values outside (None: the first and last one; "extrapolate").
      period: length of a period of the function; then `xp` need not be in order.

    Returns:
      `[*s]`

    Raises:
      ShapeError: `xp` and `fp` are not vectors of one length.
      ArgumentError: `period` is zero.
    """
    x, xp, fp = (as_operand("interp", v) for v in (x, xp, fp))
    places, values = aval_of(xp), aval_of(fp)
    if places.shape != values.shape or places.ndim != 1:
        raise ShapeError(
            f"interp with xp {places.short()} and fp {values.short()}",
            rule="xp and fp must be one-dimensional arrays of equal size",
        )
    x, xp = promote_inexact(x, xp)
    (fp,) = promote_inexact(fp)
    shape = aval_of(x).shape
    x = reshape(x, (aval_of(x).size,))
    if period is not None:
        x, xp, fp = _one_period(x, xp, fp, period)
        left = right = None
    out = _interpolated(x, xp, fp, left, right)
    return reshape(out, shape)


def _one_period(x, xp, fp, period):
    dtype = aval_of(x).dtype
    if not isinstance(period, int | float) or period == 0:
        raise ArgumentError(
            f"interp with period={period}", rule="period must be a non-zero value"
        )
    p = np.asarray(abs(period), dtype)
    x, xp = (_modulo(v, p) for v in (x, xp))
    xp, fp = sort((xp, fp), 0)
    n = aval_of(xp).shape[0]
    before = subtract(slice_in_dim(xp, n - 1, n), p)
    after = add(slice_in_dim(xp, 0, 1), p)
    xp = concatenate([before, xp, after], 0)
    fp = concatenate([slice_in_dim(fp, n - 1, n), fp, slice_in_dim(fp, 0, 1)], 0)
    return x, xp, fp


def _modulo(x, p):
    left = rem(x, p)
    return select_n(lt(left, full(aval_of(left), 0)), left, add(left, p))


def _interpolated(x, xp, fp, left, right):
    n = aval_of(xp).shape[0]
    above = searchsorted(xp, x, side="right")
    one = np.asarray(1, aval_of(above).dtype)
    above = clamp(one, above, np.asarray(n - 1, one.dtype))
    below = subtract(above, one)
    x0, x1 = (take_along(xp, i, 0) for i in (below, above))
    y0, y1 = (take_along(fp, i, 0) for i in (below, above))
    width = subtract(x1, x0)
    zero = full(aval_of(width), 0)
    flat = eq(width, zero)
    safe = select_n(flat, width, full(aval_of(width), 1))
    slope = divide(subtract(y1, y0), safe)
    rise = multiply(subtract(x, x0), slope)
    out = add(y0, select_n(flat, rise, full(aval_of(rise), 0)))
    ends = ((lt, 0, left, "left"), (gt, -1, right, "right"))
    for outside, i, value, name in ends:
        if value is None:
            value = index_in_dim(fp, i, 0, False)
        elif isinstance(value, str):
            if value != "extrapolate":
                raise ArgumentError(
                    f"interp with {name}={value!r}",
                    rule="the only string that is valid is 'extrapolate'",
                )
            continue
        edge = broadcast_in_dim(index_in_dim(xp, i, 0, False), aval_of(x).shape, ())
        value = convert(value, aval_of(out).dtype)
        value = broadcast_in_dim(value, aval_of(out).shape, ())
        out = select_n(outside(x, edge), out, value)
    return out


def unwrap(p, discont: Any = None, axis: int = -1, period: Any = 6.283185307179586):
    """Angles along an axis made continuous: jumps become multiples of the period.

    Args:
      p: `[..., n]`
      discont: smaller jumps stay (None: half the period).
      axis: the axis.
      period: the length of a period.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.unwrap(pnp.array([0.0, 3.0, 6.5]), period=4.0).tolist()
      [0.0, -1.0, -1.5]
    """
    (x,) = promote_inexact(as_operand("unwrap", p))
    half = period / 2
    step = diff(x, axis=axis)
    left = _modulo(add(step, half), np.asarray(period, aval_of(step).dtype))
    left = subtract(left, half)
    zero = full(aval_of(left), 0)
    upper = full(aval_of(left), half)
    lower = full(aval_of(left), -half)
    edge = bitwise_and(eq(left, lower), gt(step, zero))
    left = select_n(edge, left, upper)
    least = half if discont is None else max(discont, half)
    fix = subtract(left, step)
    bound = full(aval_of(step), least)
    small = lt(absolute(step), bound)
    fix = select_n(small, fix, zero)
    fix = cumsum(fix, axis)
    axis = one_axis("unwrap", axis, aval_of(x).ndim)
    n = aval_of(x).shape[axis]
    first = slice_in_dim(x, 0, min(1, n), axis=axis)
    rest = add(slice_in_dim(x, min(1, n), n, axis=axis), fix)
    return concatenate([first, rest], axis)


def gradient(f, *varargs, axis: Any = None):
    """Derivatives of sampled values: central differences, one-sided at the ends.

    Args:
      f: `[*s]`, at least two samples along each axis.
      varargs: the distance of samples, one number for all axes or one an axis.
      axis: an axis, or several (None: all).

    Returns:
      An array for one axis, else a list.

    Raises:
      ArgumentError: another number of distances, or too few samples.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.gradient(pnp.array([1.0, 2.0, 4.0])).tolist()
      [1.0, 1.5, 2.0]
    """
    (x,) = promote_inexact(as_operand("gradient", f))
    ndim = aval_of(x).ndim
    if axis is None:
        axis = range(ndim)
    elif isinstance(axis, int):
        axis = (axis,)
    axes = [one_axis("gradient", d, ndim) for d in axis]
    steps = list(varargs) or [1.0]
    steps = steps * len(axes) if len(steps) == 1 else steps
    known = all(np.ndim(h) == 0 for h in steps)
    if len(steps) != len(axes) or not known:
        raise ArgumentError(
            f"gradient with {len(varargs)} distances for {len(axes)} axes",
            rule="distances are numbers: one for all axes, or one for each",
        )
    outs = [_central(x, h, d) for h, d in zip(steps, axes, strict=True)]
    return outs[0] if len(outs) == 1 else outs


def _central(x, step, axis: int):
    n = aval_of(x).shape[axis]
    if n < 2:
        raise ArgumentError(
            f"gradient of {aval_of(x).short()} along axis {axis}",
            rule="there are at least two samples",
        )
    step = as_operand("gradient", step)
    ahead = diff(x, axis=axis)
    first = slice_in_dim(ahead, 0, 1, axis=axis)
    last = slice_in_dim(ahead, n - 2, n - 1, axis=axis)
    later = slice_in_dim(x, 2, n, axis=axis)
    before = slice_in_dim(x, 0, n - 2, axis=axis)
    inner = multiply(subtract(later, before), 0.5)
    out = concatenate([first, inner, last], axis)
    return divide(out, step)


def polyval(p, x, *, unroll: int = 16):
    """The polynomial with coefficients `p`, the highest power first, at `x`.

    Source: Horner's scheme.
    """
    del unroll
    p, x = promote_dtypes(as_operand("polyval", p), as_operand("polyval", x))
    if aval_of(p).ndim < 1:
        raise ShapeError(f"polyval of {aval_of(p).short()}", rule="it has an axis")
    out = full(aval_of(x), 0)
    for i in range(aval_of(p).shape[0]):
        out = add(multiply(out, x), index_in_dim(p, i, 0, False))
    return out
