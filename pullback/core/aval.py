"""Abstract values: what is known of an array before it has data.

Avals are interned: equal avals are one object, so `is` and `id` compare them. That is
what makes the keys of the dispatch caches cheap.
"""

import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from pullback.core import config, dtype as dtypes
from pullback.core.errors import ArgumentTypeError

NO_AXES: frozenset[str] = frozenset()
KEY_WORD = np.dtype(np.uint64)
_interned: dict[tuple, "_Ref"] = {}
_lock = threading.Lock()


class _Ref(weakref.ref):
    """A weak reference that knows its key, so that a dead entry can be dropped."""

    __slots__ = ("key",)


def _drop(ref: "_Ref") -> None:
    with _lock:
        if _interned.get(ref.key) is ref:
            del _interned[ref.key]


class Aval:
    """Base of the types of the IR: arrays now, mutable references and tokens later."""

    __slots__ = ("__weakref__",)
    vary: frozenset[str] = NO_AXES


class ShapedArray(Aval):
    """The type of an array: shape, dtype, weak type, and the mesh axes it varies over.

    `shape`: sizes of the axes. `dtype`: a NumPy dtype or an extended one such as
    `key<fry>`. `weak_type`: made from a Python scalar, so it yields in promotion.
    `vary`: names of the mesh axes over which devices may hold different values.
    `carrier`: the type of the words that hold the elements where those have no type of
    their own, as PRNG keys; else None.
    """

    __slots__ = (
        "carrier",
        "dtype",
        "ndim",
        "shape",
        "size",
        "vary",
        "weak_type",
    )
    shape: tuple[int, ...]
    dtype: Any
    weak_type: bool
    ndim: int
    size: int
    carrier: "ShapedArray | None"

    def __new__(cls, shape, dtype, weak_type=False, vary=NO_AXES):
        """The one aval with these properties."""
        key = (shape, dtype, weak_type, vary)
        ref = _interned.get(key)
        found = ref() if ref is not None else None
        return found if found is not None else _make(cls, key)

    def update(self, **changes) -> "ShapedArray":
        """The same type with some of `shape dtype weak_type vary` changed."""
        get = changes.get
        return ShapedArray(
            get("shape", self.shape),
            get("dtype", self.dtype),
            get("weak_type", self.weak_type),
            get("vary", self.vary),
        )

    def strong(self) -> "ShapedArray":
        """The same type, not weak."""
        if not self.weak_type:
            return self
        return ShapedArray(self.shape, self.dtype, False, self.vary)

    def short(self) -> str:
        """The form of printed jaxprs: `f32[2,3]`, with `{i}` for varying over i."""
        vary = _braced(self.vary)
        shape = ",".join(map(str, self.shape))
        return f"{dtypes.short_name(self.dtype)}[{shape}]{vary}"

    str_short = short

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapedArray({self}{weak})"

    def __str__(self) -> str:
        vary = _braced(self.vary)
        shape = ",".join(map(str, self.shape))
        return f"{dtypes.name(self.dtype)}[{shape}]{vary}"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an aval is immutable; use aval.update(...)")

    def __reduce__(self):
        return ShapedArray, (self.shape, self.dtype, self.weak_type, self.vary)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def _braced(vary: frozenset[str]) -> str:
    return "{" + ",".join(sorted(vary)) + "}" if vary else ""


def _make(cls, key: tuple) -> ShapedArray:
    shape, dtype, weak_type, vary = key
    new = object.__new__(cls)
    put = object.__setattr__
    put(new, "shape", shape)
    put(new, "dtype", dtype)
    put(new, "weak_type", weak_type)
    put(new, "vary", vary)
    put(new, "ndim", len(shape))
    put(new, "size", prod(shape))
    extended = isinstance(dtype, dtypes.ExtendedDType)
    words = ShapedArray(shape, KEY_WORD, False, vary) if extended else None
    put(new, "carrier", words)
    ref = _Ref(new, _drop)
    ref.key = key
    with _lock:
        old = _interned.get(key)
        found = old() if old is not None else None
        if found is not None:
            return found
        _interned[key] = ref
    return new


def join_vary(avals: Iterable[Aval]) -> frozenset[str]:
    """The mesh axes over which any of `avals` varies."""
    vary = NO_AXES
    for aval in avals:
        if aval.vary:
            vary = vary | aval.vary
    return vary


def out_avals(prim, avals: Sequence[Aval], params: dict[str, Any]) -> Any:
    """The aval of the result of `prim`, or a list of them, device variance included."""
    out = prim.abstract(*avals, **params)
    if prim.vary is not None:
        return _with_vary(prim, out, prim.vary(*avals, **params))
    for aval in avals:
        if aval.vary:
            return _with_vary(prim, out, join_vary(avals))
    return out


def _with_vary(prim, out: Any, vary: frozenset[str]) -> Any:
    if prim.multiple_results:
        return [a.update(vary=vary) for a in out]
    return out.update(vary=vary)


def _of_python(x) -> ShapedArray:
    dtype, weak = dtypes.of_scalar(x)
    return ShapedArray((), dtype, weak)


def _of_numpy(x) -> ShapedArray:
    known = dtypes.canonical_types[config.local.current.enable_x64]
    dtype = known.get(x.dtype)
    if dtype is None:
        dtype = dtypes.canonicalize(x.dtype)
    return ShapedArray(x.shape, dtype, False)


_BY_TYPE: dict[type, Callable[[Any], ShapedArray]] = {
    bool: _of_python,
    int: _of_python,
    float: _of_python,
    complex: _of_python,
    np.ndarray: _of_numpy,
}


def aval_of(x) -> ShapedArray:
    """The aval of an array, a tracer, a NumPy value or a Python scalar.

    Raises:
      ArgumentTypeError: `x` is none of these.
    """
    rule = _BY_TYPE.get(type(x))
    if rule is not None:
        return rule(x)
    try:
        return x.aval
    except AttributeError:
        pass
    if isinstance(x, np.generic | np.ndarray):
        return _of_numpy(x)
    if isinstance(x, bool | int | float | complex):
        return _of_python(x)
    if hasattr(x, "__jax_array__"):
        return aval_of(x.__jax_array__())
    raise ArgumentTypeError(
        f"a value of type {type(x).__module__}.{type(x).__qualname__} is not an array",
        rule="operands are arrays, NumPy arrays or numbers",
        fix="convert it with pullback.numpy.asarray, or mark the argument static",
    )


def is_array_like(x) -> bool:
    """Whether `aval_of(x)` succeeds."""
    return (
        type(x) in _BY_TYPE
        or hasattr(x, "aval")
        or isinstance(x, np.generic | np.ndarray | bool | int | float | complex)
        or hasattr(x, "__jax_array__")
    )
