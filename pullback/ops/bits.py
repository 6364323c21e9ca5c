"""Bit family: shifts and counts of bits of integers."""

import numpy as np

from pullback.core.derivative import NotDifferentiable
from pullback.core.dtype import UNSIGNED
from pullback.core.dtype_info import itemsize_bits
from pullback.ops.nary import nary

INTEGER = ("int",)
DISCRETE = NotDifferentiable("its result is an integer")


def shift_left(x, y):
    """`x << y`; 0 when `y` is negative or at least the width. Source: StableHLO."""
    return shift_left_p.bind(x, y)


def shift_right_arithmetic(x, y):
    """`x >> y` filled with copies of the top bit, also of unsigned integers."""
    return shift_right_arithmetic_p.bind(x, y)


def shift_right_logical(x, y):
    """`x >> y` with zeros; 0 when `y` is negative or at least the width."""
    return shift_right_logical_p.bind(x, y)


def population_count(x):
    """The number of bits set, elementwise. Source: StableHLO `popcnt`."""
    return population_count_p.bind(x)


def clz(x):
    """The number of leading zero bits. Source: StableHLO `count_leading_zeros`."""
    return clz_p.bind(x)


def _unsigned(x):
    """The bits of `x` as numbers of 64 bits, and how many it has."""
    bits = itemsize_bits(x.dtype)
    mask = np.uint64(2**bits - 1)
    return x.astype(np.int64).astype(np.uint64) & mask, bits


def _in_range(y, bits: int):
    amount, _ = _unsigned(y)
    return amount < bits, np.where(amount < bits, amount, 0).astype(np.uint64)


def _from_bits(value, dtype):
    """The numbers of `dtype` that have the low bits of `value`."""
    bits = itemsize_bits(dtype)
    value = value & np.uint64(2**bits - 1)
    if dtype in UNSIGNED:
        return value.astype(dtype)
    return _signed(value, bits).astype(dtype)


def _signed(value, bits: int):
    """The low `bits` of 64-bit words as signed numbers."""
    up = np.uint64(64 - bits)
    return np.asarray(value << up).view(np.int64) >> up.astype(np.int64)


def _left_reference(x, y):
    value, bits = _unsigned(x)
    inside, amount = _in_range(y, bits)
    return _from_bits(np.where(inside, value << amount, 0).astype(np.uint64), x.dtype)


def _logical_reference(x, y):
    value, bits = _unsigned(x)
    inside, amount = _in_range(y, bits)
    return _from_bits(np.where(inside, value >> amount, 0).astype(np.uint64), x.dtype)


def _arithmetic_reference(x, y):
    value, bits = _unsigned(x)
    inside, amount = _in_range(y, bits)
    amount = np.where(inside, amount, bits - 1).astype(np.int64)
    return _from_bits((_signed(value, bits) >> amount).view(np.uint64), x.dtype)


def _count_reference(x):
    value, _ = _unsigned(x)
    return np.bitwise_count(value).astype(x.dtype)


def _clz_reference(x):
    value, bits = _unsigned(x)
    for shift in (1, 2, 4, 8, 16, 32):
        value = value | (value >> np.uint64(shift))
    return (bits - np.bitwise_count(value).astype(np.int64)).astype(x.dtype)


def _integer(name, reference, emit):
    return nary(
        name, accepts=INTEGER, reference=reference, emit=emit, derivative=DISCRETE
    )


shift_left_p = _integer(
    "shift_left", _left_reference, lambda b, x, y: b.shift_left(x, y)
)
shift_right_arithmetic_p = _integer(
    "shift_right_arithmetic",
    _arithmetic_reference,
    lambda b, x, y: b.shift_right_arithmetic(x, y),
)
shift_right_logical_p = _integer(
    "shift_right_logical",
    _logical_reference,
    lambda b, x, y: b.shift_right_logical(x, y),
)
population_count_p = _integer(
    "population_count", _count_reference, lambda b, x: b.popcnt(x)
)
clz_p = _integer("clz", _clz_reference, lambda b, x: b.count_leading_zeros(x))
