"""abstract, reference and lower agree: types and values, by dtype.

All samples of a primitive are compiled as one module. What `ops/host.py` calls exact
must be so, bit for bit.
"""

import numpy as np

from pullback.compile.executable import compile_jaxpr, to_buffer
from pullback.core.aval import aval_of
from pullback.core.check import check_jaxpr
from pullback.core.jaxpr import ClosedJaxpr
from pullback.core.trace import in_charge, stage
from pullback.ops.host import EXACT
from tests.rules.harness import (
    NUMPY,
    Failures,
    as_list,
    cases,
    difference,
    function,
    in_numpy,
    operands,
)


def test_reference_has_the_abstract_type(prim):
    failures = Failures(prim, "abstract = reference")
    for sample, dtype in cases(prim.name):
        failures.guarded(sample, _typed, prim, dtype)
    failures.check()


def _typed(failures, sample, prim, dtype):
    args = operands(sample, dtype)
    with in_charge(NUMPY):
        outs = as_list(prim, prim.bind(*args, **sample.params))
    abstract = prim.out_avals(list(map(aval_of, args)), sample.params)
    for out, aval in zip(outs, as_list(prim, abstract), strict=True):
        if out.aval is not aval:
            failures.add(sample, f"{dtype}: executed {out.aval}, abstract {aval}")


def test_compiled_is_the_reference(prim):
    failures = Failures(prim, "lower = reference")
    todo = list(cases(prim.name))
    try:
        results = compiled(prim, todo)
    except Exception:  # which sample is it? compile them one by one
        results = []
        for sample, dtype in todo:
            failures.guarded((sample, dtype), _compiles, prim, results, dtype)
    for (sample, dtype), got in zip(todo, results, strict=False):
        args = operands(sample, dtype)
        want = in_numpy(function(prim, sample.params), args)
        tol = 0.0 if exact(prim, dtype) else sample.tol
        failures.equal(sample, got, want, tol, f"{dtype} compiled")
    failures.check()


# XLA's sign of zero for ties depends on the place in the vector.
LOOSE_ZEROS = ("max", "min", "clamp")


def exact(prim, dtype):
    """Complex products may be fused differently."""
    return (
        prim.name in EXACT
        and prim.name not in LOOSE_ZEROS
        and not dtype.startswith("complex")
    )


def _compiles(failures, case, prim, results, dtype):
    results.extend(compiled(prim, [case]))


def compiled(prim, todo):
    """Results of the cases, from one compiled program."""
    args = [operands(sample, dtype) for sample, dtype in todo]
    flat = [x for xs in args for x in xs]
    counts = []

    def program(*xs):
        given, outs = iter(xs), []
        counts.clear()
        for (sample, _), mine in zip(todo, args, strict=True):
            xs = [next(given) for _ in mine]
            out = as_list(prim, prim.bind(*xs, **sample.params))
            counts.append(len(out))
            outs.extend(out)
        return outs

    jaxpr, consts = stage(program, list(map(aval_of, flat)))
    closed = ClosedJaxpr(jaxpr, consts)
    check_jaxpr(closed)
    run = compile_jaxpr(closed, prim.name).run
    outs = iter(run([to_buffer(x, aval_of(x)) for x in flat]))
    return [[next(outs) for _ in range(n)] for n in counts]


def test_eager_is_the_reference(prim, full):
    failures = Failures(prim, "eager = reference")
    todo = list(cases(prim.name))
    for sample, dtype in todo if full else todo[:1]:
        failures.guarded(sample, _eager, prim, dtype)
    failures.check()


def _eager(failures, sample, prim, dtype):
    args = operands(sample, dtype)
    got = as_list(prim, prim.bind(*args, **sample.params))
    want = in_numpy(function(prim, sample.params), args)
    failures.equal(sample, got, want, sample.tol, f"{dtype} eager")


def test_differences_are_seen():
    x = np.arange(3.0)
    assert difference([x], [x], 1.0) is None
    assert "expected" in difference([x], [x + 1e-6], 1.0)
    assert "float32" in difference([x.astype("f")], [x], 1.0)
    assert "(3,)" in difference([x[:, None]], [x], 1.0)
    assert difference([x, x], [x], 1.0)
    nan = np.array([np.nan, 1e300])
    assert difference(nan, nan.copy(), 1.0) is None
    assert difference(np.array([-0.0]), np.array([0.0]), 0.0)
