"""vmap = a Python loop, for every subset of operands and first and last batch axes.

Members of a batch differ, so that a rule that mixes them up is caught. Runs in the
NumPy interpreter, on one dtype of each sample.
"""

from pullback.core.aval import aval_of
from pullback.core.check import check_jaxpr
from pullback.core.jaxpr import ClosedJaxpr
from pullback.core.trace import in_charge, stage
from pullback.transforms.vmap import to_axis, vmap_flat
from tests.rules.harness import (
    NUMPY,
    SAMPLES,
    Failures,
    batch_choices,
    function,
    in_numpy,
    members,
    operands,
    stacked,
)


def test_vmap_is_a_loop(prim, full):
    failures = Failures(prim, "vmap = loop")
    for sample in SAMPLES[prim.name]:
        for dtype in sample.dtypes if full else sample.dtypes[:1]:
            failures.guarded(sample, _batched, prim, dtype)
    failures.check()


def _batched(failures, sample, prim, dtype):
    fun = function(prim, sample.params)
    args = operands(sample, dtype)
    for size, ds in batch_choices(args):
        failures.guarded(sample, _one_batch, prim, fun, args, size, ds)


def _one_batch(failures, sample, prim, fun, args, size, ds):
    made = members(sample, args, size)
    mapped = [
        x if d is None else stacked(xs, d)
        for x, xs, d in zip(args, made, ds, strict=True)
    ]
    loop = [
        in_numpy(
            fun,
            [
                x if d is None else xs[k]
                for x, xs, d in zip(args, made, ds, strict=True)
            ],
        )
        for k in range(size)
    ]
    with in_charge(NUMPY):
        outs, out_ds = vmap_flat(fun, size, mapped, ds)
        for i, (out, d) in enumerate(zip(outs, out_ds, strict=True)):
            if d is not None and aval_of(out).shape[d] != size:
                failures.add(sample, f"{ds}: result {i} has no axis {d} of size {size}")
                continue
            last = aval_of(out).ndim - (d is not None)
            for axis in {0, last}:
                got = to_axis(out, d, size, axis)
                want = stacked([member[i] for member in loop], axis)
                what = f"size {size}, axes {ds}, result {i} at {axis}"
                failures.equal(sample, [got], [want], sample.tol, what)


def test_batched_program_is_valid(prim):
    failures = Failures(prim, "check_jaxpr after vmap")
    for sample in SAMPLES[prim.name]:
        failures.guarded(sample, _valid, prim)
    failures.check()


def _valid(failures, sample, prim):
    fun = function(prim, sample.params)
    args = operands(sample, sample.dtypes[0])
    if not args:
        return
    mapped = [stacked([x, x], 0) for x in args]

    def program(*xs):
        return vmap_flat(fun, 2, xs, [0] * len(xs))[0]

    check_jaxpr(ClosedJaxpr(*stage(program, list(map(aval_of, mapped)))))
