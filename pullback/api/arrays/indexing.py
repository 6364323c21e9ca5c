"""Reading by index: `x[...]`, iteration, length; windows at computed positions."""

from collections.abc import Iterator
from typing import Any

from pullback.compile.array import ArrayImpl
from pullback.compile.eager import EAGER, HOST_SIZE
from pullback.core import config, tree_node
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import ArgumentTypeError
from pullback.core.trace import state
from pullback.ops.index_items import DynamicSlice
from pullback.ops.normalize import normalize
from pullback.ops.pick import Pick
from pullback.ops.pick_read import read

_picks: dict[tuple, Pick] = {}
CACHE_SIZE = 4096


def ds(start: Any, size: int, stride: int = 1) -> DynamicSlice:
    """An index item: `size` elements from `start` on, `stride` apart.

    `start` may be traced; `size` and `stride` are static. A window that would reach
    outside is moved inside, by reads and writes alike.

    Example:
      >>> import pullback
      >>> from pullback import numpy as pnp
      >>> pnp.arange(6)[pullback.ds(2, 3)].tolist()
      [2, 3, 4]
    """
    return DynamicSlice(start, size, stride)


def _flat_window(window: DynamicSlice) -> tuple[tuple, tuple]:
    start, size, stride = window
    if isinstance(size, int):
        return (start,), (size, stride)
    return (start, size), (stride,)


tree_node.register_pytree_node(
    DynamicSlice,
    _flat_window,
    lambda static, children: DynamicSlice._make((*children, *static)),
)


def getitem(x, index):
    """`x[index]`, by NumPy's rules. Positions outside are moved inside.

    Raises:
      IndexingError: the index does not fit the array.
      ArgumentTypeError: an item of a type that does not index.
    """
    if type(x) is ArrayImpl and state.trace is EAGER:
        out = _on_host(x, index)
        if out is not None:
            return out
    return read(x, pick_of(index, aval_of(x).shape))


def _on_host(x: ArrayImpl, index: Any) -> ArrayImpl | None:
    """The result where the value is on the host and NumPy means the same."""
    if x.np_value is None and (x.aval.size > HOST_SIZE or not x.ready()):
        return None
    value = x.host()
    kind = type(index)
    if kind is int or kind is slice:
        key = (index, ...)
    elif kind is tuple and all(type(i) in _STATIC for i in index):
        key = index if ... in index else (*index, ...)
    else:
        return None
    try:
        out = value[key]
    except (IndexError, TypeError, ValueError):
        return None  # what is wrong with it is said by the general way
    aval = x.aval
    return ArrayImpl(ShapedArray(out.shape, aval.dtype, aval.weak_type), None, out)


_STATIC = frozenset([int, slice, type(None), type(...)])


def pick_of(index: Any, shape: tuple[int, ...]) -> Pick:
    """The normal form of an index that reads; remembered where it is all static."""
    key = _key(index)
    if key is None or config.current().check_static_indices:
        return normalize(index, shape)
    found = _picks.get((shape, key))
    if found is None:
        if len(_picks) >= CACHE_SIZE:
            _picks.clear()
        found = _picks[shape, key] = normalize(index, shape)
    return found


def _key(index: Any) -> Any:
    kind = type(index)
    if kind is int:
        return index
    if kind is slice:
        return _slice_key(index)
    if kind is not tuple:
        return None
    keys: list[Any] = []
    for item in index:
        kind = type(item)
        if kind is slice:
            key = _slice_key(item)
            if key is None:
                return None
            keys.append(key)
        elif kind in _STATIC:
            keys.append(item)
        else:
            return None
    return tuple(keys)


def _slice_key(s: slice) -> tuple | None:
    key = (slice, s.start, s.stop, s.step)
    plain = all(type(bound) in (int, type(None)) for bound in key[1:])
    return key if plain else None


def setitem(x, index, value):
    """Refuses: arrays do not change."""
    raise ArgumentTypeError(
        f"item assignment, x[...] = y, into an array {aval_of(x).short()}",
        rule="arrays are immutable",
        fix="use x = x.at[index].set(y)",
    )


def iterate(x) -> Iterator:
    """The elements of `x` along its first axis.

    Raises:
      ArgumentTypeError: `x` has no axis.
    """
    return iter([getitem(x, i) for i in range(length(x))])


def length(x) -> int:
    """The size of the first axis.

    Raises:
      ArgumentTypeError: `x` has no axis.
    """
    shape = aval_of(x).shape
    if not shape:
        raise ArgumentTypeError(
            f"len() or iteration of {aval_of(x).short()}",
            rule="an array of 0 dimensions has no length and no elements to go through",
        )
    return shape[0]


METHODS = {
    "__getitem__": getitem,
    "__setitem__": setitem,
    "__iter__": iterate,
    "__len__": length,
}
