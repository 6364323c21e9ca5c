"""What the registry tests share: the primitives, their samples, and how to run them.

Checks gather their failures in `Failures`, so that one test names every sample of a
primitive that breaks a rule.
"""

import importlib
import itertools
import pkgutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pullback.compile.jit  # the base interpreter
import pullback.ops
import pullback.regions
from pullback.core import dtype as dtypes
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.primitive import Primitive
from pullback.core.trace import in_charge, stage
from pullback.debug.numpy_trace import NumpyTrace
from tests.rules.sample import Bad, Sample, member, operand

HERE = Path(__file__).parent
# (relative, absolute) by dtype; one unit of `Sample.tol`.
TOLERANCE = {
    "float64": (1e-11, 1e-12),
    "float32": (2e-5, 2e-6),
    "float16": (4e-3, 1e-3),
    "bfloat16": (3e-2, 1e-2),
    "complex128": (1e-11, 1e-12),
    "complex64": (4e-5, 4e-6),
}
NUMPY = NumpyTrace()


BROKEN: dict[str, str] = {}  # modules that cannot be imported; test_complete fails


def imported(name: str) -> Any:
    """A module, or None: one broken family must not hide the others."""
    try:
        return importlib.import_module(name)
    except Exception as error:
        BROKEN[name] = f"{type(error).__name__}: {error}"
        return None


def import_package(package) -> None:
    """Import every module of a package, so that its primitives are registered."""
    for info in pkgutil.iter_modules(package.__path__):
        imported(f"{package.__name__}.{info.name}")


def _load() -> tuple[dict[str, list[Sample]], dict[str, list[Bad]]]:
    import_package(pullback.ops)
    import_package(pullback.regions)
    samples: dict[str, list[Sample]] = {}
    bad: dict[str, list[Bad]] = {}
    for path in sorted((HERE / "samples").glob("*.py")):
        family = imported(f"tests.rules.samples.{path.stem}")
        for name, found in getattr(family, "SAMPLES", {}).items():
            samples.setdefault(name, []).extend(found)
        for name, found in getattr(family, "BAD", {}).items():
            bad.setdefault(name, []).extend(found)
    return samples, bad


SAMPLES, BAD = _load()


class Failures:
    """Failures of one rule of one primitive; `check` raises them together."""

    def __init__(self, prim: Primitive, rule: str):
        self.prim, self.rule, self.found = prim, rule, []

    def add(self, sample: Any, text: Any) -> None:
        self.found.append(f"{self.prim.name}: {self.rule}: {sample}: {text}")

    def equal(self, sample: Any, got: Any, want: Any, tol: float, what: str) -> None:
        """Compare two values or two sequences of values."""
        problem = difference(got, want, tol)
        if problem:
            self.add(sample, f"{what}: {problem}")

    def guarded(self, sample: Any, check, *args: Any) -> None:
        """Run one check; an exception in it is a failure of that sample."""
        try:
            check(self, sample, *args)
        except Exception as error:
            place = _innermost(error)
            self.add(sample, f"{type(error).__name__} at {place}: {error}")

    def check(self) -> None:
        if self.found:
            shown = self.found[:12]
            more = len(self.found) - len(shown)
            shown += [f"... and {more} more"] if more else []
            pytest.fail("\n".join(shown), pytrace=False)


def _innermost(error: BaseException) -> str:
    frame = error.__traceback__
    while frame.tb_next is not None:
        frame = frame.tb_next
    code = frame.tb_frame.f_code
    return f"{Path(code.co_filename).name}:{frame.tb_lineno}"


# ---- running primitives ----


def as_list(prim: Primitive, out: Any) -> list[Any]:
    return list(out) if prim.multiple_results else [out]


def function(prim: Primitive, params: dict[str, Any]):
    """The primitive as a function of flat values to a flat sequence."""
    return lambda *xs: as_list(prim, prim.bind(*xs, **params))


def operands(sample: Sample, dtype: str) -> list[Any]:
    return [operand(a, dtype) for a in sample.args]


def in_numpy(fun, args: Sequence[Any]) -> list[Any]:
    """`fun` run by the NumPy interpreter."""
    with in_charge(NUMPY):
        return list(fun(*args))


def staged(fun, args: Sequence[Any]):
    """The jaxpr of `fun` for arguments of these types."""
    return stage(fun, list(map(aval_of, args)))


def cases(name: str) -> Iterator[tuple[Sample, str]]:
    for sample in SAMPLES.get(name, ()):
        for dtype in sample.dtypes:
            yield sample, dtype


WIDE = {
    "float64": "float64",
    "float32": "float64",
    "float16": "float64",
    "bfloat16": "float64",
    "complex64": "complex128",
    "complex128": "complex128",
}


