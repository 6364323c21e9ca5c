"""Breaking any rule of any primitive makes a registry test fail and name it."""

import pytest

from pullback.core.primitive import REGISTRY
from tests.rules import test_batch, test_derivatives, test_values
from tests.rules.mutation import mutants, mutated

CHECKS = (
    lambda prim: test_values.test_reference_has_the_abstract_type(prim),
    lambda prim: test_values.test_compiled_is_the_reference(prim),
    lambda prim: test_derivatives.test_jvp_is_the_central_difference(prim),
    lambda prim: test_derivatives.test_transpose_is_the_adjoint(prim),
    lambda prim: test_derivatives.test_transpose_rules_are_adjoint_one_by_one(prim),
    lambda prim: test_batch.test_vmap_is_a_loop(prim, False),
)
# Doubling these changes nothing, or nothing that a derivative in float64 can show.
EQUIVALENT = {
    "iota: batch": "it has no operand, so it is never mapped",
    "reduce_precision: derivative, transpose 0": "rounding has no central difference",
    "ceil: derivative, tangent 0": "it is zero",
    "floor: derivative, tangent 0": "it is zero",
    "round: derivative, tangent 0": "it is zero",
    "stop_gradient: derivative, tangent 0": "it is zero",
    "polygamma: derivative, tangent 0": "it raises, or is not a number",
    "zeta: derivative, tangent 0": "it raises, or is not a number",
}
FEW = ("mul", "reduce_sum", "tanh", "transpose", "lt")


def killed(prim) -> bool:
    for check in CHECKS:
        try:
            check(prim)
        except pytest.fail.Exception as failure:
            return prim.name in str(failure)
    return False


def survivors(prim) -> list[str]:
    alive = []
    for what, field, value in mutants(prim):
        with mutated(prim, field, value):
            if not killed(prim):
                alive.append(f"{prim.name}: {what}")
    return [mutant for mutant in alive if mutant not in EQUIVALENT]


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
def test_a_broken_rule_is_caught(name):
    assert not survivors(REGISTRY[name])


@pytest.mark.full
def test_every_broken_rule_is_caught(prim):
    alive = survivors(prim)
    if alive:
        pytest.fail("\n".join(alive), pytrace=False)
