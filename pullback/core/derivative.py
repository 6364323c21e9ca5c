"""The one derivative fact a primitive states; jvp, linearize and transpose read it.

In every rule a tangent or cotangent that is known to be zero is None. A linear operand
of a transpose rule is the equation's variable: only its `aval` can be read.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Rule = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Linear:
    """Linear in all its inexact operands together.

    `transpose`: one rule for all operands, `rule(ct, *operands, **params) -> list` with
    None for operands without a cotangent, or a tuple of rules, one an operand, each
    `rule(ct, *operands, **params) -> cotangent`; None for integer operands.
    """

    transpose: Rule | tuple[Rule | None, ...]


@dataclass(frozen=True, slots=True)
class Multilinear:
    """Linear in each operand with the others held fixed.

    `transpose[i](ct, *operands, **params)` is the cotangent of operand i.
    """

    transpose: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Smooth:
    """Differentiable with the given tangents.

    `tangent`: a tuple of rules `rule(t, out, *primals, **params) -> tangent | None`,
    one an operand, whose results are added; None stands for "linear in this operand",
    which then has an entry in `transpose`. Or one rule for all operands,
    `rule(tangents, out, *primals, **params) -> tangent(s)`.
    `transpose`: rules as in `Multilinear`, by operand.
    """

    tangent: Rule | tuple[Rule | None, ...]
    transpose: dict[int, Rule] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Region:
    """The rules of a primitive that holds jaxprs: transforms of its body.

    `jvp(primals, tangents, **params) -> (outs, out_tangents)`.
    `linearize(primals, live, **params) -> (outs, out_live, linear)`, where `linear`
    maps the live tangents to the live output tangents; None means: read `jvp`.
    `transpose(cts, operands, **params) -> cotangents`, None for operands known.
    `run(args, **params) -> outs`: how to apply it to concrete values without compiling
    it as a whole (None: it is compiled). `record(args, **params) -> (args, params)`:
    what an equation holds, when that is not what is bound.
    """

    jvp: Rule
    transpose: Rule
    linearize: Rule | None = None
    run: Rule | None = None
    record: Rule | None = None


@dataclass(frozen=True, slots=True)
class NotDifferentiable:
    """No linear model fits; `why` is spoken by the error.

    A primitive whose results are integers or booleans has this fact too; there a
    tangent simply ends, because such results carry none.
    """

    why: str


Derivative = Linear | Multilinear | Smooth | Region | NotDifferentiable
