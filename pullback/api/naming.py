"""Names for the operations of a function."""

import functools
from collections.abc import Callable
from typing import Any

from pullback.api.arguments import check_callable, name_of
from pullback.core.provenance import named_scope


def named_call(fun: Callable, *, name: str | None = None) -> Callable:
    """`fun` with its operations named after it, as within a `named_scope`.

    `name`: another name than that of the function.

    Example:
      >>> import pullback, pullback.numpy as pnp
      >>> layer = pullback.named_call(pnp.sin, name="layer")
      >>> "layer/sin" in pullback.jit(layer).lower(1.0).as_text(debug_info=True)
      True
    """
    check_callable(fun, "named_call")
    title = name_of(fun) if name is None else name

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        with named_scope(title):
            return fun(*args, **kwargs)

    return call
