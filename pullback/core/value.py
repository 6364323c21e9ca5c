"""The value class: what arrays and tracers have in common.

`pullback.api` installs the operators and methods, so this file knows no operation.
"""

from typing import Any


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

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.aval.shape

    @property
    def dtype(self):
        """Element type."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.aval.size

    @property
    def weak_type(self) -> bool:
        """Whether the type yields to others in promotion, as Python scalars do."""
        return self.aval.weak_type

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.aval.size * self.aval.dtype.itemsize
