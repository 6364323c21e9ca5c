"""Types for annotations: what functions take for an array and for an element type."""

from typing import Any, Protocol, TypeAlias

import numpy as np

from pullback.core.value import Array


class SupportsDType(Protocol):
    """What has an element type as its attribute `dtype`."""

    @property
    def dtype(self) -> np.dtype:
        """The element type."""
        ...


ArrayLike: TypeAlias = (
    Array | np.ndarray | np.bool_ | np.number | bool | int | float | complex
)
"""An array or a number, as functions of `pullback.numpy` take them."""
DTypeLike: TypeAlias = str | type[Any] | np.dtype | SupportsDType
"""What names an element type."""
