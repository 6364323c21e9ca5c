"""What elementwise primitives share: types, batching and lowering follow from one call.

Operands have one shape and one dtype; rank-0 operands stand for all elements, so that
`x * 2.0` is one equation.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Derivative
from pullback.core.errors import DtypeError, ShapeError
from pullback.core.primitive import Primitive
from pullback.ops.shape import broadcast_in_dim, moveaxis, reduce_sum

KINDS: dict[str, Callable[[Any], bool]] = {
    "float": dtypes.is_float,
    "complex": dtypes.is_complex,
    "int": dtypes.is_integer,
    "bool": dtypes.is_bool,
    "key": dtypes.is_key,
}
INEXACT = ("float", "complex")
NUMERIC = ("float", "complex", "int")
REAL = ("float", "int")
ANY = ("float", "complex", "int", "bool")


def joint_shape(name: str, avals: Sequence[ShapedArray]) -> tuple[int, ...]:
    """The one shape of the operands that have axes.

    Raises:
      ShapeError: two of them differ.
    """
    shape = ()
    for a in avals:
        if a.shape and a.shape != shape:
            if shape:
                got = ", ".join(x.short() for x in avals)
                raise ShapeError(
                    f"{name} of {got}",
                    rule="operands with axes have the same shape",
                    fix="broadcast them first, or use the pullback.numpy function",
                )
            shape = a.shape
    return shape


def joint_dtype(name: str, avals: Sequence[ShapedArray]) -> Any:
    """The one dtype of the operands.

    Raises:
      DtypeError: two of them differ.
    """
    dtype = avals[0].dtype
    for a in avals:
        if a.dtype != dtype:
            got = ", ".join(x.short() for x in avals)
            raise DtypeError(
                f"{name} of {got}",
                rule="operands have the same dtype",
                fix="convert with lax.convert_element_type, or use pullback.numpy",
            )
    return dtype


def check_kind(name: str, dtype, accepts: Sequence[str]) -> None:
    """Raise DtypeError unless `dtype` is of one of the kinds `accepts`."""
    if not any(KINDS[kind](dtype) for kind in accepts):
        raise DtypeError(
            f"{name} of dtype {dtype.name}",
            rule=f"{name} does not accept it; it takes {', '.join(accepts)}",
            fix="convert with astype(...)",
        )


def _joint(name: str, avals: Sequence[ShapedArray]):
    """Shape, dtype and weak type of operands of different types."""
    shape, dtype, weak = (), avals[0].dtype, True
    for a in avals:
        if a.shape and a.shape != shape:
            if shape:
                joint_shape(name, avals)
            shape = a.shape
        if a.dtype is not dtype and a.dtype != dtype:
            joint_dtype(name, avals)
        weak = weak and a.weak_type
    return shape, dtype, weak


def abstract_rule(
    name: str, accepts: Sequence[str], result=None, check=None
) -> Callable:
    """The type rule of an elementwise primitive; arguments as those of `nary`."""

    known: set = set()  # dtypes found right

    def abstract(*avals, **params):
        first = avals[0]
        if avals.count(first) == len(avals):
            shape, dtype, weak = first.shape, first.dtype, first.weak_type
        else:
            shape, dtype, weak = _joint(name, avals)
        if dtype not in known:
            check_kind(name, dtype, accepts)
            known.add(dtype)
        if check is not None:
            check(first, **params)
        if result is not None:
            dtype = result(dtype)
            weak = weak and dtype != dtypes.bool_
        elif shape == first.shape and weak == first.weak_type and not first.vary:
            return first
        return ShapedArray(shape, dtype, weak)

    return abstract


def align(n: int, xs: Sequence[Any], ds: Sequence[int | None]) -> tuple[list[Any], int]:
    """Operands with their batch axes at one place, ready for an elementwise bind."""
    avals = list(map(aval_of, xs))
    ranks = [a.ndim - (d is not None) for a, d in zip(avals, ds, strict=True)]
    rank = max(ranks)
    places = {d for d, r in zip(ds, ranks, strict=True) if d is not None and r == rank}
    at = places.pop() if len(places) == 1 else 0
    out = []
    for x, a, d, r in zip(xs, avals, ds, ranks, strict=True):
        if d is None:
            out.append(x if not a.ndim else _unmapped(x, n, at))
        elif r == rank:
            out.append(x if d == at else moveaxis(x, d, at))
        else:  # a mapped scalar among arrays
            out.append(_mapped_scalar(x, n, at, avals, ds, rank))
    return out, at


def _unmapped(x, n: int, at: int):
    shape = list(aval_of(x).shape)
    dims = [i if i < at else i + 1 for i in range(len(shape))]
    shape.insert(at, n)
    return broadcast_in_dim(x, shape, dims)


def _mapped_scalar(x, n: int, at: int, avals, ds, rank: int):
    for a, d in zip(avals, ds, strict=True):
        if a.ndim - (d is not None) == rank:
            shape = list(a.shape)
            if d is not None:
                del shape[d]
            shape.insert(at, n)
            return broadcast_in_dim(x, shape, (at,))
    return x


def full_operands(b, out, xs: Sequence[Any]) -> list[Any]:
    """Values of the result's shape: rank-0 operands repeated."""
    shape = out.shape
    avals = b.avals_in
    return [
        x
        if a.shape == shape
        else b.broadcast_in_dim(ShapedArray(shape, a.dtype), x, ())
        for x, a in zip(xs, avals, strict=True)
    ]


def lower_rule(emit: Callable) -> Callable:
    """A lowering rule from `emit(b, *xs, **params)`, which gets equal shapes."""

    def lower(b, out, *xs, **params):
        if len(xs) > 1:
            xs = full_operands(b, out, xs)
        return emit(b, *xs, **params)

    return lower


def unbroadcast(ct, x):
    """The cotangent of a rank-0 operand that stood for all elements."""
    aval = aval_of(x)
    if aval.shape or not aval_of(ct).shape:
        return ct
    return reduce_sum(ct, range(aval_of(ct).ndim))


def nary(
    name: str,
    *,
    accepts: Sequence[str],
    reference: Callable,
    emit: Callable,
    derivative: Derivative,
    result: Callable | None = None,
    check: Callable | None = None,
) -> Primitive:
    """An elementwise primitive.

    Args:
      name: JAX's name.
      accepts: kinds of dtype, of `float complex int bool`.
      reference: its NumPy function.
      emit: `emit(b, *xs, **params)`, the StableHLO operation on equal shapes.
      derivative: its derivative fact.
      result: the dtype of the result from that of the operands (None: the same).
      check: `check(aval, **params)` raises where parameters do not fit the operands.
    """

    def batch(n, xs, ds, **params):
        if len(xs) == 1:
            return prim.bind(xs[0], **params), ds[0]
        xs, d = align(n, xs, ds)
        return prim.bind(*xs, **params), d

    prim = Primitive(
        name,
        abstract=abstract_rule(name, accepts, result, check),
        reference=quiet(reference),
        lower=lower_rule(emit),
        derivative=derivative,
        batch=batch,
    )
    return prim


def quiet(reference: Callable) -> Callable:
    """A NumPy function without its floating-point warnings: XLA has none."""

    def run(*xs, **params):
        with np.errstate(all="ignore"):
            return reference(*xs, **params)

    return run
