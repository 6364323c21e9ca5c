"""Dead code elimination: keep what results and effects need."""

from collections.abc import Callable, Sequence

from pullback.core.jaxpr import Atom, DropVar, Jaxpr, JaxprEqn, effects_of

# Primitives that hold jaxprs may drop unused results and operands of their bodies:
# rule(used_outputs, eqn) -> equation or None. Filled by `pullback.regions`.
RULES: dict = {}


def dce_jaxpr(
    jaxpr: Jaxpr, used: Sequence[bool] | None = None
) -> tuple[Jaxpr, list[bool]]:
    """Drop results not in `used` and equations that nothing needs.

    Returns the jaxpr, all of its arguments kept, and which arguments it reads.
    """
    outvars = jaxpr.outvars
    if used is not None:
        outvars = [v for v, u in zip(outvars, used, strict=True) if u]
    live: set[Atom] = set(outvars)
    eqns: list[JaxprEqn] = []
    for eqn in reversed(jaxpr.eqns):
        if not eqn.effects and live.isdisjoint(eqn.outvars):
            continue
        kept: JaxprEqn | None = eqn
        if len(eqn.outvars) > 1 or eqn.primitive.name in RULES:
            kept = _trim(eqn, live)
        if kept is not None:
            eqns.append(kept)
            live.update(kept.invars)
    eqns.reverse()
    out = jaxpr.replace(outvars=outvars, eqns=eqns, effects=effects_of(eqns))
    return out, [v in live for v in jaxpr.invars]


def _trim(eqn: JaxprEqn, live: set[Atom]) -> JaxprEqn | None:
    rule = RULES.get(eqn.primitive.name)
    if rule is not None:
        kept = rule([v in live for v in eqn.outvars], eqn)
        if kept is None:
            return None
        eqn = kept
    if live.issuperset(eqn.outvars):
        return eqn
    outvars = [v if v in live else DropVar(v.aval) for v in eqn.outvars]
    return eqn.replace(outvars=outvars)


def prune_consts(jaxpr: Jaxpr, consts: Sequence) -> tuple[Jaxpr, list]:
    """Drop constants that no equation and no result reads."""
    if not jaxpr.constvars:
        return jaxpr, []
    read: set[Atom] = set(jaxpr.outvars)
    for eqn in jaxpr.eqns:
        read.update(eqn.invars)
    kept = [i for i, v in enumerate(jaxpr.constvars) if v in read]
    constvars = [jaxpr.constvars[i] for i in kept]
    return jaxpr.replace(constvars=constvars), [consts[i] for i in kept]


Rule = Callable[[list[bool], JaxprEqn], JaxprEqn | None]
