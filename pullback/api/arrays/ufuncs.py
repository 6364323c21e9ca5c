"""Elementwise functions that are operators or methods of arrays."""

from pullback.core.dtype import bool_
from pullback.ops.elementwise import add_p, div, mul_p, neg, sub_p
from pullback.ops.promote import agree, inexact_operands


def add(x, y, /):
    """`x + y`"""
    x, y, dtype = agree("add", x, y)
    return add_p.bind(x, y)


def subtract(x, y, /):
    """`x - y`"""
    x, y, _ = agree("subtract", x, y)
    return sub_p.bind(x, y)


def multiply(x, y, /):
    """`x * y`"""
    x, y, dtype = agree("multiply", x, y)
    return mul_p.bind(x, y)


def divide(x, y, /):
    """`x / y`"""
    return div(*inexact_operands("divide", x, y))


def negative(x, /):
    """`-x`"""
    return neg(x)
