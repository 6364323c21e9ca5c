"""Joining family: concatenate and split, each the transpose of the other."""

from collections.abc import Sequence

import numpy as np

from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Linear
from pullback.core.errors import DtypeError, ShapeError
from pullback.core.primitive import Primitive
from pullback.ops.shape import canonical_axis, zeros
from pullback.ops.slicing import batched_front, slice_in_dim


def concatenate(operands: Sequence, dimension: int):
    """The operands one after another along an axis.

    Raises:
      ShapeError: there is none, or their other axes differ.

    Source: StableHLO `concatenate`.
    """
    operands = list(operands)
    if not operands:
        raise ShapeError("concatenate of no arrays", rule="at least one is needed")
    dimension = canonical_axis(dimension, aval_of(operands[0]).ndim)
    if len(operands) == 1 and hasattr(operands[0], "aval"):
        return operands[0]
    return concatenate_p.bind(*operands, dimension=dimension)


def split(operand, sizes: Sequence[int], axis: int = 0) -> list:
    """`operand` cut along an axis into pieces of the given sizes.

    Raises:
      ShapeError: the sizes do not add up to that of the axis.
    """
    axis = canonical_axis(axis, aval_of(operand).ndim)
    return split_p.bind(operand, sizes=tuple(map(int, sizes)), axis=axis)


# ---- concatenate ----


def _others(x, axis: int) -> tuple[int, ...]:
    return x.shape[:axis] + x.shape[axis + 1 :]


def _resized(x, axis: int, size: int):
    return x.update(shape=(*x.shape[:axis], size, *x.shape[axis + 1 :]))


def _concatenate_abstract(*xs, dimension):
    first = xs[0]
    for x in xs:
        if not x.ndim or _others(x, dimension) != _others(first, dimension):
            got = ", ".join(a.short() for a in xs)
            raise ShapeError(
                f"concatenate of {got} along axis {dimension}",
                rule="all other axes have equal sizes, and there is at least one axis",
            )
        if x.dtype != first.dtype:
            raise DtypeError(
                f"concatenate of {first.short()} and {x.short()}",
                rule="operands have the same dtype",
                fix="convert with lax.convert_element_type, or use pullback.numpy",
            )
    shape = list(first.shape)
    shape[dimension] = sum(x.shape[dimension] for x in xs)
    return ShapedArray(tuple(shape), first.dtype, all(x.weak_type for x in xs))


def _concatenate_transpose(ct, *xs, dimension):
    at, cts = 0, []
    for x in xs:
        size = aval_of(x).shape[dimension]
        cts.append(slice_in_dim(ct, at, at + size, 1, dimension) if size else None)
        at += size
    return cts


def _concatenate_batch(n, xs, ds, *, dimension):
    xs = [batched_front(x, d, n) for x, d in zip(xs, ds, strict=True)]
    return concatenate_p.bind(*xs, dimension=dimension + 1), 0


concatenate_p = Primitive(
    "concatenate",
    abstract=_concatenate_abstract,
    reference=lambda *xs, dimension: np.concatenate(xs, dimension),
    lower=lambda b, out, *xs, dimension: b.concatenate(xs, dimension),
    derivative=Linear(_concatenate_transpose),
    batch=_concatenate_batch,
)


# ---- split ----


def _split_abstract(x, *, sizes, axis):
    if sum(sizes) != x.shape[axis] or any(s < 0 for s in sizes):
        raise ShapeError(
            f"split of {x.short()} along axis {axis} into {sizes}",
            rule="the sizes add up to that of the axis",
        )
    return [_resized(x, axis, s) for s in sizes]


def _bounds(sizes) -> list[tuple[int, int]]:
    ends = np.cumsum(sizes).tolist()
    return [(end - size, end) for size, end in zip(sizes, ends, strict=True)]


def _split_lower(b, outs, x, *, sizes, axis):
    shape = b.avals_in[0].shape
    pieces = []
    for start, end in _bounds(sizes):
        starts, limits = [0] * len(shape), list(shape)
        starts[axis], limits[axis] = start, end
        pieces.append(b.slice(x, starts, limits))
    return pieces


def _split_transpose(cts, x, *, sizes, axis):
    aval = aval_of(x)
    parts = [
        zeros(_resized(aval, axis, s)) if ct is None else ct
        for ct, s in zip(cts, sizes, strict=True)
    ]
    return concatenate(parts, axis)


def _split_batch(n, xs, ds, *, sizes, axis):
    d = ds[0]
    outs = split_p.bind(xs[0], sizes=sizes, axis=axis + (axis >= d))
    return outs, [d] * len(outs)


split_p = Primitive(
    "split",
    abstract=_split_abstract,
    reference=lambda x, *, sizes, axis: np.split(x, np.cumsum(sizes)[:-1], axis),
    lower=_split_lower,
    derivative=Linear((_split_transpose,)),
    batch=_split_batch,
    multiple_results=True,
)
