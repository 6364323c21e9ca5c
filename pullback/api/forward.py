"""Forward derivatives of functions of trees: along one tangent, or as a function."""

from collections.abc import Callable, Sequence
from typing import Any

from pullback.api.arguments import (
    FlatFunction,
    check_array_leaf,
    check_callable,
    own,
    zero_tangent,
)
from pullback.core import dtype as dtypes, tree
from pullback.core.aval import aval_of
from pullback.core.errors import (
    ArgumentTypeError,
    DifferentiationError,
    ShapeError,
    TreeError,
)
from pullback.core.trace import eval_jaxpr
from pullback.ops.shape import zeros
from pullback.transforms.jvp import jvp_flat
from pullback.transforms.linearize import linearize_flat


def jvp(
    fun: Callable,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> Any:
    """The value of `fun` at `primals` and its derivative along `tangents`.

    Args:
      primals, tangents: tuples of trees with equal structures and shapes. Tangents of
        integer primals have dtype `float0` (or are None).

    Returns:
      `(value, tangent)`, or `(value, tangent, auxiliary)` with `has_aux`.

    Raises:
      TreeError, ShapeError: `tangents` does not match `primals`.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> pullback.jvp(pnp.sin, (0.0,), (2.0,))[1]
      Array(2., dtype=float32, weak_type=True)
    """
    check_callable(fun, "jvp")
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise ArgumentTypeError(
            f"jvp: primals is a {type(primals).__name__}, tangents is a "
            f"{type(tangents).__name__}",
            rule="both are tuples or lists, one entry an argument",
        )
    leaves, in_tree = tree.flatten(list(primals))
    ts, t_tree = tree.flatten(list(tangents))
    if in_tree != t_tree:
        raise TreeError(
            f"jvp: primals have the structure {in_tree}, tangents {t_tree}",
            rule="primal and tangent arguments have the same tree structure",
        )
    ts = [
        _checked_tangent(x, t, i)
        for i, (x, t) in enumerate(zip(leaves, ts, strict=True))
    ]
    flat = FlatFunction(fun, in_tree, has_aux)
    outs, out_ts = jvp_flat(flat, leaves, ts)
    value = tree.unflatten(flat.out_tree, list(map(own, outs)))
    filled = [
        own(t) if t is not None else own(zero_tangent(check_array_leaf(x, "jvp")))
        for x, t in zip(outs, out_ts, strict=True)
    ]
    tangent = tree.unflatten(flat.out_tree, filled)
    return (value, tangent, flat.aux) if has_aux else (value, tangent)


def _checked_tangent(x: Any, t: Any, i: int) -> Any:
    aval = check_array_leaf(x, "jvp")
    if getattr(t, "dtype", None) == dtypes.float0 or t is None:
        return None
    got = aval_of(t)
    if not dtypes.is_inexact(aval.dtype):
        raise DifferentiationError(
            f"jvp: primal {i} is {aval.short()}, its tangent is {got.short()}",
            rule="primal and tangent arguments have equal types; the tangent of an "
            "integer has dtype float0",
            fix="pass numpy.zeros(shape, dtypes.float0)",
        )
    if got.shape != aval.shape or got.dtype != aval.dtype:
        raise ShapeError(
            f"jvp: primal {i} is {aval.short()}, its tangent is {got.short()}",
            rule="primal and tangent arguments have equal shapes and dtypes",
        )
    return t


def linearize(fun: Callable, *primals: Any, has_aux: bool = False) -> Any:
    """The value of `fun` at `primals`, and its derivative there as a function.

    Returns:
      `(value, f_jvp)`; `f_jvp(*tangents)` costs no evaluation of `fun`.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> y, f_jvp = pullback.linearize(pnp.sin, 0.0)
      >>> f_jvp(3.0)
      Array(3., dtype=float32, weak_type=True)
    """
    check_callable(fun, "linearize")
    leaves, in_tree = tree.flatten(list(primals))
    live = [dtypes.is_inexact(check_array_leaf(x, "linearize").dtype) for x in leaves]
    flat = FlatFunction(fun, in_tree, has_aux)
    outs, jaxpr, res, out_live = linearize_flat(flat, leaves, live)
    out_avals = [check_array_leaf(x, "linearize") for x in outs]

    def f_jvp(*tangents: Any) -> Any:
        ts, t_tree = tree.flatten(list(tangents))
        if t_tree != in_tree:
            raise TreeError(
                f"the linearized function got {t_tree}, its primals were {in_tree}",
                rule="tangents have the structure of the primals",
            )
        ts = [
            _checked_tangent(x, t, i)
            for i, (x, t) in enumerate(zip(leaves, ts, strict=True))
        ]
        given = [
            zeros(aval_of(x)) if t is None else t
            for x, t, on in zip(leaves, ts, live, strict=True)
            if on
        ]
        moved = iter(eval_jaxpr(jaxpr, res, given))
        filled = [
            own(next(moved) if on else zero_tangent(a))
            for a, on in zip(out_avals, out_live, strict=True)
        ]
        return tree.unflatten(flat.out_tree, filled)

    value = tree.unflatten(flat.out_tree, list(map(own, outs)))
    return (value, f_jvp, flat.aux) if has_aux else (value, f_jvp)
