"""Every error that Pullback raises, by kind. Knows frames, nothing of arrays.

A message has three parts: what was asked (with types and the user's line), which rule
it breaks, and what to do instead.
"""

import os
import sys

PACKAGE_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def user_line() -> str | None:
    """`file:line` of the innermost frame outside the package, or None."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((PACKAGE_ROOT, "<frozen ", "<string>")):
            return f"{os.path.basename(name)}:{frame.f_lineno}"
        frame = frame.f_back
    return None


class PullbackError(Exception):
    """Root of all errors of this package."""


class UserError(PullbackError):
    """A program broke a rule. Subclasses also derive from the builtin they refine.

    Args:
      asked: what the program asked for, with the types it gave.
      rule: the rule that it breaks.
      fix: what to do instead.
    """

    def __init__(self, asked: str, *, rule: str | None = None, fix: str | None = None):
        self.asked, self.rule, self.fix, self.line = asked, rule, fix, user_line()
        super().__init__(self._message())

    def _message(self) -> str:
        parts = [self.asked + (f"  (at {self.line})" if self.line else "")]
        parts += [f"  rule: {self.rule}"] if self.rule else []
        parts += [f"  fix: {self.fix}"] if self.fix else []
        return "\n".join(parts)


class InternalError(PullbackError, RuntimeError):
    """A fault of Pullback, not of the program: please report it with the text."""


class ShapeError(UserError, TypeError, ValueError):
    """Operands whose shapes do not fit together."""


class DtypeError(UserError, TypeError):
    """An operand of an element type that the operation does not take."""


class ArgumentError(UserError, ValueError):
    """An argument with a value outside what the function takes."""


class ArgumentTypeError(UserError, TypeError):
    """An argument of a Python type that the function does not take."""


class AmbiguousTruthError(UserError, ValueError, TypeError):
    """`bool()` of an array that has not exactly one element."""


class DtypeValueError(DtypeError, ValueError):
    """As `DtypeError`, where NumPy's functions raise ValueError: indices of `take`."""


class MissingRuleError(UserError, AttributeError, ValueError):
    """A function with custom derivatives was called before its rules were set."""


class StaticArgumentError(UserError, ValueError, TypeError):
    """A static argument that cannot be part of a key."""


class IndexingError(UserError, IndexError):
    """An index that does not fit the array."""


class TreeError(UserError, ValueError, TypeError):
    """Two trees that should have the same structure and do not."""


class DifferentiationError(UserError, TypeError):
    """A derivative that does not exist or is not defined for the given types."""


class LoopReversalError(DifferentiationError, ValueError):
    """The reverse-mode derivative of a loop whose length is not known beforehand."""


class UnsupportedError(UserError, NotImplementedError):
    """A combination that Pullback does not handle; the message says what does."""


class ConcretizationTypeError(UserError, TypeError):
    """The value of a traced array was needed while only its type is known."""


class TracerBoolConversionError(ConcretizationTypeError):
    """`bool()` of a traced array: `if`, `while`, `and`, `or`, `not`."""


class TracerIntegerConversionError(ConcretizationTypeError):
    """A traced array was used where Python needs an integer."""


class TracerArrayConversionError(ConcretizationTypeError):
    """NumPy asked for the values of a traced array."""


class NonConcreteBooleanIndexError(IndexingError):
    """A traced boolean mask was used to read: the result's shape is unknown."""


class UnexpectedTracerError(UserError, TypeError):
    """A traced value was used after the function that made it had returned."""


class UnboundAxisError(UserError, NameError):
    """An axis name that no enclosing transformation gives."""


class RuntimeFailure(PullbackError, RuntimeError):
    """The compiled program failed while it was compiled or run."""


# JAX's public names for the same conditions.
JAXTypeError = ConcretizationTypeError
JAXIndexError = IndexingError
JaxRuntimeError = RuntimeFailure
