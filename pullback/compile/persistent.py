"""Compiled programs on disk, so that the next process need not compile them.

1. An entry is found by what the program means (its module without locations), jaxlib,
   the platform and the processor, the devices and the options. The same program written
   on another line is a hit; the lines in XLA's own text of it are then the older ones.
2. An entry is written under another name and renamed, and starts with its key and a
   checksum, so a torn, corrupt or foreign file is a miss. Processes need no lock.
3. What compiles faster than `WORTH_SECONDS`, the time of a load, is not stored.
4. No failure of the disk is an error. Programs that call Python are never stored.
"""

import contextlib
import hashlib
import math
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pullback.xla import client
from pullback.xla.binding import JAXLIB_VERSION
from pullback.xla.builder import ModuleBuilder
from pullback.xla.client import BackendError, Executable

WORTH_SECONDS = 0.003
DEFAULT_BYTES = 1 << 30
_MAGIC = b"pullback program 1\n"
_HEAD = len(_MAGIC) + 64
_SUFFIX, _UNFINISHED, _SWEPT = ".program", ".unfinished", "swept"
_STALE_SECONDS = 3600.0


class Counts:
    """What this process has done: programs loaded, compiled and stored."""

    __slots__ = ("compiled", "loaded", "stored", "unswept")

    def __init__(self):
        self.loaded = self.compiled = self.stored = 0
        self.unswept: int | None = None  # bytes stored since the last sweep


counts = Counts()


def folder() -> Path | None:
    """Where the programs are: `PULLBACK_CACHE_DIR`, else the platform's cache folder.

    None when that variable is empty or 0.
    """
    named = os.environ.get("PULLBACK_CACHE_DIR")
    if named is not None:
        return Path(named).expanduser() if named not in ("", "0") else None
    return _platform_folder()


@cache
def _platform_folder() -> Path | None:
    try:
        if sys.platform == "win32":
            home = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
            return Path(home) / "pullback" / "cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "pullback"
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return Path(home) / "pullback"
    except RuntimeError:  # there is no home
        return None


def size_limit() -> int:
    """The most bytes to keep: `PULLBACK_CACHE_SIZE`, else 1 GiB."""
    text = os.environ.get("PULLBACK_CACHE_SIZE", "")
    return int(text) if text.isdigit() else DEFAULT_BYTES


def load_or_compile(
    module: ModuleBuilder,
    on: Sequence[Any] | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
) -> Executable:
    """The program of `module`, from the disk when it is there.

    Raises:
      BackendError: XLA refuses the module.
    """
    if module.callbacks:
        counts.compiled += 1
        return client.compile_module(
            module.raw, on, overrides=overrides, callbacks=module.callbacks
        )
    place = folder()
    if place is None:
        counts.compiled += 1
        return client.compile_module(module.bytecode(), on, overrides=overrides)
    key = _key(module, on, overrides)
    path = place / f"{key.hex()}{_SUFFIX}"
    found = _load(path, key, on)
    if found is not None:
        counts.loaded += 1
        return found
    start = time.perf_counter()
    made = client.compile_module(module.bytecode(), on, overrides=overrides)
    counts.compiled += 1
    if time.perf_counter() - start >= WORTH_SECONDS:
        _store(path, key, made.serialize())
    return made


def _key(module: ModuleBuilder, on: Any, overrides: Any) -> bytes:
    devices = client.devices()[:1] if on is None else tuple(on)
    owner = client.client_of(devices[0])
    facts = (
        JAXLIB_VERSION,
        owner.platform,
        owner.version,
        _processor(),
        os.environ.get("XLA_FLAGS", ""),
        [device.id for device in devices],
        sorted((overrides or {}).items()),
    )
    digest = hashlib.sha256(repr(facts).encode())
    digest.update(module.meaning())
    return digest.digest()


@cache
def _processor() -> str:
    """What code for this processor may use."""
    wanted = ("model name", "flags", "Features", "CPU part")
    lines = [platform.machine()]
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith(wanted):
                lines.append(line.strip())
            elif not line.strip():
                break  # the other cores
    return "\n".join(lines)


def _load(path: Path, key: bytes, on: Sequence[Any] | None) -> Executable | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = memoryview(data)[_HEAD:]
    if data[:_HEAD] != _MAGIC + key + hashlib.sha256(body).digest():
        return None
    try:
        found = client.deserialize(bytes(body), on)
    except BackendError:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # the sweep drops what was used longest ago
    return found


def _store(path: Path, key: bytes, body: bytes) -> None:
    """Write an entry, whole or not at all."""
    unfinished = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(_UNFINISHED, dir=path.parent)
        with os.fdopen(handle, "wb") as out:
            out.writelines((_MAGIC, key, hashlib.sha256(body).digest(), body))
        os.replace(unfinished, path)
    except OSError:
        if unfinished is not None:
            with contextlib.suppress(OSError):
                os.unlink(unfinished)
        return
    counts.stored += 1
    _count_bytes(path.parent, len(body) + _HEAD)


def _count_bytes(place: Path, size: int) -> None:
    """Sweep whenever a 16th of the limit has been written, and else once an hour.

    The time of the last sweep is that of a file: most processes write a few programs.
    """
    limit, mark = size_limit(), place / _SWEPT
    first = counts.unswept is None
    counts.unswept = size + (counts.unswept or 0)
    if counts.unswept * 16 > limit or (first and _age(mark) > _STALE_SECONDS):
        counts.unswept = 0
        with contextlib.suppress(OSError):
            sweep(place, limit)
            mark.touch()


def _age(mark: Path) -> float:
    """Seconds since the file was written; without end when it is not there."""
    try:
        return time.time() - os.stat(mark).st_mtime
    except OSError:
        return math.inf


def sweep(place: Path, limit: int) -> None:
    """Delete the entries used longest ago until at most `limit` bytes are left."""
    entries = sorted(_entries(place), reverse=True)
    total = 0
    for _, size, path in entries:
        total += size
        if total > limit:
            _unlink(path)


def _entries(place: Path) -> Iterator[tuple[float, int, str]]:
    """Time of use, size and path of each; left-overs of killed processes go."""
    oldest = time.time() - _STALE_SECONDS
    with os.scandir(place) as found:
        for item in found:
            if not item.name.endswith((_SUFFIX, _UNFINISHED)):
                continue
            with contextlib.suppress(OSError):
                stat = item.stat()
                if item.name.endswith(_SUFFIX):
                    yield stat.st_mtime, stat.st_size, item.path
                elif stat.st_mtime < oldest:
                    _unlink(item.path)


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
