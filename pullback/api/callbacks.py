"""Calling Python from compiled programs: pure_callback and io_callback."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.api.arguments import check_array_leaf, check_callable, name_of, own
from pullback.compile.array import ArrayImpl
from pullback.core import config, dtype as dtypes, tree
from pullback.core.aval import ShapedArray
from pullback.core.errors import ArgumentError
from pullback.ops.callback import (
    VMAP_METHODS,
    HostFunction,
    io_callback_p,
    pure_callback_p,
)


def pure_callback(
    callback: Callable,
    result_shape_dtypes: Any,
    *args: Any,
    vmap_method: str | None = None,
    **kwargs: Any,
) -> Any:
    """Call a Python function without side effects from any program.

    It may run any number of times, or not at all when its result is not used.

    Args:
      callback: called with NumPy arrays in place of the arrays of `args` and `kwargs`.
      result_shape_dtypes: a tree of what has a shape and a dtype, such as
        `ShapeDtypeStruct`; the function must return such a tree of arrays.
      vmap_method: how `vmap` calls it: `"sequential"`: once an example;
        `"expand_dims"`: once, arrays that are not mapped get an axis of size 1 in
        front; `"broadcast_all"`: once, those are repeated along the mapped axis.

    Raises:
      ArgumentTypeError: `callback` is not callable, or an argument not an array.
      ArgumentError: an unknown method, or a 64-bit result while those are off.
      UnsupportedError: `vmap` without `vmap_method`.
      DifferentiationError: a derivative goes through the call.
      RuntimeFailure: the function raised, or returned other shapes or dtypes.

    Example:
      >>> import numpy as np, pullback, pullback.numpy as pnp
      >>> x = pnp.arange(3.0)
      >>> out = pullback.ShapeDtypeStruct(x.shape, x.dtype)
      >>> pullback.jit(lambda x: pullback.pure_callback(np.cbrt, out, x))(x * x * x)
      Array([0., 1., 2.], dtype=float32)
    """
    if vmap_method not in VMAP_METHODS:
        raise ArgumentError(
            f"pure_callback: vmap_method is {vmap_method!r}",
            rule=f"it is one of {VMAP_METHODS}",
        )
    call = _Call("pure_callback", callback, result_shape_dtypes, args, kwargs)
    outs = pure_callback_p.bind(
        *call.leaves,
        callback=call.host,
        result_avals=call.avals,
        vmap_method=vmap_method,
    )
    return call.result(outs)


def io_callback(
    callback: Callable,
    result_shape_dtypes: Any,
    *args: Any,
    ordered: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function with side effects from any program, once a run.

    Args:
      callback: called with NumPy arrays in place of the arrays of `args` and `kwargs`.
      result_shape_dtypes: as of `pure_callback`; None for no result.
      ordered: run in the order of the program, among all calls with `ordered=True`.

    Raises:
      ArgumentTypeError: `callback` is not callable, or an argument not an array.
      ArgumentError: `vmap` of an ordered call.
      DifferentiationError: a derivative goes through the call.
      RuntimeFailure: the function raised, or returned other shapes or dtypes.

    Example:
      >>> import pullback
      >>> from pullback.experimental import io_callback
      >>> seen = []
      >>> step = lambda x: io_callback(lambda x: seen.append(int(x)), None, x)
      >>> pullback.jit(step)(3)
      >>> seen
      [3]
    """
    call = _Call("io_callback", callback, result_shape_dtypes, args, kwargs)
    outs = io_callback_p.bind(
        *call.leaves, callback=call.host, result_avals=call.avals, ordered=ordered
    )
    return call.result(outs)


class _Call:
    """One call: flat operands, a flat host function, and the tree of its results."""

    __slots__ = ("avals", "host", "leaves", "out_tree")

    def __init__(self, what: str, callback: Callable, results, args, kwargs):
        check_callable(callback, what)
        self.leaves, in_tree = tree.flatten((args, kwargs))
        in_avals = [check_array_leaf(x, what) for x in self.leaves]
        wanted, self.out_tree = tree.flatten(results)
        self.avals = tuple(_result_aval(what, x) for x in wanted)
        out_tree = self.out_tree

        def flat(*arrays):
            given, named = in_tree.unflatten(map(as_given, arrays, in_avals))
            return out_tree.flatten_up_to(callback(*given, **named))

        self.host = HostFunction(flat, name_of(callback))

    def result(self, outs: Sequence[Any]) -> Any:
        """The tree of results."""
        return self.out_tree.unflatten(map(own, outs))


def _result_aval(what: str, x: Any) -> ShapedArray:
    aval = check_array_leaf(x, f"a result of {what}")
    if not config.x64() and dtypes.canonicalize(x.dtype) != x.dtype:
        raise ArgumentError(
            f"{what}: a result of dtype {dtypes.name(x.dtype)}",
            rule="64-bit types are off",
            fix="ask for a 32-bit type, or switch them on: pullback.enable_x64()",
        )
    return aval.strong()


def as_given(value: np.ndarray, aval: ShapedArray) -> Any:
    """What a callback sees of an operand: NumPy, but for PRNG keys."""
    return value if aval.carrier is None else ArrayImpl(aval, None, value)


def effects_barrier() -> None:
    """Wait for the effects of programs: there is nothing to wait for.

    A program that calls Python returns when all its calls have returned.
    """
