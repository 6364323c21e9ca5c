"""Functions with a tangent rule of their own."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from pullback.api.arguments import (
    check_array_leaf,
    check_callable,
    name_of,
    own,
    zero_tangent,
)
from pullback.compile.static import parameters
from pullback.core import dtype as dtypes, tree
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingRuleError,
    ShapeError,
    TreeError,
)
from pullback.ops.convert import convert
from pullback.regions.custom_jvp import custom_jvp_call


class SymbolicZero:
    """A tangent or cotangent known to be zero, of type `aval`."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray):
        self.aval = aval

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: self.aval.ndim)

    def instantiate(self) -> Any:
        """The zeros as an array."""
        return own(zero_tangent(self.aval))

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval.short()})"


class CustomCall:
    """The arguments of one call: positional ones resolved, static ones set apart."""

    __slots__ = ("dynamic", "in_tree", "leaves", "nondiff", "nums")

    def __init__(self, fun: Callable, nums: tuple[int, ...], args, kwargs):
        args = _positional(fun, args, kwargs)
        count = len(args)
        for n in nums:
            if not -count <= n < count:
                raise ArgumentError(
                    f"{name_of(fun)}: nondiff_argnums has {n}, but {count} arguments "
                    "are given"
                )
        self.nums = tuple(sorted(n % count for n in nums))
        self.nondiff = [args[n] for n in self.nums]
        self.dynamic = tuple(a for i, a in enumerate(args) if i not in self.nums)
        self.leaves, self.in_tree = tree.flatten(self.dynamic)
        for x in self.leaves:
            check_array_leaf(x, name_of(fun))

    def merged(self, dynamic: Sequence[Any]) -> list[Any]:
        """All arguments in order."""
        args = list(dynamic)
        for n, x in zip(self.nums, self.nondiff, strict=True):
            args.insert(n, x)
        return args


def _positional(fun: Callable, args: tuple, kwargs: dict) -> tuple:
    """Arguments as positional ones, with defaults filled in where they are known."""
    known = parameters(fun)
    if known is None or (not kwargs and len(args) >= len(known)):
        return args
    filled = list(args)
    rest = dict(kwargs)
    for p in known[len(args) :]:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        if p.name in rest:
            filled.append(rest.pop(p.name))
        elif p.default is not p.empty:
            filled.append(p.default)
        else:
            break
    if rest:
        raise ArgumentTypeError(
            f"{name_of(fun)} was called with keyword arguments {sorted(rest)}",
            rule="functions with custom rules take positional arguments",
        )
    return tuple(filled)


