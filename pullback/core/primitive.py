"""A primitive: one operation and every rule about it.

A missing rule is a missing argument. The registry is what tests, the printer and the
generated documentation read. How a primitive is applied is written in `trace` (`bind`),
how its results are typed in `aval` (`out_avals`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pullback.core.aval import out_avals
from pullback.core.derivative import Derivative
from pullback.core.errors import InternalError
from pullback.core.jaxpr import NO_EFFECTS
from pullback.core.trace import bind

Rule = Callable[..., Any]
REGISTRY: dict[str, "Primitive"] = {}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Primitive:
    """One operation.

    `name`: JAX's name. `abstract(*avals, **params)`: the result's aval.
    `reference(*arrays, **params)`: its meaning in NumPy.
    `lower(b, out, *xs, **params)`: its meaning in StableHLO, written with the emitter
    `b`, whose `avals_in` are the types of the operands.
    `derivative`: one fact. `batch(n, xs, ds, **params) -> (out, d)`: with operand i
    carrying an extra axis `ds[i]` of size `n` (None: none). `effects(*avals, **params)`
    and `vary(*avals, **params)`: the effects, and the mesh axes over which the results
    vary; without them: no effect, and the union over the operands.
    `axis_batch(n, name, xs, ds, **params)`: a collective over the mapped axis `name`;
    None when it names another axis.
    With `multiple_results` the rules take and return sequences of results.
    """

    name: str
    abstract: Rule
    reference: Rule
    lower: Rule
    derivative: Derivative
    batch: Rule
    multiple_results: bool = False
    effects: Rule | None = None
    vary: Rule | None = None
    axis_batch: Rule | None = None

    def __post_init__(self):
        if self.name in REGISTRY:
            raise InternalError(f"primitive {self.name!r} is defined twice")
        REGISTRY[self.name] = self

    bind = bind
    out_avals = out_avals

    def effects_of(self, avals: Sequence[Any], params: dict[str, Any]) -> frozenset:
        """The effects of an application to operands of the given types."""
        return NO_EFFECTS if self.effects is None else self.effects(*avals, **params)

    def __repr__(self) -> str:
        return self.name
