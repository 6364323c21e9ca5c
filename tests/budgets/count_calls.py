"""Counts Python calls of two compiled gradients, cold; prints them as JSON.

Run as a program, in an interpreter of its own, so that no cache is warm. A call is
one entry of a Python function, in any file; a file counts when it belongs to pullback.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np

import pullback
import pullback.numpy as pnp

PACKAGE = Path(pullback.__file__).parent


def calls_by_file(run: Callable[[], object]) -> dict[str, int]:
    """Python calls while `run` runs, by the file that the callee stands in."""
    entered = Counter()

    def on_event(frame: FrameType, event: str, arg: object) -> None:
        if event == "call":
            entered[frame.f_code.co_filename] += 1

    sys.setprofile(on_event)
    try:
        run()
    finally:
        sys.setprofile(None)
    return dict(entered)


def summary(entered: dict[str, int]) -> dict[str, object]:
    """The totals, and the package's own files with the busiest first."""
    own = {
        str(Path(name).relative_to(PACKAGE)): calls
        for name, calls in sorted(entered.items(), key=lambda item: -item[1])
        if Path(name).is_relative_to(PACKAGE)
    }
    return {"calls": sum(entered.values()), "files": len(own), "by_file": own}


def ten_operations(x):
    wave = pnp.sin(x) * pnp.exp(x) + pnp.cos(x) / (x * x + 1.0)
    return pnp.sum(pnp.tanh(wave) - pnp.log(x))


def perceptron(params, x):
    for weights, bias in params:
        x = pnp.tanh(x @ weights + bias)
    return pnp.mean(x**2)


def single(*shape: int) -> pullback.Array:
    values = np.random.default_rng(0).uniform(0.1, 1.0, shape)
    return pnp.asarray(values.astype(np.float32))


def main() -> None:
    x, batch = single(8), single(4, 8)
    params = [(single(8, 8), single(8)) for _ in range(3)]
    gradient = pullback.jit(pullback.grad(ten_operations))
    deep = pullback.jit(pullback.grad(perceptron))
    runs = {
        "first": lambda: gradient(x),
        "second": lambda: gradient(x),
        "perceptron": lambda: deep(params, batch),
        "perceptron_second": lambda: deep(params, batch),
    }
    counts = {name: summary(calls_by_file(run)) for name, run in runs.items()}
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
