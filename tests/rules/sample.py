"""What a sample is, and how its master data become operands of a dtype.

Family modules in `samples/` give `SAMPLES: dict[str, list[Sample]]` and optionally
`BAD: dict[str, list[Bad]]`, both by the name of a primitive.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pullback.core import dtype as dtypes

FLOATS = ("float64", "float32", "bfloat16")


@dataclass(frozen=True)
class Sample:
    """One application of a primitive.

    `args`: an operand each. A float64, complex128, int64 or bool array is master data,
    cast to each dtype under test; an array of another dtype, and anything with an
    `aval`, is taken as it is. `dtypes`: the dtypes under test. `grad`: check the
    derivative, in all inexact operands or in the given ones. `tol`: factor on
    tolerances. `roll`: whether the harness may permute the elements of floating
    operands to make the members of a batch differ (else it only scales them).
    """

    args: tuple
    params: dict[str, Any] = field(default_factory=dict)
    dtypes: tuple[str, ...] = FLOATS
    grad: bool | tuple[int, ...] = True
    tol: float = 1.0
    roll: bool = True

    def __str__(self) -> str:
        shapes = ", ".join(str(np.shape(a)) for a in self.args)
        params = ", ".join(f"{k}={v!s:.60}" for k, v in self.params.items())
        return f"({shapes}; {params})" if params else f"({shapes})"


@dataclass(frozen=True)
class Bad:
    """An application that must be refused: the error's class, and part of its text."""

    args: tuple
    params: dict[str, Any]
    error: type[Exception]
    match: str


def rand(*shape: int, lo: float = 0.5, hi: float = 1.5, seed: int = 0) -> np.ndarray:
    """Floating master data in [lo, hi), no two elements equal."""
    return np.asarray(np.random.default_rng(seed + 1).uniform(lo, hi, shape))


def ints(*shape: int, lo: int = -5, hi: int = 6, seed: int = 0) -> np.ndarray:
    """Integer master data in [lo, hi)."""
    return np.asarray(np.random.default_rng(seed + 2).integers(lo, hi, shape))


def bools(*shape: int, seed: int = 0) -> np.ndarray:
    """Boolean master data."""
    return np.asarray(np.random.default_rng(seed + 3).integers(0, 2, shape) > 0)


def operand(master: Any, dtype: str) -> Any:
    """Master data as an operand for the dtype under test.

    Floats become that dtype (its complex numbers: with an imaginary part), integers
    that dtype if it is an integer one, else int32. Booleans stay.
    """
    if hasattr(master, "aval") or not isinstance(master, np.ndarray):
        return master
    with np.errstate(all="ignore"):
        return _cast(master, dtypes.parse(dtype))


def _cast(master: np.ndarray, target) -> np.ndarray:
    kind = master.dtype.str[1:]
    if kind == "f8":
        return _from_float(master, target)
    if kind == "c16":
        real = dtypes.is_float(target)
        return master.astype(dtypes.to_complex(target) if real else target)
    if kind == "i8":
        return master.astype(target if dtypes.is_integer(target) else np.int32)
    return master


def _from_float(master: np.ndarray, target) -> np.ndarray:
    if dtypes.is_complex(target):
        turned = np.flip(master) * 0.3 - 0.1
        return (master + 1j * turned).astype(target)
    if dtypes.is_bool(target):
        return master > 1.0
    return np.asarray(master).astype(target)


def member(x: Any, k: int, roll: bool) -> Any:
    """The k-th member of a batch made of an operand: other values of the same kind."""
    if k == 0:
        return x
    if hasattr(x, "aval"):  # PRNG keys: words of 64 bits
        return type(x)(x.aval, None, x.host() + np.uint64(k))
    if dtypes.is_bool(x.dtype):
        return np.roll(x, k) if x.size > 1 else x ^ bool(k % 2)
    if dtypes.is_integer(x.dtype):
        moved = np.roll(x, k)
        return np.where(moved > 0, np.maximum(moved, k) - k, moved).astype(x.dtype)
    moved = np.roll(x, k) if roll else x
    return (moved * (1 - 0.03 * k)).astype(x.dtype)
