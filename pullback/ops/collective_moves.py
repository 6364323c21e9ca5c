"""Collective family: values that change places along a named axis, such as `vmap`'s.

Each names one axis; the interpreter that maps an axis of that name carries it out.
"""

from collections.abc import Sequence
from typing import Any

from pullback.core.aval import ShapedArray, aval_of
from pullback.core.derivative import Linear
from pullback.core.errors import ArgumentError, ShapeError
from pullback.core.trace import axis_size
from pullback.ops.collective import axis_names, collective
from pullback.ops.elementwise import mul, scalar_like
from pullback.ops.joining import concatenate
from pullback.ops.shape import broadcast_to_axis, moveaxis, reduce_sum, reshape
from pullback.ops.slicing import slice_in_dim


def all_gather(x, axis_name, axis: int = 0, tiled: bool = False):
    """The values at all positions of a named axis, along a new or a tiled `axis`."""
    axis_names(axis_name)
    return all_gather_p.bind(
        x,
        axis_name=axis_name,
        axis_size=axis_size(axis_name),
        all_gather_dimension=axis,
        tiled=tiled,
    )


def psum_scatter(x, axis_name, scatter_dimension: int = 0, tiled: bool = False):
    """The sum over a named axis, of which each position keeps its part.

    Raises:
      ShapeError: the scattered axis does not divide into the named axis.
    """
    axis_names(axis_name)
    size = axis_size(axis_name)
    _check_divides(
        "psum_scatter", aval_of(x), scatter_dimension, axis_name, size, tiled
    )
    return reduce_scatter_p.bind(
        x,
        axis_name=axis_name,
        axis_size=size,
        scatter_dimension=scatter_dimension,
        tiled=tiled,
    )


def _check_divides(
    what: str, aval: ShapedArray, axis: int, name: Any, size: int, tiled: bool
) -> None:
    n = aval.shape[axis]
    if n % size if tiled else n != size:
        raise ShapeError(
            f"{what} of {aval.short()} along axis {axis} over {name!r} of size {size}",
            rule="the axis has the size of the named axis, or if tiled a multiple",
        )


def ppermute(x, axis_name, perm: Sequence[tuple[int, int]]):
    """The value of position i at position j, for (i, j) in `perm`; zeros elsewhere.

    Raises:
      ArgumentError: a source or destination is out of range or comes twice.
    """
    axis_names(axis_name)
    size = axis_size(axis_name)
    pairs = tuple((int(i), int(j)) for i, j in perm)
    for ends in zip(*pairs, strict=True):
        if len(set(ends)) != len(ends) or not all(0 <= i < size for i in ends):
            raise ArgumentError(
                f"ppermute over {axis_name!r} of size {size} with {pairs}",
                rule="sources and destinations are distinct positions of the axis",
            )
    return ppermute_p.bind(x, axis_name=axis_name, perm=pairs)


def all_to_all(x, axis_name, split_axis: int, concat_axis: int, tiled: bool = False):
    """Split an axis over the positions of a named axis, and join what arrives.

    Raises:
      ShapeError: the split axis does not divide into the named axis.
    """
    axis_names(axis_name)
    size = axis_size(axis_name)
    _check_divides("all_to_all", aval_of(x), split_axis, axis_name, size, tiled)
    return all_to_all_p.bind(
        x,
        axis_name=axis_name,
        axis_size=size,
        split_axis=split_axis,
        concat_axis=concat_axis,
        tiled=tiled,
    )


# ---- all_gather and its transpose ----


def _gather_abstract(x, *, axis_name, axis_size, all_gather_dimension, tiled):
    shape = list(x.shape)
    if tiled:
        shape[all_gather_dimension] *= axis_size
    else:
        shape.insert(all_gather_dimension, axis_size)
    return ShapedArray(tuple(shape), x.dtype)


def _gather_axis_batch(
    n, name, xs, ds, *, axis_name, axis_size, all_gather_dimension, tiled
):
    if name != axis_name:
        return None
    x = broadcast_to_axis(xs[0], n, 0) if ds[0] is None else xs[0]
    x = moveaxis(x, ds[0] or 0, all_gather_dimension)
    return (_merged(x, all_gather_dimension) if tiled else x), None


def _merged(x, axis: int):
    """Axes `axis` and `axis + 1` as one."""
    shape = aval_of(x).shape
    joint = shape[axis] * shape[axis + 1]
    return reshape(x, (*shape[:axis], joint, *shape[axis + 2 :]))


