"""The check of computed positions, for debugging: `config` switches it on.

A program that was traced with `check_traced_indices` calls back, and fails with a
message that names the index, where a position lies outside.
"""

from typing import NamedTuple

import numpy as np

from pullback.core import config
from pullback.ops.callback import HostFunction, debug_callback_p
from pullback.ops.index_items import out_of_bounds
from pullback.ops.pick import Dyn, Lookup, Pick


def check_traced(pick: Pick) -> None:
    """Have the program fail where a computed position of `pick` lies outside."""
    if not config.current().check_traced_indices:
        return
    for a, (t, n) in enumerate(zip(pick.axes, pick.shape, strict=True)):
        if type(t) is Dyn:
            value, last = t.start, n - t.box
        elif type(t) is Lookup and hasattr(t.array, "aval"):
            value, last = t.array, n - 1
        else:
            continue
        look = _Look(a, n, last, t.item, pick.wraps)
        function = HostFunction(look, f"that checks the index of axis {a}")
        debug_callback_p.bind(value, callback=function, ordered=False)


class _Look(NamedTuple):
    """Raises where a position of axis `axis`, of size n, is beyond `last`."""

    axis: int
    n: int
    last: int
    item: int | None
    wraps: bool

    def __call__(self, found: np.ndarray) -> tuple:
        for given in np.ravel(found):
            i = int(given)
            at = i + self.n if i < 0 and self.wraps else i
            if not 0 <= at <= self.last:
                raise out_of_bounds(i, self.axis, self.n, self.item)
        return ()
