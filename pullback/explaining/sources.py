"""The text of source files as they were traced, and positions in it.

Python counts columns in UTF-8 bytes, strings count code points, viewers of maps count
UTF-16 units: this is the one place that converts.
"""

import ast
import linecache
import posixpath
import re
import sysconfig
import tokenize
from collections.abc import Iterable
from functools import cached_property
from types import CodeType
from urllib.parse import quote

from pullback.core.errors import PACKAGE_ROOT
from pullback.explaining.syntax import Syntax

_LINE_END = re.compile(r"\r\n|\n|\r")
_THIRD_PARTY = tuple(
    {sysconfig.get_path(key) + "/" for key in ("stdlib", "purelib", "platlib")}
)
_hidden: list[str] = []


def hide(*prefixes: str) -> None:
    """Count files whose paths begin so as library code: their lines are not the user's.

    Example:
      >>> from pullback.explaining.sources import hide
      >>> hide("/opt/ourlayers/")
    """
    _hidden.extend(prefixes)


def is_internal(file: str) -> bool:
    """Whether a file belongs to Pullback or to Python's own machinery."""
    return file.startswith((PACKAGE_ROOT, "<frozen "))


def is_ignored(file: str) -> bool:
    """Whether a file is third-party code, which viewers fold."""
    return file.startswith((*_THIRD_PARTY, *_hidden))


def utf16_column(line: str, column: int) -> int:
    """A column in code points as one in UTF-16 units."""
    head = line[:column]
    return len(head) if head.isascii() else len(head.encode("utf-16-le")) // 2


class Source:
    """One file: `file` as Python names it, `url` in maps, `text` as traced.

    `stale`: the file has changed since it was imported, and the old text is not to be
    had, so positions in it would be wrong.
    """

    def __init__(self, file: str, text: str, url: str = "", ignored: bool = False):
        self.file, self.text, self.url, self.ignored = file, text, url, ignored
        self.stale = False

    @cached_property
    def lines(self) -> list[str]:
        """Lines without their ends."""
        return _LINE_END.split(self.text)

    @cached_property
    def tree(self) -> ast.Module | None:
        """The parsed text, None where it is no Python."""
        try:
            return ast.parse(self.text.removeprefix("\ufeff"), self.file)
        except (SyntaxError, ValueError):
            return None

    @cached_property
    def syntax(self) -> Syntax:
        """Where its expressions stand."""
        return Syntax(self.tree)

    @cached_property
    def codes(self) -> dict[tuple[int, str], list[CodeType]]:
        """The code objects that the text compiles to, by first line and name."""
        tree = self.tree
        if tree is None:
            return {}
        try:
            todo = [compile(tree, self.file, "exec")]
        except (SyntaxError, ValueError):  # such as a top-level await of a notebook
            return {}
        found: dict[tuple[int, str], list[CodeType]] = {}
        while todo:
            code = todo.pop()
            found.setdefault((code.co_firstlineno, code.co_name), []).append(code)
            todo += [c for c in code.co_consts if isinstance(c, CodeType)]
        return found

    def made(self, code: CodeType) -> bool:
        """Whether `code` is what this text compiles to."""
        found = self.codes.get((code.co_firstlineno, code.co_name), [])
        return any(_same(mine, code) for mine in found)

    def column(self, line: int, byte_column: int) -> int:
        """A column in UTF-8 bytes as one in UTF-16 units."""
        lines = self.lines
        text = lines[line - 1] if line <= len(lines) else ""
        if text.isascii():
            return min(byte_column, len(text))
        head = text.encode()[:byte_column].decode(errors="ignore")
        return len(head.encode("utf-16-le")) // 2


def _same(mine: CodeType, other: CodeType) -> bool:
    if mine.co_code == other.co_code:
        return mine.co_linetable == other.co_linetable
    # rewritten on import (pytest's asserts): the positions must still be there
    theirs = {p for p in other.co_positions() if None not in p}
    return len(theirs - set(mine.co_positions())) * 4 <= len(theirs)


class Sources:
    """The files that a program comes from, each read once.

    `changed`: files that no longer hold the text that was traced.
    """

    def __init__(self) -> None:
        self._known: dict[str, Source | None] = {}
        self._checked: dict[int, tuple[CodeType, bool]] = {}
        self.changed: list[str] = []

    def of(self, code: CodeType) -> Source | None:
        """The source of a code object, None where it has none to show."""
        file = code.co_filename
        if file not in self._known:
            self._known[file] = self._read(file, code)
        source = self._known[file]
        if source is None:
            return None
        checked = self._checked.get(id(code))
        if checked is None:
            checked = self._checked[id(code)] = (code, source.made(code))
        if not checked[1] and file not in self.changed:
            self.changed.append(file)
        return source if checked[1] else None

    def _read(self, file: str, code: CodeType) -> Source | None:
        texts = [t for t in (_on_disk(file), _remembered(file)) if t is not None]
        for text in texts:
            source = Source(file, text, ignored=is_ignored(file))
            if source.made(code):
                return source
        return Source(file, texts[0]) if texts else None

    def used(self) -> list[Source]:
        """Every file read so far."""
        return [s for s in self._known.values() if s is not None]


def _on_disk(file: str) -> str | None:
    """The text of a file, line ends and mark of byte order as they are."""
    try:
        with open(file, "rb") as stream:
            encoding = tokenize.detect_encoding(stream.readline)[0]
            stream.seek(0)
            text = stream.read().decode(encoding)
    except (OSError, SyntaxError, UnicodeDecodeError, ValueError):
        return None
    return "\ufeff" + text if encoding == "utf-8-sig" else text


def _remembered(file: str) -> str | None:
    """What `linecache` holds: cells of notebooks, lines typed at a prompt."""
    lines = linecache.cache.get(file)
    if lines is None:
        found = linecache.getlines(file)
    else:
        found = lines[2] if len(lines) > 2 else linecache.getlines(file)
    return "".join(found) if found else None


def name_sources(sources: Iterable[Source], root: str | None) -> None:
    """Give sources their URLs, relative to `root` (None: the folder of them all)."""
    sources = list(sources)
    paths = [_slashes(s.file) for s in sources]
    folders = [posixpath.dirname(p) for p in paths if "/" in p]
    base = _slashes(root).rstrip("/") if root is not None else _shared(folders)
    taken: set[str] = set()
    for source, path in zip(sources, paths, strict=True):
        name = path.strip("<>")
        if base and path.startswith(base + "/"):
            name = path[len(base) + 1 :]
        elif "/" in path:
            name = path.rpartition("/")[2]
        unique, number = name, 1
        while unique in taken:
            number += 1
            unique = f"{number}/{name}"
        taken.add(unique)
        source.url = quote(unique, safe="/")


def _slashes(path: str) -> str:
    return path.replace("\\", "/") if re.match(r"[A-Za-z]:\\|\\\\", path) else path


def _shared(folders: list[str]) -> str:
    """The longest path of folders that all begin with."""
    parts = [folder.split("/") for folder in folders]
    shared = []
    for row in zip(*parts, strict=False):
        if len(set(row)) > 1:
            break
        shared.append(row[0])
    return "/".join(shared)
