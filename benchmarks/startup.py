"""What a new process waits for: the import, and the first compiled call."""

from collections.abc import Iterator

from benchmarks.figure import Figure
from benchmarks.timing import fresh_processes

_TIMED = """
from time import perf_counter
start = perf_counter()
{body}
print(perf_counter() - start)
"""

_FIRST_CALL = """
import numpy
import {name}
x = numpy.arange(3, dtype="float32")
{name}.block_until_ready({name}.jit(lambda x, y: x + y)(x, x))
"""

_LOADED = (
    "import sys, {name}; print(sum(m in sys.modules for m in ('numpy', 'jaxlib')))"
)


def figures() -> Iterator[Figure]:
    """Bare import and what it loads, first touch of `jit`, first compiled call."""
    bodies = (
        "import pullback",
        "import jax",
        "import pullback; pullback.jit",
        _FIRST_CALL.format(name="pullback"),
        _FIRST_CALL.format(name="jax"),
    )
    programs = [_TIMED.format(body=body) for body in bodies]
    ours, peer, touched, ours_first, peer_first = fresh_processes(programs)
    loaded = fresh_processes([_LOADED.format(name=n) for n in ("pullback", "jax")], 1)
    yield Figure("import", ours, peer, limit=0.1)
    yield Figure("numpy, jaxlib loaded by it", *loaded, unit="modules", limit=0)
    yield Figure("touch jit, to import jax", touched, peer, ratio_limit=0.5)
    yield Figure("import, first jitted add", ours_first, peer_first, ratio_limit=0.6)
