"""Functions with a pullback of their own, and closures made explicit."""

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
from pullback.api.custom_jvp import CustomCall, CustomResults, SymbolicZero
from pullback.core import dtype as dtypes, tree
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.errors import (
    ArgumentTypeError,
    MissingRuleError,
    ShapeError,
    TreeError,
)
from pullback.core.jaxpr import ClosedJaxpr
from pullback.core.trace import Tracer, eval_jaxpr, stage
from pullback.ops.convert import convert
from pullback.regions.custom_vjp import custom_vjp_call


class CustomVJPPrimal:
    """An argument of a forward rule with `symbolic_zeros`.

    `value`: the argument. `perturbed`: whether it is differentiated with respect to.
    """

    __slots__ = ("perturbed", "value")

    def __init__(self, value: Any, perturbed: bool):
        self.value, self.perturbed = value, perturbed


class custom_vjp:
    """A function whose cotangents are pulled back by rules of its own.

    Args:
      fun: a function of trees of arrays.
      nondiff_argnums: positions of arguments without cotangents; `bwd` gets them first.

    Set the rules with `defvjp`. They serve reverse mode only.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> @pullback.custom_vjp
      ... def clip_gradient(x):
      ...     return x
      >>> clip_gradient.defvjp(
      ...     lambda x: (x, None), lambda _, ct: (pnp.clip(ct, -1, 1),)
      ... )
      >>> float(pullback.grad(lambda x: 10 * clip_gradient(x))(2.0))
      1.0
    """

    def __init__(self, fun: Callable, nondiff_argnums: Sequence[int] = ()):
        check_callable(fun, "custom_vjp")
        functools.update_wrapper(self, fun)
        self.fun, self.nondiff_argnums = fun, tuple(nondiff_argnums)
        self.fwd: Any = None
        self.bwd: Any = None
        self.symbolic_zeros = False

    def defvjp(
        self, fwd: Callable, bwd: Callable, symbolic_zeros: bool = False
    ) -> None:
        """Set the rules.

        `fwd(*args) -> (out, residuals)`; `bwd(*nondiff, residuals, ct)` returns a tuple
        with a cotangent (or None) for each differentiated argument. With
        `symbolic_zeros`, `fwd` gets a `CustomVJPPrimal` for each leaf, and cotangents
        known to be zero are `SymbolicZero`s.
        """
        check_callable(fwd, "defvjp")
        check_callable(bwd, "defvjp")
        self.fwd, self.bwd, self.symbolic_zeros = fwd, bwd, symbolic_zeros

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        name = name_of(self.fun)
        if self.fwd is None or self.bwd is None:
            raise MissingRuleError(
                f"{name}: no custom vjp rules are defined", fix="set them with defvjp"
            )
        call = CustomCall(self.fun, self.nondiff_argnums, args, kwargs)
        seen = CustomResults(name)
        rules = _PullbackRules(self, call, seen)

        def fun(*leaves):
            return seen.flat(self.fun(*call.merged(call.in_tree.unflatten(leaves))))

        outs = custom_vjp_call(fun, rules.forward, rules.backward, call.leaves, name)
        return tree.unflatten(seen.out_tree, list(map(own, outs)))

    def __get__(self, instance, owner=None):
        """Methods pass their instance first."""
        return self if instance is None else functools.partial(self, instance)


