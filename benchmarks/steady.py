"""What XLA does once a program is compiled: the same work, so about the same time."""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks import models, timing
from benchmarks.figure import Figure
from benchmarks.library import Library, both


def product(lib: Library) -> Callable[[], object]:
    """A matrix product."""
    x = lib.numpy.asarray(models.normal(np.random.default_rng(0), 640, 640))
    f = lib.top.jit(lambda x, y: x @ y)
    return lambda: lib.top.block_until_ready(f(x, x))


def layers_step(lib: Library) -> Callable[[], object]:
    """A step of training three tanh layers."""
    params = models.perceptron_parameters(lib, 256)
    x = lib.numpy.asarray(models.normal(np.random.default_rng(1), 128, 256))
    step = models.descent(lib, models.perceptron(lib))
    return lambda: lib.top.block_until_ready(step(params, x))


def transformer_step(lib: Library) -> Callable[[], object]:
    """A step of training a transformer of two layers."""
    params = models.transformer_parameters(lib, width=64, layers=2)
    tokens = models.sentences(lib, batch=8)
    step = models.descent(lib, models.transformer(lib))
    return lambda: lib.top.block_until_ready(step(params, tokens))


def figures() -> Iterator[Figure]:
    """Programs of a millisecond and more."""
    ours, peer = both()
    for what, make in (
        ("matmul of 640 x 640", product),
        ("training step, 3 layers of 256", layers_step),
        ("training step, transformer", transformer_step),
    ):
        pair = timing.calls(make(ours), make(peer))
        yield Figure(what, *pair)
