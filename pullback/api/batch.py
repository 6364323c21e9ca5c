"""vmap: a function of single examples applied to batches."""

import functools
from collections.abc import Callable, Hashable
from typing import Any

from pullback.api.arguments import (
    FlatFunction,
    check_array_leaf,
    check_callable,
    name_of,
    own,
)
from pullback.core import tree
from pullback.core.errors import ArgumentError, ArgumentTypeError, ShapeError
from pullback.transforms.vmap import to_axis, vmap_flat


def vmap(
    fun: Callable,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
) -> Callable:
    """Map `fun` over an axis of its arguments.

    Args:
      fun: a function of trees of arrays.
      in_axes: which axis of each positional argument to map over: an int, None for "the
        same for all", or a tuple with one entry an argument, each a tree prefix of the
        argument. Keyword arguments are mapped over axis 0.
      out_axes: where the mapped axis goes in the results: an int, None for results
        that are the same for all, or a tree prefix of them.
      axis_name: a name by which collectives in `fun` know the axis.
      axis_size: the size of the axis; needed only when nothing is mapped.

    Returns:
      A function of batches.

    Raises:
      ShapeError: mapped axes of different sizes, or an axis that is not there.
      TreeError: `in_axes` or `out_axes` is not a prefix of the arguments or results.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> pullback.vmap(lambda x, y: x + y, (0, None))(pnp.arange(3), 10)
      Array([10, 11, 12], dtype=int32)
    """
    check_callable(fun, "vmap")
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if in_axes is not None and not isinstance(in_axes, int | tuple | dict):
        raise ArgumentTypeError(
            f"vmap in_axes is {in_axes!r}",
            rule="it is an int, None, or a tuple with one entry an argument",
        )

    @functools.wraps(fun)
    def vmap_f(*args: Any, **kwargs: Any) -> Any:
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ArgumentError(
                f"vmap of {name_of(fun)}: in_axes has {len(in_axes)} entries, "
                f"{len(args)} positional arguments are given",
                rule="it is an int, None, or a tuple with one entry an argument",
            )
        leaves, in_tree = tree.flatten((args, kwargs))
        ds = tree.flatten_axes("vmap in_axes", in_tree, (in_axes, 0))
        ds = [
            _checked_axis(x, d, i)
            for i, (x, d) in enumerate(zip(leaves, ds, strict=True))
        ]
        size = _mapped_size(fun, leaves, ds, in_tree, axis_size)
        flat = FlatFunction(lambda a, k: fun(*a, **k), in_tree)
        outs, out_ds = vmap_flat(flat, size, leaves, ds, axis_name)
        for x in outs:
            check_array_leaf(x, f"the result of {name_of(fun)}, for vmap")
        want = tree.flatten_axes("vmap out_axes", flat.out_tree, out_axes)
        placed = [
            own(_place(x, d, size, w))
            for x, d, w in zip(outs, out_ds, want, strict=True)
        ]
        return tree.unflatten(flat.out_tree, placed)

    return vmap_f


def _checked_axis(x: Any, d: Any, i: int) -> int | None:
    if d is None:
        return None
    aval = check_array_leaf(x, f"vmap: argument leaf {i}")
    if not isinstance(d, int):
        raise ArgumentTypeError(
            f"vmap: an entry of in_axes is {d!r}, not an int or None"
        )
    if not -aval.ndim <= d < aval.ndim:
        raise ShapeError(
            f"vmap over axis {d} of an argument {aval.short()}",
            rule=f"an axis of this argument lies in [{-aval.ndim}, {aval.ndim})"
            if aval.ndim
            else "a scalar has no axes to map over",
            fix="pass in_axes with None for arguments that are not mapped",
        )
    return d % aval.ndim


def _mapped_size(fun, leaves, ds, in_tree, axis_size: int | None) -> int:
    sizes = {
        check_array_leaf(x, "vmap").shape[d]
        for x, d in zip(leaves, ds, strict=True)
        if d is not None
    }
    if axis_size is not None:
        sizes.add(axis_size)
    if len(sizes) == 1:
        return sizes.pop()
    if not sizes:
        raise ArgumentError(
            f"vmap of {name_of(fun)} maps no argument: all entries of in_axes are None",
            fix="map an argument, or give axis_size",
        )
    raise ShapeError(
        "vmap over axes of different sizes:\n"
        + _sizes_by_argument(leaves, ds, in_tree, axis_size),
        rule="all mapped axes have one size",
        fix="map other axes with in_axes, or pass None for what is not mapped",
    )


def _sizes_by_argument(leaves, ds, in_tree, axis_size) -> str:
    index = tree.unflatten(in_tree, range(len(leaves)))
    lines = [f"    * axis_size is {axis_size}"] if axis_size is not None else []
    for path, i in tree.leaves_with_path(index):
        if ds[i] is None:
            continue
        head, rest = path[1], tree.keystr(path[2:])
        name = f"args[{head.idx}]" if path[0].idx == 0 else f"kwargs[{head.key!r}]"
        aval = check_array_leaf(leaves[i], "vmap")
        size = aval.shape[ds[i]]
        lines.append(f"    * axis {ds[i]} of {name}{rest}, of type {aval}, has {size}")
    return "\n".join(lines)


def _place(x: Any, d: int | None, size: int, want: Any) -> Any:
    if want is None:
        if d is None:
            return x
        raise ArgumentError(
            "vmap: out_axes is None for a result that depends on mapped values",
            rule="out_axes is None only for results that are the same for all",
            fix="give out_axes=0, or index the result",
        )
    ndim = check_array_leaf(x, "vmap").ndim + (d is None)
    if not -ndim <= want < ndim:
        raise ShapeError(
            f"vmap out_axes is {want} for a result with {ndim} axes",
            rule=f"an axis lies in [{-ndim}, {ndim})",
        )
    return to_axis(x, d, size, want % ndim)
