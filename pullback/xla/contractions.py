"""Products, convolutions and linear algebra."""

from collections.abc import Sequence
from typing import Any

from jaxlib.mlir._mlir_libs import _stablehlo

from pullback.xla.builder import Builder
from pullback.xla.types import Attribute, AvalLike, Value

Precision = str | Sequence[str] | None


class Contractions(Builder):
    """`precision` is DEFAULT, HIGH or HIGHEST, or one for each operand."""

    __slots__ = ()

    def _precision(self, precision: Precision) -> dict[str, Attribute]:
        if precision is None:
            return {}
        names = (precision,) * 2 if isinstance(precision, str) else precision
        get, raw = _stablehlo.PrecisionAttr.get, self.context.raw
        attributes = [get(name, raw) for name in names]
        return {"precision_config": self.context.array(attributes)}

    def dot_general(
        self,
        out: AvalLike,
        x: Value,
        y: Value,
        contracting: tuple[Sequence[int], Sequence[int]],
        batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
        precision: Precision = None,
        algorithm: str | None = None,
    ) -> Value:
        """Sums products over the contracting dimensions.

        out: t[*batch, *free dimensions of x, *free dimensions of y]
        algorithm: MLIR text of a `#stablehlo.dot_algorithm`
        """
        c = self.context
        fields = {
            "dot_dimension_numbers": _stablehlo.DotDimensionNumbers.get(
                list(batch[0]),
                list(batch[1]),
                list(contracting[0]),
                list(contracting[1]),
                context=c.raw,
            ),
            **self._precision(precision),
        }
        if algorithm is not None:
            fields["algorithm"] = c.parse(algorithm)
        return self.op("stablehlo.dot_general", c.tensor(out), (x, y), fields)

    def convolution(
        self,
        out: AvalLike,
        x: Value,
        kernel: Value,
        *,
        dimension_numbers: tuple[Sequence[int], Sequence[int], Sequence[int]],
        window_strides: Sequence[int],
        padding: Sequence[tuple[int, int]],
        lhs_dilation: Sequence[int],
        rhs_dilation: Sequence[int],
        window_reversal: Sequence[bool] | None = None,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        precision: Precision = None,
    ) -> Value:
        """Source: StableHLO convolution.

        dimension_numbers: the dimensions of x (batch, feature, *spatial), of the
        kernel (output feature, input feature, *spatial), of the result (as of x)
        """
        c = self.context
        fields = {
            "dimension_numbers": self._convolution_numbers(dimension_numbers),
            "window_strides": c.ints(window_strides),
            "padding": c.matrix(padding, 2),
            "lhs_dilation": c.ints(lhs_dilation),
            "rhs_dilation": c.ints(rhs_dilation),
            "feature_group_count": c.integer(feature_group_count),
            "batch_group_count": c.integer(batch_group_count),
            **self._precision(precision),
        }
        if window_reversal is not None:
            fields["window_reversal"] = c.bools(window_reversal)
        return self.op("stablehlo.convolution", c.tensor(out), (x, kernel), fields)

    def _convolution_numbers(self, numbers: Any) -> Attribute:
        x, kernel, out = (list(dims) for dims in numbers)
        return _stablehlo.ConvDimensionNumbers.get(
            input_batch_dimension=x[0],
            input_feature_dimension=x[1],
            input_spatial_dimensions=x[2:],
            kernel_input_feature_dimension=kernel[1],
            kernel_output_feature_dimension=kernel[0],
            kernel_spatial_dimensions=kernel[2:],
            output_batch_dimension=out[0],
            output_feature_dimension=out[1],
            output_spatial_dimensions=out[2:],
            ctx=self.context.raw,
        )

    def fft(self, out: AvalLike, x: Value, kind: str, lengths: Sequence[int]) -> Value:
        """kind: FFT IFFT RFFT IRFFT, over the last `len(lengths)` dimensions"""
        c = self.context
        fields = {
            "fft_type": _stablehlo.FftTypeAttr.get(kind, c.raw),
            "fft_length": c.ints(lengths),
        }
        return self.op("stablehlo.fft", c.tensor(out), (x,), fields)

    def cholesky(self, x: Value, lower: bool = True) -> Value:
        """x: f[*b, n, n]; the other triangle of the result is not defined"""
        fields = {"lower": self.context.boolean(lower)}
        return self.op("stablehlo.cholesky", x.type, (x,), fields)

    def triangular_solve(
        self,
        a: Value,
        y: Value,
        *,
        left_side: bool,
        lower: bool,
        unit_diagonal: bool = False,
        transpose_a: str = "NO_TRANSPOSE",
    ) -> Value:
        """Solves `op(a) @ x = y`, or `x @ op(a) = y` when not `left_side`.

        transpose_a: NO_TRANSPOSE TRANSPOSE ADJOINT
        """
        c = self.context
        fields = {
            "left_side": c.boolean(left_side),
            "lower": c.boolean(lower),
            "unit_diagonal": c.boolean(unit_diagonal),
            "transpose_a": _stablehlo.TransposeAttr.get(transpose_a, c.raw),
        }
        return self.op("stablehlo.triangular_solve", y.type, (a, y), fields)
