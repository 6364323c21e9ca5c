"""Every element-by-element method against NumPy or SciPy."""

import numpy as np
import pytest
import scipy.special as sp

from pullback.xla.elementwise import Elementwise
from tests.xla.modules import Case, check, evaluate, f32, shaped

X = np.array([0.3, -0.7, 1.9, -2.4, 0.05], f32)
Y = np.array([1.3, 0.6, -1.1, 2.2, -0.4], f32)
UNIT = np.array([0.3, -0.7, 0.9, -0.2, 0.05], f32)
POSITIVE = np.abs(X) + f32(0.5)
Z = (X + 1j * Y).astype(np.complex64)
I = np.array([5, -7, 12, 0, 100], np.int32)  # noqa: E741
J = np.array([3, 2, -5, 7, 9], np.int32)
U = np.array([5, 2**31, 12, 0, 2**32 - 1], np.uint32)
B = np.array([True, False, True, True, False])
C = np.array([True, True, False, True, False])

UNARY = {
    "sign": (np.sign, X),
    "negate": (np.negative, X),
    "exponential": (np.exp, X),
    "exponential_minus_one": (np.expm1, X),
    "log": (np.log, POSITIVE),
    "log_plus_one": (np.log1p, UNIT),
    "logistic": (sp.expit, X),
    "sine": (np.sin, X),
    "cosine": (np.cos, X),
    "tan": (np.tan, X),
    "tanh": (np.tanh, X),
    "sqrt": (np.sqrt, POSITIVE),
    "rsqrt": (lambda x: 1 / np.sqrt(x), POSITIVE),
    "cbrt": (np.cbrt, X),
    "floor": (np.floor, X),
    "ceil": (np.ceil, X),
    "round_nearest_even": (np.round, np.array([0.5, 1.5, 2.5, -0.5, -1.7], f32)),
    "round_nearest_afz": (
        lambda x: np.sign(x) * np.floor(np.abs(x) + f32(0.5)),
        np.array([0.5, 1.5, 2.5, -0.5, -1.7], f32),
    ),
    "abs": (np.abs, X),
    "is_finite": (np.isfinite, np.array([1, np.inf, -np.inf, np.nan, 0], f32)),
    "is_inf": (np.isinf, np.array([1, np.inf, -np.inf, np.nan, 0], f32)),
    "is_pos_inf": (np.isposinf, np.array([1, np.inf, -np.inf, np.nan, 0], f32)),
    "is_neg_inf": (np.isneginf, np.array([1, np.inf, -np.inf, np.nan, 0], f32)),
    "acos": (np.arccos, UNIT),
    "acosh": (np.arccosh, POSITIVE + f32(1)),
    "asin": (np.arcsin, UNIT),
    "asinh": (np.arcsinh, X),
    "atan": (np.arctan, X),
    "atanh": (np.arctanh, UNIT),
    "bessel_i1e": (sp.i1e, X),
    "cosh": (np.cosh, X),
    "digamma": (sp.digamma, POSITIVE),
    "erf": (sp.erf, X),
    "erf_inv": (sp.erfinv, UNIT),
    "erfc": (sp.erfc, X),
    "lgamma": (sp.gammaln, POSITIVE),
    "sinh": (np.sinh, X),
    "square": (np.square, X),
    "real": (np.real, Z),
    "imag": (np.imag, Z),
    "conj": (np.conj, Z),
    "not_": (np.invert, I),
    "popcnt": (lambda x: np.bitwise_count(x).astype(x.dtype), U),
    "count_leading_zeros": (
        lambda x: np.array([32 - int(v).bit_length() for v in x], x.dtype),
        U,
    ),
}

BINARY = {
    "add": (np.add, X, Y),
    "subtract": (np.subtract, X, Y),
    "multiply": (np.multiply, X, Y),
    "divide": (np.divide, X, Y),
    "remainder": (np.fmod, X, Y),
    "maximum": (np.maximum, X, Y),
    "minimum": (np.minimum, X, Y),
    "power": (np.power, POSITIVE, Y),
    "atan2": (np.arctan2, X, Y),
    "complex": (lambda x, y: x + 1j * y, X, Y),
    "and_": (np.bitwise_and, I, J),
    "or_": (np.bitwise_or, I, J),
    "xor": (np.bitwise_xor, I, J),
    "shift_left": (np.left_shift, I, np.abs(J)),
    "shift_right_arithmetic": (np.right_shift, I, np.abs(J)),
    "shift_right_logical": (
        lambda x, y: (x.view(np.uint32) >> y.view(np.uint32)).view(np.int32),
        I,
        np.abs(J),
    ),
    "mulhi": (lambda x, y: (x.astype(np.int64) * y >> 32).astype(np.int32), I, J),
    "next_after": (np.nextafter, X, Y),
    "polygamma": (sp.polygamma, np.full(5, 2, f32), POSITIVE),
    "zeta": (sp.zeta, POSITIVE + f32(1), POSITIVE),
}

