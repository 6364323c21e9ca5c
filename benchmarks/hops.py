"""Python calls and files between a program and its compiled gradient.

Run as a module with the name of a library, it counts in a fresh interpreter, where no
cache is warm, and prints JSON. A call is one entry of a Python function in any file; a
file counts when it belongs to the library.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import numpy as np

from benchmarks import models
from benchmarks.figure import Figure
from benchmarks.library import OURS, PEER, Library
from benchmarks.timing import in_fresh_process


def count(run: Callable[[], object], root: Path) -> tuple[int, int]:
    """Python calls while `run` runs, and the files under `root` that they enter."""
    entered = 0
    files = set()

    def on_event(frame: FrameType, event: str, arg: object) -> None:
        nonlocal entered
        if event == "call":
            entered += 1
            files.add(frame.f_code.co_filename)

    sys.setprofile(on_event)
    try:
        run()
    finally:
        sys.setprofile(None)
    return entered, sum(Path(file).is_relative_to(root) for file in files)


def counts(lib: Library) -> dict[str, tuple[int, int]]:
    """The counts of the two gradients, in the order that the limits are stated for."""
    root = Path(lib.top.__path__[0])
    x = lib.numpy.asarray(np.linspace(0.1, 1, 8).astype(np.float32))
    batch = lib.numpy.asarray(np.ones((4, 8), np.float32))
    params = models.perceptron_parameters(lib, 8)
    short = lib.top.jit(lib.top.grad(models.ten_operations(lib)))
    deep = lib.top.jit(lib.top.grad(models.perceptron(lib)))
    runs = {
        "first": lambda: short(x),
        "second": lambda: short(x),
        "deep": lambda: deep(params, batch),
    }
    return {name: count(run, root) for name, run in runs.items()}


def figures() -> Iterator[Figure]:
    """Hops of `jit(grad(f))`: a function of ten operations, and three tanh layers."""
    found = [in_fresh_process(("-m", "benchmarks.hops", name)) for name in (OURS, PEER)]
    for what, key, at, unit, limit in (
        ("jit(grad(10 operations)), first", "first", 0, "calls", 4000),
        ("  its files", "first", 1, "files", 25),
        ("  second", "second", 0, "calls", 12),
        ("jit(grad(3 layers)), first", "deep", 0, "calls", 7000),
    ):
        ours, peer = (numbers[key][at] for numbers in found)
        yield Figure(what, ours, peer, unit=unit, limit=limit)


if __name__ == "__main__":
    print(json.dumps(counts(Library(sys.argv[1]))))
