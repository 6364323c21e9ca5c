"""Indexing: reads, updates and gradients of each kind of index, compiled."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks import timing
from benchmarks.figure import Figure
from benchmarks.library import Library, both

N = 1024
LENGTH = 1 << 20
LIMIT = 1.1
COLUMNS = np.arange(100, 900)
HALF = np.arange(0, N, 2)
RUN = (np.arange(N) >= 100) & (np.arange(N) < 900)
TWO_RUNS = np.concatenate([np.arange(100, 400), np.arange(600, 900)])
PERMUTATION = np.random.default_rng(0).permutation(N)
SOME = np.sort(PERMUTATION[:512])
ROLLED = np.roll(np.arange(LENGTH), 1000)
DIAGONAL = (np.arange(N), np.arange(N))
PAIRS = tuple(np.random.default_rng(1).integers(0, N, (2, 40000)))
MASK = np.random.default_rng(2).random((N, N)) < 0.3
ROW_MASK = np.random.default_rng(3).random(N) < 0.5
GRID = np.ix_(np.arange(100, 900), np.arange(0, N, 4))
VECTOR = np.random.default_rng(4).integers(0, N, 512)


class Case(NamedTuple):
    """A program: how it is made, of which arrays; `limit` of its ratio."""

    what: str
    make: Callable[[Library], Callable]
    shapes: tuple[tuple[int, ...], ...]
    extra: tuple[Any, ...] = ()
    limit: float | None = LIMIT
    donate: bool = False


def read(index: Any) -> Callable[[Library], Callable]:
    """`x[index]`, of which `index` is static or a function of what is traced."""

    def make(lib: Library) -> Callable:
        return lambda x, *i: x[_index(lib, index, i)]

    return make


def _index(lib: Library, index: Any, traced: tuple) -> Any:
    return index(lib, *traced) if callable(index) else index


def gradient(index: Any) -> Callable[[Library], Callable]:
    """The gradient of a read, the cotangent given."""

    def make(lib: Library) -> Callable:
        def f(x, ct, *i):
            return lib.top.vjp(read(index)(lib), x, *i)[1](ct)[0]

        return f

    return make


def value_and_gradient(index: Any) -> Callable[[Library], Callable]:
    """Value and gradient of a sum of squares of what is read."""

    def make(lib: Library) -> Callable:
        def loss(x, *i):
            return (x[_index(lib, index, i)] ** 2).sum()

        return lib.top.value_and_grad(loss)

    return make


def update(name: str, index: Any, value: Any = None) -> Callable[[Library], Callable]:
    """`x.at[index].set(y)` or another method, of `value` if no y is given."""

    def make(lib: Library) -> Callable:
        def f(x, *rest):
            y, i = (value, rest) if value is not None else (rest[0], rest[1:])
            return getattr(x.at[_index(lib, index, i)], name)(y)

        return f

    return make


def value_and_gradients_of_update(index: Any, value: Any = None):
    """Value and gradient of a sum of squares of an array that was set."""

    def make(lib: Library) -> Callable:
        setting = update("set", index, value)(lib)

        def loss(x, *y):
            return (setting(x, *y) ** 2).sum()

        return lib.top.value_and_grad(loss, argnums=(0, 1) if value is None else 0)

    return make


def column_window(lib: Library, i):
    """`ds` in ours, positions in the peer, which has no cheaper form of it."""
    return np.s_[:, lib.top.ds(i, 512)] if lib.name == "pullback" else _counted(lib, i)


def _counted(lib: Library, i):
    return np.s_[:, i + lib.numpy.arange(512)]


SQUARE, BLOCK = (N, N), (N, 800)
POINT = (np.int32(700),)
COLUMN_CASES = [
    ("x[:, arange]", np.s_[:, COLUMNS]),
    ("x[:, arange by 2]", np.s_[:, HALF]),
    ("x[:, arange reversed]", np.s_[:, np.arange(N)[::-1].copy()]),
    ("x[:, mask of a run]", np.s_[:, RUN]),
    ("x[:, full]", np.s_[:, np.full(256, 5)]),
    ("x[arange]", np.s_[COLUMNS]),
    ("x[ix_(arange, arange by 4)]", GRID),
    ("x[:, two runs]", np.s_[:, TWO_RUNS]),
    ("x[:, permutation]", np.s_[:, PERMUTATION]),
    ("x[:, 512 sorted columns]", np.s_[:, SOME]),
    ("x[permutation]", np.s_[PERMUTATION]),
    ("x[diagonal]", DIAGONAL),
    ("x[pairs]", PAIRS),
    ("x[2-D mask]", MASK),
]
CASES = [
    *(
        Case(f"{what} value+gradient", value_and_gradient(index), (SQUARE,))
        for what, index in COLUMN_CASES
    ),
    *(Case(f"{what} read", read(index), (SQUARE,)) for what, index in COLUMN_CASES),
    Case("v[reversed] read", read(np.arange(LENGTH)[::-1].copy()), ((LENGTH,),)),
    Case("v[rolled] read", read(ROLLED), ((LENGTH,),)),
    Case("v[rolled] gradient", gradient(ROLLED), ((LENGTH,), (LENGTH,))),
    Case("x[diagonal] gradient", gradient(DIAGONAL), (SQUARE, (N,))),
    Case(
        "x[i, ::2] value+gradient",
        value_and_gradient(lambda lib, i: np.s_[i, ::2]),
        (SQUARE,),
        POINT,
    ),
    Case("x[:, v] value+gradient", value_and_gradient(lambda lib, v: np.s_[:, v]),
         (SQUARE,), (VECTOR,)),
    Case("x[v] value+gradient", value_and_gradient(lambda lib, v: v),
         (SQUARE,), (VECTOR,)),
    Case("x[:, ds] value+gradient", value_and_gradient(column_window), (SQUARE,),
         (np.int32(100),)),
    Case("x[arange, v] value+gradient",
         value_and_gradient(lambda lib, v: (np.arange(512), v)), (SQUARE,), (VECTOR,)),
    Case(".at[i].set(row)", update("set", lambda lib, i: i), (SQUARE, (N,)), POINT),
    Case(".at[i].add(row)", update("add", lambda lib, i: i), (SQUARE, (N,)), POINT),
    Case(".at[:, v].add(y)", update("add", lambda lib, v: np.s_[:, v]),
         (SQUARE, (N, 512)), (VECTOR,)),
    Case(".at[::-1].set(y)", update("set", np.s_[::-1]), (SQUARE, SQUARE)),
    Case(".at[:, ::2].set(y)", update("set", np.s_[:, ::2]), (SQUARE, (N, 512))),
    Case(".at[:, ::2].add(y)", update("add", np.s_[:, ::2]), (SQUARE, (N, 512))),
    Case(".at[:, ::64].set(y)", update("set", np.s_[:, ::64]), (SQUARE, (N, 16))),
    Case(".at[100:900].set(y)", update("set", np.s_[100:900]), (SQUARE, (800, N))),
    Case(".at[100:900].add(y)", update("add", np.s_[100:900]), (SQUARE, (800, N))),
    Case(".at[:, permutation].set(y)", update("set", np.s_[:, PERMUTATION]),
         (SQUARE, SQUARE)),
    Case(".at[:, 512 columns].set(y)", update("set", np.s_[:, SOME]),
         (SQUARE, (N, 512))),
    Case(".at[:, 512 columns].add(y)", update("add", np.s_[:, SOME]),
         (SQUARE, (N, 512))),
    Case(".at[:, two runs].set(y)", update("set", np.s_[:, TWO_RUNS]),
         (SQUARE, (N, 600))),
    Case(".at[diagonal].set(y)", update("set", DIAGONAL), (SQUARE, (N,))),
    Case(".at[diagonal].add(y)", update("add", DIAGONAL), (SQUARE, (N,))),
    Case(".at[pairs].add(y)", update("add", PAIRS), (SQUARE, (40000,))),
    Case(".at[row mask].set(0)", update("set", ROW_MASK, 0.0), (SQUARE,)),
    Case(".at[2-D mask].set(0)", update("set", MASK, 0.0), (SQUARE,)),
    Case(".at[2-D mask].set(0) value+gradient",
         value_and_gradients_of_update(MASK, 0.0), (SQUARE,)),
    Case(".at[:, arange].set(y) value+gradient",
         value_and_gradients_of_update(np.s_[:, COLUMNS]), (SQUARE, BLOCK)),
]
