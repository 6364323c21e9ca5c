"""Index expressions of rank 1 to 4, grown at random, and what NumPy makes of them."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import pullback

DTYPES = ("int8", "uint8", "int32", "uint32", "int64", "uint64")
PAD = 3  # how far outside positions may lie


class Slot(NamedTuple):
    """Stands in an index for argument `place` of the program."""

    place: int
    wrap: Any = None

    def filled(self, args) -> Any:
        value = args[self.place]
        return value if self.wrap is None else pullback.ds(value, *self.wrap)


class Case(NamedTuple):
    """An index into an array of `shape`: static items, and slots for `args`.

    `numpy`: what NumPy reads. `padded`: what it writes to, in an array with `PAD` more
    elements around each axis; None where nothing lies outside.
    """

    shape: tuple[int, ...]
    items: tuple
    args: tuple[np.ndarray, ...]
    numpy: tuple
    padded: tuple | None

    def index(self, args) -> tuple:
        """The index, with `args` in the slots."""
        return tuple(x.filled(args) if type(x) is Slot else x for x in self.items)


class Grower:
    """Makes one case: an item an axis or so, and now and then a new axis."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng
        self.items: list[Any] = []
        self.numpy: list[Any] = []
        self.args: list[np.ndarray] = []
        self.joint = tuple(int(n) for n in rng.integers(1, 4, rng.integers(0, 3)))

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def pick(self, choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def put(self, item: Any, numpy: Any) -> None:
        self.items.append(item)
        self.numpy.append(numpy)

    def traced(self, value: np.ndarray, wrap: Any = None) -> Slot:
        self.args.append(value)
        return Slot(len(self.args) - 1, wrap)

    def typed(self, value: Any, n: int) -> np.ndarray:
        """The value in some integer type, counted from the front if it is unsigned."""
        dtype = np.dtype(self.pick(DTYPES))
        value = np.asarray(value)
        if dtype.kind == "u":
            value = np.where(value < 0, value + n, value)
        return value.astype(dtype)

    # ---- kinds of items ----

    def whole(self, n: int) -> None:
        self.put(slice(None), slice(None))

    def a_slice(self, n: int) -> None:
        low, high = (int(i) for i in self.rng.integers(-n - 2, n + 3, 2))
        step = self.pick((None, -3, -2, -1, 1, 2, 3))
        bounds = [None if self.chance(0.3) else b for b in (low, high)]
        self.put(slice(*bounds, step), slice(*bounds, step))

    def scalar(self, n: int) -> None:
        value = int(self.rng.integers(-n, n))
        kind = self.rng.integers(4)
        if kind == 0:
            return self.put(value, value)
        typed = self.typed(value, n)
        if kind == 1:
            return self.put(self.traced(self.typed(value, n)), value)
        return self.put(typed if kind == 2 else typed[()], value)

    def window(self, n: int) -> None:
        step = int(self.rng.integers(1, 4))
        size = int(self.rng.integers(0, (n - 1) // step + 2))
        box = (size - 1) * step + 1 if size else 0
        start = int(self.rng.integers(-n, n + 1))
        at = min(max(start + n if start < 0 else start, 0), n - box)
        item = pullback.ds(start, size, step)
        if self.chance(0.5):
            item = self.traced(np.int32(start), (size, step))
        self.put(item, slice(at, at + box, step))

    def vector(self, n: int) -> None:
        sizes = self.joint[self.rng.integers(len(self.joint) + 1) :]
        sizes = tuple(1 if self.chance(0.2) else k for k in sizes)
        value = self.rng.integers(-n, n, sizes)
        if self.chance(0.5) and value.size:
            value = self.even(n, value.size).reshape(sizes)
        self.array(value, n)

    def even(self, n: int, size: int) -> np.ndarray:
        """Positions that are evenly spaced, repeated or tiled."""
        step = self.pick((1, 1, 2, -1, 0))
        line = (int(self.rng.integers(n)) + step * np.arange(size)) % n
        return line if self.chance(0.7) else np.repeat(line, 2)[:size]

    def array(self, value: np.ndarray, n: int) -> None:
        typed = self.typed(value, n)
        kind = self.rng.integers(4)
        if kind == 0:
            return self.put(self.traced(typed), value)
        if kind == 1 and value.ndim:
            return self.put(value.tolist(), value)
        return self.put(typed, value)

    def mask(self, n: int) -> None:
        value = self.rng.random(n) < self.pick((0.3, 0.7, 1.0))
        self.put(value, value)

    def flag(self) -> None:
        value = self.chance(0.7)
        self.put(np.bool_(value) if self.chance(0.5) else value, np.bool_(value))


KINDS = ("whole", "a_slice", "a_slice", "scalar", "window", "vector", "vector", "mask")


def _grown(rng: np.random.Generator) -> Case:
    g = Grower(rng)
    shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 5)))
    at, dotted = 0, False
    while at < len(shape):
        if g.chance(0.12):
            g.put(None, None)
        if g.chance(0.04):
            g.flag()
        if not dotted and g.chance(0.12):
            dotted = True
            g.put(..., ...)
            at += int(rng.integers(0, len(shape) - at + 1))
        elif at + 2 <= len(shape) and g.chance(0.06):
            value = rng.random(shape[at : at + 2]) < 0.5
            g.put(value, value)
            at += 2
        elif g.chance(0.1) and not dotted:
            break
        else:
            getattr(g, g.pick(KINDS))(shape[at])
            at += 1
    return Case(shape, tuple(g.items), tuple(g.args), tuple(g.numpy), None)


def _grown_outside(rng: np.random.Generator) -> Case:
    """Positions that may lie outside, one item for each axis."""
    g = Grower(rng)
    shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 4)))
    clipped, padded = [], []
    for n in shape:
        if g.chance(0.3):
            g.whole(n)
            clipped.append(slice(None))
            padded.append(slice(PAD, PAD + n))
            continue
        sizes = g.joint[rng.integers(len(g.joint) + 1) :]
        value = rng.integers(-n - PAD, n + PAD, sizes)
        signed = value.astype(g.pick(("int8", "int32", "int64")))
        g.put(g.traced(signed) if g.chance(0.5) else signed, None)
        at = np.where(value < 0, value + n, value)
        clipped.append(np.clip(at, 0, n - 1))
        padded.append(at + PAD)
    items = tuple(g.items)
    return Case(shape, items, tuple(g.args), tuple(clipped), tuple(padded))


def cases(count: int, seed: int) -> Iterator[Case]:
    """As many cases as asked for, all of which NumPy takes."""
    rng = np.random.default_rng(seed)
    while count:
        case = _grown_outside(rng) if rng.random() < 0.15 else _grown(rng)
        try:
            np.zeros(case.shape)[case.numpy]
        except IndexError:  # shapes of arrays that do not broadcast
            continue
        count -= 1
        yield case
