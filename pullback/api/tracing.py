"""Looking at programs without running them: make_jaxpr, eval_shape, typeof."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from pullback.api.arguments import (
    FlatFunction,
    check_array_leaf,
    check_callable,
    name_of,
)
from pullback.compile.shape_struct import (
    ShapeDtypeStruct as ShapeDtypeStruct,
    struct_of,
)
from pullback.compile.static import StaticArguments, argument_names
from pullback.core import tree
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.jaxpr import ClosedJaxpr, DebugInfo
from pullback.core.trace import stage


def _staged(fun: Callable, static: StaticArguments, args: tuple, kwargs: dict):
    dynamic, statics = static.split(args, kwargs)
    leaves, in_tree = tree.flatten(dynamic)
    avals = [check_array_leaf(x, f"tracing {name_of(fun)}") for x in leaves]

    def call(args, kwargs):
        args, kwargs = static.merge((args, kwargs), statics)
        return fun(*args, **kwargs)

    flat = FlatFunction(call, in_tree)
    debug = DebugInfo(name_of(fun), lambda: argument_names(fun, in_tree))

    def checked(*xs):
        outs = flat(*xs)
        for x in outs:
            check_array_leaf(x, f"the result of {name_of(fun)}")
        return outs

    jaxpr, consts = stage(checked, avals, debug)
    return ClosedJaxpr(jaxpr, consts), flat.out_tree


def make_jaxpr(
    fun: Callable,
    static_argnums: int | Sequence[int] = (),
    return_shape: bool = False,
) -> Callable:
    """Trace `fun` and return the program instead of running it.

    Args:
      fun: a function of trees of arrays.
      static_argnums: positions of arguments to trace with as Python values.
      return_shape: also return the result's tree of `ShapeDtypeStruct`s.

    Returns:
      A function with the arguments of `fun` (arrays, or `ShapeDtypeStruct`s) that
      returns a `ClosedJaxpr`.

    Example:
      >>> import pullback
      >>> pullback.make_jaxpr(lambda x: x * 2.0)(1.0)
      { lambda ; a:f32[]. let b:f32[] = mul a 2.0:f32[] in (b,) }
    """
    check_callable(fun, "make_jaxpr")
    static = StaticArguments(fun, static_argnums, None)

    @functools.wraps(fun)
    def make_jaxpr_f(*args: Any, **kwargs: Any) -> Any:
        closed, out_tree = _staged(fun, static, args, kwargs)
        if not return_shape:
            return closed
        return closed, tree.unflatten(out_tree, map(struct_of, closed.out_avals))

    return make_jaxpr_f


def eval_shape(fun: Callable, *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes of `fun(*args, **kwargs)`, without computing it.

    Returns:
      A tree of `ShapeDtypeStruct`s with the structure of the result.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> x = pullback.ShapeDtypeStruct((1000, 10), "float32")
      >>> pullback.eval_shape(lambda x: x @ x.T, x)
      ShapeDtypeStruct(shape=(1000, 1000), dtype=float32)
    """
    check_callable(fun, "eval_shape")
    closed, out_tree = _staged(fun, StaticArguments(fun, None, None), args, kwargs)
    return tree.unflatten(out_tree, map(struct_of, closed.out_avals))


def typeof(x: Any) -> ShapedArray:
    """The type of an array or number, as the IR knows it.

    Example:
      >>> import pullback
      >>> print(pullback.typeof(1.0))
      float32[]
    """
    return aval_of(x)
