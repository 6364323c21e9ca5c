"""Functions of trees as bodies of regions: traced once for given types, checked.

A trace is kept for as long as its function lives. What the function closes over
becomes leading arguments of the body, so that values of outer transformations reach it
as operands.
"""

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pullback.core import tree
from pullback.core.aval import ShapedArray, aval_of, is_array_like
from pullback.core.errors import ArgumentTypeError
from pullback.core.jaxpr import ClosedJaxpr, DebugInfo, consts_as_inputs
from pullback.core.trace import Tracer, context, stage

MAX_ENTRIES = 512
_traces: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
_lock = threading.Lock()


class Staged(NamedTuple):
    """A body, the values of its leading arguments, and the structure of its result."""

    body: ClosedJaxpr
    consts: list[Any]
    out_tree: Any


def name_of(fun: Callable) -> str:
    """The name of a function, for messages and printed programs."""
    return getattr(fun, "__name__", type(fun).__name__)


def stage_trees(
    fun: Callable,
    in_tree: Any,
    avals: Sequence[ShapedArray],
    what: str,
    labels: Sequence[str] = (),
    check: Callable[[Any], None] | None = None,
    owner: Callable | None = None,
) -> Staged:
    """Trace `fun(*trees)` for leaves of the given types.

    Args:
      in_tree: the structure of the tuple of arguments.
      what: the public function and the role of `fun` in it, for messages.
      labels: what messages call each argument.
      check: called with the result, before it is taken apart; it may raise. What it
        does must follow from the other arguments.
      owner: the function to keep the trace with, which together with `what` determines
        `fun` (None: `fun` itself).

    Raises:
      ArgumentTypeError: the result has a leaf that is not an array.
    """
    key = (*context(), what, in_tree, *avals)
    kept = _kept(fun if owner is None else owner)
    found = kept.get(key)
    if found is not None:
        return found
    staged = _stage(fun, in_tree, avals, what, labels, check)
    if not any(isinstance(c, Tracer) for c in staged.consts):
        if len(kept) >= MAX_ENTRIES:
            kept.clear()
        kept[key] = staged
    return staged


def _kept(fun: Callable) -> dict:
    """The traces of `fun`; functions that define equality of their own have none."""
    if type(fun).__hash__ is not object.__hash__:
        return {}
    try:
        with _lock:
            return _traces.setdefault(fun, {})
    except TypeError:  # no weak references
        return {}


def _stage(fun, in_tree, avals, what, labels, check) -> Staged:
    out_tree = None

    def flat(*leaves):
        nonlocal out_tree
        out = fun(*in_tree.unflatten(leaves))
        if check is not None:
            check(out)
        outs, out_tree = tree.flatten(out)
        for i, x in enumerate(outs):
            if not is_array_like(x):
                raise _bad_result(what, x, i, out)
        return outs

    debug = DebugInfo(name_of(fun), lambda: leaf_names(in_tree, labels))
    jaxpr, consts = stage(flat, avals, debug)
    return Staged(ClosedJaxpr(consts_as_inputs(jaxpr)), consts, out_tree)


def leaf_names(in_tree: Any, labels: Sequence[str]) -> list[str]:
    """A name for each leaf of the arguments: `carry['w']`."""
    index = in_tree.unflatten(range(in_tree.num_leaves))
    return [
        f"{_label(path[0].idx, labels)}{tree.keystr(path[1:])}"
        for path, _ in tree.leaves_with_path(index)
    ]


def _label(i: int, labels: Sequence[str]) -> str:
    return labels[i] if i < len(labels) else f"args[{i}]"


def _bad_result(what: str, x: Any, i: int, out: Any) -> ArgumentTypeError:
    path = tree.leaves_with_path(out)[i][0]
    return ArgumentTypeError(
        f"{what} returned {x!r} of type {type(x).__name__} at "
        f"result{tree.keystr(path)}",
        rule="a traced function returns arrays, numbers, or trees of them",
        fix="leave it out, or return it from the caller",
    )


def input_avals(leaves: Sequence[Any], value: Any, what: str) -> list[ShapedArray]:
    """Types of the leaves of `value`.

    Raises:
      ArgumentTypeError: a leaf is not an array.
    """
    for i, x in enumerate(leaves):
        if not is_array_like(x):
            path = tree.leaves_with_path(value)[i][0]
            raise ArgumentTypeError(
                f"{what}{tree.keystr(path)} is {x!r} of type {type(x).__name__}",
                rule="it is an array, a number, or a tree of them",
                fix="close over values that are not arrays",
            )
    return list(map(aval_of, leaves))
