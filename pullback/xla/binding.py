"""jaxlib's C++ modules, which have no stubs: the one place that names them."""

from typing import Any

from jaxlib import (
    _hlo,  # pyright: ignore[reportAttributeAccessIssue]
    _jax,  # pyright: ignore[reportAttributeAccessIssue]
    version,
)

hlo: Any = _hlo
runtime: Any = _jax
JAXLIB_VERSION: str = version.__version__
