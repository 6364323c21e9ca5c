"""Loops of known length: scan and map.

Trees are taken apart and checked here; the loop is the region `scan`.
"""

import operator
from collections.abc import Callable
from typing import Any

from pullback.api.arguments import check_callable, own
from pullback.api.batch import vmap
from pullback.core import config, tree
from pullback.core.aval import aval_of
from pullback.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    ConcretizationTypeError,
)
from pullback.ops.joining import concatenate
from pullback.ops.shape import expand_dims, reshape
from pullback.ops.slicing import index_in_dim, slice_in_dim
from pullback.regions.carry import Loop, at_types, stage_carry
from pullback.regions.scan import scan_flat
from pullback.regions.staging import input_avals, stage_trees


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """Run `f` over the rows of `xs`, handing a carry from each call to the next.

    Args:
      f: `f(carry, x) -> (carry, y)`, with trees of arrays. The carry keeps its tree,
        shapes and dtypes; a weakly typed start is promoted to fit. It is traced once.
      init: the carry of the first call.
      xs: a tree of `[n, *s]` arrays with one leading size, or None.
      length: the number of calls; needed only when `xs` has no arrays.
      reverse: start at the last row. Rows of the result stay where those of `xs` are.
      unroll: calls in one step of the compiled loop; True writes out all of them.

    Returns:
      The last carry, and the tree of all `y`, stacked along a leading axis.

    Raises:
      ArgumentTypeError: `f` is not callable or does not return a pair, or a leaf is not
        an array.
      TreeError, ShapeError, DtypeError: the carry that comes back differs from `init`.
      ArgumentError: leading sizes of `xs` differ, or there is no length.

    Example:
      >>> import pullback.numpy as pnp
      >>> from pullback import lax
      >>> lax.scan(lambda c, x: (c + x, c * x), 0, pnp.arange(4))
      (Array(6, dtype=int32), Array([0, 0, 2, 9], dtype=int32))
    """
    check_callable(f, "scan")
    return loop_rows(f, init, xs, length, reverse, unroll, Loop("scan", f))


def loop_rows(f, init, xs, length, reverse, unroll, loop: Loop) -> tuple[Any, Any]:
    """The scan of `f`, which is a function of `loop.owner`, with which it is kept."""
    carry_leaves, carry_tree = tree.flatten(init)
    x_leaves, x_tree = tree.flatten(xs)
    carry_avals = input_avals(carry_leaves, init, f"{loop.public}: {loop.start}")
    x_avals = input_avals(x_leaves, xs, f"{loop.public}: xs")
    length = _length(length, xs, x_avals)
    unroll = _unroll(unroll, length)
    if config.current().disable_jit:
        return _python_scan(f, init, xs, length, reverse)
    rows = [a.update(shape=a.shape[1:]) for a in x_avals]
    in_tree = tree.treedef_tuple((carry_tree, x_tree))
    what = loop.what

    def check(out: Any) -> None:
        if not (isinstance(out, tuple | list) and len(out) == 2):
            raise _not_a_pair(what, out)
        loop.check_tree(carry_tree, out[0])

    def run(avals):
        avals = [*avals, *rows]
        labels = "carry", "x"
        return stage_trees(f, in_tree, avals, what, labels, check, loop.owner)

    staged, avals = stage_carry(run, carry_avals)
    after = staged.body.out_avals[: len(avals)]
    loop.check_types(carry_tree, avals, after)
    outs = scan_flat(
        staged.body,
        staged.consts,
        at_types(carry_leaves, avals),
        x_leaves,
        length=length,
        reverse=bool(reverse),
        unroll=unroll,
    )
    return tuple(tree.unflatten(staged.out_tree, [own(x) for x in outs]))


def _not_a_pair(what: str, out: Any) -> ArgumentTypeError:
    got = aval_of(out).short() if hasattr(out, "aval") else type(out).__name__
    return ArgumentTypeError(
        f"{what} returned {got}",
        rule="scan body output must be a pair (carry, y)",
        fix="return (carry, None) when there is nothing to stack",
    )


