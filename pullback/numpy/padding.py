"""`pad`, in all of its modes."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.api.arrays.creation import asarray
from pullback.api.arrays.shape_functions import as_array
from pullback.core import dtype as dtypes
from pullback.core.errors import ArgumentError, UnsupportedError
from pullback.ops import shape as ops
from pullback.ops.convert import convert
from pullback.ops.joining import concatenate
from pullback.ops.slicing import pad as pad_with, rev, slice_in_dim

Widths = list[tuple[int, int]]


def pad(array, pad_width, mode: str | Callable = "constant", **kwargs):
    """`array` with elements added at both ends of its axes.

    Args:
      pad_width: how many, `(before, after)` for each axis, one pair for all, or one
        number for all.
      mode: `constant` (`constant_values`), `edge`, `reflect`, `symmetric`
        (`reflect_type`), `wrap`, `linear_ramp` (`end_values`), `maximum`, `minimum`,
        `mean` (`stat_length`), `empty`.

    Raises:
      ArgumentError: a width is negative.
      UnsupportedError: there is no such mode.
    """
    x = as_array("pad", array)
    index = operator.index
    widths = [(index(a), index(b)) for a, b in _pairs(pad_width, x)]
    if any(a < 0 or b < 0 for a, b in widths):
        raise ArgumentError(f"pad: index can't contain negative values, {pad_width}")
    if callable(mode):
        raise UnsupportedError("pad with a function as mode", fix="name a mode")
    if mode not in _MODES:
        raise UnsupportedError(
            f"Unimplemented padding mode '{mode}'",
            rule=f"it is one of {sorted(_MODES)}",
        )
    return _MODES[mode](x, widths, **kwargs)


def _pairs(given: Any, x) -> list:
    """One pair for each axis, from a pair, a number, or pairs."""
    if isinstance(given, dict):
        pairs = {axis % x.ndim: pair for axis, pair in given.items()}
        return [pairs.get(i, (0, 0)) for i in range(x.ndim)]
    pairs = given
    if not isinstance(given, Sequence | np.ndarray):
        pairs = [(given, given)]
    elif not isinstance(given[0], Sequence | np.ndarray):
        pairs = [tuple(given)]
    pairs = [(p[0], p[-1]) for p in pairs]
    return pairs * x.ndim if len(pairs) == 1 else pairs


def _constant(x, widths: Widths, constant_values: Any = 0):
    values = _pairs(constant_values, x)
    same = all(v is values[0][0] for pair in values for v in pair)
    if same or not values:
        value = convert(asarray(values[0][0] if values else 0), x.dtype)
        return pad_with(x, value, [(a, b, 0) for a, b in widths])
    for i, pair in enumerate(values):
        before, after = widths[i]
        low, high = (convert(asarray(v), x.dtype) for v in pair)
        x = pad_with(x, low, _config(x.ndim, i, (before, 0, 0)))
        x = pad_with(x, high, _config(x.ndim, i, (0, after, 0)))
    return x


def _config(ndim: int, axis: int, own: tuple[int, int, int]) -> list:
    return [own if i == axis else (0, 0, 0) for i in range(ndim)]


def _indexed(positions: Callable[[np.ndarray, int], np.ndarray]) -> Callable:
    """A mode that reads each added element at a position of the same axis."""

    def run(x, widths: Widths, reflect_type: str = "even"):
        odd = reflect_type == "odd"
        for i, (a, b) in enumerate(widths):
            n = x.shape[i]
            if not (a or b):
                continue
            if not n:
                raise ArgumentError("pad: an empty axis has nothing to be repeated")
            places = np.arange(-a, n + b)
            x = (
                _odd(x, i, a, b, positions)
                if odd
                else _along(x, i, positions(places, n))
            )
        return x

    return run


def _along(x, axis: int, index: np.ndarray):
    """What stands at positions of an axis."""
    before = (slice(None),) * axis
    return x[(*before, index)]


def _edges(x, axis: int):
    """The first and the last element of an axis, with the axis kept."""
    n = x.shape[axis]
    first = slice_in_dim(x, 0, 1, 1, axis)
    last = slice_in_dim(x, n - 1, n, 1, axis)
    return first, last


def _odd(x, axis: int, a: int, b: int, positions: Callable):
    """Reflection about the value at the edge."""
    n = x.shape[axis]
    places = np.arange(-a, n + b)
    inner = _along(x, axis, positions(places, n))
    first, last = _edges(x, axis)
    low = slice_in_dim(inner, 0, a, 1, axis)
    high = slice_in_dim(inner, a + n, a + n + b, 1, axis)
    return concatenate([2 * first - low, x, 2 * last - high], axis)


def _reflected(places: np.ndarray, n: int) -> np.ndarray:
    if n == 1:
        return np.zeros_like(places)
    turn = np.mod(places, 2 * (n - 1))
    return np.where(turn < n, turn, 2 * (n - 1) - turn)


def _mirrored(places: np.ndarray, n: int) -> np.ndarray:
    turn = np.mod(places, 2 * n)
    return np.where(turn < n, turn, 2 * n - 1 - turn)


def _ramp(x, widths: Widths, end_values: Any = 0):
    ends = _pairs(end_values, x)
    work = x.dtype if dtypes.is_inexact(x.dtype) else dtypes.to_inexact(x.dtype)
    for i in range(x.ndim):
        a, b = widths[i]
        low, high = ends[i]
        first, last = _edges(x, i)
        before = _slope(first, low, a, i, work)
        after = _slope(last, high, b, i, work)
        after = rev(after, (i,))
        parts = [convert(p, x.dtype) for p in (before, x, after)]
        x = concatenate(parts, i)
    return x


def _slope(edge, end: Any, n: int, axis: int, work):
    """From `end` up to, and without, the edge, in `n` steps."""
    weight = (np.arange(n) / max(n, 1)).astype(work)
    shape = [n if i == axis else 1 for i in range(edge.ndim)]
    edge, end = convert(edge, work), convert(asarray(end), work)
    weight = asarray(weight.reshape(shape))
    return end * (1 - weight) + edge * weight


def _statistic(name: str) -> Callable:
    def run(x, widths: Widths, stat_length: Any = None):
        lengths = _pairs(stat_length, x) if stat_length is not None else None
        for i, (a, b) in enumerate(widths):
            n = x.shape[i]
            low, high = (n, n) if lengths is None else lengths[i]
            low, high = min(low or n, n), min(high or n, n)
            first = slice_in_dim(x, 0, low, 1, i)
            last = slice_in_dim(x, n - high, n, 1, i)
            before = _measured(name, first, i, x.dtype)
            after = _measured(name, last, i, x.dtype)
            before = _repeated(before, a, i)
            after = _repeated(after, b, i)
            x = concatenate([before, x, after], i)
        return x

    return run


def _measured(name: str, x, axis: int, dtype):
    value = getattr(x, name)(axis=axis, keepdims=True)
    if dtypes.is_integer(dtype) and not dtypes.is_integer(value.dtype):
        value = value.round()
    return convert(value, dtype)


def _repeated(x, n: int, axis: int):
    shape = list(x.shape)
    shape[axis] = n
    return ops.broadcast_in_dim(x, shape, range(x.ndim))


_MODES: dict[str, Callable] = {
    "constant": _constant,
    "empty": _constant,
    "edge": _indexed(lambda places, n: np.clip(places, 0, n - 1)),
    "reflect": _indexed(_reflected),
    "symmetric": _indexed(_mirrored),
    "wrap": _indexed(lambda places, n: np.mod(places, n)),
    "linear_ramp": _ramp,
    "maximum": _statistic("max"),
    "minimum": _statistic("min"),
    "mean": _statistic("mean"),
}
