"""Reverse derivatives of functions of trees: gradients, pullbacks, transposes."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.api.arguments import (
    Chosen,
    FlatFunction,
    canonical_argnums,
    check_array_leaf,
    check_callable,
    name_of,
    own,
    split_aux,
    zero_tangent,
)
from pullback.core import dtype as dtypes, tree
from pullback.core.aval import aval_of, is_array_like
from pullback.core.errors import DifferentiationError, ShapeError, TreeError
from pullback.core.jaxpr import Jaxpr
from pullback.core.trace import stage
from pullback.ops.convert import convert
from pullback.ops.shape import zeros
from pullback.transforms.linearize import linearize_flat
from pullback.transforms.transpose import backward
from pullback.xla import pytree


def value_and_grad(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable:
    """`fun` and its gradient in one pass.

    Args:
      fun: a function of trees of arrays that returns a real scalar.
      argnums: which positional arguments to differentiate with respect to.
      has_aux: `fun` returns `(scalar, auxiliary)`; the latter is passed through.
      holomorphic: `fun` is complex-differentiable, from complex to complex.
      allow_int: integer arguments get gradients of dtype `float0` instead of an error.

    Returns:
      A function with the arguments of `fun` that returns `(value, gradient)`, or
      `((value, auxiliary), gradient)`. The gradient has the tree of the argument, or is
      a tuple of such trees when `argnums` is a sequence.

    Raises:
      DifferentiationError: the result is not a scalar of a suitable dtype, or an
        argument is of an integer dtype.

    Example:
      >>> import pullback
      >>> value, gradient = pullback.value_and_grad(lambda x: x * x)(3.0)
      >>> float(value), float(gradient)
      (9.0, 6.0)

    Source: Linnainmaa 1970; one linearization, transposed at once.
    """
    check_callable(fun, "grad")

    @functools.wraps(fun)
    def value_and_grad_f(*args: Any, **kwargs: Any) -> Any:
        nums = canonical_argnums(argnums, len(args), "grad")
        chosen = Chosen(fun, nums, args, kwargs)
        leaves, in_tree = pytree.flatten(chosen.chosen())
        live = [_differentiable(x, holomorphic, allow_int) for x in leaves]
        aux = None

        def flat(*xs):
            nonlocal aux
            out = chosen(*in_tree.unflatten(xs))
            if has_aux:
                out, aux = split_aux(fun, out)
            return [_scalar(fun, out, holomorphic)]

        outs, jaxpr, res, out_live = linearize_flat(flat, leaves, live)
        avals = list(map(aval_of, leaves))
        cts = _pulled_back(jaxpr, res, _seed(outs[0], out_live[0]), avals, live)
        grads = in_tree.unflatten(cts)
        grads = grads[0] if isinstance(argnums, int) else tuple(grads)
        value = own(outs[0])
        return ((value, aux) if has_aux else value), grads

    return value_and_grad_f


def grad(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable:
    """The gradient of a function that returns a scalar; arguments as `value_and_grad`.

    Returns:
      A function that returns the gradient, or `(gradient, auxiliary)` with `has_aux`.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> pullback.grad(pnp.tanh)(0.0)
      Array(1., dtype=float32, weak_type=True)
    """
    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int)

    @functools.wraps(fun)
    def grad_f(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return grad_f


def _differentiable(x: Any, holomorphic: bool, allow_int: bool) -> bool:
    dtype = check_array_leaf(x, "grad").dtype
    if holomorphic and dtype not in dtypes.COMPLEX:
        raise DifferentiationError(
            f"grad with holomorphic=True of an argument {aval_of(x).short()}",
            rule="the arguments of a holomorphic function are complex",
        )
    if dtype in dtypes.INEXACT:
        return True
    if allow_int:
        return False
    raise DifferentiationError(
        f"grad with respect to an argument of dtype {dtypes.name(dtype)}",
        rule="only floating and complex numbers have derivatives",
        fix="convert the argument to a float, or pass allow_int=True",
    )


def _scalar(fun: Callable, out: Any, holomorphic: bool) -> Any:
    """The result of a function to differentiate, which must be one scalar."""
    name = name_of(fun)
    if not is_array_like(out):
        raise DifferentiationError(
            f"grad of {name}, which returned {tree.structure(out)}",
            rule="a gradient exists only of a function with one scalar result",
            fix="return one scalar; pass other results on with has_aux=True",
        )
    aval = aval_of(out)
    if aval.shape:
        raise DifferentiationError(
            f"grad of {name}, which returned {aval.short()}",
            rule="a gradient exists only of a function with one scalar result",
            fix="reduce the result with sum() or mean(), or use jacrev or jacfwd",
        )
    if aval.dtype not in (dtypes.COMPLEX if holomorphic else dtypes.FLOATING):
        kind = "complex" if holomorphic else "real"
        raise DifferentiationError(
            f"grad of {name}, which returned {aval.short()}",
            rule=f"the result to differentiate is {kind}",
            fix="return a real number; for holomorphic functions pass holomorphic=True",
        )
    return out


def _seed(out: Any, live: bool) -> list[Any]:
    """The cotangent 1 of a scalar result; none for a constant."""
    if not live:
        return []
    aval = aval_of(out)
    one = np.asarray(1, aval.dtype)
    return [one.item() if aval.weak_type else one]


def _pulled_back(jaxpr: Jaxpr, res, cts, avals, live) -> list[Any]:
    """Cotangents of all leaves: zeros where nothing arrives, float0 where not live."""
    back = iter(backward(jaxpr, res, [None] * len(jaxpr.invars), cts))
    out = []
    for aval, on in zip(avals, live, strict=True):
        ct = next(back) if on else None
        if ct is None:
            ct = zero_tangent(aval)
        elif aval.weak_type and not aval_of(ct).weak_type:
            ct = convert(ct, aval.dtype, weak_type=True)
        out.append(own(ct))
    return out


# ---- vjp ----


class VJP:
    """The pullback at a point: cotangents of results to those of arguments.

    A tree whose leaves are the residuals, so it can be inspected, stored and moved.
    """

    __slots__ = (
        "_args",
        "_in_tree",
        "_jaxpr",
        "_live",
        "_out",
        "_out_tree",
        "residuals",
    )

    def __init__(self, residuals, static):
        self.residuals = residuals
        self._jaxpr, self._in_tree, self._args, self._live = static[:4]
        self._out_tree, self._out = static[4:]

    def __call__(self, ct: Any) -> Any:
        """Cotangents of the arguments, from one with the tree of the result."""
        leaves = self._cotangents(ct)
        avals = [aval for aval, _ in self._out]
        for i, (x, aval) in enumerate(zip(leaves, avals, strict=True)):
            _check_cotangent(x, aval, i)
        cts = [x for x, (_, on) in zip(leaves, self._out, strict=True) if on]
        cts = _pulled_back(self._jaxpr, self.residuals, cts, self._args, self._live)
        return tuple(tree.unflatten(self._in_tree, cts))

    def _cotangents(self, ct: Any) -> list[Any]:
        """The leaves of `ct`, one a leaf of the result; None stands for a zero."""
        leaves, ct_tree = tree.flatten(ct)
        if ct_tree == self._out_tree:
            return leaves
        leaves, with_zeros = tree.flatten(ct, is_leaf=_is_none)
        result = tree.unflatten(self._out_tree, [0] * len(self._out))
        marks, out_tree = tree.flatten(result, is_leaf=_is_none)
        pairs = list(zip(leaves, marks, strict=False))
        if with_zeros != out_tree or any(m is None and x is not m for x, m in pairs):
            raise TreeError(
                f"vjp: the cotangent is {ct_tree}, the result was {self._out_tree}",
                rule="the cotangent has the structure of the result",
            )
        return [x for x, m in pairs if m is not None]

    def __repr__(self) -> str:
        return f"VJP({len(self.residuals)} residuals, {self._in_tree})"


def _is_none(x: Any) -> bool:
    return x is None


def _vjp_static(v: VJP) -> tuple:
    return (v._jaxpr, v._in_tree, v._args, v._live, v._out_tree, v._out)


tree.register_pytree_node(
    VJP,
    lambda v: (tuple(v.residuals), _vjp_static(v)),
    lambda static, residuals: VJP(list(residuals), static),
)


def _check_cotangent(x: Any, aval: Any, i: int) -> None:
    if x is None:
        return
    got = aval_of(x)
    if got.shape != aval.shape or (
        got.dtype != aval.dtype and dtypes.is_inexact(aval.dtype)
    ):
        raise ShapeError(
            f"vjp: cotangent {i} is {got.short()}, result {i} was {aval.short()}",
            rule="a cotangent has the shape and dtype of its result",
        )


def vjp(fun: Callable, *primals: Any, has_aux: bool = False) -> Any:
    """The value of `fun` at `primals`, and its pullback there.

    Returns:
      `(value, pullback)`, or `(value, pullback, auxiliary)` with `has_aux`.
      `pullback(ct)` takes a cotangent with the tree and types of the value and returns
      a tuple of cotangents, one a primal. It is a tree of its residuals.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> y, pull = pullback.vjp(pnp.sin, 0.0)
      >>> pull(2.0)
      (Array(2., dtype=float32, weak_type=True),)
    """
    check_callable(fun, "vjp")
    leaves, in_tree = tree.flatten(list(primals))
    live = [dtypes.is_inexact(check_array_leaf(x, "vjp").dtype) for x in leaves]
    flat = FlatFunction(fun, in_tree, has_aux)
    outs, jaxpr, res, out_live = linearize_flat(flat, leaves, live)
    outs = list(map(own, outs))
    avals = [aval_of(x) for x in leaves]
    about = tuple(zip(map(aval_of, outs), out_live, strict=True))
    static = (jaxpr, in_tree, tuple(avals), tuple(live), flat.out_tree, about)
    pull = VJP(list(res), static)
    value = tree.unflatten(flat.out_tree, outs)
    return (value, pull, flat.aux) if has_aux else (value, pull)


# ---- linear_transpose ----


def linear_transpose(fun: Callable, *primals: Any) -> Callable:
    """The transpose of a function that is linear in all its arguments.

    Args:
      primals: trees of arrays or `ShapeDtypeStruct`s; only their types matter.

    Returns:
      `transposed(ct) -> tuple`: cotangents of the arguments from one of the result.

    Raises:
      TreeError: the cotangent's structure differs from the result's.

    Example:
      >>> import pullback
      >>> pullback.linear_transpose(lambda x: 3.0 * x, 1.0)(2.0)
      (Array(6., dtype=float32, weak_type=True),)
    """
    check_callable(fun, "linear_transpose")
    leaves, in_tree = tree.flatten(list(primals))
    avals = [check_array_leaf(x, "linear_transpose") for x in leaves]
    flat = FlatFunction(fun, in_tree)
    jaxpr, consts = stage(flat, avals)
    out_tree = flat.out_tree

    def transposed(ct: Any) -> tuple:
        cts, ct_tree = tree.flatten(ct)
        if ct_tree != out_tree:
            raise TreeError(
                f"linear_transpose: the cotangent is {ct_tree}, the function returns "
                f"{out_tree}",
                rule="the cotangent has the structure of the result",
            )
        for i, (x, aval) in enumerate(zip(cts, jaxpr.out_avals, strict=True)):
            _check_cotangent(x, aval, i)
        back = backward(jaxpr, consts, [None] * len(avals), cts)
        filled = [
            own(zeros(a) if c is None else c) for c, a in zip(back, avals, strict=True)
        ]
        return tuple(tree.unflatten(in_tree, filled))

    return transposed
