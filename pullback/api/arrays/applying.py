"""`x.at[index].apply(func)` where the index names a place more than once."""

from collections.abc import Callable

import numpy as np

from pullback.compile.eager import EAGER
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.jaxpr import ClosedJaxpr
from pullback.core.trace import in_charge, stage
from pullback.ops.convert import convert
from pullback.ops.elementwise import sub
from pullback.ops.logic import gt, select_n
from pullback.ops.pick import Dyn, Lookup, Pick
from pullback.ops.pick_group import index_vectors
from pullback.ops.pick_region import ADD
from pullback.ops.pick_write import write
from pullback.ops.reduce import reduce_max
from pullback.ops.shape import full, zeros
from pullback.regions.while_loop import while_flat

INT32 = np.dtype(np.int32)
FEW = 8  # applications that are written out


def is_distinct(pick: Pick) -> bool:
    """Whether the index is known to name no place twice."""
    if any(label[0] == "new" and label[1] > 1 for label in pick.labels):
        return False
    return not pick.lookups() or index_vectors(pick, (False, False)).unique


def apply_often(x, pick: Pick, func: Callable):
    """`x` with `func` applied as often as `pick` names a place."""
    if not _is_static(pick):
        return _looped(x, _counts(x, pick), func)
    with in_charge(EAGER):
        counts = np.asarray(_counts(x, pick))
    most = int(counts.max(initial=0))
    if most > FEW:
        return _looped(x, counts, func)
    for k in range(most):
        x = select_n(counts > k, x, convert(func(x), x.dtype))
    return x


def _is_static(pick: Pick) -> bool:
    return not any(
        type(t) is Dyn or (type(t) is Lookup and hasattr(t.array, "aval"))
        for t in pick.axes
    )


def _counts(x, pick: Pick):
    ones = full(ShapedArray(pick.out_shape, INT32), 1)
    return write(zeros(ShapedArray(aval_of(x).shape, INT32)), pick, ones, ADD)


def _looped(x, counts, func: Callable):
    aval = aval_of(x)
    none, one = zeros(aval.update(dtype=INT32)), full(aval.update(dtype=INT32), 1)

    def once(left, x):
        new = convert(func(x), aval.dtype)
        return [sub(left, one), select_n(gt(left, none), x, new)]

    def more(left, x):
        return [gt(reduce_max(left, range(aval.ndim)), np.int32(0))]

    avals = [aval.update(dtype=INT32), aval]
    test, test_consts = _staged(more, avals)
    body, consts = _staged(once, avals)
    return while_flat(test, test_consts, body, consts, [counts, x])[1]


def _staged(fun: Callable, avals) -> tuple[ClosedJaxpr, list]:
    jaxpr, consts = stage(fun, avals)
    inputs = [*jaxpr.constvars, *jaxpr.invars]
    return ClosedJaxpr(jaxpr.replace(constvars=[], invars=inputs)), consts
