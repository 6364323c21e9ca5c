"""Element types: their names, categories, limits, and the width that names mean.

An element type is a `np.dtype` that XLA knows, `float0` (the tangent of an integer) or
an `ExtendedDType` (a PRNG key). Which of them a name means depends on the 64-bit switch
of the thread. Knows nothing of arrays, traces or XLA; what two types combine to is in
`promotion`, their limits in `dtype_info`.
"""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from pullback.core import config
from pullback.core.errors import DtypeError, UserError


class extended(np.generic):
    """The category of types whose elements are made of several numbers."""


class prng_key(extended):
    """The category of PRNG keys."""


class ExtendedDType:
    """An element type whose elements are small arrays of a plain type.

    Attributes:
      name: how it prints.
      type: its category, a subclass of `extended`.
      physical_dtype: the plain type that holds an element.
      element_shape: the shape of one element in the plain type.
    """

    __slots__ = ("element_shape", "name", "physical_dtype", "type")

    def __init__(self, name, category, element_shape, physical_dtype):
        self.name, self.type = name, category
        self.element_shape = tuple(element_shape)
        self.physical_dtype = np.dtype(physical_dtype)

    @property
    def itemsize(self) -> int:
        """Bytes in one element."""
        return self.physical_dtype.itemsize * int(np.prod(self.element_shape))

    def physical_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape, in the plain type, of an array of this type with `shape`."""
        return (*shape, *self.element_shape)

    def __repr__(self) -> str:
        return self.name


class KeyType(ExtendedDType):
    """The type of PRNG keys of one implementation, printed `key<fry>`.

    Equal arguments give the same object, so keys of it compare and hash by identity.

    Args:
      impl_name: short name of the implementation.
      element_shape: how many words one key has.
      physical_dtype: the type of a word.
    """

    __slots__ = ("impl_name",)

    def __new__(cls, impl_name, element_shape=(2,), physical_dtype=np.uint32):
        """The one object with these facts."""
        facts = (impl_name, tuple(element_shape), np.dtype(physical_dtype))
        return _key_types.setdefault(facts, super().__new__(cls))

    def __init__(self, impl_name, element_shape=(2,), physical_dtype=np.uint32):
        super().__init__(f"key<{impl_name}>", prng_key, element_shape, physical_dtype)
        self.impl_name = impl_name

    def __reduce__(self):
        return KeyType, (self.impl_name, self.element_shape, self.physical_dtype.name)


_key_types: dict[tuple, KeyType] = {}
# A NumPy dtype or an ExtendedDType, which NumPy's type stubs have no place for.
DType = Any

bool_ = np.dtype(bool)
int2, int4 = np.dtype(ml_dtypes.int2), np.dtype(ml_dtypes.int4)
int8, int16 = np.dtype(np.int8), np.dtype(np.int16)
int32, int64 = np.dtype(np.int32), np.dtype(np.int64)
uint2, uint4 = np.dtype(ml_dtypes.uint2), np.dtype(ml_dtypes.uint4)
uint8, uint16 = np.dtype(np.uint8), np.dtype(np.uint16)
uint32, uint64 = np.dtype(np.uint32), np.dtype(np.uint64)
float4_e2m1fn = np.dtype(ml_dtypes.float4_e2m1fn)
float8_e3m4 = np.dtype(ml_dtypes.float8_e3m4)
float8_e4m3 = np.dtype(ml_dtypes.float8_e4m3)
float8_e4m3b11fnuz = np.dtype(ml_dtypes.float8_e4m3b11fnuz)
float8_e4m3fn = np.dtype(ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = np.dtype(ml_dtypes.float8_e4m3fnuz)
float8_e5m2 = np.dtype(ml_dtypes.float8_e5m2)
float8_e5m2fnuz = np.dtype(ml_dtypes.float8_e5m2fnuz)
float8_e8m0fnu = np.dtype(ml_dtypes.float8_e8m0fnu)
bfloat16, float16 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16)
float32, float64 = np.dtype(np.float32), np.dtype(np.float64)
complex64, complex128 = np.dtype(np.complex64), np.dtype(np.complex128)
float0 = np.dtype([("float0", np.void, 0)])

SIGNED = (int2, int4, int8, int16, int32, int64)
UNSIGNED = (uint2, uint4, uint8, uint16, uint32, uint64)
NARROW_FLOATS = (
    *(float4_e2m1fn, float8_e3m4, float8_e4m3, float8_e4m3b11fnuz, float8_e4m3fn),
    *(float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu),
)
FLOATS = (*NARROW_FLOATS, bfloat16, float16, float32, float64)
COMPLEXES = (complex64, complex128)
NUMBERS = (*SIGNED, *UNSIGNED, *FLOATS, *COMPLEXES)
PLAIN = (bool_, *NUMBERS)

NARROWED: dict[DType, DType] = {
    int64: int32,
    uint64: uint32,
    float64: float32,
    complex128: complex64,
}
_WIDE: dict[object, np.dtype] = {
    bool: bool_,
    int: int64,
    float: float64,
    complex: complex128,
}
_WIDE |= {"int": int64, "uint": uint64, "float": float64, "complex": complex128}
_WIDE[None] = float64
CATEGORY: dict[DType, type] = dict.fromkeys(SIGNED, np.signedinteger)
CATEGORY |= dict.fromkeys(UNSIGNED, np.unsignedinteger)
CATEGORY |= dict.fromkeys(FLOATS, np.floating)
CATEGORY |= dict.fromkeys(COMPLEXES, np.complexfloating)
CATEGORY |= {bool_: np.bool_, float0: np.void}
_UNIQUE: dict[DType, DType] = {dtype: dtype for dtype in CATEGORY}
_SCALAR: dict[type | None, type] = {
    np.signedinteger: int,
    np.unsignedinteger: int,
    np.floating: float,
    np.complexfloating: complex,
    np.bool_: bool,
}
INTEGER: frozenset[DType] = frozenset(SIGNED + UNSIGNED)
FLOATING: frozenset[DType] = frozenset(FLOATS)
COMPLEX: frozenset[DType] = frozenset(COMPLEXES)
INEXACT: frozenset[DType] = FLOATING | COMPLEX


def _short(dtype: np.dtype) -> str:
    letters = {"bfloat": "bf", "float": "f", "uint": "u", "int": "i", "complex": "c"}
    long = next((x for x in letters if dtype.name.startswith(x)), "")
    return letters.get(long, "") + dtype.name.removeprefix(long)


_SHORT: dict[DType, str] = {d: _short(d) for d in PLAIN}
_SHORT[float0] = "float0"


def short_name(dtype: DType) -> str:
    """The name in printed programs: `f32`, `bf16`, `f8_e4m3fn`, `bool`, `key<fry>`."""
    return _SHORT.get(dtype) or dtype.name


def name(dtype: DType) -> str:
    """The long name: `float32`, `float0`, `key<fry>`."""
    return "float0" if dtype == float0 else dtype.name


# What a name means


def _unsupported(dtype_like: Any, what: str) -> DtypeError:
    return DtypeError(
        f"{what}: {getattr(dtype_like, '__name__', dtype_like)!s} is not an element "
        "type of arrays",
        rule="the element types are bool, int2 to int64, uint2 to uint64, bfloat16, "
        "float16 to float64, the 4- and 8-bit floats, complex64, complex128, and keys",
        fix="convert the data to one of them first, or name one of them",
    )


def parse(dtype_like: Any, what: str = "dtype") -> DType:
    """The type that `dtype_like` names in its full width, whatever the switch says.

    Raises:
      DtypeError: it names no element type of XLA.
    """
    if isinstance(dtype_like, ExtendedDType):
        return dtype_like
    own = getattr(dtype_like, "dtype", None)
    if isinstance(own, (np.dtype, ExtendedDType)):
        return parse(own, what)
    try:
        wide = _WIDE.get(dtype_like)
        found = np.dtype(dtype_like) if wide is None else wide
    except (TypeError, ValueError):
        raise _unsupported(repr(dtype_like), what) from None
    if found not in _UNIQUE:
        raise _unsupported(dtype_like, what)
    return _UNIQUE[found]


canonical_types: tuple[dict, dict] = ({}, {})
"""What `canonicalize` has answered, by the 64-bit switch and what was asked."""
_named: tuple[dict, dict] = ({}, {})


def canonicalize(dtype_like: Any) -> DType:
    """The type that *data* of type `dtype_like` has in an array.

    64-bit types narrow to 32 bits unless the 64-bit switch is on; the Python types
    `bool`, `int`, `float` and `complex` mean the default width; byte order is dropped.

    Raises:
      DtypeError: it names no element type of XLA.

    Example:
      >>> canonicalize(np.float64)
      dtype('float32')
    """
    x64 = config.local.current.enable_x64
    try:
        return canonical_types[x64][dtype_like]
    except (KeyError, TypeError):
        return _canonicalize(dtype_like, x64)


def _canonicalize(dtype_like: Any, x64: bool) -> DType:
    swapped = isinstance(dtype_like, np.dtype) and not dtype_like.isnative
    found = parse(dtype_like.newbyteorder("=") if swapped else dtype_like)
    found = found if x64 else NARROWED.get(found, found)
    if isinstance(dtype_like, (np.dtype, type, str, ExtendedDType)):
        canonical_types[x64][dtype_like] = found
    return found


def named(dtype_like: Any, what: str = "dtype") -> DType:
    """The type that the *user* names by `dtype_like`.

    `int`, `float`, `complex`, their names, `"uint"` and None mean the default width.

    Args:
      dtype_like: the name: a dtype, a scalar type or a string.
      what: the function and argument it was given to, for the message.

    Raises:
      DtypeError: it is no element type of XLA, or a 64-bit one while these are off.

    Example:
      >>> named("bfloat16"), named(float)
      (dtype(bfloat16), dtype('float32'))
    """
    x64 = config.local.current.enable_x64
    try:
        return _named[x64][dtype_like]
    except (KeyError, TypeError):
        return _checked_name(dtype_like, x64, what)


def _checked_name(dtype_like: Any, x64: bool, what: str) -> DType:
    if isinstance(dtype_like, np.dtype) and not dtype_like.isnative:
        raise _unsupported(repr(dtype_like), what)
    found = parse(dtype_like, what)
    if found in NARROWED and not x64:
        if not isinstance(dtype_like, (type, str, type(None))) or (
            dtype_like not in _WIDE
        ):
            raise _disabled(found, what)
        found = NARROWED[found]
    if isinstance(dtype_like, (np.dtype, type, str, ExtendedDType)):
        _named[x64][dtype_like] = found
    return found


def _disabled(dtype: DType, what: str) -> DtypeError:
    return DtypeError(
        f"{what}: {dtype.name} was named while 64-bit types are off",
        rule="64-bit types exist only while the switch enable_x64 is on",
        fix=f"name {NARROWED[dtype].name}, or turn the switch on: "
        'pullback.config.update("enable_x64", True), or for a block of code '
        "`with pullback.enable_x64():`",
    )


def default_float() -> np.dtype:
    """What `float` means on this thread: float32, or float64 with the switch on."""
    return float64 if config.local.current.enable_x64 else float32


def default_int() -> np.dtype:
    """What `int` means on this thread: int32, or int64 with the switch on."""
    return int64 if config.local.current.enable_x64 else int32


class ScalarOverflowError(UserError, OverflowError):
    """A Python int outside the range of the default integer type."""


def of_scalar(x: object) -> tuple[DType, bool]:
    """The type of a Python or NumPy scalar, and whether it is weak.

    A weak type takes part in promotion by its category only. Python's `int`, `float`
    and `complex` are weak, `bool` and NumPy's scalars are not.

    Raises:
      ScalarOverflowError: an int that the default integer type does not hold.
      DtypeError: not a scalar of an element type.
    """
    if isinstance(x, bool):
        return bool_, False
    if isinstance(x, np.generic):
        return canonicalize(x.dtype), False
    if isinstance(x, int):
        return _of_int(x), True
    if isinstance(x, float):
        return default_float(), True
    if isinstance(x, complex):
        return canonicalize(complex), True
    raise _unsupported(type(x), "scalar")


def _of_int(x: int) -> np.dtype:
    dtype = default_int()
    bound = 1 << (dtype.itemsize * 8 - 1)
    if -bound <= x < bound:
        return dtype
    raise ScalarOverflowError(
        f"Python int {x} too large to convert to {dtype.name}",
        rule=f"a Python int means {dtype.name}: at least {-bound}, less than {bound}",
        fix="give it a type that holds it, as in np.uint32(x)"
        if dtype == int32
        else "give it a type that holds it, as in np.uint64(x), or use a float",
    )


def scalar_type_of(dtype: DType) -> type:
    """The Python type of the category of `dtype`: bool, int, float or complex.

    Raises:
      DtypeError: `dtype` has no such category (float0, keys).
    """
    kind = _SCALAR.get(CATEGORY.get(dtype))
    if kind is None:
        raise DtypeError(f"{name(dtype)} has no Python scalar type")
    return kind


# Categories


# Every equation asks, so the answer is a look-up without a Python call.

Predicate = Callable[[DType], bool]

is_bool: Predicate = frozenset((bool_,)).__contains__
"""Whether a type is bool."""

is_integer: Predicate = INTEGER.__contains__
"""Whether a type is a signed or unsigned integer type, int2 and int4 included."""

is_float: Predicate = FLOATING.__contains__
"""Whether a type is a real floating type, bfloat16 and float8 included."""

is_complex: Predicate = COMPLEX.__contains__
"""Whether a type is complex."""

is_inexact: Predicate = INEXACT.__contains__
"""Whether a type is floating or complex, so derivatives flow through it."""


def is_key(dtype: DType) -> bool:
    """Whether `dtype` is a type of PRNG keys."""
    return isinstance(dtype, KeyType)


def to_inexact(dtype: DType) -> DType:
    """The floating type that functions such as `sin` compute `dtype` in."""
    if dtype in INEXACT or not (dtype in INTEGER or dtype == bool_):
        return dtype
    return canonicalize(float64) if dtype in (int64, uint64) else float32


def to_complex(dtype: DType) -> DType:
    """The complex type whose parts hold `dtype`: complex64, or complex128 for 64."""
    wide = dtype in (int64, uint64, float64, complex128)
    return canonicalize(complex128) if wide else complex64


def to_real(dtype: DType) -> DType:
    """The type of the real part of `dtype`."""
    if dtype == complex64:
        return float32
    return float64 if dtype == complex128 else dtype
