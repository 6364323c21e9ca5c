"""Loops: scan, while_loop, fori_loop and map.

Trees are taken apart and checked here; the loops are the regions `scan` and `while`.
"""

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pullback.api.arguments import check_callable
from pullback.api.batch import vmap
from pullback.api.values import own
from pullback.core import config, dtype as dtypes, tree
from pullback.core.aval import aval_of, is_array_like
from pullback.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    ConcretizationTypeError,
)
from pullback.core.trace import Tracer
from pullback.ops.elementwise import add
from pullback.ops.joining import concatenate
from pullback.ops.logic import lt
from pullback.ops.promote import to_dtype
from pullback.ops.shape import expand_dims, reshape
from pullback.ops.slicing import index_in_dim, slice_in_dim
from pullback.regions.scan import scan_flat
from pullback.regions.staging import (
    Staged,
    at_types,
    check_carry_tree,
    check_carry_types,
    input_avals,
    name_of,
    stage_carry,
    stage_trees,
)
from pullback.regions.while_loop import while_flat


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
      (Array(6, dtype=int32, weak_type=True), Array([0, 0, 2, 9], dtype=int32))
    """
    check_callable(f, "scan")
    return _scan(f, init, xs, length, reverse, unroll, _Names("scan", f))


class _Names(NamedTuple):
    """What messages say: the public function, its argument, what the carry is called.

    `counters`: the carry is a tuple with so many numbers before the user's carry.
    """

    public: str
    owner: Callable
    start: str = "init"
    counters: int = 0

    def __str__(self) -> str:
        return f"{self.public}: {name_of(self.owner)}"

    def check_tree(self, want: Any, out: Any) -> None:
        """Raise unless the carry `out` has the structure `want`."""
        if self.counters:
            want, out = want.children()[self.counters], out[self.counters]
        check_carry_tree(str(self), self.start, want, out)

    def check_types(self, carry_tree: Any, before: list, after: list) -> None:
        """Raise unless the types of the carry stay the same."""
        if self.counters:
            carry_tree = carry_tree.children()[self.counters]
        users = slice(self.counters, None)
        check_carry_types(
            str(self), self.start, carry_tree, before[users], after[users]
        )


def _scan(f, init, xs, length, reverse, unroll, names: _Names) -> tuple[Any, Any]:
    """The scan of `f`, which is a function of `names.owner`, with which it is kept."""
    carry_leaves, carry_tree = tree.flatten(init)
    x_leaves, x_tree = tree.flatten(xs)
    carry_avals = input_avals(carry_leaves, init, f"{names.public}: {names.start}")
    x_avals = input_avals(x_leaves, xs, f"{names.public}: xs")
    length = _length(length, xs, x_avals)
    unroll = _unroll(unroll, length)
    if config.current().disable_jit:
        return _python_scan(f, init, xs, length, reverse)
    rows = [a.update(shape=a.shape[1:]) for a in x_avals]
    in_tree = tree.treedef_tuple((carry_tree, x_tree))
    what = str(names)

    def check(out: Any) -> None:
        if not (isinstance(out, tuple | list) and len(out) == 2):
            raise _not_a_pair(what, out)
        names.check_tree(carry_tree, out[0])

    def run(avals):
        avals = [*avals, *rows]
        labels = "carry", "x"
        return stage_trees(f, in_tree, avals, what, labels, check, names.owner)

    staged, avals = stage_carry(run, carry_avals)
    after = staged.body.out_avals[: len(avals)]
    names.check_types(carry_tree, avals, after)
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


# ---- while, fori ----


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
      TreeError, ShapeError, DtypeError: what `body_fun` returns differs from `init_val`.

    Example:
      >>> from pullback import lax
      >>> lax.while_loop(lambda x: x < 100, lambda x: x * 2, 3)
      Array(192, dtype=int32, weak_type=True)
    """
    check_callable(cond_fun, "while_loop")
    check_callable(body_fun, "while_loop")
    names = _Names("while_loop", body_fun, "init_val")
    return _while(cond_fun, body_fun, init_val, names)


def _while(cond_fun, body_fun, init_val, names: _Names) -> Any:
    """The loop; `body_fun` is a function of `names.owner`, with which it is kept."""
    leaves, carry_tree = tree.flatten(init_val)
    avals = input_avals(leaves, init_val, f"{names.public}: {names.start}")
    if config.current().disable_jit:
        while cond_fun(init_val):
            init_val = body_fun(init_val)
        return init_val
    in_tree = tree.treedef_tuple((carry_tree,))
    what, labels = str(names), (names.start,)

    def check(out: Any) -> None:
        names.check_tree(carry_tree, out)

    def run(avals):
        owner = names.owner
        return stage_trees(body_fun, in_tree, avals, what, labels, check, owner)

    body, avals = stage_carry(run, avals)
    names.check_types(carry_tree, avals, body.body.out_avals)
    what = f"{names.public}: {name_of(cond_fun)}"
    test = stage_trees(cond_fun, in_tree, avals, what, labels)
    _check_test(what, test)
    init = at_types(leaves, avals)
    outs = while_flat(test.body, test.consts, body.body, body.consts, init)
    return tree.unflatten(carry_tree, [own(x) for x in outs])


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
      upper: `int[]`, of the same dtype.
      body_fun: keeps the tree, shapes and dtypes of `x`.
      unroll: as in `scan`; only with bounds known when it is traced.

    Raises:
      ArgumentTypeError: bounds that are not integers of one dtype.
      ArgumentError: `unroll` with bounds that are not known.
      TreeError, ShapeError, DtypeError: what `body_fun` returns differs from `init_val`.

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
    names = _Names("fori_loop", body_fun, "init_val", 1)
    if first is None or last is None:
        names = names._replace(counters=2)
        if unroll is not None:
            raise ArgumentError(
                f"fori_loop: unroll is {unroll!r}, with traced bounds",
                rule="Can only use `unroll` in `fori_loop` if the loop bounds are "
                "statically known.",
            )
        state = lower, upper, init_val
        return _while(_fori_test, _stepping(body_fun), state, names)[2]
    (_, out), _ = _scan(
        _counting(body_fun),
        (lower, init_val),
        None,
        max(last - first, 0),
        False,
        1 if unroll is None else unroll,
        names,
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

    return _scan(step, (), xs, None, False, 1, _Names("map", f))[1]


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