def smooth_cases(name: str) -> Iterator[tuple[Sample, str]]:
    """Samples whose derivative is checked, in float64 and complex128."""
    for sample in SAMPLES.get(name, ()):
        if sample.grad is not False:
            for dtype in dict.fromkeys(WIDE.get(d) for d in sample.dtypes):
                if dtype is not None and any(live_operands(sample, dtype)):
                    yield sample, dtype


def live_operands(sample: Sample, dtype: str) -> list[bool]:
    """The operands in which the derivative of a sample is taken."""
    chosen = sample.grad
    return [
        dtypes.is_inexact(aval_of(x).dtype) and (chosen is True or i in chosen)
        for i, x in enumerate(operands(sample, dtype))
    ]


# ---- values ----


def value(x: Any) -> np.ndarray:
    host = getattr(x, "host", None)
    return host() if host is not None else np.asarray(x)


def difference(got: Any, want: Any, tol: float) -> str | None:
    """What is wrong with `got`, or None. Shapes, dtypes and values are compared."""
    if isinstance(want, list | tuple):
        if len(got) != len(want):
            return f"{len(got)} results, expected {len(want)}"
        found = (difference(g, w, tol) for g, w in zip(got, want, strict=True))
        return next((f for f in found if f), None)
    got, want = value(got), value(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"is {got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    return value_difference(got, want, *TOLERANCE.get(want.dtype.name, (0, 0)), tol)


def value_difference(
    got: np.ndarray, want: np.ndarray, rtol: float, atol: float, tol: float
) -> str | None:
    if dtypes.is_inexact(want.dtype) and want.dtype.itemsize < 4:
        got, want = got.astype(np.float32), want.astype(np.float32)
    scale = 1.0
    if want.size and dtypes.is_inexact(want.dtype):
        finite = np.abs(want[np.isfinite(want)])
        scale = max(1.0, float(finite.max())) if finite.size else 1.0
    if not tol:
        return exact_difference(got, want)
    if np.allclose(got, want, rtol * tol, atol * tol * scale, equal_nan=True):
        return None
    return f"is\n{got}\nexpected\n{want}"


def exact_difference(got: np.ndarray, want: np.ndarray) -> str | None:
    """Bit for bit, but for the payload of NaN."""
    float_like = dtypes.is_inexact(want.dtype)
    if dtypes.is_complex(want.dtype):
        got, want = np.stack([got.real, got.imag]), np.stack([want.real, want.imag])
    same = np.array_equal(got, want, equal_nan=float_like)
    if same and dtypes.is_complex(want.dtype):
        return exact_difference(got.real, want.real) or exact_difference(
            got.imag, want.imag
        )
    if same and float_like:
        known = ~np.isnan(want)
        same = np.array_equal(np.signbit(got[known]), np.signbit(want[known]))
    return None if same else f"is not exactly equal:\n{got}\nexpected\n{want}"


def direction(aval: ShapedArray, seed: int) -> np.ndarray:
    """A random tangent or cotangent of a type."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0.2, 1.0, aval.shape) * rng.choice([-1.0, 1.0], aval.shape)
    if dtypes.is_complex(aval.dtype):
        t = t + 1j * rng.uniform(-1.0, 1.0, aval.shape)
    return np.asarray(t).astype(aval.dtype)


def pairing(xs: Sequence[Any], ys: Sequence[Any]) -> float:
    """The real bilinear form with which cotangents act on tangents; None is zero."""
    total = 0.0
    for x, y in zip(xs, ys, strict=True):
        if x is not None and y is not None:
            total += float(np.real(np.sum(value(x) * value(y))))
    return total


# ---- batches ----


def batch_choices(args: Sequence[Any]) -> Iterator[tuple[int, list[int | None]]]:
    """Sizes, and the batch axis of each operand: which operands, first or last axis."""
    indices = range(len(args))
    for subset in _subsets(len(args)):
        for size in (1, 3):
            for last in (False, True):
                ds = [
                    None if i not in subset else np.ndim(args[i]) if last else 0
                    for i in indices
                ]
                if not last or any(ds):
                    yield size, ds


def _subsets(count: int) -> Iterator[set[int]]:
    """Every non-empty subset of up to three operands; of more, single ones and all."""
    sizes = range(1, count + 1) if count <= 3 else sorted({1, count})
    for size in sizes:
        yield from map(set, itertools.combinations(range(count), size))


STRUCTURED = (
    "cholesky",
    "eigh",
    "triangular_solve",
    "tridiagonal",
    "lu",
    "householder",
)


def members(sample: Sample, args: Sequence[Any], size: int) -> list[list[Any]]:
    """For each operand, its values along a batch of a size."""
    return [[member(x, k, sample.roll) for k in range(size)] for x in args]


def stacked(xs: list[Any], axis: int) -> Any:
    """Members of a batch as one array; keys keep their dtype."""
    out = np.stack(list(map(value, xs)), axis)
    if hasattr(xs[0], "aval"):
        return type(xs[0])(xs[0].aval.update(shape=out.shape), None, out)
    return out
