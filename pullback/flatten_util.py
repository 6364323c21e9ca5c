"""Trees of arrays as one vector, and back."""

from collections.abc import Callable
from math import prod
from typing import Any

from pullback.api.arrays.creation import asarray
from pullback.core import tree
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError
from pullback.ops.convert import convert
from pullback.ops.joining import concatenate
from pullback.ops.promote import promote_dtypes
from pullback.ops.shape import reshape
from pullback.ops.slicing import slice_in_dim


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """All the leaves of a tree in one vector, and the function that undoes it.

    Returns:
      `(vector, unravel)`: a `t[n]` of the type that the leaves promote to, and a
      function of such vectors that returns trees with the leaves' shapes and types.

    Example:
      >>> import pullback.numpy as pnp
      >>> from pullback.flatten_util import ravel_pytree
      >>> vector, unravel = ravel_pytree({"a": pnp.ones(2), "b": 3.0})
      >>> vector.tolist(), unravel(vector * 2)["b"].item()
      ([1.0, 1.0, 3.0], 6.0)
    """
    leaves, treedef = tree.flatten(pytree)
    avals = [aval_of(x) for x in leaves]
    sizes = [prod(a.shape) for a in avals]
    lines = [reshape(asarray(x), (n,)) for x, n in zip(leaves, sizes, strict=True)]
    vector = concatenate(promote_dtypes(*lines), 0) if lines else asarray([])

    def unravel(flat: Any) -> Any:
        flat, parts, start = asarray(flat), [], 0
        if flat.shape != (sum(sizes),):
            raise ArgumentError(
                f"unravel of {flat.aval.short()}",
                rule=f"it takes a vector of {sum(sizes)} elements",
            )
        for aval, n in zip(avals, sizes, strict=True):
            part = reshape(slice_in_dim(flat, start, start + n), aval.shape)
            parts.append(convert(part, aval.dtype))
            start += n
        return tree.unflatten(treedef, parts)

    return vector, unravel
