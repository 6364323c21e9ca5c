"""Where the first NaN or infinity of a result comes from.

The program runs in NumPy and every value is kept. From the results that are not finite
the search goes back: an operand is to blame when with finite numbers in its place the
result would have been finite. What a `where` drops is never blamed, because it changes
nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pullback.compile.jit import jit
from pullback.core import tree
from pullback.core.aval import aval_of
from pullback.core.errors import PullbackError
from pullback.core.jaxpr import JaxprEqn
from pullback.core.provenance import Frame
from pullback.regions.reference import apply_reference, host, run_reference, taped


@dataclass(frozen=True)
class FoundNan:
    """The equation that made the first value that is not finite.

    `primitive` is `argument` where an argument of the program brought it. `frame`: the
    user's line. `primal_frame`: for an equation of a derivative, the line that it was
    derived from. `operands`, `results`: values, as NumPy arrays. `trail`: the
    transformations that made the equation.
    """

    primitive: str
    equation: JaxprEqn | None
    frame: Frame | None
    primal_frame: Frame | None
    operands: list[np.ndarray]
    results: list[np.ndarray]
    trail: tuple[str, ...]

    def __str__(self) -> str:
        bad = next(x for x in self.results if not _finite(x))
        kind = "NaN" if np.isnan(bad).any() else "infinity"
        rows = [f"the first {kind} is made by {self.primitive}"]
        if self.frame is not None:
            rows[0] += f" at {self.frame}: `{self.frame.text}`"
        if self.trail:
            rows.append(f"  made by {', '.join(self.trail)}")
        if self.primal_frame is not None:
            rows.append(f"  of {self.primal_frame}: `{self.primal_frame.text}`")
        rows += [f"  operand {i}: {_said(x)}" for i, x in enumerate(self.operands)]
        rows += [f"  result: {_said(x)}" for x in self.results]
        return "\n".join(rows)


def find_nan(fun: Callable, **options: Any) -> Callable[..., FoundNan | None]:
    """The first equation whose NaN or infinity reaches a result of a function.

    Args:
      fun: a function of trees of arrays, such as a gradient.
      options: of `jit`.

    Returns:
      A function with the arguments of `fun` that returns what was found, or None when
      all results are finite.

    Example:
      >>> import pullback.numpy as pnp
      >>> from pullback import debug
      >>> found = debug.find_nan(lambda x: pnp.sum(pnp.log(x)))(pnp.array([1.0, -1.0]))
      >>> found.primitive, float(found.operands[0][1])
      ('log', -1.0)
    """
    traced_by = jit(fun, **options)

    def search(*args: Any, **kwargs: Any) -> FoundNan | None:
        traced = traced_by.trace(*args, **kwargs)
        closed = traced.jaxpr
        values = [host(x, aval_of(x)) for x in tree.leaves((args, kwargs))]
        tape = _Tape()
        with taped(tape):
            outs = run_reference(closed, *values)
        return _Search(tape).run(outs)

    return search


@dataclass
class _Entry:
    """One equation as it ran: `body` are the entries of its bodies."""

    eqn: JaxprEqn
    operands: list[np.ndarray]
    results: list[np.ndarray]
    returned: list[np.ndarray]
    order: int


class _Tape:
    """Everything that ran. Values are known by identity, and kept alive for that."""

    def __init__(self) -> None:
        self.makers: dict[int, _Entry] = {}
        self.entries: list[_Entry] = []
        self._open: list[list[np.ndarray]] = []

    def before(self, eqn: JaxprEqn) -> None:
        self._open.append([])

    def after(self, eqn: JaxprEqn, operands: list, results: list) -> None:
        returned = self._open.pop()
        entry = _Entry(eqn, operands, results, returned, len(self.entries))
        self.entries.append(entry)
        for x in results:
            self.makers.setdefault(id(x), entry)

    def returned(self, results: list) -> None:
        if self._open:
            self._open[-1] += results


class _Search:
    def __init__(self, tape: _Tape):
        self.tape = tape
        self.seen: set[int] = set()
        self.origins: list[tuple[int, FoundNan]] = []

    def run(self, outs: Sequence[np.ndarray]) -> FoundNan | None:
        """The earliest origin of what is not finite in `outs`."""
        todo = [x for x in outs if not _finite(x)]
        while todo:
            x = todo.pop()
            if id(x) not in self.seen:
                self.seen.add(id(x))
                todo += self._behind(x)
        if not self.origins:
            return None
        return min(self.origins, key=lambda found: found[0])[1]

    def _behind(self, x: np.ndarray) -> list[np.ndarray]:
        """The values to blame for `x`; none where `x` is where it began."""
        entry = self.tape.makers.get(id(x))
        if entry is None:
            found = FoundNan("argument", None, None, None, [], [x], ())
            self.origins.append((-1, found))
            return []
        inner = [v for v in entry.returned if not _finite(v) and id(v) != id(x)]
        if inner:
            return inner
        blamed = _blamed(entry)
        if not blamed:
            self.origins.append((entry.order, _found(entry)))
        return blamed


def _blamed(entry: _Entry) -> list[np.ndarray]:
    """Operands without whose NaNs and infinities the results had fewer."""
    suspects = [i for i, v in enumerate(entry.operands) if not _finite(v)]
    before = _count(entry.results)
    blamed = []
    for i in suspects:
        if _count(_again(entry, [i])) < before:
            blamed.append(entry.operands[i])
    if not blamed and len(suspects) > 1 and _count(_again(entry, suspects)) < before:
        blamed = [entry.operands[i] for i in suspects]
    return blamed


def _again(entry: _Entry, finite: Sequence[int]) -> list[np.ndarray]:
    """The results with finite numbers in some operands."""
    operands = list(entry.operands)
    for i in finite:
        x = operands[i]
        operands[i] = np.where(np.isfinite(x), x, np.ones((), x.dtype))
    eqn = entry.eqn
    outs = [v.aval for v in eqn.outvars]
    with taped(None):
        try:
            return apply_reference(eqn.primitive, operands, outs, eqn.params)
        except PullbackError:
            return entry.results


def _found(entry: _Entry) -> FoundNan:
    source = entry.eqn.source
    frame = source.user_frame() if source is not None else None
    born = source.born_from if source is not None else None
    primal = born.user_frame() if born is not None else None
    trail = source.trail if source is not None else ()
    name = entry.eqn.primitive.name
    return FoundNan(
        name, entry.eqn, frame, primal, entry.operands, entry.results, trail
    )


def _finite(x: np.ndarray) -> bool:
    return x.dtype.kind in "biu" or bool(np.isfinite(x).all())


def _count(xs: Sequence[np.ndarray]) -> int:
    return sum(int(np.size(x) - np.isfinite(x).sum()) for x in xs if not _finite(x))


def _said(x: np.ndarray) -> str:
    text = np.array2string(x, threshold=8, edgeitems=2, precision=6)
    return f"{x.dtype}{list(x.shape)} {' '.join(text.split())}"
