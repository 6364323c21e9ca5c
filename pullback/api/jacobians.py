"""Jacobians and Hessians: one derivative a basis vector, all at once by vmap."""

import functools
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from pullback.api.arguments import (
    Chosen,
    canonical_argnums,
    check_array_leaf,
    check_callable,
)
from pullback.api.batch import vmap
from pullback.api.forward import jvp
from pullback.api.reverse import vjp
from pullback.core import dtype as dtypes, tree
from pullback.core.aval import ShapedArray
from pullback.core.errors import DifferentiationError
from pullback.ops.joining import split
from pullback.ops.shape import reshape


def jacfwd(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable:
    """The Jacobian of `fun`, column by column: cheap for few inputs and many outputs.

    Args:
      fun: a function of trees of arrays to a tree of arrays.
      argnums, has_aux, holomorphic: as in `grad`.

    Returns:
      A function whose result has, for each leaf of the result of `fun`, a tree like the
      argument, with leaves of shape `out.shape + in.shape`.

    Raises:
      DifferentiationError: an argument is not real (or not complex with `holomorphic`).

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> pullback.jacfwd(lambda x: x * x)(pnp.arange(2.0))
      Array([[0., 0.],
             [0., 2.]], dtype=float32)
    """
    check_callable(fun, "jacfwd")

    @functools.wraps(fun)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        nums = canonical_argnums(argnums, len(args), "jacfwd")
        chosen = Chosen(fun, nums, args, kwargs)
        x = chosen.chosen()
        avals = _checked(x, holomorphic, "jacfwd")

        def push(t):
            out = jvp(chosen, x, t, has_aux=has_aux)
            return (out[1], out[2]) if has_aux else (out[1], None)

        axes = (-1, None) if has_aux else (-1, 0)
        columns, aux = vmap(push, out_axes=axes)(_basis(x, avals))
        jac = tree.map(lambda y: _unraveled(y, x, avals, -1, argnums), columns)
        return (jac, aux) if has_aux else jac

    return jacobian


def jacrev(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable:
    """The Jacobian of `fun`, row by row: cheap for many inputs and few outputs.

    Arguments, result and errors as `jacfwd`.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> pullback.jacrev(lambda x: x.sum())(pnp.arange(2.0))
      Array([1., 1.], dtype=float32)
    """
    check_callable(fun, "jacrev")

    @functools.wraps(fun)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        nums = canonical_argnums(argnums, len(args), "jacrev")
        chosen = Chosen(fun, nums, args, kwargs)
        x = chosen.chosen()
        if not allow_int:
            _checked(x, holomorphic, "jacrev")
        out = vjp(chosen, *x, has_aux=has_aux)
        y, pull = out[0], out[1]
        y_avals = _checked([y], holomorphic, "jacrev, whose result")
        rows = vmap(pull)(_basis(y, y_avals))
        rows = rows[0] if isinstance(argnums, int) else rows
        y_leaves, y_tree = tree.flatten(y)
        parts = [
            tree.map(lambda r, i=i: _row_block(r, y_leaves, i), rows)
            for i in range(len(y_leaves))
        ]
        jac = tree.unflatten(y_tree, parts)
        return (jac, out[2]) if has_aux else jac

    return jacobian


def hessian(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable:
    """The matrix of second derivatives, forward over reverse; arguments as `jacfwd`.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> pullback.hessian(lambda x: (x**3).sum())(pnp.array([1.0, 2.0]))
      Array([[ 6.,  0.],
             [ 0., 12.]], dtype=float32)
    """
    inner = jacrev(fun, argnums, has_aux=has_aux, holomorphic=holomorphic)
    return jacfwd(inner, argnums, has_aux=has_aux, holomorphic=holomorphic)


def _checked(x: Any, holomorphic: bool, what: str) -> list[ShapedArray]:
    avals = [check_array_leaf(leaf, what) for leaf in tree.leaves(x)]
    fits = dtypes.is_complex if holomorphic else dtypes.is_float
    for aval in avals:
        if not fits(aval.dtype):
            kind = "complex" if holomorphic else "real floating-point"
            raise DifferentiationError(
                f"{what} with a leaf {aval.short()}",
                rule=f"leaves are {kind} here",
                fix="convert it, or pass holomorphic=True for complex functions",
            )
    return avals


def _basis(x: Any, avals: list[ShapedArray]) -> Any:
    """All basis vectors of the space of `x`, along a leading axis of each leaf."""
    total = sum(a.size for a in avals)
    leaves, start = [], 0
    for a in avals:
        block = np.zeros((total, a.size), a.dtype)
        block[np.arange(start, start + a.size), np.arange(a.size)] = 1
        leaves.append(block.reshape(total, *a.shape))
        start += a.size
    return tree.unflatten(tree.structure(x), leaves)


def _unraveled(y: Any, x: Any, avals: list[ShapedArray], axis: int, argnums) -> Any:
    """The last axis of `y`, over all of `x`, as a tree like `x` of blocks."""
    shape = y.shape[:axis]
    blocks = _blocks(y, [a.size for a in avals], y.ndim + axis)
    leaves = [
        reshape(b, (*shape, *a.shape)) for b, a in zip(blocks, avals, strict=True)
    ]
    out = tree.unflatten(tree.structure(x), leaves)
    return out[0] if isinstance(argnums, int) else tuple(out)


def _row_block(rows: Any, y_leaves: list, i: int) -> Any:
    """The rows of a Jacobian that belong to leaf `i` of the result."""
    sizes = [prod(np.shape(y)) for y in y_leaves]
    block = _blocks(rows, sizes, 0)[i]
    return reshape(block, (*np.shape(y_leaves[i]), *rows.shape[1:]))


def _blocks(x: Any, sizes: list[int], axis: int) -> list[Any]:
    return [x] if len(sizes) == 1 else list(split(x, sizes, axis))
