"""jvp, second order, linearize and transpose, in the NumPy interpreter.

The oracle is the reference: central differences along a random direction in float64,
and adjointness <ct, J t> = <J^T ct, t>. Nothing is compiled.
"""

import numpy as np
import pytest

from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.check import check_jaxpr
from pullback.core.derivative import (
    Linear,
    Multilinear,
    NotDifferentiable,
    Region,
)
from pullback.core.errors import DifferentiationError
from pullback.core.jaxpr import ClosedJaxpr
from pullback.core.trace import eval_jaxpr, in_charge, stage
from pullback.transforms.jvp import jvp_flat
from pullback.transforms.linearize import linearize_flat
from pullback.transforms.transpose import backward
from tests.rules.harness import (
    NUMPY,
    Failures,
    direction,
    function,
    in_numpy,
    live_operands,
    operands,
    pairing,
    smooth_cases,
    value,
    value_difference,
)

# Of central differences: the step, then relative and absolute tolerances.
WIDE = (1e-5, 2e-6, 2e-7)
# Results narrower than 64 bits come from maps that are linear or quadratic.
NARROW = {4: (0.25, 5e-6, 5e-6), 8: (0.25, 5e-6, 5e-6), 2: (0.25, 5e-2, 5e-2)}


class Case:
    """A sample at one dtype, with a random tangent for each live operand."""

    def __init__(self, prim, sample, dtype):
        self.prim, self.fun = prim, function(prim, sample.params)
        self.args = operands(sample, dtype)
        self.live = live_operands(sample, dtype)
        self.tangents = [
            direction(aval_of(x), 7 * i + 1) if live else None
            for i, (x, live) in enumerate(zip(self.args, self.live, strict=True))
        ]

        outs = in_numpy(self.fun, self.args)
        narrow = [narrowness(x.dtype) for x in outs if dtypes.is_inexact(x.dtype)]
        self.step, self.rtol, self.atol = max(narrow, default=WIDE)

    def moved(self, step):
        return [
            x if t is None else (np.asarray(x) + step * t).astype(x.dtype)
            for x, t in zip(self.args, self.tangents, strict=True)
        ]

    def jvp(self, args):
        with in_charge(NUMPY):
            return jvp_flat(self.fun, args, self.tangents)

    def linearize(self):
        with in_charge(NUMPY):
            return linearize_flat(self.fun, self.args, self.live)


def narrowness(dtype):
    wide = dtype in (np.float64, np.complex128)
    return WIDE if wide else NARROW.get(dtype.itemsize, NARROW[2])


def central(fun, case):
    """The directional derivative of `fun`, a list of arrays or None."""
    up, down = fun(case.moved(case.step)), fun(case.moved(-case.step))
    with np.errstate(all="ignore"):
        return [
            None if p is None else (value(p) - value(m)) / (2 * case.step)
            for p, m in zip(up, down, strict=True)
        ]


def compare(failures, sample, case, got, want, like, what):
    """Tangents against differences. Results without a tangent are not compared."""
    for i, (t, d, out) in enumerate(zip(got, want, like, strict=True)):
        dtype = aval_of(out).dtype
        if not dtypes.is_inexact(dtype):
            if t is not None:
                failures.add(sample, f"{what} {i}: a tangent of an integer result")
            continue
        t = np.zeros(out.shape, dtype) if t is None else value(t)
        if t.shape != out.shape or t.dtype != dtype:
            failures.add(sample, f"{what} {i}: is {t.dtype}{t.shape}, not {out.aval}")
            continue
        d = np.zeros(out.shape, dtype) if d is None else d
        problem = value_difference(t, d, case.rtol, case.atol, sample.tol)
        if problem:
            failures.add(sample, f"{what} {i} {problem}")


def checked(prim, rule, check):
    failures = Failures(prim, rule)
    for sample, dtype in smooth_cases(prim.name):
        if type(prim.derivative) is not NotDifferentiable:
            failures.guarded(sample, check, Case(prim, sample, dtype))
    failures.check()


def test_jvp_is_the_central_difference(prim):
    checked(prim, "jvp = central difference", _jvp)


def _jvp(failures, sample, case):
    outs, ts = case.jvp(case.args)
    failures.equal(sample, outs, in_numpy(case.fun, case.args), sample.tol, "primal")
    want = central(lambda xs: in_numpy(case.fun, xs), case)
    compare(failures, sample, case, ts, want, outs, "tangent")
    for i, live in enumerate(case.live):  # each operand by itself
        if live and sum(case.live) > 1:
            _one_operand(failures, sample, case, i)


def _one_operand(failures, sample, case, i):
    saved = case.tangents
    case.tangents = [t if j == i else None for j, t in enumerate(saved)]
    outs, ts = case.jvp(case.args)
    want = central(lambda xs: in_numpy(case.fun, xs), case)
    compare(failures, sample, case, ts, want, outs, f"tangent by operand {i}")
    case.tangents = saved


def test_second_order_is_the_central_difference_of_jvp(prim):
    checked(prim, "second order = central difference of jvp", _second)


def _second(failures, sample, case):
    def first(*xs):
        _, ts = jvp_flat(case.fun, xs, case.tangents)
        return [t for t, live in zip(ts, made, strict=True) if live]

    _, ts = case.jvp(case.args)
    made = [t is not None for t in ts]
    with in_charge(NUMPY):
        values, seconds = jvp_flat(first, case.args, case.tangents)
    want = central(lambda xs: in_numpy(first, xs), case)
    compare(failures, sample, case, seconds, want, values, "second tangent")


