"""The derivatives of an equation that stands for a program: those of the program.

A program that computes pairs of primals and tangents has equations with results of both
kinds. Taken apart at its residuals it has not, so it is transposed in that form.
"""

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

from pullback.core.aval import aval_of
from pullback.core.jaxpr import ClosedJaxpr
from pullback.ops.shape import zeros
from pullback.regions.bodies import linearize_body, transpose_body
from pullback.regions.jit import call
from pullback.transforms.transpose import is_linear_operand


def linearized(
    program: ClosedJaxpr, primals: Sequence[Any], live: Sequence[bool], name: str
) -> tuple[list[Any], list[bool], Callable]:
    """Results, which of them have a tangent, and the map of tangents."""
    split = linearize_body(program, tuple(live))
    outs = call(split.primal, primals, name)
    res = [primals[i] if at == "in" else outs[i] for at, i in split.residuals]

    def linear(tangents):
        return call(split.tangent, [*res, *tangents], name)

    return outs[: len(split.out_live)], split.out_live, linear


def transposed(
    program: ClosedJaxpr, cts: Sequence[Any], operands: Sequence[Any], name: str
) -> list[Any]:
    """Cotangents of the linear operands; the program is its own derivative in them."""
    unknown = tuple(map(is_linear_operand, operands))
    primals = [
        zeros(aval_of(x).strong()) if lin else x
        for x, lin in zip(operands, unknown, strict=True)
    ]
    split = linearize_body(program, unknown)
    outs = call(split.primal, primals, name)
    res = [primals[i] if at == "in" else outs[i] for at, i in split.residuals]
    live_cts = list(compress(cts, split.out_live))
    linear = (*(False for _ in res), *(True for u in unknown if u))
    ct_live = tuple(ct is not None for ct in live_cts)
    body, given = transpose_body(split.tangent, linear, ct_live)
    found = iter(call(body, [*res, *(ct for ct in live_cts if ct is not None)], name))
    back = iter([next(found) if on else None for on in given])
    return [next(back) if lin else None for lin in unknown]
