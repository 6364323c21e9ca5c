"""The check of computed positions, for debugging: `config` switches it on.

A program that was traced with `check_traced_indices` calls back, and fails with a
message that names the index, where a position lies outside.
"""

from typing import Any

import numpy as np

from pullback.core import config
from pullback.ops.callback import HostFunction, debug_callback_p
from pullback.ops.index_items import out_of_bounds
from pullback.ops.pick import Dyn, Lookup, Pick


def check_traced(pick: Pick) -> None:
    """Have the program fail where a computed position of `pick` lies outside."""
    if not config.current().check_traced_indices:
        return
    for a, t in enumerate(pick.axes):
        if type(t) is Dyn:
            _check(t.start, a, pick.shape[a], pick.shape[a] - t.box, t.item, pick.wraps)
        elif type(t) is Lookup and hasattr(t.array, "aval"):
            _check(t.array, a, t.size, t.size - 1, t.item, pick.wraps)


def _check(value: Any, a: int, n: int, last: int, item: int | None, wraps: bool):
    def look(found: np.ndarray) -> tuple:
        positions = [int(i) for i in np.ravel(found)]
        for i in positions:
            if not 0 <= (i + n if i < 0 and wraps else i) <= last:
                raise out_of_bounds(i, a, n, item)
        return ()

    name = f"that checks the index of axis {a}"
    debug_callback_p.bind(value, callback=HostFunction(look, name), ordered=False)
