"""The checker of the IR: scopes and types, the invariant every transform must keep."""

from collections.abc import Iterable

from pullback.core.errors import InternalError
from pullback.core.jaxpr import (
    Atom,
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    subjaxprs,
)


def check_jaxpr(jaxpr: Jaxpr | ClosedJaxpr) -> None:
    """Check `jaxpr` and every jaxpr inside it.

    Raises:
      InternalError: a variable is read before it is bound or bound twice, the type of
        a binder differs from what the primitive's abstract rule says, or effects are
        not declared.
    """
    if isinstance(jaxpr, ClosedJaxpr):
        _check_consts(jaxpr)
        jaxpr = jaxpr.jaxpr
    bound: set[Var] = set()
    _bind([*jaxpr.constvars, *jaxpr.invars], bound, "the header")
    for i, eqn in enumerate(jaxpr.eqns):
        where = f"equation {i}, {eqn.primitive.name}"
        _check_read(eqn.invars, bound, where)
        _check_types(eqn, where)
        _bind(eqn.outvars, bound, where)
        if not eqn.effects <= jaxpr.effects:
            raise InternalError(f"{where}: effects {eqn.effects} are not declared")
        for inner in subjaxprs(eqn):
            check_jaxpr(inner)
    _check_read(jaxpr.outvars, bound, "the results")


def _check_consts(closed: ClosedJaxpr) -> None:
    if len(closed.consts) != len(closed.jaxpr.constvars):
        n, m = len(closed.jaxpr.constvars), len(closed.consts)
        raise InternalError(f"a closed jaxpr with {n} constvars has {m} constants")


def _bind(binders: Iterable[Var], bound: set[Var], where: str) -> None:
    for var in binders:
        if var in bound:
            raise InternalError(f"{where}: {var} is bound twice")
        bound.add(var)


def _check_read(atoms: Iterable[Atom], bound: set[Var], where: str) -> None:
    for atom in atoms:
        if not isinstance(atom, Literal) and atom not in bound:
            raise InternalError(f"{where}: {atom} is read before it is bound")


def _check_types(eqn: JaxprEqn, where: str) -> None:
    out = eqn.primitive.out_avals([v.aval for v in eqn.invars], eqn.params)
    want = list(out) if eqn.primitive.multiple_results else [out]
    have = [v.aval for v in eqn.outvars]
    if len(want) != len(have) or any(
        w is not h and w.strong() is not h.strong()
        for w, h in zip(want, have, strict=True)
    ):
        raise InternalError(f"{where}: binders are {have}, its abstract rule: {want}")
