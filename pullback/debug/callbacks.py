"""Looking at values while a program runs: print and callback.

They change nothing: transformations pass them on, derivatives ignore them.
"""

import builtins
import string
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.api.arguments import check_callable, name_of
from pullback.api.callbacks import as_given
from pullback.compile.array import ArrayImpl
from pullback.core import tree
from pullback.core.aval import aval_of, is_array_like
from pullback.core.errors import ArgumentError, ArgumentTypeError
from pullback.ops.callback import HostFunction, debug_callback_p


def callback(
    callback: Callable, *args: Any, ordered: bool = False, **kwargs: Any
) -> None:
    """Call a Python function with values of the running program, for its effects.

    Under `vmap` it is called once an example; under derivatives, with primal values.

    Args:
      callback: called with NumPy arrays in place of the arrays of `args` and `kwargs`;
        what is no array in them is passed as it is.
      ordered: run in the order of the program, among all calls with `ordered=True`.

    Raises:
      ArgumentTypeError: `callback` is not callable.
      RuntimeFailure: the function raised.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> seen = []
      >>> def f(x):
      ...     pullback.debug.callback(lambda y: seen.append(float(y)), x * 2)
      ...     return pnp.sin(x)
      >>> _ = pullback.jit(pullback.grad(f))(1.0)
      >>> seen
      [2.0]
    """
    check_callable(callback, "debug.callback")
    _send(callback, name_of(callback), args, kwargs, ordered, as_given)


def print(
    fmt: str,
    *args: Any,
    ordered: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> None:
    """Print `fmt.format(*args, **kwargs)` when the program runs, not when it is traced.

    Args:
      fmt: a format string, not an f-string: that would show traced values.
      ordered: print in the order of the program, among all calls with `ordered=True`.
      skip_format_check: allow arguments that `fmt` does not name.

    Raises:
      ArgumentTypeError: `fmt` is not a string.
      ArgumentError: arguments that `fmt` does not name.
      IndexError, KeyError: `fmt` names an argument that is not given.

    Example:
      >>> import pullback
      >>> @pullback.jit
      ... def f(x):
      ...     pullback.debug.print("x is {x}", x=x)
      ...     return x + 1
      >>> _ = f(3)
      x is 3
    """
    if not isinstance(fmt, str):
        raise ArgumentTypeError(
            f"debug.print({fmt!r})", rule="the first argument is a format string"
        )
    if not skip_format_check:
        check = _Check()
        check.vformat(fmt, args, kwargs)
        if check.unused:
            raise ArgumentError(
                f"debug.print: the format names no argument {', '.join(check.unused)}",
                fix="write {} or {name} for each, or pass skip_format_check=True",
            )
    options: Any = np.get_printoptions()

    def show(*args, **kwargs):
        with np.printoptions(**options):
            builtins.print(fmt.format(*args, **kwargs))

    _send(show, "debug.print", args, kwargs, ordered, _as_array)


def _as_array(value: np.ndarray, aval: Any) -> ArrayImpl:
    return ArrayImpl(aval, None, value)


def _send(function, name: str, args, kwargs, ordered: bool, given: Callable) -> None:
    """Bind the call; what is no array stays in the function."""
    leaves, treedef = tree.flatten((args, kwargs))
    places = [i for i, x in enumerate(leaves) if is_array_like(x)]
    arrays = [leaves[i] for i in places]
    avals = list(map(aval_of, arrays))
    fixed = [None if is_array_like(x) else x for x in leaves]

    def flat(*values):
        filled = list(fixed)
        for i, x, aval in zip(places, values, avals, strict=True):
            filled[i] = given(x, aval)
        positional, named = treedef.unflatten(filled)
        function(*positional, **named)
        return ()

    debug_callback_p.bind(*arrays, callback=HostFunction(flat, name), ordered=ordered)


class _Check(string.Formatter):
    """Finds the arguments that a format names, without formatting values."""

    unused: Sequence[str] = ()

    def format_field(self, value: Any, format_spec: str) -> str:
        return ""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return value

    def check_unused_args(
        self, used_args: Any, args: Sequence[Any], kwargs: Any
    ) -> None:
        names = [*range(len(args)), *kwargs]
        self.unused = [str(name) for name in names if name not in used_args]