class _PullbackRules:
    """The rules of one custom_vjp call on leaves."""

    __slots__ = ("call", "out_avals", "owner", "res_tree", "seen")

    def __init__(self, owner: custom_vjp, call: CustomCall, seen: CustomResults):
        self.owner, self.call, self.seen = owner, call, seen
        self.res_tree: Any = None
        self.out_avals: list[ShapedArray] = []

    def forward(self, primals, live) -> tuple[list[Any], list[Any]]:
        """Results and residuals."""
        if self.owner.symbolic_zeros:
            primals = list(map(CustomVJPPrimal, primals, live))
        args = self.call.merged(self.call.in_tree.unflatten(primals))
        pair = self.owner.fwd(*args)
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise ArgumentTypeError(
                f"{self.seen.name}: its forward rule returned {type(pair).__name__}",
                rule="a forward rule returns a pair (result, residuals)",
            )
        outs = self.seen.flat(pair[0])
        res, self.res_tree = tree.flatten(pair[1])
        for x in res:
            check_array_leaf(x, f"a residual of {self.seen.name}")
        self.out_avals = list(map(aval_of, outs))
        return outs, res

    def backward(self, res, cts) -> list[Any]:
        """A cotangent or None for each leaf of the arguments."""
        full = [
            ct if ct is not None else self._zero(aval)
            for ct, aval in zip(cts, self.out_avals, strict=True)
        ]
        ct = tree.unflatten(self.seen.out_tree, full)
        back = self.owner.bwd(*self.call.nondiff, self.res_tree.unflatten(res), ct)
        return self._leaves(back)

    def _zero(self, aval: ShapedArray) -> Any:
        if self.owner.symbolic_zeros:
            return SymbolicZero(aval)
        return own(zero_tangent(aval))

    def _leaves(self, back: Any) -> list[Any]:
        count = len(self.call.dynamic)
        if not isinstance(back, tuple | list) or len(back) != count:
            raise TreeError(
                f"{self.seen.name}: its backward rule returned {type(back).__name__}"
                + (f" of length {len(back)}" if isinstance(back, tuple | list) else ""),
                rule=f"it returns a tuple of {count} cotangents, one a differentiated "
                "argument",
            )
        leaves = tree.flatten_axes(
            f"the backward rule of {self.seen.name}",
            self.call.in_tree,
            tuple(back),
        )
        return [self._ct(x, ct) for x, ct in zip(self.call.leaves, leaves, strict=True)]

    def _ct(self, x: Any, ct: Any) -> Any:
        aval = aval_of(x)
        float0 = getattr(ct, "dtype", None) == dtypes.float0
        if ct is None or isinstance(ct, SymbolicZero) or float0:
            return None
        if not dtypes.is_inexact(aval.dtype):
            return None
        got = check_array_leaf(ct, f"a cotangent of {self.seen.name}")
        if got.shape != aval.shape:
            raise ShapeError(
                f"{self.seen.name}: its backward rule returned the cotangent "
                f"{got.short()} for an argument {aval.short()}",
                rule="a cotangent has the shape and dtype of its argument",
            )
        return ct if got.dtype == aval.dtype else convert(ct, aval.dtype)


def custom_gradient(fun: Callable) -> Callable:
    """A function that returns its result with its pullback, as one with that rule.

    Args:
      fun: returns `(out, pullback)`, where `pullback(ct)` gives the cotangent of the
        argument, or a tuple of them for several arguments.

    Example:
      >>> import pullback
      >>> f = pullback.custom_gradient(lambda x: (x**2, lambda ct: ct * x))
      >>> float(pullback.grad(f)(3.0))
      3.0
    """
    check_callable(fun, "custom_gradient")

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        wrapped = custom_vjp(lambda *a: fun(*a, **kwargs)[0])
        backward: list[ClosedJaxpr] = []

        def fwd(*a):
            out, pull = fun(*a, **kwargs)
            ct_avals, out_tree = tree.flatten(out)
            jaxpr, consts = stage(
                lambda *cts: tree.leaves(_tuple(pull(out_tree.unflatten(cts)), len(a))),
                list(map(aval_of, ct_avals)),
            )
            backward[:] = [ClosedJaxpr(jaxpr)]
            return out, (tuple(consts), *a)

        def bwd(res, ct):
            consts, *a = res
            flat = eval_jaxpr(backward[0].jaxpr, consts, tree.leaves(ct))
            return tree.unflatten(tree.structure(tuple(a)), flat)

        wrapped.defvjp(fwd, bwd)
        return wrapped(*args)

    return call


def _tuple(cts: Any, count: int) -> tuple:
    return cts if isinstance(cts, tuple) and count == len(cts) else (cts,)


def closure_convert(fun: Callable, *example_args: Any) -> tuple[Callable, list[Any]]:
    """`fun` with the traced values that it closes over as extra arguments.

    Args:
      example_args: arguments of the types that `fun` will be called with.

    Returns:
      `(converted, values)` with `converted(*args, *values) == fun(*args)`.

    Example:
      >>> import pullback
      >>> f, values = pullback.closure_convert(lambda x: x + 1.0, 2.0)
      >>> float(f(2.0, *values))
      3.0
    """
    check_callable(fun, "closure_convert")
    leaves, in_tree = tree.flatten(example_args)
    out_tree: Any = None

    def flat(*xs):
        nonlocal out_tree
        outs, out_tree = tree.flatten(fun(*in_tree.unflatten(xs)))
        return outs

    jaxpr, consts = stage(
        flat, [check_array_leaf(x, "closure_convert") for x in leaves]
    )
    hoisted = [isinstance(c, Tracer) and dtypes.is_inexact(c.dtype) for c in consts]
    values = [c for c, h in zip(consts, hoisted, strict=True) if h]

    def converted(*args_and_values: Any) -> Any:
        cut = len(args_and_values) - len(values)
        args, given = args_and_values[:cut], iter(args_and_values[cut:])
        xs, tree_now = tree.flatten(tuple(args))
        if tree_now != in_tree:
            raise TreeError(
                f"closure_convert: called with {tree_now}, traced with {in_tree}",
                rule="arguments have the structure of the example arguments",
            )
        merged = [next(given) if h else c for c, h in zip(consts, hoisted, strict=True)]
        return tree.unflatten(out_tree, eval_jaxpr(jaxpr, merged, xs))

    return converted, values
