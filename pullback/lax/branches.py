"""Choices: cond and switch. Both are the region `cond`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.api.arguments import check_callable, own
from pullback.core import config, dtype as dtypes, tree
from pullback.core.aval import ShapedArray, aval_of, is_array_like
from pullback.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    ShapeError,
    TreeError,
)
from pullback.core.jaxpr import ClosedJaxpr, Var
from pullback.core.trace import is_known
from pullback.core.tree_mismatch import describe_difference
from pullback.ops.convert import convert
from pullback.ops.elementwise import scalar_like
from pullback.ops.logic import clamp, ne
from pullback.regions.cond import cond_flat
from pullback.regions.staging import Staged, input_avals, name_of, stage_trees

_ABSENT = object()


def cond(
    pred: Any,
    true_fun: Callable,
    false_fun: Callable,
    *operands: Any,
    operand: Any = _ABSENT,
    linear: Any = None,
) -> Any:
    """`true_fun(*operands)` if `pred` else `false_fun(*operands)`, chosen at run time.

    Both functions are traced; only the chosen one runs, except where `vmap` maps over
    `pred`: then both run and their results are selected.

    Args:
      pred: `bool[]` or a number, which is true when not 0.
      true_fun: a function of the operands, trees of arrays.
      false_fun: a function of the operands, with a result of the same type.
      operand: one operand, by name.
      linear: accepted for compatibility.

    Raises:
      ArgumentTypeError: `pred` is not a scalar, a function cannot be called, or there
        are operands both by position and by name.
      TreeError, ShapeError, DtypeError: the results of the functions differ in type.

    Example:
      >>> import pullback.numpy as pnp
      >>> from pullback import lax
      >>> lax.cond(True, lambda x: x + 1, lambda x: x - 1, pnp.float32(3))
      Array(4., dtype=float32)
    """
    del linear
    if not callable(true_fun) and len(operands) == 2 and callable(operands[1]):
        return _two_operands(pred, true_fun, false_fun, *operands)
    if operand is not _ABSENT:
        operands = _by_name(operand, operands)
    check_callable(true_fun, "cond")
    check_callable(false_fun, "cond")
    aval = _predicate(pred)
    if config.current().disable_jit and is_known(pred):
        return (true_fun if pred else false_fun)(*operands)
    named = [("false_fun", false_fun), ("true_fun", true_fun)]
    index = pred
    if not dtypes.is_bool(aval.dtype):
        index = ne(pred, scalar_like(pred, 0))
    return _choose(convert(index, dtypes.int32), named, operands, "cond")


def _two_operands(pred, true_operand, true_fun, false_operand, false_fun):
    """The form with an operand for each function."""
    return cond(
        pred,
        lambda both: true_fun(both[0]),
        lambda both: false_fun(both[1]),
        (true_operand, false_operand),
    )


def _by_name(operand: Any, operands: tuple) -> tuple:
    if operands:
        raise ArgumentTypeError(
            f"cond with operand={operand!r} and {len(operands)} positional operands",
            rule="if 'operand' keyword is passed then no positional operands can be "
            "passed",
        )
    return (operand,)


def _predicate(pred: Any) -> ShapedArray:
    if not is_array_like(pred):
        raise ArgumentTypeError(
            f"cond: Pred must be a scalar, got {pred!r} of type {type(pred).__name__}"
        )
    aval = aval_of(pred)
    if aval.shape:
        raise ArgumentTypeError(
            f"cond: Pred must be a scalar, got {aval.short()}",
            fix="reduce it with any() or all(), or choose by element with numpy.where",
        )
    if dtypes.is_complex(aval.dtype) or isinstance(aval.dtype, dtypes.ExtendedDType):
        raise ArgumentTypeError(
            f"cond: Pred type must be either boolean or number, got {aval.short()}"
        )
    return aval


def switch(index: Any, branches: Sequence[Callable], *operands: Any) -> Any:
    """`branches[index](*operands)`, chosen at run time.

    Args:
      index: `int[]`; values out of range count as the nearest branch.
      branches: functions of the operands, with results of one type.

    Raises:
      ArgumentTypeError: `index` is not an integer scalar.
      ArgumentError: there are no branches.
      TreeError, ShapeError, DtypeError: the results of the branches differ in type.

    Example:
      >>> from pullback import lax
      >>> lax.switch(1, [lambda x: x + 1, lambda x: x * 10], 3)
      Array(30, dtype=int32, weak_type=True)
    """
    branches = list(branches)
    if not branches:
        raise ArgumentError("switch: Empty branch sequence", fix="give a branch")
    for branch in branches:
        check_callable(branch, "switch")
    aval = _index(index)
    last = len(branches) - 1
    if config.current().disable_jit and is_known(index):
        return branches[min(max(int(index), 0), last)](*operands)
    if not last:
        return branches[0](*operands)
    index = clamp(scalar_like(index, 0), index, _limit(last, aval.dtype))
    index = convert(index, dtypes.int32)
    named = [(f"branch {i}", branch) for i, branch in enumerate(branches)]
    return _choose(index, named, operands, "switch")


def _limit(last: int, dtype: Any) -> np.ndarray:
    """`last`, or the largest value of a narrow dtype that cannot hold it."""
    return np.asarray(min(last, int(np.iinfo(dtype).max)), dtype)


def _index(index: Any) -> ShapedArray:
    aval = aval_of(index)
    if aval.shape:
        raise ArgumentTypeError(
            f"switch: Branch index must be scalar, got {aval.short()}"
        )
    if not dtypes.is_integer(aval.dtype):
        raise ArgumentTypeError(
            f"switch: Index type must be an integer, got {aval.short()}"
        )
    return aval


# ---- branches of one type ----


def _choose(index: Any, named: list, operands: tuple, what: str) -> Any:
    leaves, in_tree = tree.flatten(operands)
    avals = input_avals(leaves, operands, f"{what}: operand ")
    staged = [
        stage_trees(fun, in_tree, avals, f"{what}: {name_of(fun)}") for _, fun in named
    ]
    _check_results(what, [name for name, _ in named], staged)
    bodies, consts = _united(staged)
    outs = cond_flat(index, bodies, [*consts, *leaves])
    return tree.unflatten(staged[0].out_tree, [own(x) for x in outs])


def _united(staged: Sequence[Staged]) -> tuple[list[ClosedJaxpr], list[Any]]:
    """Branches that take the constants of all of them, each value once."""
    consts = {id(c): c for branch in staged for c in branch.consts}
    if not consts:
        return [branch.body for branch in staged], []
    places = {key: i for i, key in enumerate(consts)}
    values = list(consts.values())
    return [_widened(branch, places, values) for branch in staged], values


def _widened(branch: Staged, places: dict[int, int], values: list) -> ClosedJaxpr:
    n = len(branch.consts)
    mine = tuple(places[id(c)] for c in branch.consts)
    others = tuple(map(aval_of, values))
    if mine == tuple(range(len(values))):
        return branch.body
    cache = branch.body.jaxpr.cache
    key = ("united", mine, others)
    found = cache.get(key)
    if found is None:
        jaxpr = branch.body.jaxpr
        own_vars = dict(zip(mine, jaxpr.invars[:n], strict=True))
        leading = [
            own_vars[i] if i in own_vars else Var(a) for i, a in enumerate(others)
        ]
        new = jaxpr.replace(invars=[*leading, *jaxpr.invars[n:]])
        found = cache[key] = ClosedJaxpr(new)
    return found


def _check_results(what: str, names: list[str], staged: Sequence[Staged]) -> None:
    """Raise unless all branches have results of one tree and one list of types."""
    first = staged[0]
    for name, other in zip(names[1:], staged[1:], strict=True):
        if other.out_tree != first.out_tree:
            index = other.out_tree.unflatten(range(other.out_tree.num_leaves))
            where = describe_difference(first.out_tree.spec, index, whole=True)
            raise TreeError(
                f"{what}: the results of {names[0]} and {name} differ {where}",
                rule=f"{what} branch outputs must have the same pytree structure",
                fix="return the same types of containers, with the same keys and "
                "lengths, from all branches",
            )
        pairs = zip(first.body.out_avals, other.body.out_avals, strict=True)
        for i, (a, b) in enumerate(pairs):
            if a.shape != b.shape or a.dtype != b.dtype:
                raise _differing(what, names[0], name, first.out_tree, i, a, b)


def _differing(what, name, other, out_tree, i: int, a, b):
    index = out_tree.unflatten(range(out_tree.num_leaves))
    path = tree.keystr(tree.leaves_with_path(index)[i][0])
    error = ShapeError if a.shape != b.shape else DtypeError
    return error(
        f"{what}: result{path} is {a.short()} from {name} and {b.short()} from {other}",
        rule=f"{what} branches must have equal output types",
        fix="convert the results with .astype, or broadcast them, to one type",
    )