def _length(length: Any, xs: Any, avals: list) -> int:
    """The number of iterations."""
    paths = [f"xs{tree.keystr(p)}" for p in tree.key_paths(xs)]
    for path, aval in zip(paths, avals, strict=True):
        if not aval.ndim:
            raise ArgumentError(
                f"scan: {path} is {aval.short()}",
                rule="scan takes arrays with a leading axis to scan over",
                fix="close over values that are the same in all iterations",
            )
    sizes = [a.shape[0] for a in avals]
    if length is None:
        if not sizes:
            raise ArgumentError(
                "scan: there are no values to scan over and no length",
                fix="give xs or length",
            )
        length = sizes[0]
    length = _static_length(length)
    if any(n != length for n in sizes):
        shown = ", ".join(f"{p} has {n}" for p, n in zip(paths, sizes, strict=True))
        raise ArgumentError(
            f"scan over arrays of different leading axis sizes or length: {shown}; "
            f"length is {length}",
            rule="all of them have the same leading size, which is the length",
        )
    return length


def _static_length(length: Any) -> int:
    try:
        n = operator.index(length)
    except ConcretizationTypeError:
        raise ConcretizationTypeError(
            "scan with a traced length",
            rule="the length of a scan is known when it is traced",
            fix="use fori_loop or while_loop, or make the length a static argument",
        ) from None
    except TypeError:
        raise ArgumentTypeError(
            f"scan: length is {length!r}", rule="it is an integer"
        ) from None
    if n < 0:
        raise ArgumentError(f"scan: length is {n}", rule="it is not negative")
    return n


def _unroll(unroll: Any, length: int) -> int:
    if unroll is True:
        return max(length, 1)
    if not isinstance(unroll, int) or unroll < 0:
        raise ArgumentError(
            f"scan: unroll is {unroll!r}",
            rule="`unroll` must be a `bool` or a non-negative `int`",
        )
    return max(int(unroll), 1)


def _python_scan(f, carry: Any, xs: Any, length: int, reverse: bool) -> tuple:
    """The loop in Python, for debugging."""
    if not length:
        raise ArgumentError(
            "scan of length 0 under disable_jit",
            rule="f is not called, so the type of its result is unknown",
            fix="leave disable_jit for this call",
        )
    rows = []
    steps = range(length)
    for i in reversed(steps) if reverse else steps:
        x = tree.map(lambda a, i=i: index_in_dim(a, i, keepdims=False), xs)
        carry, y = f(carry, x)
        rows.append(y)
    if reverse:
        rows.reverse()
    stacked = tree.map(
        lambda *ys: concatenate([expand_dims(own(y), (0,)) for y in ys], 0), *rows
    )
    return carry, stacked


# ---- map ----


def map(f: Callable, xs: Any, *, batch_size: int | None = None) -> Any:
    """Apply `f` to each row of `xs`, one after the other; uses little memory.

    Args:
      f: a function of one row, a tree of arrays.
      xs: a tree of `[n, *s]` arrays.
      batch_size: rows to take at once, with `vmap`.

    Returns:
      The results, stacked along a leading axis.

    Raises:
      ArgumentError: leading sizes of `xs` differ, or there are no arrays.

    Example:
      >>> import pullback.numpy as pnp
      >>> from pullback import lax
      >>> lax.map(lambda x: x * x, pnp.arange(3))
      Array([0, 1, 4], dtype=int32)
    """
    check_callable(f, "map")
    if batch_size:
        return _batched_map(f, xs, batch_size)

    def step(carry, x):
        return carry, f(x)

    return loop_rows(step, (), xs, None, False, 1, Loop("map", f))[1]


def _batched_map(f: Callable, xs: Any, size: int) -> Any:
    leaves = tree.leaves(xs)
    n = _length(None, xs, input_avals(leaves, xs, "map: xs"))
    whole = n - n % size

    def batches(x):
        shape = aval_of(x).shape
        return reshape(slice_in_dim(x, 0, whole), (whole // size, size, *shape[1:]))

    done = None
    if whole:
        done = map(vmap(f), tree.map(batches, xs))
        done = tree.map(lambda y: reshape(y, (whole, *y.shape[2:])), done)
    if whole == n and n:
        return done
    rest = vmap(f)(tree.map(lambda x: slice_in_dim(x, whole, n), xs))
    if done is None:
        return rest
    return tree.map(lambda a, b: concatenate([a, b], 0), done, rest)
