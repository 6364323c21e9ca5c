"""Scatter family: the scatters that multiply, and that take extremes."""

import numpy as np

from pullback.core.aval import aval_of
from pullback.core.derivative import Smooth
from pullback.core.primitive import Primitive
from pullback.ops.convert import convert
from pullback.ops.dimensions import GatherScatterMode, ScatterDimensionNumbers
from pullback.ops.elementwise import add_any, div, mul
from pullback.ops.index import Mode, read_back, scatter_add_p
from pullback.ops.logic import eq, select_n
from pullback.ops.nary import quiet
from pullback.ops.scatter_rules import (
    scatter_abstract,
    scatter_batch,
    scatter_lower,
    scatter_reference,
)
from pullback.ops.shape import full, zeros


def _binder(prim_of, verb: str, source: str):
    def function(
        operand,
        scatter_indices,
        updates,
        dimension_numbers: ScatterDimensionNumbers,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
    ):
        return prim_of().bind(
            operand,
            scatter_indices,
            updates,
            dimension_numbers=dimension_numbers,
            indices_are_sorted=bool(indices_are_sorted),
            unique_indices=bool(unique_indices),
            mode=GatherScatterMode.from_any(mode),
        )

    function.__doc__ = (
        f"`operand` with windows at computed positions {verb} `updates`.\n\n"
        "Arguments as those of `scatter`. Overlapping updates all count.\n\n"
        f"Source: StableHLO `scatter` with `{source}`.\n"
    )
    return function


scatter_mul = _binder(lambda: scatter_mul_p, "multiplied by", "multiply")
scatter_min = _binder(lambda: scatter_min_p, "lowered to", "minimum")
scatter_max = _binder(lambda: scatter_max_p, "raised to", "maximum")


# ---- scatter-mul ----


def _mul_tangent_x(t, out, x, indices, updates, **params):
    return scatter_mul_p.bind(t, indices, updates, **params)


def _mul_tangent_updates(t, out, x, indices, updates, **params):
    factor = _others_product(x, indices, updates, params)
    return scatter_add_p.bind(zeros(aval_of(out)), indices, mul(t, factor), **params)


def _others_product(x, indices, updates, params):
    """For each update, the product of all else that is multiplied at its place."""
    if params["unique_indices"]:
        return read_back(x, indices, updates, params)
    aval = aval_of(updates)
    zero, one = zeros(aval), full(aval, 1)
    is_zero = eq(updates, zero)
    rest = select_n(is_zero, updates, one)
    product = scatter_mul_p.bind(x, indices, rest, **params)
    flags = convert(is_zero, aval.dtype)
    count = scatter_add_p.bind(zeros(aval_of(x)), indices, flags, **params)
    here = read_back(count, indices, updates, params)
    alone = eq(here, flags)  # no update but this one is zero
    value = div(read_back(product, indices, updates, params), rest)
    return select_n(alone, zero, value)


scatter_mul_p = Primitive(
    "scatter-mul",
    abstract=scatter_abstract("scatter-mul"),
    reference=quiet(scatter_reference(np.multiply.at)),
    lower=scatter_lower(lambda b, old, new: b.multiply(old, new)),
    derivative=Smooth(
        (_mul_tangent_x, None, _mul_tangent_updates),
        transpose={
            0: lambda ct, x, indices, updates, **params: scatter_mul_p.bind(
                ct, indices, updates, **params
            )
        },
    ),
    batch=scatter_batch(lambda *xs, **params: scatter_mul_p.bind(*xs, **params)),
)


# ---- scatter-min, scatter-max ----


def _extreme_tangent(ts, out, x, indices, updates, **params):
    """Ties share: each value that reaches the extreme gets an equal part."""
    t_x, _, t_updates = ts
    dtype = aval_of(out).dtype
    mine = convert(eq(x, out), dtype)
    best = read_back(out, indices, updates, params)
    theirs = convert(eq(updates, best), dtype)
    count = scatter_add_p.bind(mine, indices, theirs, **params)
    terms = []
    if t_x is not None:
        terms.append(mul(t_x, div(mine, count)))
    if t_updates is not None:
        part = div(theirs, read_back(count, indices, updates, params))
        part = select_n(eq(theirs, zeros(aval_of(theirs))), part, theirs)
        spread = mul(t_updates, part)
        terms.append(
            scatter_add_p.bind(zeros(aval_of(out).strong()), indices, spread, **params)
        )
    return terms[0] if len(terms) == 1 else add_any(*terms)


def _extreme(name: str, ufunc: np.ufunc, emit) -> Primitive:
    prim = Primitive(
        name,
        abstract=scatter_abstract(name),
        reference=quiet(scatter_reference(ufunc.at)),
        lower=scatter_lower(emit),
        derivative=Smooth(_extreme_tangent),
        batch=scatter_batch(lambda *xs, **params: prim.bind(*xs, **params)),
    )
    return prim


scatter_min_p = _extreme(
    "scatter-min", np.minimum, lambda b, old, new: b.minimum(old, new)
)
scatter_max_p = _extreme(
    "scatter-max", np.maximum, lambda b, old, new: b.maximum(old, new)
)
