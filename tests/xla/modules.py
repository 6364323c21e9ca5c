"""Builds, verifies, compiles and runs modules for the tests of this folder."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pullback.xla import buffers, client
from pullback.xla.buffers import HostAval
from pullback.xla.emitter import Emitter, Module

f32 = np.float32


class Case(NamedTuple):
    """`emit(b, *values)` on `inputs` gives `expected`."""

    name: str
    emit: Callable[..., Any]
    inputs: Sequence[np.ndarray]
    expected: Any
    rtol: float = 2e-6


def aval(x: Any) -> HostAval:
    """The aval of an array."""
    array = np.asarray(x)
    return HostAval(array.shape, array.dtype)


def shaped(shape: Sequence[int], dtype: Any = f32) -> HostAval:
    """An aval from its parts."""
    return HostAval(tuple(shape), np.dtype(dtype))


def run_module(module: Module, inputs: Sequence[np.ndarray], outs: Sequence[HostAval]):
    """Verifies, compiles and runs a module; returns NumPy arrays."""
    module.verify()
    run = client.compile_module(module.bytecode()).bind([_same] * len(outs), outs)
    results = run([buffers.put(x) for x in inputs])
    return [
        buffers.to_numpy(r, out.dtype) for r, out in zip(results, outs, strict=True)
    ]


def _same(x: Any) -> Any:
    return x


def evaluate(
    emit: Callable[..., Any], inputs: Sequence[np.ndarray], outs: Sequence[HostAval]
):
    """Runs `emit(b, *values) -> list` as a module of its own."""
    module = Module("one")
    module.function("main", [aval(x) for x in inputs], emit, public=True)
    return run_module(module, inputs, outs)


def as_list(x: Any) -> list[Any]:
    """A list of one, or the list."""
    return list(x) if isinstance(x, list | tuple) else [x]


def check(cases: Sequence[Case]) -> None:
    """Emits all cases in one module, and compares every output with NumPy."""
    inputs = [x for case in cases for x in case.inputs]

    def main(b: Emitter, *values: Any) -> list[Any]:
        outs, start = [], 0
        for case in cases:
            stop = start + len(case.inputs)
            outs += as_list(case.emit(b, *values[start:stop]))
            start = stop
        return outs

    module = Module("cases")
    module.function("main", [aval(x) for x in inputs], main, public=True)
    expected = [(c, np.asarray(e)) for c in cases for e in as_list(c.expected)]
    results = run_module(module, inputs, [aval(e) for _, e in expected])
    for (case, want), got in zip(expected, results, strict=True):
        assert got.shape == want.shape, case.name
        compare(got, want, case.rtol, case.name)


def compare(got: np.ndarray, want: np.ndarray, rtol: float, name: str) -> None:
    """Raises AssertionError where a value differs; custom dtypes compare exactly."""
    if want.dtype.kind in "fc":
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol, err_msg=name)
    else:
        assert got.tobytes() == want.tobytes(), (name, got, want)
