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
    x0, x1 = x0 + k0, x1 + k1
    for i in range(5):
        for r in ROTATIONS[i % 2]:
            x0 = x0 + x1
            x1 = (x1 << WORD.type(r) | x1 >> WORD.type(32 - r)) ^ x0
        x0 = x0 + schedule[(i + 1) % 3]
        x1 = x1 + (schedule[(i + 2) % 3] + WORD.type(i + 1))
    return [x0, x1]


def _few_blocks(shape, *words) -> list[np.ndarray]:
    """For a handful of blocks Python's integers are quicker than NumPy's arrays."""
    columns = (np.broadcast_to(w, shape).ravel().tolist() for w in words)
    blocks = [_block(*column) for column in zip(*columns, strict=True)]
    pairs = np.array(blocks, WORD).reshape(*shape, 2)
    return [pairs[..., 0], pairs[..., 1]]


def _block(k0: int, k1: int, x0: int, x1: int) -> tuple[int, int]:
    schedule = (k0, k1, k0 ^ k1 ^ PARITY)
    x0, x1 = x0 + k0 & MASK, x1 + k1 & MASK
    for i in range(5):
        for r in ROTATIONS[i % 2]:
            x0 = x0 + x1 & MASK
            x1 = (x1 << r & MASK | x1 >> 32 - r) ^ x0
        x0 = x0 + schedule[(i + 1) % 3] & MASK
        x1 = x1 + schedule[(i + 2) % 3] + i + 1 & MASK
    return x0, x1


def key_blocks(keys: np.ndarray, shape: tuple[int, ...]) -> list[np.ndarray]:
    """The blocks of `keys` (64-bit words) at counters of an array of `shape`."""
    keys = np.reshape(keys, keys.shape + (1,) * len(shape))
    counts = np.arange(prod(shape), dtype=CARRIER).reshape(shape)
    with np.errstate(over="ignore"):
        return threefry(*_halves(keys), *reversed(_halves(counts)))


def _halves(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return words.astype(WORD), (words >> CARRIER.type(32)).astype(WORD)


# ---- on an emitter ----


def emit_threefry(b, shape: tuple[int, ...], k0, k1, x0, x1) -> list[Any]:
    """As `threefry`, on values `u32[*shape]`; one function of the module a shape."""
    key = ("threefry2x32", shape)
    words = ShapedArray(shape, WORD)
    name = b.module.functions.get(key)
    if name is None:
        name = b.module.functions[key] = b.module.function(
            "threefry2x32", [words] * 4, lambda b, *xs: _emit_rounds(b, words, *xs)
        )
    return b.optimization_barrier(b.call(name, [words] * 2, (k0, k1, x0, x1)))


def _emit_rounds(b, words: ShapedArray, k0, k1, x0, x1) -> list[Any]:
    numbers: dict[int, Any] = {}

    def number(value: int):
        if value not in numbers:
            numbers[value] = b.full(value, words)
        return numbers[value]

    def rotated(x, r: int):
        left = b.shift_left(x, number(r))
        return b.or_(left, b.shift_right_logical(x, number(32 - r)))

    schedule = (k0, k1, b.xor(b.xor(k0, k1), number(PARITY)))
    x0, x1 = b.add(x0, k0), b.add(x1, k1)
    for i in range(5):
        for r in ROTATIONS[i % 2]:
            x0 = b.add(x0, x1)
            x1 = b.xor(rotated(x1, r), x0)
        x0 = b.add(x0, schedule[(i + 1) % 3])
        x1 = b.add(x1, b.add(schedule[(i + 2) % 3], number(i + 1)))
    return [x0, x1]


def emit_words(b, shape: tuple[int, ...], keys) -> tuple[Any, Any]:
    """The two 32-bit words of 64-bit `keys`, low half first."""
    words, wide = ShapedArray(shape, WORD), ShapedArray(shape, CARRIER)
    high = b.shift_right_logical(keys, b.full(32, wide))
    return b.convert(words, keys), b.convert(words, high)


def emit_join(b, shape: tuple[int, ...], low, high):
    """64-bit words of two 32-bit halves."""
    wide = ShapedArray(shape, CARRIER)
    shifted = b.shift_left(b.convert(wide, high), b.full(32, wide))
    return b.or_(b.convert(wide, low), shifted)


def emit_blocks(b, keys, shape: tuple[int, ...], counted: int) -> list[Any]:
    """As `key_blocks`, for a result of `shape` whose last `counted` axes count."""
    words = ShapedArray(shape, WORD)
    lead = len(shape) - counted
    halves = emit_words(b, shape[:lead], keys)
    k0, k1 = (b.broadcast_in_dim(words, k, range(lead)) for k in halves)
    return emit_threefry(b, shape, k0, k1, *_emit_counts(b, shape, lead))


def _emit_counts(b, shape: tuple[int, ...], lead: int) -> tuple[Any, Any]:
    """The high and low words of positions in row-major order."""
    small = prod(shape[lead:]) <= MASK
    aval = ShapedArray(shape, WORD if small else CARRIER)
    counts = b.full(0, aval)
    for axis in range(lead, len(shape)):
        stride = b.full(prod(shape[axis + 1 :]), aval)
        counts = b.add(counts, b.multiply(b.iota(aval, axis), stride))
    if small:
        return b.full(0, aval), counts
    low, high = emit_words(b, shape, counts)
    return high, low
