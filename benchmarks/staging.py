"""What a deep model waits for before XLA compiles it: tracing and lowering."""

from collections.abc import Callable, Iterator

from benchmarks import models, timing
from benchmarks.figure import Figure
from benchmarks.library import Library, both, forget

LAYERS = 12


def lowered_gradient(lib: Library) -> Callable[[], object]:
    """Trace and lower the gradient of a transformer, a new function each time."""
    params = models.transformer_parameters(lib, width=64, layers=LAYERS)
    tokens = models.sentences(lib, batch=2)

    def run():
        loss = models.transformer(lib)
        return lib.top.jit(lib.top.grad(loss)).lower(params, tokens)

    return run


def figures() -> Iterator[Figure]:
    """The gradient of a 12-layer transformer; cold caches, then those of a session."""
    ours, peer = both()
    runs = lowered_gradient(ours), lowered_gradient(peer)
    what = f"trace + lower, grad of {LAYERS} layers"
    cold = timing.once(*runs, before=lambda: forget(peer))
    yield Figure(what, *cold, ratio_limit=0.6)
    yield Figure("  the same, JAX's caches kept", *timing.once(*runs))
