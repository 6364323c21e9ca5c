"""Operators and methods of arrays, put on the value class of the core.

Every family of `api/arrays` has its methods in a table `METHODS`. Operators answer
NotImplemented to operands that are not arrays or numbers, so that the other operand's
class may take over.
"""

from pullback.api.arrays import (
    at,
    comparisons,
    contractions,
    creation,
    indexing,
    parts,
    positions,
    reductions,
    shape_functions,
    sorting,
    spread,
    taking,
    ufuncs,
)
from pullback.core.value import Array
from pullback.ops.promote import operator_method, reflected_method

FAMILIES = (
    *(at, comparisons, contractions, creation, indexing, parts),
    *(positions, reductions, shape_functions, sorting, spread, taking, ufuncs),
)
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
    for family in FAMILIES:
        for name, method in family.METHODS.items():
            setattr(cls, name, method)


install_operators(Array)
install_methods(Array)
