"""Where in a gather's result each position is read: known when positions are static.

Then the transpose is a gather too, at these places, which costs less than a scatter
where much is read. Reads NumPy only.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from pullback.ops.dimensions import GatherDimensionNumbers, window_axes

LARGEST = 1 << 22
SPARSE = 32  # one in so many positions, or fewer: a scatter costs less
SMALL = 1024  # elements that are not worth a thought


class Inverse:
    """`places[p]`: the place that reads position p, counted flat; -1 where none does.

    A parameter of equations, compared by value.
    """

    __slots__ = ("_key", "places")

    def __init__(self, places: np.ndarray):
        self.places = places
        self._key = (places.shape, places.tobytes())

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Inverse) and self._key == other._key

    def __repr__(self) -> str:
        return f"Inverse{self.places.shape}"

    def is_full(self) -> bool:
        """Whether every position is read."""
        return bool(np.all(self.places >= 0))

    def hit(self) -> np.ndarray:
        """Which positions are read."""
        return self.places >= 0

    def turned(self, shape: Sequence[int]) -> "Inverse":
        """The inverse of the gather that reads these places out of an array `shape`."""
        return Inverse(_inverted(self.places, prod(shape)).reshape(tuple(shape)))

    def vectors(self, shape: Sequence[int]) -> np.ndarray:
        """The places as index vectors into axes of sizes `shape`."""
        axes = np.unravel_index(np.maximum(self.places, 0), tuple(shape))
        columns = [np.where(self.places < 0, -1, a) for a in axes]
        return np.stack(columns, -1).astype(np.int32)


def _inverted(flat: np.ndarray, size: int) -> np.ndarray:
    places = np.full(size, -1, np.int32)
    found = np.flatnonzero(flat >= 0)
    places[np.ravel(flat)[found]] = found
    return places


def inverse_of(flat: np.ndarray, sizes: Sequence[int]) -> Inverse | None:
    """The inverse of reading positions `flat`, counted flat over axes of `sizes`.

    None where a position is read twice, or where there are too many to look at.
    """
    size = prod(sizes)
    if not flat.size or max(size, flat.size) > LARGEST:
        return None
    places = _inverted(flat, size)
    if np.count_nonzero(places >= 0) < flat.size:
        return None
    return Inverse(places.reshape(tuple(sizes)))


def turned_numbers(ndim: int, out_ndim: int, g: GatherDimensionNumbers):
    """The numbers of the gather that goes back, of an operand of `ndim` axes."""
    read = tuple(d for d in range(out_ndim) if d not in g.offset_dims)
    return GatherDimensionNumbers(tuple(window_axes(ndim, g)), read, read)


def is_dense(inverse: Inverse | None) -> bool:
    """Whether enough is read for the way back by gathering to be the cheaper one."""
    if inverse is None:
        return False
    return SPARSE * int(np.count_nonzero(inverse.hit())) >= inverse.places.size


def scatter_is_cheaper(touched: int, size: int, contiguous: int) -> bool:
    """Whether to write `touched` of `size` elements by scatter, not by a pass over all.

    `contiguous`: how many of them stand after one another. A scatter costs as much for
    a piece as a pass for `SPARSE` elements, and as much for an element.
    """
    return size > SMALL and touched * (contiguous + SPARSE) < size * contiguous
