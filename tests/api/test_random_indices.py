"""Random index expressions against NumPy: read, update, gradients, jit and vmap.

All values are small whole numbers, so that every comparison is exact. Most runs happen
in the NumPy interpreter, where nothing is compiled; some are compiled, many a program.
"""

import os

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback.core.trace import in_charge
from pullback.debug.numpy_trace import NumpyTrace
from tests.api.growing_indices import PAD, Case, cases

FULL = os.environ.get("PULLBACK_TEST_FULL", "0") not in ("", "0")
BLOCKS = 40 if FULL else 4
BLOCK = 520 if FULL else 80
COMPILED = 25  # cases in one program
NUMPY = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
NAMES = ("set", *NUMPY)


def whole(shape, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(-4, 5, shape).astype(np.float32)


def equal(got, want, case: Case, what: str) -> None:
    got = np.asarray(got)
    assert got.shape == want.shape, (what, case)
    assert np.array_equal(got, want), (what, case, got, want)


def inner(case: Case) -> tuple:
    return tuple(slice(PAD, PAD + n) for n in case.shape)


def surrounded(x: np.ndarray) -> np.ndarray:
    return np.pad(x, PAD)


def is_distinct(case: Case) -> bool:
    size = int(np.prod(case.shape))
    taken = np.arange(size).reshape(case.shape)[case.numpy]
    return np.unique(taken).size == taken.size


def updated(case: Case, x: np.ndarray, y: np.ndarray, name: str) -> np.ndarray:
    """`x` with `y` written, what lies outside dropped."""
    padded = case.padded is not None
    out = surrounded(x) if padded else x.copy()
    index = case.padded if padded else case.numpy
    if name == "set":
        out[index] = y
    else:
        NUMPY[name].at(out, index, y)
    return out[inner(case)] if padded else out


def written_back(case: Case, ct: np.ndarray) -> np.ndarray:
    """What of `ct` stands where values were written, 0 where they were dropped."""
    if case.padded is None:
        return ct[case.numpy]
    return surrounded(ct)[case.padded]


def reads(case: Case, x: np.ndarray, y: np.ndarray) -> None:
    want = x[case.numpy]

    def read(x, *args):
        return pnp.asarray(x)[case.index(args)]

    equal(read(pnp.asarray(x), *case.args), want, case, "read")
    equal(pullback.jit(read)(x, *case.args), want, case, "read, jit")
    both = np.stack([x, x[..., ::-1] + 1])
    axes = (0, *[None] * len(case.args))
    got = pullback.vmap(read, axes)(both, *case.args)
    equal(got, np.stack([b[case.numpy] for b in both]), case, "read, vmap")
    if case.args:
        many = [np.stack([a, a]) for a in case.args]
        got = pullback.vmap(read, (None, *[0] * len(many)))(x, *many)
        equal(got, np.stack([want, want]), case, "read, vmap of indices")
    back = np.zeros(case.shape, np.float32)
    np.add.at(back, case.numpy, y)
    got = pullback.grad(lambda x, *args: (read(x, *args) * y).sum())(x, *case.args)
    equal(got, back, case, "gradient")


def updates(case: Case, x: np.ndarray, y: np.ndarray, name: str) -> None:
    want = updated(case, x, y, name)

    def write(x, y, *args):
        return getattr(pnp.asarray(x).at[case.index(args)], name)(y)

    equal(write(pnp.asarray(x), y, *case.args), want, case, name)
    equal(pullback.jit(write)(x, y, *case.args), want, case, f"{name}, jit")
    both = np.stack([y, y + 1])
    axes = (None, 0, *[None] * len(case.args))
    got = pullback.vmap(write, axes)(x, both, *case.args)
    wants = np.stack([updated(case, x, b, name) for b in both])
    equal(got, wants, case, f"{name}, vmap")


def update_gradients(case: Case, x: np.ndarray, y: np.ndarray, name: str) -> None:
    ct = whole(case.shape, 3)

    def loss(x, y, *args):
        return (getattr(x.at[case.index(args)], name)(y) * ct).sum()

    got_x, got_y = pullback.grad(loss, (0, 1))(x, y, *case.args)
    kept = ct if name == "add" else updated(case, ct, np.zeros_like(y), "set")
    equal(got_x, kept, case, f"gradient of {name}")
    equal(got_y, written_back(case, ct), case, f"gradient of {name} in its values")


def check(case: Case, number: int) -> None:
    x = whole(case.shape, 1)
    y = whole(x[case.numpy].shape, 2)
    name = NAMES[number % len(NAMES)]
    distinct = is_distinct(case)
    if name == "set" and not distinct:
        name = "add"
    reads(case, x, y)
    updates(case, x, y, name)
    update_gradients(case, x, y, "set" if name == "set" else "add")


@pytest.mark.parametrize("block", range(BLOCKS))
def test_in_numpy(block):
    with in_charge(NumpyTrace()):
        for number, case in enumerate(cases(BLOCK, block)):
            check(case, number)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_compiled(block):
    some = list(cases(COMPILED, 1000 + block))
    xs = [whole(case.shape, 1) for case in some]
    ys = [whole(x[case.numpy].shape, 2) for x, case in zip(xs, some, strict=True)]
    args = [case.args for case in some]

    @pullback.jit
    def run(xs, ys, args):
        out = []
        for case, x, y, slots in zip(some, xs, ys, args, strict=True):
            index = case.index(slots)
            read, pull = pullback.vjp(lambda x, i=index: x[i], x)
            out.append((read, x.at[index].add(y), pull(y)[0]))
        return out

    for case, x, y, got in zip(some, xs, ys, run(xs, ys, args), strict=True):
        back = np.zeros(case.shape, np.float32)
        np.add.at(back, case.numpy, y)
        equal(got[0], x[case.numpy], case, "read, compiled")
        equal(got[1], updated(case, x, y, "add"), case, "add, compiled")
        equal(got[2], back, case, "gradient, compiled")
