"""Equations can be keys and text: params hash, and the printed form names them."""

from pullback.core.aval import aval_of
from pullback.core.jaxpr import ClosedJaxpr
from pullback.core.printer import pretty, shown_params
from pullback.core.trace import stage
from tests.rules.harness import SAMPLES, Failures, function, operands


def test_params_hash_and_print(prim):
    failures = Failures(prim, "params")
    for sample in SAMPLES[prim.name]:
        failures.guarded(sample, _params, prim)
    failures.check()


def _params(failures, sample, prim):
    args = operands(sample, sample.dtypes[0])
    closed = ClosedJaxpr(
        *stage(function(prim, sample.params), list(map(aval_of, args)))
    )
    (eqn,) = closed.eqns
    hash(tuple(sorted(eqn.params.items(), key=lambda item: item[0])))
    text = pretty(closed)
    for word in (prim.name, *(name for name, _ in shown_params(eqn))):
        if word not in text:
            failures.add(sample, f"{word!r} is not in the printed form\n{text}")
