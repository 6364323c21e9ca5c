"""Grids and index expressions written with brackets: mgrid, ogrid, s_, index_exp."""

from typing import Any

import numpy as np

from pullback.api.arrays.creation import asarray


class Grid:
    """`grid[a:b, c:d]`: coordinates of the points of a grid with static bounds.

    An imaginary step `nj` gives `n` points, with the end.

    Example:
      >>> import pullback.numpy as pnp
      >>> [axis.shape for axis in pnp.ogrid[0:2, 0:3]]
      [(2, 1), (1, 3)]
    """

    __slots__ = ("_sparse",)

    def __init__(self, sparse: bool):
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        if not self._sparse:
            return asarray(np.mgrid[key])
        axes = np.ogrid[key]
        return asarray(axes) if isinstance(key, slice) else list(map(asarray, axes))


mgrid, ogrid = Grid(False), Grid(True)
s_, index_exp = np.s_, np.index_exp
