"""The type of an array that is not there, as programs are asked for and described."""

from collections.abc import Sequence
from typing import Any

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray


class ShapeDtypeStruct:
    """The shape and dtype of an array that is not there.

    `shape`: sizes; `dtype`: element type; `weak_type`: as of arrays.
    """

    __slots__ = ("dtype", "shape", "weak_type")

    def __init__(self, shape: Sequence[int], dtype: Any, *, weak_type: bool = False):
        self.shape = tuple(shape)
        self.dtype = dtypes.named(dtype)
        self.weak_type = weak_type

    ndim = property(lambda self: len(self.shape))

    @property
    def size(self) -> int:
        """Number of elements."""
        return ShapedArray(self.shape, self.dtype).size

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShapeDtypeStruct):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple:
        return self.shape, self.dtype, self.weak_type

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        name = dtypes.name(self.dtype)
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={name}{weak})"


def struct_of(aval: ShapedArray) -> ShapeDtypeStruct:
    """An aval as users name it."""
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)
