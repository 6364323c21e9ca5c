"""Where each equation comes from: the raw traceback, the transformations, its primal.

Capturing costs a fraction of a microsecond because nothing is decoded: `capture` is
injected once by the layer that owns the runtime (`install`), and `frames` decodes it
when somebody asks. Knows no array and no primitive.
"""

import linecache
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pullback.core.errors import PACKAGE_ROOT


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of user or library code: positions count from 1 (lines), 0 (columns)."""

    file: str
    function: str
    line: int
    column: int | None
    end_line: int | None
    end_column: int | None

    @property
    def text(self) -> str:
        """The source line, stripped; empty when the file is not to be had."""
        return linecache.getline(self.file, self.line).strip()

    def __str__(self) -> str:
        return f"{self.file.rpartition('/')[2]}:{self.line}"


class Origin:
    """The birth of an equation.

    `traceback`: raw, decoded by `frames`. `trail`: the steps that made it, oldest first
    (`"jvp"`, `"transpose"`, `"vmap"`, ...). `born_from`: the origin of the primal
    equation that this one was derived from, or None. `scope`: the names of the
    enclosing `named_scope`s, joined by slashes.
    """

    __slots__ = ("born_from", "scope", "trail", "traceback")

    def __init__(
        self,
        traceback: Any,
        trail: tuple[str, ...] = (),
        born_from: "Origin | None" = None,
        scope: str = "",
    ):
        self.traceback, self.trail, self.born_from = traceback, trail, born_from
        self.scope = scope

    def step(self, name: str) -> "Origin":
        """The origin of an equation that transformation `name` derives from this."""
        trail, first = (*self.trail, name), self.born_from or self
        return Origin(self.traceback, trail, first, self.scope)

    def frames(self) -> tuple[Frame, ...]:
        """All frames, innermost first."""
        return tuple(_frame(code, lasti) for code, lasti in pairs(self.traceback))

    def user_frame(self) -> Frame | None:
        """The innermost frame outside this package."""
        raw = self.traceback
        if raw is None:
            return None
        for code, lasti in (
            raw if type(raw) is list else zip(*_decode(raw), strict=True)
        ):
            if not code.co_filename.startswith(_HIDDEN):
                return _frame(code, lasti)
        return None


_HIDDEN = (PACKAGE_ROOT, "<frozen ")


def _walk() -> list[tuple[Any, int]]:
    """Capture without the runtime's help: code objects and instruction offsets."""
    frame, out = sys._getframe(2), []
    while frame is not None:
        out.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return out


_capture: Callable[[], Any] = _walk
_decode: Callable[[Any], tuple[Sequence[Any], Sequence[int]]]


def install(capture: Callable[[], Any], decode: Callable[[Any], Any]) -> None:
    """Give the runtime's functions.

    `capture()` returns a raw traceback; `decode(raw)` its code objects and the offsets
    of their last instructions, innermost first.
    """
    global _capture, _decode
    _capture, _decode = capture, decode


def pairs(raw: Any) -> list[tuple[Any, int]]:
    """Code objects with instruction offsets, innermost first."""
    if raw is None:
        return []
    return raw if type(raw) is list else list(zip(*_decode(raw), strict=True))


def here() -> Origin:
    """An origin at the caller."""
    return Origin(_capture(), (), None, scope.name)


@lru_cache(maxsize=4096)
def _positions(code) -> list:
    return list(code.co_positions())


@lru_cache(maxsize=65536)
def _frame(code, lasti: int) -> Frame:
    positions = _positions(code)
    index = lasti // 2
    line, end_line, column, end_column = (
        positions[index] if 0 <= index < len(positions) else (None,) * 4
    )
    return Frame(
        code.co_filename,
        code.co_qualname,
        line if line is not None else code.co_firstlineno,
        column,
        end_line,
        end_column,
    )


def joined(inner: Origin | None, outer: Origin | None) -> Origin | None:
    """`inner`, with the frames of `outer` behind it: the caller of a cached trace."""
    if inner is None or outer is None or inner is outer:
        return inner or outer
    frames = [*pairs(inner.traceback), *pairs(outer.traceback)]
    trail, names = (*outer.trail, *inner.trail), _nested(outer.scope, inner.scope)
    return Origin(frames, trail, inner.born_from, names)


class _Scope(threading.local):
    """The names of the scopes that the thread is in."""

    name: str = ""


scope = _Scope()


def _nested(outer: str, inner: str) -> str:
    return f"{outer}/{inner}" if outer and inner else outer or inner


@contextmanager
def named_scope(name: str) -> Iterator[None]:
    """Put `name` in front of the names of operations traced within a `with` block.

    The names are in the locations of modules and in the profiles of programs.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> def f(x):
      ...     with pullback.named_scope("layer"):
      ...         return pnp.sin(x)
      >>> "layer/sin" in pullback.jit(f).lower(1.0).as_text(debug_info=True)
      True
    """
    outer, scope.name = scope.name, _nested(scope.name, name)
    try:
        yield
    finally:
        scope.name = outer
