"""The data that a function needs while it is traced, or the error that says why not."""

from typing import Any

import numpy as np

from pullback.core.errors import ConcretizationTypeError
from pullback.core.trace import Tracer


def known_value(name: str, x: Any, fix: str) -> np.ndarray:
    """The data of a concrete array.

    Raises:
      ConcretizationTypeError: it is traced, so that only its type is known.
    """
    value = x.concrete() if isinstance(x, Tracer) else x
    if value is None:
        raise ConcretizationTypeError(
            f"{name} of a traced array, {x.describe()}",
            rule="the size of the result depends on values, which are not known yet",
            fix=fix,
        )
    return np.asarray(value)
