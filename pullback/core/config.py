"""The switches that change what a program means, per process and per thread.

A `Config` is interned: the same settings are the same object, so caches of traces and
executables hold it in their keys and compare it by identity.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields, replace

from pullback.core.errors import ArgumentError, ArgumentTypeError


@dataclass(frozen=True, slots=True, eq=False)
class Config:
    """All settings. See `update` for what each one takes."""

    enable_x64: bool = False
    numpy_dtype_promotion: str = "standard"
    default_matmul_precision: str | None = None
    check_static_indices: bool = False
    check_traced_indices: bool = False
    disable_jit: bool = False


_CHOICES = {
    "numpy_dtype_promotion": ("standard", "strict"),
    "default_matmul_precision": (None, "default", "high", "highest", "float32"),
}
_interned: dict[tuple, Config] = {}


def _intern(value: Config) -> Config:
    return _interned.setdefault(astuple(value), value)


def _from_environment() -> Config:
    flag = os.environ.get("PULLBACK_ENABLE_X64", "0").strip().lower()
    return _intern(Config(enable_x64=flag in ("1", "true", "yes", "on")))


class _Local(threading.local):
    """What is in force on this thread: its own settings, else the process's."""

    current: Config = _from_environment()


local = _Local()
"""`local.current`: the settings in force, read without a Python call."""


def current() -> Config:
    """The settings in force on this thread."""
    return local.current


def x64() -> bool:
    """Whether 64-bit types are on, on this thread."""
    return local.current.enable_x64


def _checked(name: str, value: object) -> tuple[str, object]:
    name = name.removeprefix("jax_")
    known = [f.name for f in fields(Config)]
    if name not in known:
        raise ArgumentError(
            f"config: there is no setting {name!r}", fix=f"use one of {known}"
        )
    choices = _CHOICES.get(name)
    if choices is None and not isinstance(value, bool):
        raise ArgumentTypeError(
            f"config: {name} is {value!r}", rule="it takes True or False"
        )
    if choices is not None and value not in choices:
        raise ArgumentError(
            f"config: {name} is {value!r}", rule=f"it takes one of {choices}"
        )
    return name, value


def update(name: str, value: object) -> None:
    """Set `name` to `value` for the whole process, as `jax.config.update` does.

    Raises:
      ArgumentError: no such setting, or a value that it does not take.

    Example:
      >>> from pullback.core import config
      >>> config.update("enable_x64", False)
    """
    name, value = _checked(name, value)
    _Local.current = _intern(replace(_Local.current, **{name: value}))
    if "current" in local.__dict__:
        local.current = _intern(replace(local.current, **{name: value}))


@contextmanager
def scoped(**settings: object) -> Iterator[None]:
    """Change settings on this thread for the length of a `with` block."""
    own = local.__dict__
    saved = own.get("current")
    checked = dict(_checked(k, v) for k, v in settings.items())
    local.current = _intern(replace(local.current, **checked))
    try:
        yield
    finally:
        if saved is None:
            del local.current
        else:
            local.current = saved


def enable_x64(new_val: bool = True):
    """64-bit types on (or off) within a `with` block, on this thread."""
    return scoped(enable_x64=new_val)


def disable_jit(disable: bool = True):
    """Run compiled functions as plain Python within a `with` block, for debugging."""
    return scoped(disable_jit=disable)


def __getattr__(name: str):
    """Read a setting by its name, with or without JAX's prefix."""
    field = name.removeprefix("jax_")
    if field in Config.__slots__:
        return getattr(current(), field)
    raise AttributeError(f"config has no setting {name!r}")
