"""Windows that slide over arrays, folded with any associative combiner."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.api.arguments import check_callable, own
from pullback.core import tree
from pullback.core.errors import ArgumentError
from pullback.lax.reductions import lone
from pullback.ops.convert import convert
from pullback.ops.reduce import widened
from pullback.regions import monoid
from pullback.regions.monoid_stage import (
    operand_avals,
    stage_combiner,
    start_values,
)
from pullback.regions.monoid_windows import Windows
from pullback.regions.reduce_window import reduce_window_flat

SUMS = ("add", "mul", "logaddexp")


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Any:
    """Fold every window of arrays with any associative combiner.

    The work along each axis is O(n) whatever the window, forwards and backwards.
    Derivatives and mapped axes reach operands, start values, and what the combiner
    closes over. A combiner that is max or min gives the cotangent to the first of ties.
    Sums and products of half precision are accumulated in float32.

    Args:
      operand: a tree of `[*s]` arrays of one shape; dtypes may differ.
      init_value: a tree of scalars, the identity of the combiner; padding consists of
        it, and each result is `computation(init, fold)`.
      computation: `f(acc, x) -> acc` on trees of scalars, associative; the elements of
        a window come in row-major order.
      window_dimensions: elements in a window, one number an axis.
      window_strides: steps from one window to the next.
      padding: `"VALID"`, `"SAME"`, `"SAME_LOWER"`, or elements to add before and after
        each axis; negative numbers drop elements.
      base_dilation: the distance that neighbours of the operand are put at.
      window_dilation: the distance of neighbours in a window.

    Returns:
      The tree of results, one element a window.

    Raises:
      TreeError, ShapeError, DtypeError: operands, start values and results of the
        combiner do not fit together.
      ArgumentError: the numbers are not one an axis, or one is not positive.

    Example:
      >>> import pullback.numpy as pnp
      >>> from pullback import lax
      >>> x = pnp.array([1.0, 3.0, 2.0, 5.0])
      >>> lax.reduce_window(x, -pnp.inf, lax.max, (2,), (1,), "VALID")
      Array([3., 3., 5.], dtype=float32)

    Source: StableHLO `reduce_window`; van Herk (1992), Gil and Werman (1993).
    """
    check_callable(computation, "reduce_window")
    avals = operand_avals("reduce_window", operand)
    windows = _geometry(
        avals[0],
        window_dimensions,
        window_strides,
        padding,
        base_dilation,
        window_dilation,
    )
    inits = start_values("reduce_window", init_value, operand, avals)
    leaves, structure = tree.flatten(operand)
    cells = [a.update(shape=(), weak_type=False) for a in avals]
    body, consts = stage_combiner(computation, structure, cells, "reduce_window")
    name = lone(body, consts)
    neutral = name is not None and monoid.is_neutral(name, inits[0])
    dtype = cells[0].dtype
    wide = widened(dtype)
    if name in SUMS and wide != dtype:
        cells = [cells[0].update(dtype=wide)]
        body, consts = stage_combiner(computation, structure, cells, "reduce_window")
        inits, leaves = [convert(inits[0], wide)], [convert(leaves[0], wide)]
    outs = reduce_window_flat(body, consts, inits, leaves, windows, neutral)
    if name in SUMS:
        outs = [convert(outs[0], dtype)]
    return tree.unflatten(structure, [own(x) for x in outs])


def _geometry(aval, dimensions, strides, padding, base, inner) -> Windows:
    shape = aval.shape
    ones = (1,) * len(shape)
    base, inner = base or ones, inner or ones
    fields = {
        "window_dimensions": dimensions,
        "window_strides": strides,
        "base_dilation": base,
        "window_dilation": inner,
    }
    plain = {
        name: _positive(name, value, aval, len(shape)) for name, value in fields.items()
    }
    dims, steps, base, inner = plain.values()
    pads = padding
    if isinstance(padding, str):
        pads = _named_padding(shape, dims, steps, base, inner, padding)
    pads = tuple((int(low), int(high)) for low, high in pads)
    if len(pads) != len(shape):
        raise _bad("padding", pads, aval, "one pair of integers an axis")
    return Windows(dims, steps, pads, base, inner)


def _positive(name: str, value: Sequence[int], aval, ndim: int) -> tuple[int, ...]:
    numbers = tuple(int(v) for v in value)
    if len(numbers) != ndim or any(v < 1 for v in numbers):
        raise _bad(name, numbers, aval, "one positive integer an axis")
    return numbers


def _bad(name: str, value, aval, rule: str) -> ArgumentError:
    return ArgumentError(
        f"reduce_window of {aval.short()} with {name} {value}",
        rule=f"{name} is {rule} of the operand",
    )


def _named_padding(shape, dimensions, strides, base, inner, kind: str):
    """Elements to add for `"VALID"`, `"SAME"` and `"SAME_LOWER"`."""
    kind = kind.upper()
    if kind == "VALID":
        return [(0, 0)] * len(shape)
    if kind not in ("SAME", "SAME_LOWER"):
        raise ArgumentError(
            f"reduce_window with padding {kind!r}",
            rule="padding is 'VALID', 'SAME', 'SAME_LOWER' or pairs of integers",
        )
    pads = []
    for n, k, s, b, d in zip(shape, dimensions, strides, base, inner, strict=True):
        size, span = (n - 1) * b + 1 if n else 0, (k - 1) * d + 1
        total = max(0, (-(-size // s) - 1) * s + span - size)
        half = total // 2
        pads.append((half, total - half) if kind == "SAME" else (total - half, half))
    return [tuple(map(int, p)) for p in np.asarray(pads).reshape(-1, 2)]
