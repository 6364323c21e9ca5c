"""Documents: text with choices of where to break lines, and places marked in it.

The algebra of Wadler and Lindig: a group is set on one line when it fits, else each of
its own line breaks ends a line. Knows nothing of what is printed.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

_ENDLESS = 1 << 40  # the flat width of what must not be set on one line


class Doc:
    """A document; `flat` is its width on one line."""

    __slots__ = ("flat",)
    flat: int


class _Text(Doc):
    __slots__ = ("pieces",)

    def __init__(self, value: str, payload: Any):
        self.pieces, self.flat = ((value, payload),), len(value)


class _Break(Doc):
    __slots__ = ("value",)

    def __init__(self, value: str, flat: int):
        self.value, self.flat = value, flat


class _Concat(Doc):
    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Doc, ...]):
        self.parts = parts
        self.flat = sum([part.flat for part in parts])


class _Nest(Doc):
    __slots__ = ("doc", "indent")

    def __init__(self, indent: int, doc: Doc):
        self.indent, self.doc, self.flat = indent, doc, doc.flat


class _Group(Doc):
    __slots__ = ("doc",)

    def __init__(self, doc: Doc):
        self.doc, self.flat = doc, doc.flat


class _Fitting(Doc):
    __slots__ = ("full", "pieces")

    def __init__(self, pieces: Sequence[tuple[str, Any]], full: Callable[[], Doc]):
        self.pieces, self.full = pieces, full
        self.flat = sum([len(piece[0]) for piece in pieces])


class Region(NamedTuple):
    """A marked place: lines and columns count from 0; `end` is the column past it."""

    line: int
    start: int
    end: int
    payload: Any


def text(value: str, payload: Any = None) -> Doc:
    """Characters; control characters, line ends among them, are escaped.

    With a `payload`, the place of the text becomes a region.
    """
    return _Text(printable(value), payload)


def printable(value: str) -> str:
    """`value` with control characters, line ends among them, escaped."""
    if value.isprintable():
        return value
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii")
        for c in value
    )


def line(flat: str = " ") -> Doc:
    """The end of a line, or `flat` when the group around it is set on one line."""
    return _Break(flat, len(flat))


HARD_LINE = _Break("", _ENDLESS)  # always the end of a line
EMPTY = _Text("", None)
SPACE = _Text(" ", None)


def concat(*parts: Doc) -> Doc:
    """One document after the other."""
    return parts[0] if len(parts) == 1 else _Concat(parts)


def join(separator: Doc, docs: Iterable[Doc]) -> Doc:
    """Documents with a separator between them."""
    parts: list[Doc] = []
    for doc in docs:
        parts += (separator, doc)
    return concat(*parts[1:])


def nest(indent: int, doc: Doc) -> Doc:
    """Lines that begin within `doc` stand `indent` columns further in."""
    return _Nest(indent, doc)


def group(doc: Doc) -> Doc:
    """`doc` on one line if it fits, else with all of its own line breaks."""
    return _Group(doc)


def fitting(pieces: Sequence[tuple[str, Any]], full: Callable[[], Doc]) -> Doc:
    """Printable characters with payloads where they fit on the line, else `full()`.

    What is said twice costs less: most lines fit, and no document is built for them.
    """
    return _Fitting(pieces, full)


def layout(doc: Doc, width: int = 80) -> tuple[str, list[Region]]:
    """The text of a document, and its regions in order.

    `width`: columns that a group may fill. Takes time linear in the document's size.
    """
    lines: list[str] = []
    current: list[str] = []
    regions: list[Region] = []
    column = 0
    todo: list[tuple[int, bool, Any]] = [(0, False, doc)]
    made = tuple.__new__  # in C, where a named tuple's own is in Python
    while todo:
        indent, flat, node = todo.pop()
        kind = type(node)
        if kind is _Fitting and not flat and column + node.flat > width:
            todo.append((indent, flat, node.full()))
        elif kind is _Fitting or kind is _Text:
            for value, payload in node.pieces:
                start, column = column, column + len(value)
                current.append(value)
                if payload is not None:
                    place = (len(lines), start, column, payload)
                    regions.append(made(Region, place))
        elif kind is _Concat:
            todo += [(indent, flat, part) for part in reversed(node.parts)]
        elif kind is _Break and flat:
            current.append(node.value)
            column += node.flat
        elif kind is _Break:
            lines.append("".join(current).rstrip())
            current, column = [" " * indent], indent
        elif kind is _Group:
            todo.append((indent, flat or column + node.flat <= width, node.doc))
        else:
            todo.append((indent + node.indent, flat, node.doc))
    lines.append("".join(current).rstrip())
    return "\n".join(lines), regions
