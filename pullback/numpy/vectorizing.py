"""vectorize: a function of arrays of fixed ranks, on arrays that broadcast."""

import functools
import re
from collections.abc import Callable, Collection
from typing import Any

from pullback.api.arrays.creation import asarray
from pullback.api.batch import vmap
from pullback.core.errors import ArgumentError, ShapeError
from pullback.ops.promote import broadcast_shapes, broadcast_to
from pullback.ops.shape import reshape

CORE = r"\(((?:\w+(?:,\w+)*)?)\)"
SIDE = f"{CORE}(?:,{CORE})*"


def vectorize(
    pyfunc: Callable,
    *,
    excluded: Collection[int | str] = (),
    signature: str | None = None,
) -> Callable:
    """A function of arrays of fixed ranks, mapped over all the other axes.

    Args:
      pyfunc: a function of scalars, or of arrays as the signature says.
      excluded: positions and names of arguments that are passed on as they are.
      signature: the trailing axes that the function takes and returns, such as
        `"(n,m),(m)->(n)"`; None: scalars.

    Returns:
      A function of arrays whose leading axes broadcast.

    Raises:
      ArgumentError: the signature cannot be read, or has another number of arguments.
      ShapeError: axes of one name have different sizes.

    Example:
      >>> import pullback.numpy as pnp
      >>> dot = pnp.vectorize(pnp.dot, signature="(n),(n)->()")
      >>> dot(pnp.ones((2, 3)), pnp.ones(3)).tolist()
      [3.0, 3.0]
    """
    cores = None if signature is None else _cores(signature)

    @functools.wraps(pyfunc)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        mapped = [i for i in range(len(args)) if i not in excluded]
        names = [k for k in kwargs if k not in excluded]

        def function(*xs):
            full = list(args)
            for i, x in zip(mapped, xs, strict=False):
                full[i] = x
            named = dict(zip(names, xs[len(mapped) :], strict=True))
            return pyfunc(*full, **{**kwargs, **named})

        xs = [asarray(args[i]) for i in mapped] + [asarray(kwargs[k]) for k in names]
        return _mapped(function, xs, [()] * len(xs) if cores is None else cores)

    return wrapped


def _cores(signature: str) -> list[tuple[str, ...]]:
    text = signature.replace(" ", "")
    if not re.fullmatch(f"{SIDE}->{SIDE}", text):
        raise ArgumentError(
            f"vectorize: not a valid gufunc signature: {signature!r}",
            rule="it has the form (n,m),(m)->(n)",
        )
    found = re.findall(CORE, text.partition("->")[0])
    return [tuple(core.split(",")) if core else () for core in found]


def _mapped(function: Callable, xs: list[Any], cores: list[tuple[str, ...]]) -> Any:
    if len(xs) != len(cores):
        raise ArgumentError(
            f"vectorize: {len(xs)} arguments for a signature of {len(cores)}"
        )
    sizes: dict[str, int] = {}
    for x, core in zip(xs, cores, strict=True):
        if x.ndim < len(core):
            raise ShapeError(
                f"vectorize: an argument {x.aval.short()} for the axes {core}",
                rule="it has at least the axes of the signature",
            )
        for name, n in zip(core, x.shape[x.ndim - len(core) :], strict=True):
            if sizes.setdefault(name, n) != n:
                raise ShapeError(f"vectorize: axis {name} of size {n}, {sizes[name]}")
    leads = [x.shape[: x.ndim - len(c)] for x, c in zip(xs, cores, strict=True)]
    shape = broadcast_shapes("vectorize", leads)
    return _over(function, xs, leads, shape)


def _over(function: Callable, xs, leads, shape: tuple[int, ...]) -> Any:
    """`function` mapped over the axes of `shape`, from the last to the first."""
    wide = []
    for x, lead in zip(xs, leads, strict=True):
        core = x.shape[len(lead) :]
        fill = (1,) * (len(shape) - len(lead))
        x = reshape(x, (*fill, *lead, *core)) if fill and lead else x
        wide.append(broadcast_to(x, (*shape, *core)) if lead else x)
    axes = tuple(0 if lead else None for lead in leads)
    for _ in shape:
        function = vmap(function, axes)
    return function(*wide)
