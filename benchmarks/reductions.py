"""Windows and scans with any combiner: forward, gradient, memory, growth, strategies.

Float32, 10^6 elements. The peer is asked only where it takes seconds, not minutes.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.figure import Figure
from benchmarks.library import OURS, Library, both
from pullback.regions import monoid_cost, monoid_windows

N = 10**6
WINDOWS = (2, 3, 8, 32, 256, 4096)
SQUARES = (3, 7, 31)
COMBINERS = ("max", "add", "mul", "logaddexp", "affine", "matmul")
# The longest window that the peer is asked for; its time grows with the window.
PEER_LIMIT = {"logaddexp": 256, "affine": 256, "matmul": 256}
BUDGET = 1.0  # seconds for the repetitions of one program


def affine(f: Any, g: Any) -> Any:
    """Two affine maps, one after the other."""
    return f[0] * g[0], f[1] * g[0] + g[1]


def matmul(p: Any, q: Any) -> Any:
    """The product of 2 x 2 matrices."""
    (a, b, c, d), (e, f, g, h) = p, q
    return a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h


def combiner(lib: Library, name: str) -> tuple[Callable, Any]:
    """The function and its identity."""
    lax, top = lib.lax, np.float32
    return {
        "max": (lax.max, -np.inf),
        "add": (lax.add, 0.0),
        "mul": (lax.mul, 1.0),
        "logaddexp": (lib.numpy.logaddexp, -np.inf),
        "affine": (affine, (top(1), top(0))),
        "matmul": (matmul, tuple(map(top, (1, 0, 0, 1)))),
    }[name]


def operands(name: str, n: int, rows: int = 1) -> Any:
    """Elements near those of real series: decays, rotations, positive factors."""
    random = np.random.default_rng(0)
    shape = (n,) if rows == 1 else (rows, n // rows)
    x = random.normal(size=shape).astype(np.float32)
    near = np.float32(1) + np.float32(1e-3) * x
    if name == "affine":
        return np.abs(near), x
    if name == "matmul":
        small = np.float32(1e-2) * x
        return near, small, -small, near[::-1]
    return near if name == "mul" else x


def program(lib: Library, name: str, dims: tuple[int, ...]) -> Callable[[Any], Any]:
    """The last component of the windows of an operand."""
    f, start = combiner(lib, name)
    ones = (1,) * len(dims)

    def run(x: Any) -> Any:
        y = lib.lax.reduce_window(x, start, f, dims, ones, "VALID")
        return y[-1] if isinstance(y, tuple) else y

    return run


def gradient(lib: Library, run: Callable) -> Callable:
    """The derivative of the sum of squares: its cotangents are no constants."""
    return lib.top.grad(lambda x: (run(x) ** 2).sum())


def least(*thunks: Callable[[], Any]) -> list[float]:
    """The least time of each; they take turns."""
    for thunk in thunks:
        thunk()
    best = [float("inf")] * len(thunks)
    begin = perf_counter()
    for turn in range(30):
        if turn > 1 and perf_counter() - begin > BUDGET * len(thunks):
            break
        for i, thunk in enumerate(thunks):
            start = perf_counter()
            thunk()
            best[i] = min(best[i], perf_counter() - start)
    return best


def call(lib: Library, fun: Callable, x: Any) -> Callable[[], Any]:
    """One call of the compiled function, waited for."""
    compiled = lib.top.jit(fun)
    x = lib.top.tree.map(lib.numpy.asarray, x)
    return lambda: lib.top.block_until_ready(compiled(x))


def figures() -> Iterator[Figure]:
    """The grid, then growth with n, then peak memory."""
    ours, peer = both()
    for name in COMBINERS:
        for k in WINDOWS:
            yield from grid(ours, peer, name, (k,))
    for name in ("max", "add", "logaddexp"):
        for k in SQUARES:
            yield from grid(ours, peer, name, (k, k))
    yield from growth(ours)
    yield from scans(ours, peer)
    yield from rivals(ours)


def grid(ours: Library, peer: Library, name: str, dims) -> Iterator[Figure]:
    """Forward and gradient of one combiner and window, and memory of the gradient."""
    x = operands(name, N, 1 if len(dims) == 1 else 1000)
    what = f"{name} {' x '.join(map(str, dims))}"
    forward = program(ours, name, dims)
    thunks = [call(ours, forward, x), call(ours, gradient(ours, forward), x)]
    area = int(np.prod(dims))
    if area <= PEER_LIMIT.get(name, area):
        theirs = program(peer, name, dims)
        thunks.append(call(peer, theirs, x))
        if name in ("max", "add"):
            thunks.append(call(peer, gradient(peer, theirs), x))
    times: list[float | None] = [*least(*thunks), None, None]
    fast, back = times[:2]
    assert fast is not None
    assert back is not None
    limit = 1.05
    if name == "logaddexp" and dims == (256,):
        limit = 0.01
    known = times[2] is not None
    yield Figure(what, fast, times[2], ratio_limit=limit if known else None)
    goal = 0.2 if name == "max" and dims == (256,) else None
    yield Figure(f"{what}, gradient", back, times[3], ratio_limit=goal)
    bound = 8.0 if name in ("max", "min") else 4.0
    yield Figure(f"{what}, gradient / forward", back, fast, ratio_limit=bound)
    yield memory(ours, f"{what}, gradient", gradient(ours, forward), x)


def memory(ours: Library, what: str, fun: Callable, x: Any) -> Figure:
    """Peak memory in values for each number of the operand."""
    stats = ours.top.jit(fun).lower(x).compile().memory_analysis()
    count = sum(a.size for a in ours.top.tree.leaves(x))
    peak = (
        stats.temp_size_in_bytes
        + stats.argument_size_in_bytes
        + stats.output_size_in_bytes
    )
    return Figure(f"{what}, memory", peak / 4 / count, unit="values/n", limit=12.5)


def growth(ours: Library) -> Iterator[Figure]:
    """Seconds for each element, which stay the same when n grows."""
    for name in ("max", "logaddexp", "affine"):
        run = program(ours, name, (256,))
        for n in (10**4, 10**5, 10**6, 10**7):
            x = operands(name, n)
            forward, back = least(
                call(ours, run, x), call(ours, gradient(ours, run), x)
            )
            yield Figure(f"{name} 256, n = {n:.0e}, 10^6 elements", forward * 1e6 / n)
            yield Figure(
                f"{name} 256, n = {n:.0e}, gradient, 10^6 elements", back * 1e6 / n
            )


def scans(ours: Library, peer: Library) -> Iterator[Figure]:
    """associative_scan of affine maps."""

    def scan(lib: Library) -> Callable:
        return lambda x: lib.lax.associative_scan(affine, x)[1]

    x = operands("affine", N)
    yield Figure(
        "associative_scan, affine",
        *least(*(call(lib, scan(lib), x) for lib in (ours, peer))),
        ratio_limit=1.05,
    )
    yield Figure(
        "associative_scan, affine, gradient",
        *least(*(call(lib, gradient(lib, scan(lib)), x) for lib in (ours, peer))),
        ratio_limit=1.05,
    )


def rivals(ours: Library) -> Iterator[Figure]:
    """Moving maxima and log-sum-exps of other libraries, those that are installed."""
    x = operands("max", N)
    for name, combine, thunk in _others(x):
        run = call(ours, program(ours, combine, (256,)), x)
        yield Figure(f"{combine} 256 against {name}", *least(run, thunk))


def _others(x: np.ndarray) -> Iterator[tuple[str, str, Callable]]:
    def found(name: str) -> Any:
        try:
            return import_module(name)
        except ImportError:
            return None

    if (scipy := found("scipy.ndimage")) is not None:
        yield "scipy.ndimage", "max", lambda: scipy.maximum_filter1d(x, 256)
    if (bottleneck := found("bottleneck")) is not None:
        yield "bottleneck", "max", lambda: bottleneck.move_max(x, 256)
    if (torch := found("torch")) is not None:
        t = torch.from_numpy(x)
        pool = torch.nn.functional.max_pool1d
        yield "torch", "max", lambda: pool(t[None], 256, 1)
        yield "torch", "logaddexp", lambda: t.unfold(-1, 256, 1).logsumexp(-1)


def strategies(name: str, k: int, n: int = N) -> Iterator[tuple[str, float, bool]]:
    """The time of every way to slide a window, and which one is chosen."""
    ours = Library(OURS)
    chosen: list[str] = []
    kept = monoid_windows.window_strategy

    def watch(*args: Any) -> str:
        chosen.append(monoid_cost.window_strategy(*args))
        return forced

    x = operands(name, n)
    options = ["chain"] if k <= 32 else []
    options += ["doubling"] if k > monoid_cost.RADIX else []
    try:
        monoid_windows.window_strategy = watch
        for forced in (*options, "blocks"):
            f, start = combiner(ours, name)
            fresh = ours.top.jit(
                lambda x, f=f, start=start: ours.lax.reduce_window(
                    x, start, lambda p, q: f(p, q), (k,), (1,), "VALID"
                )
            )
            value = ours.top.tree.map(ours.numpy.asarray, x)
            (t,) = least(lambda: ours.top.block_until_ready(fresh(value)))  # noqa: B023
            yield forced, t, chosen[-1] == forced
    finally:
        monoid_windows.window_strategy = kept


def main() -> None:
    """Print the time of every strategy, and where the choice is wrong by over 1.3."""
    for name in COMBINERS:
        for k in WINDOWS:
            rows = list(strategies(name, k))
            best = min(t for _, t, _ in rows)
            cells = [f"{s} {t * 1e3:.2f} ms{' *' if c else ''}" for s, t, c in rows]
            wrong = any(c and t > 1.3 * best for _, t, c in rows)
            print(f"{name:10} {k:5}  {'  '.join(cells)}{'  WRONG' if wrong else ''}")


if __name__ == "__main__":
    main()
