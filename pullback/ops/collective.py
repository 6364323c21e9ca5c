"""Collective family: reductions and positions over a named axis, such as `vmap`'s.

Each names its axes; the interpreter that maps an axis of that name carries it out, so
nothing is left of it in the program that remains.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.core.aval import ShapedArray
from pullback.core.derivative import Derivative, Linear, NotDifferentiable
from pullback.core.errors import UnsupportedError
from pullback.core.primitive import Primitive
from pullback.core.trace import axis_size
from pullback.ops.elementwise import mul, scalar_like
from pullback.ops.iota import iota
from pullback.ops.reduce import reduce_max, reduce_min
from pullback.ops.shape import reduce_sum

Names = tuple[Any, ...]


def axis_names(axis_name: Any) -> Names:
    """One name or several as a tuple; each must be in scope.

    Raises:
      UnboundAxisError: a name is not.
    """
    names = tuple(axis_name) if isinstance(axis_name, tuple | list) else (axis_name,)
    for name in names:
        axis_size(name)
    return names


def total_size(names: Names) -> int:
    """The product of the sizes of the axes."""
    size = 1
    for name in names:
        size *= axis_size(name)
    return size


def psum(x, axis_name):
    """The sum over a named axis. Source: StableHLO `all_reduce`."""
    names = axis_names(axis_name)
    if isinstance(x, int | float | complex) and not isinstance(x, bool):
        return x * total_size(names)
    return psum_p.bind(x, axes=names)


def pmax(x, axis_name):
    """The maximum over a named axis. Source: StableHLO `all_reduce`."""
    return pmax_p.bind(x, axes=axis_names(axis_name))


def pmin(x, axis_name):
    """The minimum over a named axis. Source: StableHLO `all_reduce`."""
    return pmin_p.bind(x, axes=axis_names(axis_name))


def axis_index(axis_name):
    """The position along a named axis, of dtype int32."""
    axis_names(axis_name)
    return axis_index_p.bind(axis_name=axis_name)


# ---- how each is made ----


def _alone(name: str) -> Callable:
    """Rules that would need several devices."""

    def refuse(*args, **params):
        raise UnsupportedError(
            f"{name} over {params.get('axes', params.get('axis_name'))!r} was left in "
            "a program",
            rule="its axis is carried out by the vmap that names it",
            fix="compile the vmapped function, not the function inside",
        )

    return refuse


def collective(
    name: str, abstract: Callable, derivative: Derivative, axis_batch: Callable, batch
) -> Primitive:
    """A primitive that only the interpreter of its axis can carry out."""
    refuse = _alone(name)
    return Primitive(
        name,
        abstract=abstract,
        reference=refuse,
        lower=refuse,
        derivative=derivative,
        batch=batch,
        axis_batch=axis_batch,
    )


# ---- reductions ----


def _reducer(prim_name: str, reduce: Callable, derivative: Derivative) -> Primitive:
    def unmapped(x, n):
        return mul(x, scalar_like(x, n)) if reduce is reduce_sum else x

    def axis_batch(n, name, xs, ds, *, axes):
        if name not in axes:
            return None
        x = unmapped(xs[0], n) if ds[0] is None else reduce(xs[0], (ds[0],))
        rest = tuple(a for a in axes if a != name)
        return (prim.bind(x, axes=rest) if rest else x), None

    prim = collective(
        prim_name,
        abstract=lambda x, *, axes: ShapedArray(x.shape, x.dtype),
        derivative=derivative,
        axis_batch=axis_batch,
        batch=lambda n, xs, ds, *, axes: (prim.bind(xs[0], axes=axes), ds[0]),
    )
    return prim


psum_p = _reducer(
    "psum", reduce_sum, Linear((lambda ct, x, *, axes: psum_p.bind(ct, axes=axes),))
)
_PICKS = NotDifferentiable("its value belongs to one position, not known when tracing")
pmax_p = _reducer("pmax", reduce_max, _PICKS)
pmin_p = _reducer("pmin", reduce_min, _PICKS)


# ---- axis_index ----


def _index_batch(n, xs, ds, **params):
    raise UnsupportedError("axis_index has no operand that could be mapped")


def _index_axis_batch(n, name, xs, ds, *, axis_name):
    return (iota(np.int32, n), 0) if name == axis_name else None


axis_index_p = collective(
    "axis_index",
    abstract=lambda *, axis_name: ShapedArray((), np.dtype(np.int32)),
    derivative=NotDifferentiable("it has no operand"),
    axis_batch=_index_axis_batch,
    batch=_index_batch,
)
