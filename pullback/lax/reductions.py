"""Reductions and scans with any associative combiner of trees.

A combiner that is one operation takes the way of the function for that operation, with
its rule at ties; every other goes into a region of its own.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pullback.api.arguments import check_callable, own
from pullback.core import dtype as dtypes, tree
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ShapeError
from pullback.ops import cumulative, reduce as named
from pullback.ops.convert import convert, stop_gradient
from pullback.ops.elementwise import add, is_finite, sub
from pullback.ops.logic import select_n
from pullback.ops.shape import (
    broadcast_in_dim,
    canonical_axis,
    expand_dims,
    moveaxis,
    reduce_sum,
    reshape,
    zeros,
)
from pullback.ops.transcendental import exp, log
from pullback.regions import monoid
from pullback.regions.associative_scan import associative_scan as scan_flat
from pullback.regions.bodies import run
from pullback.regions.monoid_stage import (
    operand_avals,
    stage_combiner,
    start_values,
)
from pullback.regions.reduce import reduce_flat


def _logsumexp(x: Any, axes: Sequence[int]) -> Any:
    """`log(sum(exp(x)))`, shifted by the largest element where that is finite."""
    aval = aval_of(x)
    kept = [i for i in range(aval.ndim) if i not in axes]
    top = stop_gradient(named.reduce_max(x, axes))
    top = select_n(is_finite(top), zeros(aval_of(top)), top)
    apart = sub(x, broadcast_in_dim(top, aval.shape, kept))
    return add(log(reduce_sum(exp(apart), axes)), top)


FOLDS: dict[str, Callable] = {
    "add": reduce_sum,
    "mul": named.reduce_prod,
    "max": named.reduce_max,
    "min": named.reduce_min,
    "and": named.reduce_and,
    "or": named.reduce_or,
    "xor": named.reduce_xor,
    "logaddexp": _logsumexp,
}
SCANS: dict[str, Callable] = {
    "add": cumulative.cumsum,
    "mul": cumulative.cumprod,
    "max": cumulative.cummax,
    "min": cumulative.cummin,
}


def reduce(
    operands: Any,
    init_values: Any,
    computation: Callable[[Any, Any], Any],
    dimensions: Sequence[int],
    out_sharding: Any = None,
) -> Any:
    """Fold arrays over `dimensions` with any associative combiner.

    Derivatives and mapped axes reach operands, start values, and what the combiner
    closes over. A combiner that is max or min shares the cotangent among ties.

    Args:
      operands: a tree of `[*s]` arrays of one shape; dtypes may differ.
      init_values: a tree of scalars, the identity of the combiner. Each result is
        `computation(init, fold)`.
      computation: `f(acc, x) -> acc` on trees of scalars, associative; elements come in
        row-major order.
      dimensions: the axes to fold.

    Returns:
      The tree of results, with the other axes.

    Raises:
      TreeError, ShapeError, DtypeError: operands, start values and results of the
        combiner do not fit together.
      ArgumentError: a dimension is out of bounds or given twice.

    Example:
      >>> import pullback.numpy as pnp
      >>> from pullback import lax
      >>> x = pnp.array([[1.0, 2.0], [3.0, 4.0]])
      >>> def compose(f, g):  # affine maps, first f and then g
      ...     return f[0] * g[0], f[1] * g[0] + g[1]
      >>> lax.reduce((x, x), (1.0, 0.0), compose, [1])
      (Array([ 2., 12.], dtype=float32), Array([ 4., 16.], dtype=float32))

    Source: StableHLO `reduce`.
    """
    del out_sharding
    check_callable(computation, "reduce")
    avals = operand_avals("reduce", operands)
    ndim = avals[0].ndim
    axes = tuple(canonical_axis(d, ndim) for d in dimensions)
    if len(set(axes)) != len(axes):
        raise ArgumentError(
            f"reduce over dimensions {tuple(dimensions)} of {avals[0].short()}",
            rule="each dimension is given once",
        )
    inits = start_values("reduce", init_values, operands, avals)
    leaves, structure = tree.flatten(operands)
    cells = [a.update(shape=(), weak_type=False) for a in avals]
    body, consts = stage_combiner(computation, structure, cells, "reduce")
    name = lone(body, consts)
    neutral = name is not None and monoid.is_neutral(name, inits[0])
    if name is not None and avals[0].size:
        outs = _named(name, body, leaves[0], inits[0], axes, neutral)
    else:
        outs = reduce_flat(body, consts, inits, leaves, sorted(axes), neutral)
    return tree.unflatten(structure, [own(x) for x in outs])


def lone(body: Any, consts: Sequence[Any]) -> str | None:
    """The name of the one operation that a combiner is, as far as one is known."""
    dtype = body.out_avals[0].dtype
    name = None if consts else monoid.lone(body)
    if name in ("add", "mul") and dtypes.is_bool(dtype):
        return None
    return name


def _named(name: str, body, x, init, axes, neutral: bool) -> list[Any]:
    if name == "logaddexp":
        wide = convert(x, named.widened(aval_of(x).dtype))
        out = convert(FOLDS[name](wide, axes), aval_of(x).dtype)
    else:
        out = FOLDS[name](x, axes)
    if neutral:
        return [out]
    shape = aval_of(out).shape
    return run(monoid.over(body, shape), [monoid.spread(init, shape), out])


def associative_scan(
    fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """Combine from the start of an axis to each of its places, with any combiner.

    The work is O(n), forwards and backwards, and a derivative keeps the states only.

    Args:
      fn: `fn(acc, x) -> acc` on trees, associative; it works on slices `[..., k, ...]`
        of the arrays for any k, place by place along `axis`.
      elems: a tree of arrays with one size along `axis`.
      reverse: start at the end; `fn` still takes the accumulated state first.

    Returns:
      A tree like `elems`: at place i, places 0 ... i combined.

    Raises:
      TreeError, ShapeError, DtypeError: `fn` returns a state of another type, or sizes
        along `axis` differ.
      ArgumentError: `axis` is out of bounds.

    Example:
      >>> import pullback.numpy as pnp
      >>> from pullback import lax
      >>> def compose(f, g):
      ...     return f[0] * g[0], f[1] * g[0] + g[1]
      >>> ones = pnp.ones(4)
      >>> lax.associative_scan(compose, (0.5 * ones, ones))[1]
      Array([1.   , 1.5  , 1.75 , 1.875], dtype=float32)

    Source: Blelloch, Prefix Sums and Their Applications (1990).
    """
    check_callable(fn, "associative_scan")
    leaves, structure = tree.flatten(elems)
    if not leaves:
        return elems
    avals = [aval_of(x) for x in leaves]
    axes = [canonical_axis(axis, a.ndim) for a in avals]
    sizes = {a.shape[i] for a, i in zip(avals, axes, strict=True)}
    if len(sizes) > 1:
        shown = ", ".join(a.short() for a in avals)
        raise ShapeError(
            f"associative_scan along axis {axis} of {shown}",
            rule="all arrays have the same size along the axis",
        )
    pairs = list(zip(avals, axes, strict=True))
    cells = [
        a.update(shape=(*a.shape[:i], 1, *a.shape[i + 1 :]), weak_type=False)
        for a, i in pairs
    ]
    body, consts = stage_combiner(fn, structure, cells, "associative_scan")
    name = lone(body, consts)
    if name in SCANS:
        outs = [SCANS[name](leaves[0], axes[0], reverse)]
    else:
        rows = [
            moveaxis(expand_dims(x, (i,)), i + 1, 0)
            for x, i in zip(leaves, axes, strict=True)
        ]
        outs = scan_flat(body, consts, rows, bool(reverse))
        outs = [
            reshape(moveaxis(y, 0, i), a.shape)
            for y, (a, i) in zip(outs, pairs, strict=True)
        ]
    return tree.unflatten(structure, [own(x) for x in outs])
