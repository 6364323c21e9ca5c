"""Operators and methods of arrays, put on the value class of the core.

Every family of `api/arrays` names its methods in a table `METHODS`; operators answer
NotImplemented to operands that are not arrays or numbers, so that the other operand's
class may take over.
"""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.api import arrays
from pullback.api.arrays import ufuncs
from pullback.core.value import Array

ACCEPTED = (Array, bool, int, float, complex, np.ndarray, np.generic)

BINARY = {
    "add": ufuncs.add,
    "sub": ufuncs.subtract,
    "mul": ufuncs.multiply,
    "truediv": ufuncs.divide,
}
UNARY = {
    "neg": ufuncs.negative,
}


def known(x: Any) -> bool:
    """Whether operators combine arrays with `x`."""
    return isinstance(x, ACCEPTED) or hasattr(x, "__jax_array__")


def forward(function: Callable) -> Callable:
    """The operator method `x.__op__(y)` of a function of `x` and `y`."""

    def operator(self, other, /):
        if isinstance(other, ACCEPTED) or known(other):
            return function(self, other)
        return NotImplemented

    operator.__doc__ = function.__doc__
    return operator


def reflected(function: Callable) -> Callable:
    """The operator method `y.__rop__(x)` of a function of `x` and `y`."""

    def operator(self, other, /):
        if isinstance(other, ACCEPTED) or known(other):
            return function(other, self)
        return NotImplemented

    operator.__doc__ = function.__doc__
    return operator


def install_operators(cls: type) -> None:
    """Put the operators on `cls`."""
    for name, function in BINARY.items():
        setattr(cls, f"__{name}__", forward(function))
        setattr(cls, f"__r{name}__", reflected(function))
    for name, function in UNARY.items():
        setattr(cls, f"__{name}__", function)


def install_methods(cls: type) -> None:
    """Put the methods of every family on `cls`."""
    for module in pkgutil.iter_modules(arrays.__path__):
        family = importlib.import_module(f"{arrays.__name__}.{module.name}")
        for name, method in getattr(family, "METHODS", {}).items():
            setattr(cls, name, method)


install_operators(Array)
install_methods(Array)