class custom_jvp:
    """A function whose tangents are computed by a rule of its own.

    Args:
      fun: a function of trees of arrays.
      nondiff_argnums: positions of arguments that are no arrays, or are not
        differentiated; the rule gets them first.

    Set the rule with `defjvp` or `defjvps`. It serves forward and reverse mode.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> @pullback.custom_jvp
      ... def log1pexp(x):
      ...     return pnp.log(1.0 + pnp.exp(x))
      >>> @log1pexp.defjvp
      ... def rule(primals, tangents):
      ...     (x,), (t,) = primals, tangents
      ...     return log1pexp(x), (1 - 1 / (1 + pnp.exp(x))) * t
      >>> float(pullback.grad(log1pexp)(100.0))
      1.0
    """

    def __init__(self, fun: Callable, nondiff_argnums: Sequence[int] = ()):
        check_callable(fun, "custom_jvp")
        functools.update_wrapper(self, fun)
        self.fun, self.nondiff_argnums = fun, tuple(nondiff_argnums)
        self.jvp: Any = None
        self.symbolic_zeros = False

    def defjvp(self, jvp: Callable, symbolic_zeros: bool = False) -> Callable:
        """Set the rule `jvp(*nondiff, primals, tangents) -> (out, out_tangent)`.

        With `symbolic_zeros` tangents known to be zero are `SymbolicZero`s.
        """
        check_callable(jvp, "defjvp")
        self.jvp, self.symbolic_zeros = jvp, symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable | None) -> None:
        """Set one rule an argument, `jvp(tangent, out, *primals)`; None for no part."""
        if self.nondiff_argnums:
            raise ArgumentError(
                f"defjvps of {name_of(self.fun)}, which has nondiff_argnums",
                fix="use defjvp",
            )

        def jvp(primals, tangents):
            out = self(*primals)
            terms = [
                rule(t, out, *primals)
                for rule, t in zip(jvps, tangents, strict=True)
                if rule is not None
            ]
            if not terms:
                return out, tree.map(lambda x: own(zero_tangent(aval_of(x))), out)
            return out, tree.map(lambda *ts: sum(ts[1:], ts[0]), *terms)

        self.defjvp(jvp)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        name = name_of(self.fun)
        if self.jvp is None:
            raise MissingRuleError(
                f"{name}: no custom jvp rule is defined", fix="set one with defjvp"
            )
        call = CustomCall(self.fun, self.nondiff_argnums, args, kwargs)
        seen = CustomResults(name)

        def fun(*leaves):
            return seen.flat(self.fun(*call.merged(call.in_tree.unflatten(leaves))))

        def rule(primals, tangents):
            ts = [self._tangent(x, t) for x, t in zip(primals, tangents, strict=True)]
            unflatten = call.in_tree.unflatten
            pair = self.jvp(*call.nondiff, unflatten(primals), unflatten(ts))
            return seen.with_tangents(pair)

        outs = custom_jvp_call(fun, rule, call.leaves, name)
        return tree.unflatten(seen.out_tree, list(map(own, outs)))

    def _tangent(self, x: Any, t: Any) -> Any:
        if t is not None:
            return t
        aval = aval_of(x)
        return SymbolicZero(aval) if self.symbolic_zeros else own(zero_tangent(aval))

    def __get__(self, instance, owner=None):
        """Methods pass their instance first."""
        return self if instance is None else functools.partial(self, instance)


class CustomResults:
    """The structure and types of the results, kept from whichever rule ran first."""

    __slots__ = ("name", "out_tree")

    def __init__(self, name: str):
        self.name = name
        self.out_tree: Any = None

    def flat(self, out: Any) -> list[Any]:
        """The leaves of a result."""
        leaves, out_tree = tree.flatten(out)
        for x in leaves:
            check_array_leaf(x, f"the result of {self.name}")
        if self.out_tree is None:
            self.out_tree = out_tree
        elif self.out_tree != out_tree:
            raise TreeError(
                f"{self.name} returns {self.out_tree}, its rule returned {out_tree}",
                rule="a custom rule's result has the structure of the function's",
            )
        return leaves

    def with_tangents(self, pair: Any) -> tuple[list[Any], list[Any]]:
        """Leaves of results and tangents from what a jvp rule returned."""
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise ArgumentTypeError(
                f"{self.name}: its jvp rule returned {type(pair).__name__}",
                rule="a jvp rule returns a pair (result, tangent)",
            )
        outs = self.flat(pair[0])
        ts, t_tree = tree.flatten(pair[1])
        if t_tree != self.out_tree:
            raise TreeError(
                f"{self.name}: its jvp rule returned the tangent {t_tree} for the "
                f"result {self.out_tree}",
                rule="primal and tangent results have equal structures",
            )
        return outs, [self._tangent(x, t) for x, t in zip(outs, ts, strict=True)]

    def _tangent(self, x: Any, t: Any) -> Any:
        aval = aval_of(x)
        if isinstance(t, SymbolicZero) or not dtypes.is_inexact(aval.dtype):
            return None
        got = check_array_leaf(t, f"a tangent of {self.name}")
        if got.shape != aval.shape or not dtypes.is_inexact(got.dtype):
            raise ShapeError(
                f"{self.name}: its jvp rule returned the tangent {got.short()} for the "
                f"result {aval.short()}",
                rule="a tangent has the shape and dtype of its result",
            )
        return t if got.dtype == aval.dtype else convert(t, aval.dtype)
