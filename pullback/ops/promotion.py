"""The type that operands of several types combine to, with weak types.

The types form a lattice: an arrow goes from each type to the next wider ones, and the
answer is the least type that all operands reach. The Python types `int`, `float` and
`complex` stand for weak operands. Knows nothing of arrays beyond `aval`, `dtype` and
`weak_type`. Source: docs.jax.dev, "Type promotion semantics".
"""

import functools
from collections.abc import Iterable

import numpy as np

from pullback.core import config, dtype as dt
from pullback.core.dtype import DType
from pullback.core.errors import ArgumentError, DtypeError


class TypePromotionError(DtypeError, ValueError):
    """Operands of types that no arrow of the lattice brings together."""


_WEAK = frozenset([int, float, complex])
_SCALAR_WIDE = {int: dt.int64, float: dt.float64, complex: dt.complex128}
_WIDEST = {
    np.signedinteger: dt.int64,
    np.unsignedinteger: dt.uint64,
    np.floating: dt.float64,
    np.complexfloating: dt.complex128,
}

_STANDARD = {
    dt.bool_: (int,),
    int: (dt.uint8, dt.int8, dt.uint4, dt.int4, dt.uint2, dt.int2),
    dt.uint8: (dt.int16, dt.uint16),
    dt.uint16: (dt.int32, dt.uint32),
    dt.uint32: (dt.int64, dt.uint64),
    dt.int8: (dt.int16,),
    dt.int16: (dt.int32,),
    dt.int32: (dt.int64,),
    dt.uint64: (float,),
    dt.int64: (float,),
    float: (*dt.NARROW_FLOATS, dt.bfloat16, dt.float16, complex),
    dt.bfloat16: (dt.float32,),
    dt.float16: (dt.float32,),
    dt.float32: (dt.float64, dt.complex64),
    dt.float64: (dt.complex128,),
    complex: (dt.complex64,),
    dt.complex64: (dt.complex128,),
}
_STRICT = {
    int: (*dt.SIGNED, *dt.UNSIGNED, float),
    float: (*dt.FLOATS, complex),
    complex: dt.COMPLEXES,
}


def _reachable(arrows: dict) -> dict:
    """For each type, the set of types that it may become, itself included."""
    reached = {}

    def visit(node):
        if node not in reached:
            reached[node] = {node}.union(*map(visit, arrows.get(node, ())))
        return reached[node]

    for node in (*dt.PLAIN, *_WEAK):
        visit(node)
    return reached


_REACHABLE = {False: _reachable(_STANDARD), True: _reachable(_STRICT)}


def _least(nodes: frozenset, strict: bool) -> object | None:
    """The least type that every one of `nodes` may become, or None."""
    reachable = _REACHABLE[strict]
    common = set.intersection(*(reachable[n] for n in nodes))
    return next((n for n in common if reachable[n] >= common), None)


def _node(dtype: DType, weak: bool) -> object:
    return dt.scalar_type_of(dtype) if weak and not dt.is_bool(dtype) else dtype


def promote(
    pairs: Iterable[tuple[DType, bool]], *, strict: bool | None = None
) -> tuple[DType, bool]:
    """The type that operands combine to, from their types and whether each is weak.

    Args:
      pairs: (dtype, weak_type) of each operand, as avals hold them.
      strict: promote weak types only. Default: the setting `numpy_dtype_promotion`.

    Returns:
      (dtype, weak_type) of the result. Weak only if every operand is, but for integers
      that no integer type holds together (int8 and uint64).

    Raises:
      TypePromotionError: no type holds all operands.
      ArgumentError: there are no operands.

    Example:
      >>> promote([(dt.int32, False), (dt.float32, True)])
      (dtype('float32'), True)
    """
    pairs = tuple(pairs)
    if len(pairs) == 2 and strict is None:
        return promote_pair(*pairs[0], *pairs[1])
    if not pairs:
        raise ArgumentError("result_type: there are no operands")
    settings = config.current()
    if strict is None:
        strict = settings.numpy_dtype_promotion == "strict"
    return _join(frozenset(pairs), settings.enable_x64, strict)


_pairs: dict[tuple, tuple[DType, bool]] = {}


def promote_pair(d1: DType, w1: bool, d2: DType, w2: bool) -> tuple[DType, bool]:
    """`promote` of two operands under the settings in force: the fast case."""
    if d1 is d2:
        return d1, w1 and w2
    settings = config.current()
    x64, mode = settings.enable_x64, settings.numpy_dtype_promotion
    key = (d1, w1, d2, w2, x64, mode)
    found = _pairs.get(key)
    if found is None:
        operands = frozenset([(d1, w1), (d2, w2)])
        found = _pairs[key] = _join(operands, x64, mode == "strict")
    return found


