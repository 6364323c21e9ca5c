"""jaxlib's C++ modules, which have no stubs: the one place that names them."""

from typing import Any

from jaxlib import _hlo, _jax  # pyright: ignore[reportAttributeAccessIssue]

hlo: Any = _hlo
runtime: Any = _jax
