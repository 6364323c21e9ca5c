"""One call in jax and in pullback: same values, dtypes, weak types, kinds of error."""

import warnings
from functools import reduce
from typing import Any

import jax.numpy as jnp
import numpy as np

import pullback.numpy as pnp

KINDS = (TypeError, ValueError, IndexError, NotImplementedError)
TOLERANCE = {"bfloat16": 4e-2, "float16": 2e-3}


def found(module: Any, name: str) -> Any:
    return reduce(getattr, name.split("."), module)


def call(module: Any, name: str, args: tuple, options: dict) -> Any:
    """The results as a list, or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            out = found(module, name)(*args, **options)
        except KINDS as error:
            return error
    return list(out) if isinstance(out, tuple | list) else [out]


def check(name: str, *args: Any, tol: float = 1e-5, **options: Any) -> None:
    """Call `name` in both, and compare."""
    want = call(jnp, name, args, options)
    got = call(pnp, name, args, options)
    shapes = [getattr(a, "shape", a) for a in args]
    text = f"{name}{shapes} {options}"
    if isinstance(want, Exception) or isinstance(got, Exception):
        kinds = [k for k in KINDS if isinstance(want, k)]
        assert any(isinstance(got, k) for k in kinds), f"{text}: {want!r}, got {got!r}"
        return
    assert len(got) == len(want), text
    for x, y in zip(got, want, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype), text
        assert x.weak_type == getattr(y, "weak_type", False), text
        tolerance = max(tol, TOLERANCE.get(str(y.dtype), 0))
        a, b = (np.asarray(v).astype(np.complex64) for v in (x, y))
        np.testing.assert_allclose(a, b, tolerance, tolerance, err_msg=text)