def _halves(x, axis: int, n: int):
    """Axis `axis` as two, the first of size `n`."""
    shape = aval_of(x).shape
    return reshape(x, (*shape[:axis], n, shape[axis] // n, *shape[axis + 1 :]))


def _gather_batch(n, xs, ds, *, all_gather_dimension, tiled, **params):
    x = moveaxis(xs[0], ds[0], 0)
    out = all_gather_p.bind(
        x, all_gather_dimension=all_gather_dimension + 1, tiled=tiled, **params
    )
    return out, 0


all_gather_p = collective(
    "all_gather",
    abstract=_gather_abstract,
    derivative=Linear(
        (
            lambda ct, x, *, all_gather_dimension, **params: reduce_scatter_p.bind(
                ct, scatter_dimension=all_gather_dimension, **params
            ),
        )
    ),
    axis_batch=_gather_axis_batch,
    batch=_gather_batch,
)


def _scatter_abstract(x, *, axis_name, axis_size, scatter_dimension, tiled):
    shape = list(x.shape)
    if tiled:
        shape[scatter_dimension] //= axis_size
    else:
        del shape[scatter_dimension]
    return ShapedArray(tuple(shape), x.dtype)


def _scatter_axis_batch(
    n, name, xs, ds, *, axis_name, axis_size, scatter_dimension, tiled
):
    if name != axis_name:
        return None
    if ds[0] is None:
        x = mul(xs[0], scalar_like(xs[0], n))
    else:
        x = reduce_sum(xs[0], (ds[0],))
    x = _halves(x, scatter_dimension, n) if tiled else x
    return x, scatter_dimension


def _scatter_batch(n, xs, ds, *, scatter_dimension, **params):
    x = moveaxis(xs[0], ds[0], 0)
    return reduce_scatter_p.bind(
        x, scatter_dimension=scatter_dimension + 1, **params
    ), 0


reduce_scatter_p = collective(
    "reduce_scatter",
    abstract=_scatter_abstract,
    derivative=Linear(
        (
            lambda ct, x, *, scatter_dimension, **params: all_gather_p.bind(
                ct, all_gather_dimension=scatter_dimension, **params
            ),
        )
    ),
    axis_batch=_scatter_axis_batch,
    batch=_scatter_batch,
)


# ---- ppermute ----


def _permute_axis_batch(n, name, xs, ds, *, axis_name, perm):
    if name != axis_name:
        return None
    x = broadcast_to_axis(xs[0], n, 0) if ds[0] is None else moveaxis(xs[0], ds[0], 0)
    source = {j: i for i, j in perm}
    zero = mul(slice_in_dim(x, 0, 1), scalar_like(x, 0))
    rows = [
        slice_in_dim(x, source[j], source[j] + 1) if j in source else zero
        for j in range(n)
    ]
    return concatenate(rows, 0), 0


def _permute_transpose(ct, x, *, axis_name, perm):
    back = tuple((j, i) for i, j in perm)
    return ppermute_p.bind(ct, axis_name=axis_name, perm=back)


ppermute_p = collective(
    "ppermute",
    abstract=lambda x, *, axis_name, perm: ShapedArray(x.shape, x.dtype),
    derivative=Linear((_permute_transpose,)),
    axis_batch=_permute_axis_batch,
    batch=lambda n, xs, ds, **params: (ppermute_p.bind(xs[0], **params), ds[0]),
)


# ---- all_to_all ----


def _exchange_abstract(x, *, axis_name, axis_size, split_axis, concat_axis, tiled):
    shape = list(x.shape)
    if tiled:
        shape[split_axis] //= axis_size
        shape[concat_axis] *= axis_size
    else:
        del shape[split_axis]
        shape.insert(concat_axis, axis_size)
    return ShapedArray(tuple(shape), x.dtype)


def _exchange_axis_batch(
    n, name, xs, ds, *, axis_name, axis_size, split_axis, concat_axis, tiled
):
    if name != axis_name:
        return None
    x = broadcast_to_axis(xs[0], n, 0) if ds[0] is None else moveaxis(xs[0], ds[0], 0)
    if tiled:
        x = _halves(x, split_axis + 1, n)
    # the mapped axis and the split one change places
    x = moveaxis(x, split_axis + 1, 0)
    x = moveaxis(x, 1, concat_axis + 1)
    return (_merged(x, concat_axis + 1) if tiled else x), 0


def _exchange_transpose(ct, x, *, split_axis, concat_axis, **params):
    return all_to_all_p.bind(
        ct, split_axis=concat_axis, concat_axis=split_axis, **params
    )


def _exchange_batch(n, xs, ds, *, split_axis, concat_axis, **params):
    x = moveaxis(xs[0], ds[0], 0)
    out = all_to_all_p.bind(
        x, split_axis=split_axis + 1, concat_axis=concat_axis + 1, **params
    )
    return out, 0


all_to_all_p = collective(
    "all_to_all",
    abstract=_exchange_abstract,
    derivative=Linear((_exchange_transpose,)),
    axis_batch=_exchange_axis_batch,
    batch=_exchange_batch,
)
