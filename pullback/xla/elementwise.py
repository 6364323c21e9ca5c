"""StableHLO and CHLO operations that work element by element."""

from pullback.xla.builder import Builder, binary, inferred, unary
from pullback.xla.types import AvalLike, Value


class Elementwise(Builder):
    """Methods are named as the operations. Operands have equal shapes and types.

    Those built by `unary` and `binary` return the type of their first operand.
    """

    __slots__ = ()

    add = binary("stablehlo.add")
    subtract = binary("stablehlo.subtract")
    multiply = binary("stablehlo.multiply")
    divide = binary("stablehlo.divide")
    remainder = binary("stablehlo.remainder")
    maximum = binary("stablehlo.maximum")
    minimum = binary("stablehlo.minimum")
    power = binary("stablehlo.power")
    atan2 = binary("stablehlo.atan2")
    and_ = binary("stablehlo.and")
    or_ = binary("stablehlo.or")
    xor = binary("stablehlo.xor")
    shift_left = binary("stablehlo.shift_left")
    shift_right_arithmetic = binary("stablehlo.shift_right_arithmetic")
    shift_right_logical = binary("stablehlo.shift_right_logical")

    not_ = unary("stablehlo.not")
    negate = unary("stablehlo.negate")
    sign = unary("stablehlo.sign")
    exponential = unary("stablehlo.exponential")
    exponential_minus_one = unary("stablehlo.exponential_minus_one")
    log = unary("stablehlo.log")
    log_plus_one = unary("stablehlo.log_plus_one")
    logistic = unary("stablehlo.logistic")
    sine = unary("stablehlo.sine")
    cosine = unary("stablehlo.cosine")
    tan = unary("stablehlo.tan")
    tanh = unary("stablehlo.tanh")
    sqrt = unary("stablehlo.sqrt")
    rsqrt = unary("stablehlo.rsqrt")
    cbrt = unary("stablehlo.cbrt")
    floor = unary("stablehlo.floor")
    ceil = unary("stablehlo.ceil")
    round_nearest_even = unary("stablehlo.round_nearest_even")
    round_nearest_afz = unary("stablehlo.round_nearest_afz")
    popcnt = unary("stablehlo.popcnt")
    count_leading_zeros = unary("stablehlo.count_leading_zeros")

    abs = inferred("stablehlo.abs")
    real = inferred("stablehlo.real")
    imag = inferred("stablehlo.imag")
    complex = inferred("stablehlo.complex")
    is_finite = inferred("stablehlo.is_finite")

    acos = unary("chlo.acos")
    acosh = unary("chlo.acosh")
    asin = unary("chlo.asin")
    asinh = unary("chlo.asinh")
    atan = unary("chlo.atan")
    atanh = unary("chlo.atanh")
    bessel_i1e = unary("chlo.bessel_i1e")
    conj = unary("chlo.conj")
    cosh = unary("chlo.cosh")
    digamma = unary("chlo.digamma")
    erf = unary("chlo.erf")
    erf_inv = unary("chlo.erf_inv")
    erfc = unary("chlo.erfc")
    lgamma = unary("chlo.lgamma")
    sinh = unary("chlo.sinh")
    square = unary("chlo.square")
    next_after = binary("chlo.next_after")
    polygamma = binary("chlo.polygamma")
    zeta = binary("chlo.zeta")
    mulhi = binary("chlo.mulhi")

    is_inf = inferred("chlo.is_inf")
    is_pos_inf = inferred("chlo.is_pos_inf")
    is_neg_inf = inferred("chlo.is_neg_inf")

    def compare(
        self, x: Value, y: Value, direction: str, kind: str | None = None
    ) -> Value:
        """Returns `bool[*s]`.

        direction: EQ NE LT LE GT GE
        kind: FLOAT SIGNED UNSIGNED TOTALORDER; the element type decides when None
        """
        out, fields = self.context.comparison(x.type, direction, kind)
        return self.op("stablehlo.compare", out, (x, y), fields)

    def select(self, pred: Value, on_true: Value, on_false: Value) -> Value:
        """pred: bool[*s] or bool[]; on_true, on_false: t[*s]"""
        return self.op("stablehlo.select", on_true.type, (pred, on_true, on_false))

    def clamp(self, low: Value, x: Value, high: Value) -> Value:
        """x: t[*s]; low, high: t[*s] or t[]"""
        return self.op("stablehlo.clamp", x.type, (low, x, high))

    def convert(self, out: AvalLike, x: Value) -> Value:
        """Converts to the element type of `out`."""
        return self.op("stablehlo.convert", self.context.tensor(out), (x,))

    def bitcast_convert(self, out: AvalLike, x: Value) -> Value:
        """Reinterprets bits; the last dimension absorbs a change of width."""
        return self.op("stablehlo.bitcast_convert", self.context.tensor(out), (x,))

    def reduce_precision(
        self, x: Value, exponent_bits: int, mantissa_bits: int
    ) -> Value:
        """Rounds to a float with fewer bits."""
        fields = {
            "exponent_bits": self.context.integer(exponent_bits, 32),
            "mantissa_bits": self.context.integer(mantissa_bits, 32),
        }
        return self.op("stablehlo.reduce_precision", x.type, (x,), fields)
