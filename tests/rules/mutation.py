"""Primitives with one rule broken, to see that the registry tests notice.

A broken rule gives twice the value (the opposite, for booleans), and a broken batch
rule gives the members of the batch in reverse.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from pullback.compile import eager
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.derivative import Linear, Multilinear, Smooth
from pullback.core.primitive import Primitive
from pullback.ops.elementwise import add_any
from pullback.ops.slicing import rev
from tests.rules.harness import as_list

Mutant = tuple[str, str, Any]  # what is broken, the field, its broken value


def mutants(prim: Primitive) -> Iterator[Mutant]:
    """Every way in which this file can break a primitive."""
    yield "reference", "reference", _broken_reference(prim)
    yield "lower", "lower", _broken_lower(prim)
    yield "batch", "batch", _broken_batch(prim)
    for where, fact in _broken_facts(prim.derivative):
        yield f"derivative, {where}", "derivative", fact


@contextmanager
def mutated(prim: Primitive, field: str, value: Any) -> Iterator[None]:
    """One field of a primitive replaced within a `with` block."""
    saved = getattr(prim, field)
    object.__setattr__(prim, field, value)
    try:
        yield
    finally:
        object.__setattr__(prim, field, saved)
        eager._cache.clear()


def _each(prim: Primitive, results: Any, change: Callable) -> Any:
    changed = [change(x) for x in as_list(prim, results)]
    return changed if prim.multiple_results else changed[0]


def _broken_reference(prim: Primitive) -> Callable:
    rule = prim.reference

    def change(x):
        x = np.asarray(x)
        with np.errstate(all="ignore"):
            return ~x if dtypes.is_bool(x.dtype) else (x + x).astype(x.dtype)

    return lambda *xs, **params: _each(prim, rule(*xs, **params), change)


def _broken_lower(prim: Primitive) -> Callable:
    rule = prim.lower

    def lower(b, out, *xs, **params):
        values = as_list(prim, rule(b, out, *xs, **params))
        changed = [
            b.not_(x) if dtypes.is_bool(a.dtype) else b.add(x, x)
            for x, a in zip(values, as_list(prim, out), strict=True)
        ]
        return changed if prim.multiple_results else changed[0]

    return lower


def _broken_batch(prim: Primitive) -> Callable:
    rule = prim.batch

    def batch(n, xs, ds, **params):
        outs, out_ds = rule(n, xs, ds, **params)
        changed = [
            x if d is None else rev(x, (d,))
            for x, d in zip(as_list(prim, outs), as_list(prim, out_ds), strict=True)
        ]
        return (changed if prim.multiple_results else changed[0]), out_ds

    return batch


def _doubled(x: Any) -> Any:
    if x is None:
        return None
    if isinstance(x, list | tuple):
        return [_doubled(y) for y in x]
    return add_any(x, x) if dtypes.is_inexact(aval_of(x).dtype) else x


def _double(rule: Callable) -> Callable:
    return lambda *args, **params: _doubled(rule(*args, **params))


def _broken_facts(fact: Any) -> Iterator[tuple[str, Any]]:
    """The derivative fact with one of its rules doubled."""
    if isinstance(fact, Linear) and callable(fact.transpose):
        yield "transpose", Linear(_double(fact.transpose))
    elif isinstance(fact, Linear | Multilinear):
        for i, rules in _each_doubled(fact.transpose):
            yield f"transpose {i}", replace(fact, transpose=rules)
    elif isinstance(fact, Smooth):
        if callable(fact.tangent):
            yield "tangent", replace(fact, tangent=_double(fact.tangent))
        else:
            for i, rules in _each_doubled(fact.tangent):
                yield f"tangent {i}", replace(fact, tangent=rules)
        for i, rule in fact.transpose.items():
            broken = {**fact.transpose, i: _double(rule)}
            yield f"transpose {i}", replace(fact, transpose=broken)


def _each_doubled(rules: tuple) -> Iterator[tuple[int, tuple]]:
    for i, rule in enumerate(rules):
        if rule is not None:
            yield i, (*rules[:i], _double(rule), *rules[i + 1 :])
