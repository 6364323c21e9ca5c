"""NumPy dtypes and plain Python data as MLIR types and attributes.

Rule: one MLIR context a module, so that constants are freed with their module and
no context is ever shared between threads.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol

import ml_dtypes
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _chlo, _jax_mlir_ext, _sdy, _stablehlo

Type = Any
Attribute = Any
Value = Any


class AvalLike(Protocol):
    """The two facts that the emitter reads of an aval."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions."""
        ...

    @property
    def dtype(self) -> np.dtype:
        """The element type."""
        ...


class Scalar:
    """The aval of a 0-d array."""

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: np.dtype):
        self.dtype, self.shape = dtype, ()


def _signless(bits: int) -> Callable[[Any], Type]:
    return lambda raw: ir.IntegerType.get_signless(bits, context=raw)


def _unsigned(bits: int) -> Callable[[Any], Type]:
    return lambda raw: ir.IntegerType.get_unsigned(bits, context=raw)


def _complex(part: Any) -> Callable[[Any], Type]:
    return lambda raw: ir.ComplexType.get(part.get(context=raw))


def _float(name: str) -> Callable[[Any], Type]:
    return lambda raw: getattr(ir, name).get(context=raw)


_MAKERS: dict[str, Callable[[Any], Type]] = {
    "bool": _signless(1),
    **{f"int{bits}": _signless(bits) for bits in (2, 4, 8, 16, 32, 64)},
    **{f"uint{bits}": _unsigned(bits) for bits in (2, 4, 8, 16, 32, 64)},
    "float16": _float("F16Type"),
    "bfloat16": _float("BF16Type"),
    "float32": _float("F32Type"),
    "float64": _float("F64Type"),
    "complex64": _complex(ir.F32Type),
    "complex128": _complex(ir.F64Type),
    "float4_e2m1fn": _float("Float4E2M1FNType"),
    "float8_e3m4": _float("Float8E3M4Type"),
    "float8_e4m3": _float("Float8E4M3Type"),
    "float8_e4m3b11fnuz": _float("Float8E4M3B11FNUZType"),
    "float8_e4m3fn": _float("Float8E4M3FNType"),
    "float8_e4m3fnuz": _float("Float8E4M3FNUZType"),
    "float8_e5m2": _float("Float8E5M2Type"),
    "float8_e5m2fnuz": _float("Float8E5M2FNUZType"),
    "float8_e8m0fnu": _float("Float8E8M0FNUType"),
}


@cache
def dtypes() -> dict[str, np.dtype]:
    """Returns every element type that can be emitted, by name."""
    return {name: np.dtype(getattr(ml_dtypes, name, name)) for name in _MAKERS}


