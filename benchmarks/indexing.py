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
ROUNDS = 12
AGAIN = 5  # times that a miss is measured once more
TIMES = 5  # updates in a loop
COLUMNS = np.arange(100, 900)
HALF = np.arange(0, N, 2)
RUN = (np.arange(N) >= 100) & (np.arange(N) < 900)
TWO_RUNS = np.concatenate([np.arange(100, 400), np.arange(600, 900)])
PERMUTATION = np.random.default_rng(0).permutation(N)
SOME = np.sort(PERMUTATION[:512])
BACKWARDS = np.arange(LENGTH)[::-1].copy()
ROLLED = np.roll(np.arange(LENGTH), 1000)
DIAGONAL = (np.arange(N), np.arange(N))
PAIRS = tuple(np.random.default_rng(1).integers(0, N, (2, 40000)))
MASK = np.random.default_rng(2).random((N, N)) < 0.3
ROW_MASK = np.random.default_rng(3).random(N) < 0.5
SPARSE_ROWS = np.arange(N) % 300 == 5
GRID = np.ix_(np.arange(100, 900), np.arange(0, N, 4))
VECTOR = np.random.default_rng(4).integers(0, N, 512)


class Case(NamedTuple):
    """A program: how it is made, the shapes of its arrays, and what else is traced."""

    what: str
    make: Callable[[Library], Callable]
    shapes: tuple[tuple[int, ...], ...]
    traced: tuple[Any, ...] = ()


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


def in_place(make: Callable[[Library], Callable]) -> Callable[[Library], Callable]:
    """The same update, made often to the carry of a loop, which is not copied."""

    def repeated(lib: Library) -> Callable:
        once = make(lib)

        def f(x, *rest):
            return lib.lax.fori_loop(0, TIMES, lambda k, x: once(x, *rest), x)

        return f

    return repeated


def column_window(lib: Library, i):
    """`ds` in ours, positions in the peer, which has no cheaper form of it."""
    return np.s_[:, lib.top.ds(i, 512)] if lib.name == "pullback" else _counted(lib, i)


def _counted(lib: Library, i):
    return np.s_[:, i + lib.numpy.arange(512)]


SQUARE = (N, N)
I = (np.int32(700),)  # noqa: E741
V = (VECTOR,)
STATIC = {
    "x[:, arange]": np.s_[:, COLUMNS],
    "x[:, arange by 2]": np.s_[:, HALF],
    "x[:, arange reversed]": np.s_[:, np.arange(N)[::-1].copy()],
    "x[:, mask of a run]": np.s_[:, RUN],
    "x[:, full]": np.s_[:, np.full(256, 5)],
    "x[arange]": np.s_[COLUMNS],
    "x[ix_(arange, arange by 4)]": GRID,
    "x[:, two runs]": np.s_[:, TWO_RUNS],
    "x[:, permutation]": np.s_[:, PERMUTATION],
    "x[:, 512 sorted]": np.s_[:, SOME],
    "x[permutation]": np.s_[PERMUTATION],
    "x[diagonal]": DIAGONAL,
    "x[pairs]": PAIRS,
    "x[2-D mask]": MASK,
}
TRACED = {
    "x[i, ::2]": (lambda lib, i: np.s_[i, ::2], I),
    "x[:, i]": (lambda lib, i: np.s_[:, i], I),
    "x[v]": (lambda lib, v: v, V),
    "x[:, v]": (lambda lib, v: np.s_[:, v], V),
    "x[arange, v]": (lambda lib, v: (np.arange(v.size), v), V),
    "x[:, ds]": (column_window, I),
}
# An index that is updated, the shape of the values, and what is traced of the index.
UPDATES = {
    "[i]": (lambda lib, i: i, (N,), I),
    "[:, i]": (lambda lib, i: np.s_[:, i], (N,), I),
    "[v]": (lambda lib, v: v, (512, N), V),
    "[:, v]": (lambda lib, v: np.s_[:, v], (N, 512), V),
    "[100:900]": (np.s_[100:900], (800, N), ()),
    "[::-1]": (np.s_[::-1], SQUARE, ()),
    "[:, ::2]": (np.s_[:, ::2], (N, 512), ()),
    "[:, ::64]": (np.s_[:, ::64], (N, 16), ()),
    "[::2]": (np.s_[::2], (512, N), ()),
    "[::64]": (np.s_[::64], (16, N), ()),
    "[:, two runs]": (np.s_[:, TWO_RUNS], (N, 600), ()),
    "[:, permutation]": (np.s_[:, PERMUTATION], SQUARE, ()),
    "[:, 512 sorted]": (np.s_[:, SOME], (N, 512), ()),
    "[512 sorted]": (np.s_[SOME], (512, N), ()),
    "[40 sorted]": (np.s_[SOME[:40]], (40, N), ()),
    "[diagonal]": (DIAGONAL, (N,), ()),
    "[pairs]": (PAIRS, (40000,), ()),
}
MASKS = {"2-D mask": MASK, "row mask": ROW_MASK, "sparse rows": SPARSE_ROWS}


