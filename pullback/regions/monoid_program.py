"""The derivatives of an equation that stands for a program: those of the program.

A program that computes pairs of primals and tangents has equations with results of both
kinds. Taken apart at its residuals it has not, so it is transposed in that form.
"""

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

from pullback.core.jaxpr import ClosedJaxpr
from pullback.ops.shape import zeros
from pullback.regions.bodies import Linearized, linearize_body, transpose_body
from pullback.regions.jit import call
from pullback.transforms.transpose import cotangent_aval, is_linear_operand


def linearized(
    program: ClosedJaxpr, primals: Sequence[Any], live: Sequence[bool], name: str
) -> tuple[list[Any], list[bool], Callable]:
    """Results, which of them have a tangent, and the map of tangents."""
    split = linearize_body(program, tuple(live))
    outs, res = _run(split, primals, name)

    def linear(tangents):
        return call(split.tangent, [*res, *tangents], name)

    return outs, split.out_live, linear


def _run(split: Linearized, primals: Sequence[Any], name: str):
    """Results and residuals of a program taken apart."""
    outs = call(split.primal, primals, name)
    places = {"in": primals, "out": outs}
    res = [places[at][i] for at, i in split.residuals]
    return outs[: len(split.out_live)], res


def transposed(
    program: ClosedJaxpr, cts: Sequence[Any], operands: Sequence[Any], name: str
) -> list[Any]:
    """Cotangents of the linear operands; the program is its own derivative in them."""
    unknown = tuple(map(is_linear_operand, operands))
    primals = [
        zeros(cotangent_aval(x)) if lin else x
        for x, lin in zip(operands, unknown, strict=True)
    ]
    split = linearize_body(program, unknown)
    _, res = _run(split, primals, name)
    live_cts = list(compress(cts, split.out_live))
    given = [ct for ct in live_cts if ct is not None]
    linear = (False,) * len(res) + (True,) * sum(unknown)
    ct_live = tuple(ct is not None for ct in live_cts)
    body, found = transpose_body(split.tangent, linear, ct_live)
    outs = iter(call(body, [*res, *given], name))
    back = iter([next(outs) if on else None for on in found])
    return [next(back) if lin else None for lin in unknown]
