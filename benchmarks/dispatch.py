"""What a call of a compiled function costs beside the work: small arrays in and out."""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks import timing
from benchmarks.figure import Figure
from benchmarks.library import Library, both

LEAVES = 50


def vector(lib: Library, size: int = 8):
    """A small array on the device."""
    return lib.top.device_put(np.arange(size, dtype=np.float32))


def call_of_two(lib: Library) -> Callable[[], object]:
    """`f(x, y)` of two arrays."""
    f = lib.top.jit(lambda x, y: x + y)
    x, y = vector(lib), vector(lib)
    return lambda: f(x, y)


def call_of_results(lib: Library) -> Callable[[], object]:
    """`f(x, y)` of results of compiled functions."""
    f = lib.top.jit(lambda x, y: x + y)
    x, y = f(vector(lib), vector(lib)), f(vector(lib), vector(lib))
    return lambda: f(x, y)


def call_of_tree(lib: Library) -> Callable[[], object]:
    """`f(tree)` of nested dicts and lists, returning the tree."""
    f = lib.top.jit(lambda tree: lib.top.tree.map(lambda x: x + x, tree))
    pairs = [{"w": vector(lib), "b": vector(lib)} for _ in range(LEAVES // 2)]
    tree = {"layers": pairs}
    return lambda: f(tree)


def call_to_scalar(lib: Library) -> Callable[[], object]:
    """`f(tree)` of nested dicts and lists, returning one array."""
    f = lib.top.jit(lambda tree: sum(lib.top.tree.leaves(tree)))
    pairs = [{"w": vector(lib), "b": vector(lib)} for _ in range(LEAVES // 2)]
    tree = {"layers": pairs}
    return lambda: f(tree)


def figures() -> Iterator[Figure]:
    """Calls with two arrays and with trees of 50."""
    ours, peer = both()
    for what, make, limit in (
        ("jitted f(x, y)", call_of_two, 1.4),
        ("  of results of jitted functions", call_of_results, 1.4),
        (f"jitted f(tree of {LEAVES}) -> tree", call_of_tree, 1.5),
        (f"jitted f(tree of {LEAVES}) -> array", call_to_scalar, 1.5),
    ):
        pair = timing.calls(make(ours), make(peer))
        yield Figure(what, *pair, ratio_limit=limit)
