"""The Threefry-2x32 block cipher, twice: in NumPy, and as operations on an emitter.

Both count a block for each element of a result, in row-major order, and know nothing
of primitives.
"""

from math import prod
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray

WORD, CARRIER = dtypes.uint32, dtypes.uint64
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA
MASK = 0xFFFFFFFF
FEW = 4


# ---- on the host ----


def threefry(k0, k1, x0, x1) -> list[np.ndarray]:
    """Encrypt counters `(x0, x1)` with keys `(k0, k1)`: equal shapes, u32."""
    shape = np.broadcast_shapes(*map(np.shape, (k0, k1, x0, x1)))
    if prod(shape) <= FEW:
        return _few_blocks(shape, k0, k1, x0, x1)
    schedule = (k0, k1, k0 ^ k1 ^ WORD.type(PARITY))
    x0 = x0 + k0
    x1 = x1 + k1
    for i in range(5):
        for r in ROTATIONS[i % 2]:
            x0 = x0 + x1
            high = x1 << WORD.type(r)
            low = x1 >> WORD.type(32 - r)
            x1 = (high | low) ^ x0
        x0 = x0 + schedule[(i + 1) % 3]
        x1 = x1 + schedule[(i + 2) % 3]
        x1 = x1 + WORD.type(i + 1)
    return [x0, x1]


def _few_blocks(shape, *words) -> list[np.ndarray]:
    """For a handful of blocks Python's integers are quicker than NumPy's arrays."""
    columns = [np.broadcast_to(w, shape).ravel().tolist() for w in words]
    blocks = list(map(_block, *columns))
    pairs = np.array(blocks, WORD).reshape(*shape, 2)
    return [pairs[..., 0], pairs[..., 1]]


def _block(k0: int, k1: int, x0: int, x1: int) -> tuple[int, int]:
    schedule = (k0, k1, k0 ^ k1 ^ PARITY)
    x0 = x0 + k0 & MASK
    x1 = x1 + k1 & MASK
    for i in range(5):
        for r in ROTATIONS[i % 2]:
            x0 = x0 + x1 & MASK
            high = x1 << r & MASK
            low = x1 >> 32 - r
            x1 = (high | low) ^ x0
        x0 = x0 + schedule[(i + 1) % 3] & MASK
        x1 = x1 + schedule[(i + 2) % 3]
        x1 = x1 + i + 1 & MASK
    return x0, x1


def key_blocks(keys: np.ndarray, shape: tuple[int, ...]) -> list[np.ndarray]:
    """The blocks of `keys` (64-bit words) at counters of an array of `shape`."""
    ones = (1,) * len(shape)
    k0, k1 = _halves(np.reshape(keys, keys.shape + ones))
    counts = np.arange(prod(shape), dtype=CARRIER)
    low, high = _halves(counts.reshape(shape))
    with np.errstate(over="ignore"):
        return threefry(k0, k1, high, low)


def _halves(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    high = words >> CARRIER.type(32)
    return words.astype(WORD), high.astype(WORD)


# ---- on an emitter ----


def emit_threefry(b, shape: tuple[int, ...], *words: Any) -> list[Any]:
    """As `threefry`, on values `u32[*shape]`; one function of the module a shape."""
    functions = b.module.functions
    key = ("threefry2x32", shape)
    aval = ShapedArray(shape, WORD)
    name = functions.get(key)
    if name is None:
        name = functions[key] = b.module.function(
            "threefry2x32",
            [aval] * 4,
            lambda b, *xs: _emit_rounds(b, aval, *xs),
        )
    return b.call(name, [aval] * 2, words)


def _emit_rounds(b, words: ShapedArray, k0, k1, x0, x1) -> list[Any]:
    numbers: dict[int, Any] = {}

    def number(value: int):
        if value not in numbers:
            numbers[value] = b.full(value, words)
        return numbers[value]

    def rotated(x, r: int):
        high = b.shift_left(x, number(r))
        low = b.shift_right_logical(x, number(32 - r))
        return b.or_(high, low)

    mixed = b.xor(k0, k1)
    schedule = (k0, k1, b.xor(mixed, number(PARITY)))
    x0 = b.add(x0, k0)
    x1 = b.add(x1, k1)
    for i in range(5):
        for r in ROTATIONS[i % 2]:
            x0 = b.add(x0, x1)
            turned = rotated(x1, r)
            x1 = b.xor(turned, x0)
        x0 = b.add(x0, schedule[(i + 1) % 3])
        x1 = b.add(x1, schedule[(i + 2) % 3])
        x1 = b.add(x1, number(i + 1))
    return [x0, x1]


def emit_words(b, shape: tuple[int, ...], keys) -> tuple[Any, Any]:
    """The two 32-bit words of 64-bit `keys`, low half first."""
    words = ShapedArray(shape, WORD)
    wide = ShapedArray(shape, CARRIER)
    high = b.shift_right_logical(keys, b.full(32, wide))
    return b.convert(words, keys), b.convert(words, high)


def emit_join(b, shape: tuple[int, ...], low, high):
    """64-bit words of two 32-bit halves."""
    wide = ShapedArray(shape, CARRIER)
    low = b.convert(wide, low)
    high = b.convert(wide, high)
    return b.or_(low, b.shift_left(high, b.full(32, wide)))


def emit_blocks(b, keys, shape: tuple[int, ...], counted: int) -> list[Any]:
    """As `key_blocks`, for a result of `shape` whose last `counted` axes count."""
    words = ShapedArray(shape, WORD)
    lead = len(shape) - counted
    axes = range(lead)
    k0, k1 = emit_words(b, shape[:lead], keys)
    k0 = b.broadcast_in_dim(words, k0, axes)
    k1 = b.broadcast_in_dim(words, k1, axes)
    high, low = _emit_counts(b, shape, lead)
    return emit_threefry(b, shape, k0, k1, high, low)


def _emit_counts(b, shape: tuple[int, ...], lead: int) -> tuple[Any, Any]:
    """The high and low words of positions in row-major order."""
    small = prod(shape[lead:]) <= MASK
    aval = ShapedArray(shape, WORD if small else CARRIER)
    counts = b.full(0, aval)
    for axis in range(lead, len(shape)):
        size = prod(shape[axis + 1 :])
        stride = b.full(size, aval)
        along = b.iota(aval, axis)
        counts = b.add(counts, b.multiply(along, stride))
    if small:
        return b.full(0, aval), counts
    low, high = emit_words(b, shape, counts)
    return high, low
