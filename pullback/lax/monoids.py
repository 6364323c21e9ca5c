"""Whether a combiner is a monoid: associative, with an identity."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.api.arguments import check_callable
from pullback.core import dtype as dtypes, tree
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError
from pullback.regions.monoid_stage import described, operand_avals, start_values


def check_monoid(
    f: Callable[[Any, Any], Any],
    init: Any,
    example: Any,
    *,
    samples: int = 16,
    seed: int = 0,
    rtol: float | None = None,
) -> None:
    """Test the laws of a monoid, by which folds may be cut anywhere, on random states.

    Args:
      f: `f(acc, x) -> acc` on trees of scalars.
      init: a tree of scalars, the identity.
      example: a tree of `[n]` arrays of elements that occur, which samples are drawn
        from; or of scalars, then samples are random numbers of their dtypes.
      samples: how many triples of states to test.
      seed: of the random choice.
      rtol: relative tolerance (None: by the dtype, 1e-3 for float32).

    Raises:
      ArgumentError: a law does not hold; the message names it and shows the values.

    Example:
      >>> from pullback import lax
      >>> lax.check_monoid(lambda x, y: x + y, 0.0, 1.0)
    """
    check_callable(f, "check_monoid")
    avals = operand_avals("check_monoid", example)
    start = start_values("check_monoid", init, example, avals)
    structure = tree.structure(example)
    identity = [np.asarray(x) for x in start]
    draw = _Draw([np.asarray(x) for x in tree.leaves(example)], seed)

    def apply(x: list, y: list) -> list:
        out = f(tree.unflatten(structure, x), tree.unflatten(structure, y))
        return [
            np.asarray(v, aval_of(w).dtype)
            for v, w in zip(tree.leaves(out), x, strict=True)
        ]

    def check(law: str, got: list, want: list, **values: list) -> None:
        if all(map(lambda a, b: _close(a, b, rtol), got, want)):
            return
        shown = {k: tree.unflatten(structure, v) for k, v in values.items()}
        shown = ", ".join(f"{k} = {_plain(v)}" for k, v in shown.items())
        left = _plain(tree.unflatten(structure, got))
        right = _plain(tree.unflatten(structure, want))
        raise ArgumentError(
            f"combiner {described(f)} is not a monoid: {law} fails for {shown}: "
            f"{left} and {right}",
            rule="f(f(x, y), z) = f(x, f(y, z)), f(init, x) = x and f(x, init) = x",
            fix="fix the combiner or the identity, or use scan, which needs no law",
        )

    for _ in range(samples):
        x, y, z = (draw.state(apply) for _ in range(3))
        check("f(init, x) = x", apply(identity, x), x, x=x)
        check("f(x, init) = x", apply(x, identity), x, x=x)
        left, right = apply(apply(x, y), z), apply(x, apply(y, z))
        check("f(f(x, y), z) = f(x, f(y, z))", left, right, x=x, y=y, z=z)


class _Draw:
    """Random states: single elements and short folds of them."""

    def __init__(self, leaves: list[np.ndarray], seed: int):
        self.leaves, self.random = leaves, np.random.default_rng(seed)

    def element(self) -> list[np.ndarray]:
        if self.leaves[0].ndim:
            i = self.random.integers(len(self.leaves[0]))
            return [x[i] for x in self.leaves]
        return [_number(self.random, x.dtype) for x in self.leaves]

    def state(self, apply: Callable) -> list[np.ndarray]:
        state = self.element()
        for _ in range(self.random.integers(3)):
            state = apply(state, self.element())
        return state


def _number(random: np.random.Generator, dtype: Any) -> np.ndarray:
    if dtypes.is_bool(dtype):
        return np.asarray(random.integers(2), bool)
    if not dtypes.is_inexact(dtype):
        return np.asarray(random.integers(0, 9), dtype)
    value = random.normal()
    if dtypes.is_complex(dtype):
        return np.asarray(value + 1j * random.normal(), dtype)
    return np.asarray(value, dtype)


def _close(a: np.ndarray, b: np.ndarray, rtol: float | None) -> bool:
    if not dtypes.is_inexact(a.dtype):
        return bool(np.all(a == b))
    if rtol is None:
        rtol = {2: 5e-2, 4: 1e-3}.get(np.real(a).dtype.itemsize, 1e-8)
    wide = np.complex128 if dtypes.is_complex(a.dtype) else np.float64
    u, v = a.astype(wide), b.astype(wide)
    return bool(np.allclose(u, v, rtol=rtol, atol=rtol, equal_nan=True))


def _plain(value: Any) -> Any:
    return tree.map(lambda x: x.item() if hasattr(x, "item") else x, value)