@functools.lru_cache(4096)
def _join(operands: frozenset, x64: bool, strict: bool) -> tuple[DType, bool]:
    dtypes = {d for d, _ in operands}
    if len(dtypes) == 1:
        return dtypes.pop(), all(w for _, w in operands)
    all_weak = all(w for _, w in operands) and not strict
    odd = [d for d in dtypes if d not in _REACHABLE[False]]
    if odd:
        raise _no_path(operands, f"{dt.name(odd[0])} promotes to no other type")
    nodes = frozenset(d if all_weak else _node(d, w) for d, w in operands)
    least = _least(nodes, strict)
    if least is None:
        raise _no_path(operands, _reason(dtypes, strict))
    return _at_width(_SCALAR_WIDE.get(least, least), x64), all_weak or least in _WEAK


def _at_width(dtype: DType, x64: bool) -> DType:
    return dtype if x64 else dt.NARROWED.get(dtype, dtype)


def _no_path(operands: Iterable, rule: str) -> TypePromotionError:
    shown = sorted("weak " * w + dt.name(d) for d, w in operands)
    return TypePromotionError(
        f"the types {', '.join(shown)} have no type in common",
        rule=rule,
        fix="convert the operands to one type, as in x.astype(y.dtype)",
    )


def _reason(dtypes: Iterable, strict: bool) -> str:
    if strict:
        return "numpy_dtype_promotion is 'strict': only weak types are promoted"
    if any(d in dt.NARROW_FLOATS for d in dtypes):
        return "4- and 8-bit floats are not promoted implicitly"
    return "2- and 4-bit integers are not promoted implicitly"


# Public questions


def _named_node(dtype_like: object) -> object:
    if isinstance(dtype_like, type) and dtype_like in _WEAK:
        return dtype_like
    return dt.parse(dtype_like, "promote_types")


def promote_types(a: object, b: object) -> DType:
    """The type that types `a` and `b` combine to.

    While 64-bit types are off, the answer has 64 bits only if one of the two has: the
    Python types mean the default width.

    Raises:
      TypePromotionError: no type holds both.
      DtypeError: one of them is no element type.

    Example:
      >>> promote_types("bfloat16", "float16"), promote_types(int, "int8")
      (dtype('float32'), dtype('int8'))
    """
    nodes = [_named_node(a), _named_node(b)]
    x64 = config.x64() or not dt.NARROWED.keys().isdisjoint(nodes)
    operands = frozenset((_SCALAR_WIDE.get(n, n), n in _WEAK) for n in nodes)
    return _at_width(_join(operands, x64, False)[0], x64)


def _operand(x: object) -> tuple[DType, bool]:
    """(dtype, weak_type) of an array, an aval, a scalar or a named type."""
    if isinstance(x, (int, float, complex)) and not isinstance(x, np.generic):
        return dt.canonicalize(_scalar_base(x)), not isinstance(x, bool)
    if isinstance(x, type) and x in _WEAK:
        return dt.canonicalize(x), True
    if x is None or isinstance(x, (type, str, np.dtype, dt.ExtendedDType)):
        return dt.named(x, "result_type"), False
    aval = getattr(x, "aval", x)
    dtype = getattr(aval, "dtype", None)
    if dtype is None:
        raise DtypeError(
            f"result_type: {type(x).__name__} is neither an array, a scalar nor a type",
            fix="convert it to an array first",
        )
    return dt.canonicalize(dtype), bool(getattr(aval, "weak_type", False))


def _scalar_base(x: object) -> type:
    return next(t for t in (bool, int, float, complex) if isinstance(x, t))


def result_type(
    *args: object, return_weak_type_flag: bool = False, strict: bool | None = None
) -> DType | tuple[DType, bool]:
    """The type that an operation on `args` computes in.

    Args:
      *args: arrays, avals, scalars, or types. The Python types `int`, `float` and
        `complex` and their values are weak.
      return_weak_type_flag: also return whether the result is weak.
      strict: promote weak types only. Default: the setting `numpy_dtype_promotion`.

    Returns:
      The type; a weak result has the default width of its category.

    Raises:
      TypePromotionError: no type holds all of them.
      DtypeError: an argument that has no element type.
      ArgumentError: there are no arguments.

    Example:
      >>> result_type(np.int8(1), 2.0)
      dtype('float32')
    """
    dtype, weak = promote([_operand(x) for x in args], strict=strict)
    if weak:
        dtype = dt.canonicalize(_WIDEST[dt.CATEGORY[dtype]])
    return (dtype, weak) if return_weak_type_flag else dtype


def safe_cast(source: object, target: object) -> bool:
    """Whether a value of `source` fits `target` as promotion sees it.

    Args:
      source: anything that `result_type` takes.
      target: the type to cast to.

    Raises:
      TypePromotionError: the two have no type in common.
    """
    return result_type(source, target) == result_type(target)