COMPARE = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}

ON_COMPLEX = {
    "exponential": np.exp,
    "log": np.log,
    "sine": np.sin,
    "cosine": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "sqrt": np.sqrt,
    "negate": np.negative,
    "square": np.square,
    "logistic": lambda z: 1 / (1 + np.exp(-z)),
    "exponential_minus_one": np.expm1,
    "log_plus_one": np.log1p,
    "rsqrt": lambda z: 1 / np.sqrt(z),
    "abs": np.abs,
    "sign": lambda z: z / np.abs(z),
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}


def _cast(want, x):
    if np.iscomplexobj(want):
        return want.astype(np.complex64)
    return want.astype(f32) if want.dtype.kind == "f" else want


def method(name):
    return lambda b, *xs: getattr(b, name)(*xs)


def cases_of(table):
    for name, (numpy_of, *inputs) in table.items():
        want = np.asarray(numpy_of(*inputs))
        yield Case(name, method(name), inputs, _cast(want, inputs[0]), 2e-5)


def test_unary_methods_agree_with_numpy():
    check(list(cases_of(UNARY)))


def test_binary_methods_agree_with_numpy():
    check(list(cases_of(BINARY)))


def test_complex_operands():
    table = {name: (f, Z) for name, f in ON_COMPLEX.items()}
    table |= {name: (BINARY[name][0], Z, Z[::-1]) for name in ("add", "multiply")}
    check(list(cases_of(table)))


def test_every_elementwise_method_is_in_a_table():
    other = {"compare", "select", "clamp", "convert", "bitcast_convert"}
    other |= {"reduce_precision"}
    public = {name for name in vars(Elementwise) if not name.startswith("__")}
    assert public == set(UNARY) | set(BINARY) | other


@pytest.mark.parametrize("pair", [(X, X[::-1]), (I, J), (U, U[::-1]), (B, C)])
def test_compare_follows_the_element_type(pair):
    # -7 < 2 tells signed from unsigned, 2**31 > 5 unsigned from signed.
    def compare(direction):
        return lambda b, x, y: b.compare(x, y, direction)

    check([Case(d, compare(d), pair, f(*pair)) for d, f in COMPARE.items()])


def test_compare_of_complex_and_total_order():
    nan = np.array([np.nan, 1, -0.0], f32)
    other = np.array([1, np.nan, 0.0], f32)
    check(
        [
            Case("eq", lambda b, x, y: b.compare(x, y, "EQ"), [Z, Z], np.full(5, True)),
            Case(
                "total",
                lambda b, x, y: b.compare(x, y, "LT", "TOTALORDER"),
                [nan, other],
                np.array([False, True, True]),
            ),
        ]
    )


def test_select_clamp_and_precision():
    low, high = f32(-1), f32(1)
    check(
        [
            Case(
                "select",
                lambda b, p, x, y: b.select(p, x, y),
                [B, X, Y],
                np.where(B, X, Y),
            ),
            Case(
                "select scalar",
                lambda b, p, x, y: b.select(p, x, y),
                [np.array(False), X, Y],
                Y,
            ),
            Case(
                "clamp",
                lambda b, lo, x, hi: b.clamp(lo, x, hi),
                [low, X, high],
                np.clip(X, low, high),
            ),
            Case(
                "reduce_precision",
                lambda b, x: b.reduce_precision(x, 8, 7),
                [np.array([1.001, 3.14159], f32)],
                np.array([1.0, 3.140625], f32),
            ),
        ]
    )


def test_conversions():
    bits = X.view(np.int32)
    check(
        [
            Case(
                "f2i",
                lambda b, x: b.convert(shaped((5,), np.int32), x),
                [X],
                X.astype(np.int32),
            ),
            Case(
                "i2f",
                lambda b, x: b.convert(shaped((5,), np.float64), x),
                [I],
                I.astype(np.float64),
            ),
            Case("b2f", lambda b, x: b.convert(shaped((5,)), x), [B], B.astype(f32)),
            Case(
                "f2b",
                lambda b, x: b.convert(shaped((5,), bool), x),
                [np.array([0, 0.5, -1, 0, 2], f32)],
                np.array([False, True, True, False, True]),
            ),
            Case(
                "bits",
                lambda b, x: b.bitcast_convert(shaped((5,), np.int32), x),
                [X],
                bits,
            ),
            Case(
                "narrow",
                lambda b, x: b.bitcast_convert(shaped((5, 4), np.uint8), x),
                [X],
                X.view(np.uint8).reshape(5, 4),
            ),
        ]
    )


def test_a_wrong_result_is_noticed():
    with pytest.raises(AssertionError, match="wrong"):
        check([Case("wrong", method("sine"), [X], np.cos(X))])


def test_a_broken_operation_does_not_verify():
    with pytest.raises(ValueError, match="same element type"):
        evaluate(lambda b, x, i: [b.add(x, i)], [X, I], [shaped((5,))])
