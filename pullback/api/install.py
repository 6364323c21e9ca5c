"""Operators and methods of arrays, put on the value class of the core.

Every family of `api/arrays` names its methods in a table `METHODS`; operators answer
NotImplemented to operands that are not arrays or numbers, so that the other operand's
class may take over.
"""

import importlib
import pkgutil

from pullback.api import arrays
from pullback.api.arrays import comparisons, contractions, ufuncs
from pullback.core.value import Array
from pullback.ops.promote import operator_method, reflected_method

ARITHMETIC = {
    "add": ufuncs.add,
    "sub": ufuncs.subtract,
    "mul": ufuncs.multiply,
    "truediv": ufuncs.divide,
    "floordiv": ufuncs.floor_divide,
    "mod": ufuncs.remainder,
    "divmod": ufuncs.divmod,
    "pow": ufuncs.power,
    "matmul": contractions.matmul,
    "and": comparisons.bitwise_and,
    "or": comparisons.bitwise_or,
    "xor": comparisons.bitwise_xor,
    "lshift": comparisons.left_shift,
    "rshift": comparisons.right_shift,
}
ORDER = {
    "eq": comparisons.equal,
    "ne": comparisons.not_equal,
    "lt": comparisons.less,
    "le": comparisons.less_equal,
    "gt": comparisons.greater,
    "ge": comparisons.greater_equal,
}


def install_operators(cls: type) -> None:
    """Put the operators on `cls`."""
    for name, function in (ARITHMETIC | ORDER).items():
        setattr(cls, f"__{name}__", operator_method(function))
    for name, function in ARITHMETIC.items():
        setattr(cls, f"__r{name}__", reflected_method(function))


def install_methods(cls: type) -> None:
    """Put the methods of every family on `cls`."""
    for module in pkgutil.iter_modules(arrays.__path__):
        family = importlib.import_module(f"{arrays.__name__}.{module.name}")
        for name, method in getattr(family, "METHODS", {}).items():
            setattr(cls, name, method)


install_operators(Array)
install_methods(Array)
