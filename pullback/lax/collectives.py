"""Collectives over trees: operations along the named axis of a vmap."""

from collections.abc import Sequence
from typing import Any

from pullback.core import tree
from pullback.core.trace import axis_size as axis_size
from pullback.ops import collective, collective_moves


def psum(x: Any, axis_name: Any) -> Any:
    """The sum over the named axis (or axes) of each leaf of the tree `x`.

    Args:
      axis_name: the name given to `vmap`, or a tuple of names. The sum of a Python
        number is that number times the size of the axis, without an operation.

    Raises:
      UnboundAxisError: no axis of that name is in scope.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> share = lambda x: x / pullback.lax.psum(x, "i")
      >>> pullback.vmap(share, axis_name="i")(pnp.array([1.0, 3.0]))
      Array([0.25, 0.75], dtype=float32)
    """
    return tree.map(lambda leaf: collective.psum(leaf, axis_name), x)


def pmean(x: Any, axis_name: Any) -> Any:
    """The mean over the named axis of each leaf of the tree `x`."""
    size = collective.total_size(collective.axis_names(axis_name))
    return tree.map(lambda leaf: collective.psum(leaf, axis_name) / size, x)


def pmax(x: Any, axis_name: Any) -> Any:
    """The maximum over the named axis of each leaf of the tree `x`."""
    return tree.map(lambda leaf: collective.pmax(leaf, axis_name), x)


def pmin(x: Any, axis_name: Any) -> Any:
    """The minimum over the named axis of each leaf of the tree `x`."""
    return tree.map(lambda leaf: collective.pmin(leaf, axis_name), x)


def all_gather(x: Any, axis_name: Any, *, axis: int = 0, tiled: bool = False) -> Any:
    """The values at all positions of the named axis, of each leaf of the tree `x`.

    They lie along a new axis `axis`, or with `tiled` one after the other along it.
    """
    return tree.map(
        lambda leaf: collective_moves.all_gather(leaf, axis_name, axis, tiled), x
    )


def psum_scatter(
    x: Any, axis_name: Any, *, scatter_dimension: int = 0, tiled: bool = False
) -> Any:
    """The sum over the named axis, of which each position keeps its part."""
    return tree.map(
        lambda leaf: collective_moves.psum_scatter(
            leaf, axis_name, scatter_dimension, tiled
        ),
        x,
    )


def ppermute(x: Any, axis_name: Any, perm: Sequence[tuple[int, int]]) -> Any:
    """The value of position i at position j for (i, j) in `perm`; zeros elsewhere."""
    return tree.map(lambda leaf: collective_moves.ppermute(leaf, axis_name, perm), x)


def pshuffle(x: Any, axis_name: Any, perm: Sequence[int]) -> Any:
    """At position i the value of position `perm[i]`, for a permutation `perm`."""
    return ppermute(x, axis_name, list(zip(perm, range(len(perm)), strict=True)))


def all_to_all(
    x: Any, axis_name: Any, split_axis: int, concat_axis: int, *, tiled: bool = False
) -> Any:
    """Split an axis over the positions of the named axis, and join what arrives."""
    return tree.map(
        lambda leaf: collective_moves.all_to_all(
            leaf, axis_name, split_axis, concat_axis, tiled
        ),
        x,
    )


def axis_index(axis_name: Any) -> Any:
    """The position along the named axis, of dtype int32."""
    return collective.axis_index(axis_name)
