"""Dead code in reductions: components of the state that no result needs."""

from collections.abc import Callable
from itertools import compress
from typing import Any

from pullback.core.jaxpr import ClosedJaxpr, JaxprEqn
from pullback.regions import monoid
from pullback.regions.bodies import cached
from pullback.regions.scan_bodies import Flags, grow, parts
from pullback.transforms.dce import dce_jaxpr


def needed(body: ClosedJaxpr, used: Flags) -> tuple[ClosedJaxpr, Flags, Flags]:
    """The combiner of the components that `used` ones depend on.

    Also says which values it closes over are read, and which components are left.
    """

    def make():
        ns = len(used)
        nc = len(body.jaxpr.invars) - 2 * ns
        flags = used
        while True:
            jaxpr, read = dce_jaxpr(body.jaxpr, flags)
            consts, acc, x = parts(read, nc, ns)
            grown = grow(grow(flags, 0, acc), 0, x)
            if grown == flags:
                break
            flags = grown
        kept = (*consts, *flags, *flags)
        invars = list(compress(jaxpr.invars, kept))
        new = ClosedJaxpr(jaxpr.replace(invars=invars), body.consts)
        return new, tuple(consts), flags

    return cached(body, ("monoid needed", used), make)


def rule(groups: int) -> Callable[[list[bool], JaxprEqn], JaxprEqn]:
    """The rule of a primitive with so many groups of states as operands."""

    def trim(used: list[bool], eqn: JaxprEqn) -> JaxprEqn:
        params: dict[str, Any] = eqn.params
        if all(used):
            return eqn
        old = params["jaxpr"]
        body, consts, states = needed(old, tuple(used))
        if monoid.state_size(body) == len(states) and all(consts):
            return eqn
        kept = (*consts, *states * groups)
        return eqn.replace(
            invars=list(compress(eqn.invars, kept)),
            outvars=list(compress(eqn.outvars, states)),
            params={**params, "jaxpr": body, "num_consts": sum(consts)},
        )

    return trim
