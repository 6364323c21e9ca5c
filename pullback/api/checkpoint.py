"""checkpoint: trade memory for computing twice; and the policies of what to keep."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from pullback.api.arguments import check_array_leaf, check_callable, name_of, own
from pullback.compile.static import StaticArguments, argument_names
from pullback.core import config, tree
from pullback.core.jaxpr import ClosedJaxpr, DebugInfo, consts_as_inputs
from pullback.core.trace import stage
from pullback.regions import checkpoint as region

Policy = Callable[..., bool]


def checkpoint(
    fun: Callable | None = None,
    *,
    prevent_cse: bool = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
) -> Any:
    """`fun`, whose reverse derivative computes intermediate values again.

    Args:
      fun: a function of trees of arrays.
      prevent_cse: keep XLA from merging the second computation with the first; not
        needed inside `scan`.
      policy: `policy(primitive, *avals, **params)` says which intermediate results to
        keep; None keeps the arguments only. See `checkpoint_policies`.
      static_argnums: positions of arguments to trace with as Python values.

    Returns:
      A function with the values and derivatives of `fun`.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> f = pullback.checkpoint(lambda x: pnp.sin(pnp.sin(x)))
      >>> round(float(pullback.grad(f)(1.0)), 4)
      0.36

    Source: Griewank and Walther, Evaluating Derivatives, chapter 12.
    """
    if fun is None:
        return functools.partial(
            checkpoint,
            prevent_cse=prevent_cse,
            policy=policy,
            static_argnums=static_argnums,
        )
    check_callable(fun, "checkpoint")
    static = StaticArguments(fun, static_argnums, None)
    how = region.Settings(policy, prevent_cse)
    name = name_of(fun)

    @functools.wraps(fun)
    def checkpoint_f(*args: Any, **kwargs: Any) -> Any:
        dynamic, statics = static.split(args, kwargs)
        leaves, in_tree = tree.flatten(dynamic)
        avals = [check_array_leaf(x, f"checkpoint of {name}") for x in leaves]
        out_tree: Any = None

        def flat(*xs):
            nonlocal out_tree
            a, k = static.merge(in_tree.unflatten(xs), statics)
            outs, out_tree = tree.flatten(fun(*a, **k))
            for x in outs:
                check_array_leaf(x, f"the result of {name}")
            return outs

        debug = DebugInfo(name, lambda: argument_names(fun, in_tree))
        jaxpr, consts = stage(flat, avals, debug)
        body = ClosedJaxpr(consts_as_inputs(jaxpr))
        outs = region.bind(body, [*consts, *leaves], name, how)
        return tree.unflatten(out_tree, list(map(own, outs)))

    def plain_or_checkpointed(*args: Any, **kwargs: Any) -> Any:
        if config.current().disable_jit:
            return fun(*args, **kwargs)
        return checkpoint_f(*args, **kwargs)

    return functools.wraps(fun)(plain_or_checkpointed)


def checkpoint_name(x: Any, name: str) -> Any:
    """The tree `x`, whose leaves policies know as `name`.

    Example:
      >>> import pullback
      >>> float(pullback.ad_checkpoint.checkpoint_name(2.0, "logits"))
      2.0
    """
    return tree.map(lambda leaf: own(region.checkpoint_name(leaf, name)), x)


class checkpoint_policies:
    """Which intermediate results `checkpoint` keeps."""

    @staticmethod
    def everything_saveable(primitive, *avals, **params) -> bool:
        """Keep everything: as if there were no checkpoint."""
        return True

    @staticmethod
    def nothing_saveable(primitive, *avals, **params) -> bool:
        """Keep nothing but the arguments."""
        return False

    @staticmethod
    def dots_saveable(primitive, *avals, **params) -> bool:
        """Keep the results of matrix products and convolutions."""
        return primitive.name in ("dot_general", "conv_general_dilated")

    checkpoint_dots = dots_saveable

    @staticmethod
    def dots_with_no_batch_dims_saveable(primitive, *avals, **params) -> bool:
        """Keep the results of matrix products without batch axes."""
        if primitive.name != "dot_general":
            return False
        _, (x_batch, y_batch) = params["dimension_numbers"]
        return not x_batch and not y_batch

    checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable

    @staticmethod
    def save_only_these_names(*names: str) -> Policy:
        """Keep values named by `checkpoint_name` with one of `names`."""
        return _named(frozenset(names), frozenset())

    @staticmethod
    def save_any_names_but_these(*names: str) -> Policy:
        """Keep values named by `checkpoint_name` with any other name."""
        return _named(None, frozenset(names))

    @staticmethod
    def save_anything_except_these_names(*names: str) -> Policy:
        """Keep everything but values named by `checkpoint_name` with one of `names`."""
        return _all_but(frozenset(names))

    @staticmethod
    def save_from_both_policies(first: Policy, second: Policy) -> Policy:
        """Keep what either policy keeps."""
        return _either(first, second)


@functools.cache
def _named(names: frozenset | None, but: frozenset) -> Policy:
    def policy(primitive, *avals, **params) -> bool:
        if primitive.name != "name" or params["name"] in but:
            return False
        return names is None or params["name"] in names

    return policy


@functools.cache
def _all_but(names: frozenset) -> Policy:
    def policy(primitive, *avals, **params) -> bool:
        return primitive.name != "name" or params["name"] not in names

    return policy


@functools.cache
def _either(first: Policy, second: Policy) -> Policy:
    def policy(primitive, *avals, **params) -> bool:
        return first(primitive, *avals, **params) or second(primitive, *avals, **params)

    return policy
