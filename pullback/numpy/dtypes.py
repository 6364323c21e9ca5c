"""Element types as users name them: scalar types, categories, constants, questions.

`float32` and its like are names of dtypes and make arrays when called. `int_`, `uint`,
`float_` and `complex_` have 64 bits while 64-bit types are on, else 32.
"""

import math
from typing import Any

import numpy as np

from pullback.api.arrays.creation import asarray
from pullback.core import dtype as dt
from pullback.core.aval import aval_of
from pullback.core.value import Array

ndarray = Array
dtype = np.dtype
generic, number = np.generic, np.number
integer, inexact, floating = np.integer, np.inexact, np.floating
signedinteger, unsignedinteger = np.signedinteger, np.unsignedinteger
complexfloating, character, flexible = np.complexfloating, np.character, np.flexible
pi, e, euler_gamma = math.pi, math.e, float(np.euler_gamma)
inf, nan, newaxis = math.inf, math.nan, None


class ScalarType(type):
    """The class of `float32` and its like: names of a dtype that can be called."""

    wide: dt.DType
    default: bool

    @property
    def dtype(cls) -> dt.DType:
        """The dtype that the name means now."""
        return dt.canonicalize(cls.wide) if cls.default else cls.wide

    def __call__(cls, x: Any) -> Array:
        """An array of this type with the elements of `x`."""
        return asarray(x, dtype=cls.dtype)

    def __hash__(cls) -> int:
        return hash(cls.wide.type)

    def __eq__(cls, other: object) -> bool:
        if isinstance(other, ScalarType):
            return cls.wide == other.wide and cls.default == other.default
        return cls.dtype.type == other or cls.dtype is other

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.dtype.type)

    def __repr__(cls) -> str:
        return f"<class 'pullback.numpy.{cls.__name__}'>"


def _scalar(name: str, wide: dt.DType, default: bool = False) -> Any:
    doc = f"The dtype `{name}`; called, it makes an array of that type."
    fields = {"wide": wide, "default": default, "__doc__": doc, "__module__": __name__}
    return ScalarType(name, (), fields)


bool_ = _scalar("bool_", dt.bool_)
int2, int4 = _scalar("int2", dt.int2), _scalar("int4", dt.int4)
int8, int16 = _scalar("int8", dt.int8), _scalar("int16", dt.int16)
int32, int64 = _scalar("int32", dt.int32), _scalar("int64", dt.int64)
uint2, uint4 = _scalar("uint2", dt.uint2), _scalar("uint4", dt.uint4)
uint8, uint16 = _scalar("uint8", dt.uint8), _scalar("uint16", dt.uint16)
uint32, uint64 = _scalar("uint32", dt.uint32), _scalar("uint64", dt.uint64)
float4_e2m1fn = _scalar("float4_e2m1fn", dt.float4_e2m1fn)
float8_e3m4 = _scalar("float8_e3m4", dt.float8_e3m4)
float8_e4m3 = _scalar("float8_e4m3", dt.float8_e4m3)
float8_e4m3b11fnuz = _scalar("float8_e4m3b11fnuz", dt.float8_e4m3b11fnuz)
float8_e4m3fn = _scalar("float8_e4m3fn", dt.float8_e4m3fn)
float8_e4m3fnuz = _scalar("float8_e4m3fnuz", dt.float8_e4m3fnuz)
float8_e5m2 = _scalar("float8_e5m2", dt.float8_e5m2)
float8_e5m2fnuz = _scalar("float8_e5m2fnuz", dt.float8_e5m2fnuz)
float8_e8m0fnu = _scalar("float8_e8m0fnu", dt.float8_e8m0fnu)
bfloat16, float16 = _scalar("bfloat16", dt.bfloat16), _scalar("float16", dt.float16)
float32, float64 = _scalar("float32", dt.float32), _scalar("float64", dt.float64)
complex64 = _scalar("complex64", dt.complex64)
complex128 = _scalar("complex128", dt.complex128)
single, double, csingle, cdouble = float32, float64, complex64, complex128
int_ = _scalar("int_", dt.int64, default=True)
uint = _scalar("uint", dt.uint64, default=True)
float_ = _scalar("float_", dt.float64, default=True)
complex_ = _scalar("complex_", dt.complex128, default=True)


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Whether NumPy would cast between two types under the rule `casting`.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.can_cast("int32", "float64")
      True
    """
    source = getattr(from_, "dtype", from_)
    target: Any = dt.parse(to, "can_cast")
    rule: Any = casting
    return np.can_cast(source, target, rule)


def iscomplexobj(x: Any) -> bool:
    """Whether `x` has a complex dtype, whatever its values.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.iscomplexobj(1 + 0j)
      True
    """
    if x is None:
        return False
    return dt.is_complex(_dtype_of(x))


def _dtype_of(x: Any) -> Any:
    found = getattr(x, "dtype", None)
    return np.asarray(x).dtype if found is None else found


def isrealobj(x: Any) -> bool:
    """Whether `x` has a dtype that is not complex."""
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Whether `element` is a number or an array without axes."""
    if hasattr(element, "aval") or hasattr(element, "__jax_array__"):
        return aval_of(element).ndim == 0
    return bool(np.isscalar(element))
