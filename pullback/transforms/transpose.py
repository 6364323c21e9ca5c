"""The jaxpr of a linear map, run backwards.

One pass: equations on known operands only are evaluated on the way down, the linear
ones are turned around on the way back. A cotangent that is zero is None.
"""

from collections.abc import Sequence
from typing import Any

from pullback.core.aval import aval_of
from pullback.core.derivative import Linear, Multilinear, Region, Smooth
from pullback.core.errors import InternalError
from pullback.core.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Var
from pullback.core.trace import state
from pullback.ops.elementwise import add_any


def backward(
    jaxpr: Jaxpr,
    consts: Sequence[Any],
    args: Sequence[Any],
    cotangents: Sequence[Any],
) -> list[Any]:
    """Cotangents of the linear arguments of `jaxpr`, given those of its results.

    `args[i]` is None where argument i is linear, else its value. Returns one entry per
    argument: a cotangent, or None (zero, or not linear).
    """
    known: dict[Var, Any] = dict(zip(jaxpr.constvars, consts, strict=True))
    linear: set[Var] = set()
    for var, x in zip(jaxpr.invars, args, strict=True):
        if x is None:
            linear.add(var)
        else:
            known[var] = x
    origin = state.origin
    try:
        eqns = _forward(jaxpr, known, linear)
        return _back(jaxpr, eqns, known, cotangents)
    finally:
        state.origin = origin


def _forward(jaxpr: Jaxpr, known: dict, linear: set) -> list[JaxprEqn]:
    """Evaluate what depends on no linear argument; return the equations left."""
    left = []
    for eqn in jaxpr.eqns:
        if any(v in linear for v in eqn.invars if type(v) is not Literal):
            linear.update(eqn.outvars)
            left.append(eqn)
            continue
        state.origin = eqn.source
        values = [v.val if type(v) is Literal else known[v] for v in eqn.invars]
        out = state.trace.process(eqn.primitive, values, eqn.params)
        outs = out if eqn.primitive.multiple_results else [out]
        known.update(zip(eqn.outvars, outs, strict=True))
    return left


def _back(jaxpr: Jaxpr, eqns, known: dict, cotangents) -> list[Any]:
    cts: dict[Atom, Any] = {}
    outer = state.origin
    for var, ct in zip(jaxpr.outvars, cotangents, strict=True):
        if ct is not None and type(var) is not Literal and var not in known:
            _accumulate(cts, var, ct)
    for eqn in reversed(eqns):
        ct_out = [cts.pop(v, None) for v in eqn.outvars]
        if all(ct is None for ct in ct_out):
            continue
        state.origin = eqn.source.step("transpose") if eqn.source else outer
        operands = [
            v.val if type(v) is Literal else known.get(v, v) for v in eqn.invars
        ]
        for var, ct in zip(eqn.invars, _transposed(eqn, ct_out, operands), strict=True):
            if ct is not None and type(var) is not Literal and var not in known:
                _accumulate(cts, var, ct)
    return [cts.get(v) for v in jaxpr.invars]


def _accumulate(cts: dict, var: Atom, ct: Any) -> None:
    old = cts.get(var)
    cts[var] = ct if old is None else add_any(old, ct)


def _transposed(eqn: JaxprEqn, ct_out: list, operands: list) -> Sequence[Any]:
    """Cotangents of the operands of one linear equation."""
    prim, fact = eqn.primitive, eqn.primitive.derivative
    ct = ct_out if prim.multiple_results else ct_out[0]
    match fact:
        case Region(transpose=rule):
            return rule(ct, operands, **eqn.params)
        case Linear(transpose=rules) | Multilinear(transpose=rules):
            if callable(rules):
                return rules(ct, *operands, **eqn.params)
            by_operand = dict(enumerate(rules))
        case Smooth(transpose=rules):
            by_operand = rules
        case _:
            raise InternalError(f"transpose of {prim.name}, which is not linear")
    cts: list[Any] = [None] * len(operands)
    for i, x in enumerate(operands):
        if isinstance(x, Var):
            rule = by_operand.get(i)
            if rule is None:
                raise InternalError(f"{prim.name} is not linear in operand {i}")
            cts[i] = rule(ct, *operands, **eqn.params)
    return cts


def is_linear_operand(x: Any) -> bool:
    """Whether an operand of a transpose rule is the unknown of the linear map."""
    return isinstance(x, Var)


def cotangent_aval(x: Any):
    """The type of the cotangent of a value: strong, same shape and dtype."""
    return aval_of(x).strong()
