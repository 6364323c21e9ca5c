"""Arrays from other libraries, without a copy where the memory allows it."""

from typing import Any

import numpy as np

from pullback.compile.array import ArrayImpl
from pullback.compile.eager import concrete
from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray
from pullback.core.errors import ArgumentTypeError
from pullback.xla import buffers


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """The array that an object with `__dlpack__` holds, on the CPU.

    The memory is shared when it is contiguous and aligned to 64 bytes, and then changes
    of the source show; otherwise it is copied. 64-bit types narrow while they are off.

    Args:
      x: an array of another library.
      device: the device to put it on; None for the default one.
      copy: True: always copy.

    Raises:
      ArgumentTypeError: `x` has no `__dlpack__`.
      BufferError: it is not on the CPU, or has a type that XLA lacks; or `copy` is
        False and a copy is needed.

    Example:
      >>> import numpy as np, pullback.numpy as pnp
      >>> pnp.from_dlpack(np.arange(6, dtype=np.int32).reshape(2, 3).T)
      Array([[0, 3],
             [1, 4],
             [2, 5]], dtype=int32)
    """
    if not hasattr(x, "__dlpack__"):
        raise ArgumentTypeError(
            f"from_dlpack of {x!r} of type {type(x).__name__}",
            rule="it takes an object with a method __dlpack__",
            fix="pullback.numpy.asarray takes numbers, lists and NumPy arrays",
        )
    array = buffers.import_array(x)
    dtype = dtypes.canonicalize(array.dtype)
    if copy or dtype != array.dtype:
        if copy is False:
            raise BufferError(f"{array.dtype} is narrowed to {dtype}: a copy is needed")
        value = concrete(np.asarray(array, dtype))
        return value if device is None else value.to_device(device)
    if copy is False and not array.flags.c_contiguous:
        raise BufferError("the strides need a copy")
    buffer, _ = buffers.from_dlpack(array, device)
    return ArrayImpl(ShapedArray(array.shape, dtype), buffer)