def cases() -> Iterator[Case]:
    """All programs of the table."""
    for what, index in STATIC.items():
        yield Case(f"{what}, value and gradient", value_and_gradient(index), (SQUARE,))
        yield Case(f"{what}, read", read(index), (SQUARE,))
    for what, (index, traced) in TRACED.items():
        make = value_and_gradient(index)
        yield Case(f"{what}, value and gradient", make, (SQUARE,), traced)
    yield Case("x[diagonal], gradient", gradient(DIAGONAL), (SQUARE, (N,)))
    line = (LENGTH,)
    for what, index in (("reversed", BACKWARDS), ("rolled", ROLLED)):
        yield Case(f"v[{what}], read", read(index), (line,))
        yield Case(f"v[{what}], gradient", gradient(index), (line, line))
    for what, (index, shape, traced) in UPDATES.items():
        for name in ("set", "add"):
            make = update(name, index)
            yield Case(f".at{what}.{name}", make, (SQUARE, shape), traced)
            looped = in_place(make)
            yield Case(f".at{what}.{name} in place", looped, (SQUARE, shape), traced)
    for what, mask in MASKS.items():
        make = update("set", mask, 0.0)
        yield Case(f".at[{what}].set(0)", make, (SQUARE,))
        yield Case(f".at[{what}].set(0) in place", in_place(make), (SQUARE,))
    gradients = value_and_gradients_of_update(MASK, 0.0)
    yield Case(".at[2-D mask].set(0), value and gradient", gradients, (SQUARE,))
    gradients = value_and_gradients_of_update(np.s_[:, COLUMNS])
    shapes = (SQUARE, (N, 800))
    yield Case(".at[:, arange].set, value and gradients", gradients, shapes)


def thunk(lib: Library, case: Case) -> Callable[[], object]:
    """The compiled program and its arrays, to call."""
    f = lib.top.jit(case.make(lib))
    rng = np.random.default_rng(0)
    xs = [rng.normal(size=shape).astype(np.float32) for shape in case.shapes]
    args = [lib.numpy.asarray(x) for x in (*xs, *case.traced)]
    return lambda: lib.top.block_until_ready(f(*args))


def measured(case: Case, ours: Library, peer: Library) -> timing.Pair:
    """The least times of both, taken again while noise may have hidden them."""
    thunks = thunk(ours, case), thunk(peer, case)
    best = timing.calls(*thunks, ROUNDS)
    for _ in range(AGAIN):
        if best.ours <= LIMIT * best.peer:
            break
        best = timing.Pair(*map(min, best, timing.calls(*thunks, ROUNDS)))
    return best


def figures() -> Iterator[Figure]:
    """Each program in both libraries, and static positions beside a slice."""
    ours, peer = both()
    for case in cases():
        pair = measured(case, ours, peer)
        headline = case.what == "x[:, arange], value and gradient"
        yield Figure(case.what, *pair, ratio_limit=0.1 if headline else LIMIT)
    lookup, window = (
        Case("", value_and_gradient(index), (SQUARE,))
        for index in (STATIC["x[:, arange]"], np.s_[:, 100:900])
    )
    pair = timing.calls(thunk(ours, lookup), thunk(ours, window), ROUNDS)
    yield Figure("x[:, arange] beside x[:, 100:900], both ours", *pair, ratio_limit=1.5)
