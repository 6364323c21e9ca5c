"""Arguments and results at the border: leaves that are arrays, flat functions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.compile.array import ArrayImpl
from pullback.compile.eager import concrete
from pullback.core import dtype as dtypes, tree
from pullback.core.aval import ShapedArray, aval_of, is_array_like
from pullback.core.errors import ArgumentTypeError
from pullback.core.trace import Tracer, state
from pullback.ops.shape import zeros
from pullback.transforms.jvp import JVPTracer


def check_callable(fun: Any, what: str) -> None:
    """Raise ArgumentTypeError unless `fun` can be called."""
    if not callable(fun):
        raise ArgumentTypeError(
            f"{what} of {fun!r} of type {type(fun).__name__}",
            rule="it takes a function",
        )


def name_of(fun: Callable) -> str:
    """The name of a function, for messages and printed programs."""
    return getattr(fun, "__name__", type(fun).__name__)


def canonical_argnums(argnums: int | Sequence[int], count: int, what: str):
    """Positions counted from the front, as a tuple.

    Raises:
      ArgumentTypeError: not integers, or there is no such argument.
    """
    nums = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    for n in nums:
        if not isinstance(n, int):
            raise ArgumentTypeError(
                f"{what}: argnums is {argnums!r}", rule="it takes an int or ints"
            )
        if not -count <= n < count:
            raise ArgumentTypeError(
                f"{what}: argnums is {argnums!r}, but {count} positional arguments "
                "are given",
                fix="pass the differentiated arguments by position",
            )
    return tuple(n % count for n in nums)


class Chosen:
    """A function of the arguments at `argnums`, the others held fixed."""

    __slots__ = ("args", "argnums", "fun", "kwargs")

    def __init__(self, fun: Callable, argnums: tuple[int, ...], args, kwargs):
        self.fun, self.argnums, self.args, self.kwargs = fun, argnums, args, kwargs

    def chosen(self) -> list[Any]:
        """The arguments at `argnums`."""
        return [self.args[i] for i in self.argnums]

    def __call__(self, *chosen: Any) -> Any:
        """Call with the chosen arguments replaced."""
        args = list(self.args)
        for i, x in zip(self.argnums, chosen, strict=True):
            args[i] = x
        return self.fun(*args, **self.kwargs)


class FlatFunction:
    """A function of leaves, from a function of trees; keeps the result's structure."""

    __slots__ = ("aux", "fun", "has_aux", "in_tree", "out_tree")

    def __init__(self, fun: Callable, in_tree: Any, has_aux: bool = False):
        self.fun, self.in_tree, self.has_aux = fun, in_tree, has_aux
        self.out_tree: Any = None
        self.aux: Any = None

    def __call__(self, *leaves: Any) -> list[Any]:
        """Call with trees made of `leaves`; returns the leaves of the result."""
        out = self.fun(*self.in_tree.unflatten(leaves))
        if self.has_aux:
            out, self.aux = split_aux(self.fun, out)
        flat, self.out_tree = tree.flatten(out)
        return flat


def split_aux(fun: Callable, out: Any) -> tuple[Any, Any]:
    """The result and the auxiliary data of a function called with `has_aux`.

    Called while the function is differentiated: the auxiliary data keep their values
    and leave their tangents behind.

    Raises:
      ArgumentTypeError: it did not return a pair.
    """
    if not (isinstance(out, tuple | list) and len(out) == 2):
        raise ArgumentTypeError(
            f"{name_of(fun)} returned {type(out).__name__} with has_aux=True",
            rule="with has_aux a function returns a pair (result, auxiliary data)",
        )
    return out[0], tree.map(_primal, out[1])


def _primal(x: Any) -> Any:
    return x.primal if type(x) is JVPTracer and x.owner is state.trace else x


def check_array_leaf(x: Any, what: str) -> ShapedArray:
    """The aval of a leaf: an array, a number, or a type with shape and dtype.

    Raises:
      ArgumentTypeError: it is something else.
    """
    if is_array_like(x):
        return aval_of(x)
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return ShapedArray(tuple(x.shape), dtypes.canonicalize(x.dtype))
    raise ArgumentTypeError(
        f"{what}: {x!r} of type {type(x).__name__} is not an array",
        rule="leaves are arrays, NumPy arrays or numbers",
        fix="close over other values with a lambda or functools.partial",
    )


def own(x: Any) -> Any:
    """A result as the user gets it: numbers and NumPy values become arrays."""
    if type(x) is ArrayImpl or isinstance(x, Tracer):
        return x
    if isinstance(x, np.ndarray) and x.dtype == dtypes.float0:
        return x
    return concrete(x)


def zero_tangent(aval: ShapedArray) -> Any:
    """A zero tangent of a value: zeros of its type, or of `float0` for integers."""
    if aval.dtype in dtypes.INEXACT:
        return zeros(aval)
    return np.zeros(aval.shape, dtypes.float0)
