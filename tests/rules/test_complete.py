"""Every primitive has samples and all rules; regions name the file with their tests."""

from pathlib import Path

import pytest

from pullback.core.aval import aval_of
from pullback.core.derivative import Region
from pullback.core.primitive import REGISTRY
from pullback.core.trace import stage
from tests.rules.harness import BAD, BROKEN, SAMPLES, function
from tests.rules.sample import operand

TESTS = Path(__file__).parent.parent
# They need a named axis around them; their tests give one.
COLLECTIVES = TESTS / "jax_parity" / "test_collectives.py"
NEED_AN_AXIS = {
    *("psum", "pmax", "pmin", "ppermute", "all_gather", "all_to_all"),
    *("axis_index", "reduce_scatter"),
}


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_primitive_has_samples_and_rules(name):
    prim = REGISTRY[name]
    assert callable(prim.reference), f"{name} has no reference"
    if type(prim.derivative) is Region:
        mine = [p for p in TESTS.glob("regions/test_*.py") if name in p.read_text()]
        if not (SAMPLES.get(name) or mine):
            pytest.fail(f"{name}: no test in tests/regions names it", pytrace=False)
    elif name in NEED_AN_AXIS:
        public = "psum_scatter" if name == "reduce_scatter" else name
        if f"lax.{public}(" not in COLLECTIVES.read_text():
            pytest.fail(f"{name}: no test in {COLLECTIVES.name}", pytrace=False)
    elif not SAMPLES.get(name):
        pytest.fail(f"{name} has no sample in tests/rules/samples/", pytrace=False)


def test_every_module_imports():
    assert not BROKEN, BROKEN


def test_samples_belong_to_primitives():
    unknown = (set(SAMPLES) | set(BAD)) - set(REGISTRY)
    assert not unknown, f"samples of unknown primitives: {sorted(unknown)}"


@pytest.mark.parametrize(
    ("name", "i"), [(name, i) for name in sorted(BAD) for i in range(len(BAD[name]))]
)
def test_bad_applications_are_refused(name, i):
    bad = BAD[name][i]
    avals = [aval_of(operand(a, "float64")) for a in bad.args]
    with pytest.raises(bad.error, match=bad.match):
        stage(function(REGISTRY[name], bad.params), avals)
