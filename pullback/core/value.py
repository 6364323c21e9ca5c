"""The value class: what arrays and tracers have in common.

`pullback.api` installs the operators and methods, so this file knows no operation.
"""

from operator import attrgetter
from typing import Any

from pullback.core.tree_node import leaf_type


class Array:
    """An n-dimensional array, concrete or traced.

    `shape`: sizes of the axes. `dtype`: element type. `aval`: the full type. All
    operators and most methods of NumPy's arrays are there; values never change, and
    `x.at[index].set(y)` returns an updated copy.
    """

    __slots__ = ()
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]
    aval: Any

    def __init_subclass__(cls) -> None:
        leaf_type(cls)

    # properties that cost no Python call
    shape = property(attrgetter("aval.shape"), doc="Sizes of the axes.")
    dtype = property(attrgetter("aval.dtype"), doc="Element type.")
    ndim = property(attrgetter("aval.ndim"), doc="Number of axes.")
    size = property(attrgetter("aval.size"), doc="Number of elements.")
    itemsize = property(attrgetter("aval.dtype.itemsize"), doc="Bytes of one element.")
    weak_type = property(
        attrgetter("aval.weak_type"),
        doc="Whether the type yields to others in promotion, as Python scalars do.",
    )

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.aval.size * self.aval.dtype.itemsize
