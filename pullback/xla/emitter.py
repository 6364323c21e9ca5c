"""The emitter that lowering rules are handed, and modules that hand it out.

A module and its values belong to one thread at a time; its bytecode to anyone.
"""

# MLIR would load its bindings of these dialects in the middle of the first program.
from jaxlib.mlir.dialects import builtin, func, stablehlo  # noqa: F401

from pullback.xla.builder import ModuleBuilder
from pullback.xla.contractions import Contractions
from pullback.xla.elementwise import Elementwise
from pullback.xla.lapack import Lapack
from pullback.xla.regions import Regions
from pullback.xla.shapes import Shapes


class Emitter(Elementwise, Shapes, Contractions, Regions, Lapack):
    """What a lowering rule may call: one method a StableHLO operation.

    `avals_in` holds the avals of the operands of the equation being lowered, `loc`
    the location that operations get, `module` the module for inner functions.
    """

    __slots__ = ()


class Module(ModuleBuilder):
    """A StableHLO module whose bodies are handed an `Emitter`."""

    __slots__ = ()

    def __init__(self, name: str = "main", emitter: type[Emitter] = Emitter):
        super().__init__(name, emitter)
