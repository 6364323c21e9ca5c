"""The two libraries, under one set of names, so that a program is written once."""

import importlib
import os
from functools import cached_property
from types import ModuleType

OURS, PEER = "pullback", "jax"

# The peer must not look for accelerators, nor find a program compiled last time.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "0")


class Library:
    """A library: its top level, and its modules imported when first used."""

    def __init__(self, name: str):
        self.name = name
        self.top = importlib.import_module(name)

    @cached_property
    def numpy(self) -> ModuleType:
        """Its functions in NumPy's names."""
        return importlib.import_module(f"{self.name}.numpy")

    @cached_property
    def lax(self) -> ModuleType:
        """Its functions below those."""
        return importlib.import_module(f"{self.name}.lax")

    @cached_property
    def nn(self) -> ModuleType:
        """Its activations."""
        return importlib.import_module(f"{self.name}.nn")


def both() -> tuple[Library, Library]:
    """Ours and the peer."""
    return Library(OURS), Library(PEER)


def forget(lib: Library) -> None:
    """Drop what earlier traces left in the caches of the peer."""
    if lib.name == PEER:
        lib.top.clear_caches()
