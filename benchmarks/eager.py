"""What a prompt waits for: single operations and transformations without `jit`."""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks import timing
from benchmarks.figure import Figure
from benchmarks.library import Library, both

LARGE = 1_000_000

Make = Callable[[Library, object], Callable[[], object]]


def vector(lib: Library, size: int):
    """`0, 1, 2, ...` as floats."""
    return lib.top.device_put(np.arange(size, dtype=np.float32))


def add(lib: Library, x) -> Callable[[], object]:
    """`x + x`"""
    return lambda: x + x


def index(lib: Library, x) -> Callable[[], object]:
    """`x[3]`"""
    return lambda: x[3]


def gradient(lib: Library, x) -> Callable[[], object]:
    """`grad(sin)(1.0)`, the function made anew as one types it again."""
    return lambda: lib.top.grad(lib.numpy.sin)(1.0)


def batched(lib: Library, x) -> Callable[[], object]:
    """`vmap(sin)(x)`"""
    return lambda: lib.top.vmap(lib.numpy.sin)(x)


def gradient_of_many(lib: Library, x) -> Callable[[], object]:
    """The gradient of a function of several operations."""

    def f(x):
        return lib.numpy.sum(lib.numpy.tanh(x * 2.0 + 1.0) ** 2)

    return lambda: lib.top.grad(f)(x)


def add_large(lib: Library, x) -> Callable[[], object]:
    """`x + x`, waited for."""
    return lambda: lib.top.block_until_ready(x + x)


def figures() -> Iterator[Figure]:
    """Operators, indexing, gradient and map of small arrays; a large sum."""
    ours, peer = both()
    rows: tuple[tuple[str, Make, int, float | None], ...] = (
        ("x + x", add, 8, 0.8),
        ("x[3]", index, 8, 0.3),
        ("second grad(sin)(1.0)", gradient, 8, 0.3),
        ("second vmap(sin)(x)", batched, 8, 0.3),
        ("grad of 5 operations", gradient_of_many, 8, None),
        ("x + x of 1,000,000", add_large, LARGE, None),
    )
    for what, make, size, limit in rows:
        pair = timing.calls(
            make(ours, vector(ours, size)), make(peer, vector(peer, size))
        )
        yield Figure(what, *pair, ratio_limit=limit)