def test_linearize_is_jvp(prim):
    checked(prim, "linearize = jvp", _linearize)


def _linearize(failures, sample, case):
    want, ts = case.jvp(case.args)
    outs, jaxpr, res, out_live = case.linearize()
    check_jaxpr(ClosedJaxpr(jaxpr, res))
    failures.equal(sample, outs, want, sample.tol, "primal")
    given = [t for t in case.tangents if t is not None]
    got = in_numpy(lambda *xs: eval_jaxpr(jaxpr, res, xs), given)
    live = [t for t in ts if t is not None]
    if [t is not None for t in ts] != out_live:
        failures.add(sample, f"live results {out_live}, but jvp's tangents {ts}")
    failures.equal(sample, got, live, sample.tol, "linear")


def test_transpose_is_the_adjoint(prim):
    checked(prim, "transpose is the adjoint", _transpose)


def _transpose(failures, sample, case):
    _, jaxpr, res, _ = case.linearize()
    ts = [t for t in case.tangents if t is not None]
    outs = in_numpy(lambda *xs: eval_jaxpr(jaxpr, res, xs), ts)
    cts = [direction(aval_of(x), 31 + i) for i, x in enumerate(outs)]
    with in_charge(NUMPY):
        back = backward(jaxpr, res, [None] * len(ts), cts)
    for x, t, ct in zip((a.aval for a in jaxpr.invars), ts, back, strict=True):
        if ct is not None and aval_of(ct).strong() is not aval_of(t):
            failures.add(sample, f"cotangent {aval_of(ct)} of an operand {x}")
    left, right = pairing(cts, outs), pairing(back, ts)
    scale = sum(float(np.sum(np.abs(value(x)))) for x in outs) + 1.0
    slack = sample.tol * (1e-10 if case.step == WIDE[0] else case.rtol) * scale
    if not abs(left - right) <= slack:  # also when one is NaN
        failures.add(sample, f"<ct, J t> = {left}, <J^T ct, t> = {right}")


def test_transpose_rules_are_adjoint_one_by_one(prim):
    """Also those that `linearize` never reaches, such as that of `add`."""
    checked(prim, "transpose rule is the adjoint", _transpose_rules)


def _transpose_rules(failures, sample, case):
    jaxpr, consts = stage(case.fun, list(map(aval_of, case.args)))
    for linear in linear_sets(case):
        saved = case.tangents
        case.tangents = [t if i in linear else None for i, t in enumerate(saved)]
        _, outs = case.jvp(case.args)
        known = [None if i in linear else x for i, x in enumerate(case.args)]
        cts = [
            None if x is None else direction(aval_of(x), 41 + i)
            for i, x in enumerate(outs)
        ]
        with in_charge(NUMPY):
            back = backward(jaxpr, consts, known, cts)
        left, right = pairing(cts, outs), pairing(back, case.tangents)
        scale = sum(float(np.sum(np.abs(value(x)))) for x in outs if x is not None)
        if not abs(left - right) <= sample.tol * max(1e-10, case.rtol) * (scale + 1):
            failures.add(sample, f"operands {linear}: {left} against {right}")
        case.tangents = saved


def linear_sets(case):
    """Sets of operands in which the primitive has transpose rules."""
    fact = case.prim.derivative
    if isinstance(fact, Region):
        return []
    live = [i for i, on in enumerate(case.live) if on]
    if isinstance(fact, Linear):
        every = [i for i, x in enumerate(case.args) if dtypes.is_inexact(x.dtype)]
        return [every] if live == every else []
    if isinstance(fact, Multilinear):
        return [[i] for i in live]
    return [[i] for i in live if i in getattr(fact, "transpose", {})]


def test_transforms_keep_the_jaxpr_valid(prim):
    checked(prim, "check_jaxpr", _valid)


def _valid(failures, sample, case):
    avals = list(map(aval_of, case.args))
    ts = [aval_of(t) for t in case.tangents if t is not None]
    n = len(avals)

    def forward(*xs):
        given = iter(xs[n:])
        tangents = [next(given) if live else None for live in case.live]
        outs, ts = jvp_flat(case.fun, xs[:n], tangents)
        return [*outs, *(t for t in ts if t is not None)]

    check_jaxpr(ClosedJaxpr(*stage(forward, [*avals, *ts])))

    def gradient(*xs):
        outs, jaxpr, res, live = linearize_flat(case.fun, xs, case.live)
        cts = [o for o, on in zip(outs, live, strict=True) if on]
        back = backward(jaxpr, res, [None] * len(ts), cts)
        return [ct for ct in back if ct is not None]

    check_jaxpr(ClosedJaxpr(*stage(gradient, avals)))


def test_absence_of_a_derivative_is_said(prim):
    if type(prim.derivative) is not NotDifferentiable:
        return
    failures = Failures(prim, "not differentiable")
    for sample, dtype in smooth_cases(prim.name):
        failures.guarded(sample, _refused, Case(prim, sample, dtype))
    failures.check()


def _refused(failures, sample, case):
    outs = in_numpy(case.fun, case.args)
    if any(dtypes.is_inexact(x.dtype) for x in outs):
        with pytest.raises(DifferentiationError, match="has no derivative"):
            case.jvp(case.args)
    else:
        _, ts = case.jvp(case.args)
        assert all(t is None for t in ts)