class Context:
    """An MLIR context with its caches of types, attributes and locations."""

    __slots__ = (
        "_comparisons",
        "_ints",
        "_locations",
        "_scalars",
        "_tensors",
        "i1",
        "i32",
        "i64",
        "raw",
        "unknown",
    )

    def __init__(self):
        raw = self.raw = ir.Context()
        raw.enable_multithreading(False)
        registry = ir.DialectRegistry()
        _jax_mlir_ext.register_dialects(registry)
        raw.append_dialect_registry(registry)
        for dialect in (_stablehlo, _chlo, _sdy):
            dialect.register_dialect(raw)
        _ = raw.dialects["func"]  # loads it
        self.unknown = ir.Location.unknown(raw)
        self.i1, self.i32, self.i64 = (_signless(n)(raw) for n in (1, 32, 64))
        self._scalars: dict[np.dtype, Type] = {}
        self._tensors: dict[tuple[np.dtype, tuple[int, ...]], Type] = {}
        self._ints: dict[tuple[int, ...], Attribute] = {}
        self._comparisons: dict[tuple, tuple[Type, dict[str, Attribute]]] = {}
        self._locations: dict[tuple, Any] = {}

    def scalar(self, dtype: np.dtype) -> Type:
        """Returns the MLIR element type of `dtype`. Raises TypeError for others."""
        found = self._scalars.get(dtype)
        if found is None:
            if dtype.name not in _MAKERS:
                raise TypeError(f"XLA has no element type {dtype}")
            found = self._scalars[dtype] = _MAKERS[dtype.name](self.raw)
        return found

    def tensor(self, aval: AvalLike) -> Type:
        """Returns the ranked tensor type of an aval."""
        key = (aval.dtype, aval.shape)
        found = self._tensors.get(key)
        if found is None:
            found = ir.RankedTensorType.get(
                aval.shape, self.scalar(aval.dtype), loc=self.unknown
            )
            self._tensors[key] = found
        return found

    def tensors(self, avals: Sequence[AvalLike | None]) -> list[Type]:
        """Returns the tensor type of each aval; None stands for a token."""
        return [self.token() if a is None else self.tensor(a) for a in avals]

    def scalars_of(self, avals: Sequence[AvalLike]) -> list[Type]:
        """Returns the 0-d tensor type with the element type of each aval."""
        return [self.tensor(Scalar(aval.dtype)) for aval in avals]

    def token(self) -> Type:
        """Returns the type of tokens."""
        return _stablehlo.TokenType.get(self.raw)

    def comparison(
        self, operand: Type, direction: str, kind: str | None
    ) -> tuple[Type, dict[str, Attribute]]:
        """Returns the result type and the attributes of comparing two `operand`s."""
        key = (operand, direction, kind)
        found = self._comparisons.get(key)
        if found is None:
            raw, element = self.raw, operand.element_type
            result = ir.RankedTensorType.get(operand.shape, self.i1, loc=self.unknown)
            fields = {
                "comparison_direction": _stablehlo.ComparisonDirectionAttr.get(
                    direction, raw
                ),
                "compare_type": _stablehlo.ComparisonTypeAttr.get(
                    kind or _kind(element), raw
                ),
            }
            found = self._comparisons[key] = (result, fields)
        return found

    def location(self, name: str, file: str, line: int, col: int) -> Any:
        """Returns the location of an operation named `name` in a file."""
        key = (name, file, line, col)
        found = self._locations.get(key)
        if found is None:
            raw = self.raw
            child = ir.Location.file(file, line, col, context=raw)
            found = ir.Location.name(name, childLoc=child, context=raw)
            self._locations[key] = found
        return found

    def ints(self, values: Sequence[int]) -> Attribute:
        """Returns an `array<i64: ...>`."""
        key = tuple(values)
        found = self._ints.get(key)
        if found is None:
            found = self._ints[key] = ir.DenseI64ArrayAttr.get(key, context=self.raw)
        return found

    def bools(self, values: Sequence[bool]) -> Attribute:
        """Returns an `array<i1: ...>`."""
        return ir.DenseBoolArrayAttr.get(list(values), context=self.raw)

    def integer(self, value: int, bits: int = 64) -> Attribute:
        """Returns a signless integer attribute."""
        return ir.IntegerAttr.get(_signless(bits)(self.raw), value)

    def boolean(self, value: bool) -> Attribute:
        """Returns a boolean attribute."""
        return ir.BoolAttr.get(value, context=self.raw)

    def string(self, value: str) -> Attribute:
        """Returns a string attribute."""
        return ir.StringAttr.get(value, context=self.raw)

    def symbol(self, name: str) -> Attribute:
        """Returns a reference to a function of the module."""
        return ir.FlatSymbolRefAttr.get(name, context=self.raw)

    def array(self, values: Sequence[Attribute]) -> Attribute:
        """Returns an array of attributes."""
        return ir.ArrayAttr.get(list(values), context=self.raw)

    def matrix(self, rows: Sequence[Sequence[int]], columns: int) -> Attribute:
        """Returns a dense `tensor<r x columns x i64>` attribute."""
        value: Any = np.asarray(rows, np.int64).reshape(len(rows), columns)
        return ir.DenseIntElementsAttr.get(
            value, type=self.i64, shape=value.shape, context=self.raw
        )

    def index_vector(self, values: Sequence[int]) -> Attribute:
        """Returns a dense `tensor<n x index>` attribute, as layouts are written."""
        value: Any = np.asarray(values, np.int64)
        index = ir.IndexType.get(context=self.raw)
        return ir.DenseIntElementsAttr.get(
            value, type=index, shape=value.shape, context=self.raw
        )

    def elements(self, value: np.ndarray, out: Type) -> Attribute:
        """Returns a dense constant of type `out`; a 0-d value fills it."""
        contiguous: Any = value if value.flags.c_contiguous else value.copy("C")
        return ir.DenseElementsAttr.get(contiguous, type=out, context=self.raw)

    def parse(self, text: str) -> Attribute:
        """Returns the attribute with this MLIR text."""
        return ir.Attribute.parse(text, self.raw)

    def plain(self, value: Any) -> Attribute:
        """Returns the attribute of plain data.

        bool, int (i64), float (f64), str, NumPy scalars (typed), sequences, mappings
        """
        rule = _PLAIN.get(type(value))
        if rule is not None:
            return rule(self, value)
        if isinstance(value, np.generic):
            return _numpy_scalar(self, value)
        if isinstance(value, Mapping):
            fields = {key: self.plain(item) for key, item in value.items()}
            return ir.DictAttr.get(fields, context=self.raw)
        if isinstance(value, Sequence):
            return self.array([self.plain(item) for item in value])
        if isinstance(value, np.ndarray):
            return self.elements(value, self.tensor(value))
        if isinstance(value, ir.Attribute):
            return value
        raise TypeError(f"{value!r} cannot be an attribute")


_PLAIN: dict[type, Callable[[Context, Any], Attribute]] = {
    bool: Context.boolean,
    int: Context.integer,
    str: Context.string,
    float: lambda c, value: _numpy_scalar(c, np.float64(value)),
}


def _numpy_scalar(context: Context, value: np.generic) -> Attribute:
    if value.dtype == np.bool_:
        return context.boolean(bool(value))
    element = context.scalar(value.dtype)
    if value.dtype.kind in "iu":
        return ir.IntegerAttr.get(element, int(value))
    return ir.FloatAttr.get(element, float(value), loc=context.unknown)


def _kind(element: Type) -> str:
    if not isinstance(element, ir.IntegerType):
        return "FLOAT"
    signed = element.is_signless and element.width > 1
    return "SIGNED" if signed else "UNSIGNED"
