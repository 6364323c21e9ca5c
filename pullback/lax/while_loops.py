"""Loops by condition and by count: while_loop and fori_loop.

Trees are taken apart and checked here; the loops are the regions `while` and `scan`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.api.arguments import check_callable, own
from pullback.core import config, dtype as dtypes, tree
from pullback.core.aval import aval_of, is_array_like
from pullback.core.errors import ArgumentError, ArgumentTypeError
from pullback.core.trace import Tracer, is_known
from pullback.lax.control_flow import loop_rows
from pullback.ops.elementwise import add
from pullback.ops.logic import lt
from pullback.ops.promote import to_dtype
from pullback.regions.carry import Loop, at_types, stage_carry
from pullback.regions.staging import Staged, input_avals, name_of, stage_trees
from pullback.regions.while_loop import while_flat


def while_loop(cond_fun: Callable, body_fun: Callable, init_val: Any) -> Any:
    """`x = body_fun(x)`, from `init_val` on, for as long as `cond_fun(x)` is true.

    Args:
      cond_fun: `cond_fun(x) -> bool[]`.
      body_fun: `body_fun(x) -> x`, which keeps the tree, shapes and dtypes.
      init_val: a tree of arrays; weakly typed leaves are promoted to fit.

    Returns:
      The last `x`. It has a forward derivative (`jvp`), but no reverse one.

    Raises:
      ArgumentTypeError: a function cannot be called, or `cond_fun` does not return a
        boolean scalar.
      TreeError, ShapeError, DtypeError: what `body_fun` returns differs from
        `init_val`.

    Example:
      >>> from pullback import lax
      >>> lax.while_loop(lambda x: x < 100, lambda x: x * 2, 3)
      Array(192, dtype=int32, weak_type=True)
    """
    check_callable(cond_fun, "while_loop")
    check_callable(body_fun, "while_loop")
    loop = Loop("while_loop", body_fun, "init_val")
    return _while(cond_fun, body_fun, init_val, loop)


def _while(cond_fun, body_fun, init_val, loop: Loop) -> Any:
    """The loop; `body_fun` is a function of `loop.owner`, with which it is kept."""
    if config.current().disable_jit:
        going, init_val = _python_while(cond_fun, body_fun, init_val)
        if not going:
            return init_val
    leaves, carry_tree = tree.flatten(init_val)
    avals = input_avals(leaves, init_val, f"{loop.public}: {loop.start}")
    in_tree = tree.treedef_tuple((carry_tree,))
    what, labels = loop.what, (loop.start,)

    def check(out: Any) -> None:
        loop.check_tree(carry_tree, out)

    def run(avals):
        owner = loop.owner
        return stage_trees(body_fun, in_tree, avals, what, labels, check, owner)

    body, avals = stage_carry(run, avals)
    loop.check_types(carry_tree, avals, body.body.out_avals)
    what = f"{loop.public}: {name_of(cond_fun)}"
    test = stage_trees(cond_fun, in_tree, avals, what, labels)
    _check_test(what, test)
    init = at_types(leaves, avals)
    outs = while_flat(test.body, test.consts, body.body, body.consts, init)
    return tree.unflatten(carry_tree, [own(x) for x in outs])


def _python_while(cond_fun, body_fun, x: Any) -> tuple[bool, Any]:
    """The loop in Python, for as long as the condition is known there."""
    while is_known(going := cond_fun(x)):
        if not going:
            return False, x
        x = body_fun(x)
    return True, x


def _check_test(what: str, test: Staged) -> None:
    avals = test.body.out_avals
    if test.out_tree.num_nodes == 1 and [(a.shape, a.dtype) for a in avals] == [
        ((), dtypes.bool_)
    ]:
        return
    got = ", ".join(a.short() for a in avals)
    raise ArgumentTypeError(
        f"{what} returned {test.out_tree if test.out_tree.num_nodes > 1 else got}",
        rule="cond_fun must return a boolean scalar",
        fix="compare, or reduce with any() or all()",
    )


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
) -> Any:
    """`x = body_fun(i, x)`, from `init_val` on, for `i` from `lower` to `upper - 1`.

    With bounds known when it is traced the loop is a `scan`, with derivatives of all
    kinds; otherwise a `while_loop`, which has forward ones only.

    Args:
      lower: `int[]`.
      upper: `int[]`, of the same dtype. With known bounds `i` is a weak int.
      body_fun: keeps the tree, shapes and dtypes of `x`.
      unroll: as in `scan`; only with bounds known when it is traced.

    Raises:
      ArgumentTypeError: bounds that are not integers of one dtype.
      ArgumentError: `unroll` with bounds that are not known.
      TreeError, ShapeError, DtypeError: what `body_fun` returns differs from
        `init_val`.

    Example:
      >>> from pullback import lax
      >>> lax.fori_loop(0, 5, lambda i, x: x + i, 0)
      Array(10, dtype=int32, weak_type=True)
    """
    check_callable(body_fun, "fori_loop")
    first, last = _bound(lower, "lower"), _bound(upper, "upper")
    lower, upper = _joint_bounds(lower, upper)
    if config.current().disable_jit and first is not None and last is not None:
        for i in range(first, last):
            init_val = body_fun(i, init_val)
        return init_val
    loop = Loop("fori_loop", body_fun, "init_val", 1)
    if first is None or last is None:
        loop = loop._replace(counters=2)
        if unroll is not None:
            raise ArgumentError(
                f"fori_loop: unroll is {unroll!r}, with traced bounds",
                rule="Can only use `unroll` in `fori_loop` if the loop bounds are "
                "statically known.",
            )
        state = lower, upper, init_val
        return _while(_fori_test, _stepping(body_fun), state, loop)[2]
    (_, out), _ = loop_rows(
        _counting(body_fun),
        (first, init_val),
        None,
        max(last - first, 0),
        False,
        1 if unroll is None else unroll,
        loop,
    )
    return out


def _fori_test(state: tuple) -> Any:
    return lt(state[0], state[1])


def _next(i: Any) -> Any:
    aval = aval_of(i)
    return add(i, 1 if aval.weak_type else np.ones((), aval.dtype))


def _stepping(body_fun: Callable) -> Callable:
    """A step of the while loop."""

    def step(state):
        i, upper, x = state
        return _next(i), upper, body_fun(i, x)

    return step


def _counting(body_fun: Callable) -> Callable:
    """A step of the scan."""

    def step(carry, _):
        i, x = carry
        return (_next(i), body_fun(i, x)), None

    return step


def _bound(x: Any, name: str) -> int | None:
    """The value of a bound, or None when it is traced."""
    if not is_array_like(x) or aval_of(x).shape:
        raise ArgumentTypeError(
            f"fori_loop: {name} is {x!r}", rule="bounds are integer scalars"
        )
    aval = aval_of(x)
    if not dtypes.is_integer(aval.dtype):
        raise ArgumentTypeError(
            f"fori_loop: {name} is {aval.short()}", rule="bounds are integers"
        )
    value = x.concrete() if isinstance(x, Tracer) else x
    return None if value is None else int(value)


def _joint_bounds(lower: Any, upper: Any) -> tuple[Any, Any]:
    """The bounds with one dtype; a Python number takes that of the other."""
    a, b = aval_of(lower), aval_of(upper)
    if a.dtype == b.dtype:
        return lower, upper
    if a.weak_type != b.weak_type:
        dtype = b.dtype if a.weak_type else a.dtype
        return to_dtype(lower, dtype), to_dtype(upper, dtype)
    raise ArgumentTypeError(
        f"fori_loop from {a.short()} to {b.short()}",
        rule="lower and upper arguments to fori_loop must have equal types",
        fix="convert one of them with astype",
    )
