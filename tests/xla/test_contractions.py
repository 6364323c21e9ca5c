"""Products, convolutions, FFT and linear algebra against NumPy."""

import numpy as np
import pytest

from tests.xla.modules import Case, check, evaluate, f32, shaped

R = np.random.default_rng(0)
X = R.normal(size=(2, 3, 4)).astype(f32)
Y = R.normal(size=(2, 4, 5)).astype(f32)
S = (X[0] @ X[0].T + 3 * np.eye(3)).astype(f32)
V = R.normal(size=(3, 2)).astype(f32)


def dot(b, x, y, precision=None, algorithm=None):
    out = shaped((2, 3, 5))
    return b.dot_general(out, x, y, ((2,), (1,)), ((0,), (0,)), precision, algorithm)


def test_dot_general():
    algorithm = (
        "#stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32,"
        " accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,"
        " num_primitive_operations = 1, allow_imprecise_accumulation = false>"
    )
    plain = shaped((3, 3))
    check(
        [
            Case("batched", dot, [X, Y], X @ Y, 1e-5),
            Case("high", lambda b, x, y: dot(b, x, y, "HIGHEST"), [X, Y], X @ Y, 1e-5),
            Case(
                "two",
                lambda b, x, y: dot(b, x, y, ("HIGH", "DEFAULT")),
                [X, Y],
                X @ Y,
                1e-5,
            ),
            Case(
                "algorithm",
                lambda b, x, y: dot(b, x, y, None, algorithm),
                [X, Y],
                X @ Y,
                1e-5,
            ),
            Case(
                "plain",
                lambda b, x, y: b.dot_general(plain, x, y, ((1,), (1,))),
                [X[0], X[0]],
                X[0] @ X[0].T,
                1e-5,
            ),
        ]
    )


def correlate(x, k):
    windows = np.lib.stride_tricks.sliding_window_view(x, 3, axis=2)
    return np.einsum("bclw,ocw->bol", windows, k).astype(f32)


def convolve(b, x, k, **changes):
    settings = dict(
        dimension_numbers=((0, 1, 2), (0, 1, 2), (0, 1, 2)),
        window_strides=(1,),
        padding=[(0, 0)],
        lhs_dilation=(1,),
        rhs_dilation=(1,),
    )
    settings |= changes
    out = settings.pop("out", (2, 4, 4))
    return b.convolution(shaped(out), x, k, **settings)


def test_convolution():
    x = R.normal(size=(2, 3, 6)).astype(f32)
    k = R.normal(size=(4, 3, 3)).astype(f32)
    want = correlate(x, k)
    last = ((0, 2, 1), (2, 1, 0), (0, 2, 1))

    def channels_last(b, x, k):
        return convolve(b, x, k, dimension_numbers=last, out=(2, 4, 4))

    def strided(b, x, k):
        return convolve(
            b,
            x,
            k,
            window_strides=(2,),
            padding=[(1, 1)],
            out=(2, 4, 3),
            precision="HIGHEST",
        )

    def reversed_window(b, x, k):
        return convolve(b, x, k, window_reversal=(True,))

    def grouped(b, x, k):
        return convolve(b, x, k, feature_group_count=3, out=(2, 3, 4))

    ones = np.ones((3, 1, 3), f32)
    summed = np.lib.stride_tricks.sliding_window_view(x, 3, axis=2).sum(-1)
    edges = np.pad(x, ((0, 0), (0, 0), (1, 1)))
    check(
        [
            Case("plain", convolve, [x, k], want, 1e-5),
            Case(
                "channels last",
                channels_last,
                [x.transpose(0, 2, 1), k.transpose(2, 1, 0)],
                want.transpose(0, 2, 1),
                1e-5,
            ),
            Case("strided", strided, [x, k], correlate(edges, k)[..., ::2], 1e-5),
            Case("reversed", reversed_window, [x, k], correlate(x, k[..., ::-1]), 1e-5),
            Case("grouped", grouped, [x, ones], summed, 1e-5),
        ]
    )


def test_fft():
    z = (X + 1j * X[::-1]).astype(np.complex64)
    half = np.fft.rfft(X)
    check(
        [
            Case(
                "fft",
                lambda b, x: b.fft(shaped((2, 3, 4), np.complex64), x, "FFT", [3, 4]),
                [z],
                np.fft.fft2(z).astype(np.complex64),
                1e-5,
            ),
            Case(
                "ifft",
                lambda b, x: b.fft(shaped((2, 3, 4), np.complex64), x, "IFFT", [4]),
                [z],
                np.fft.ifft(z).astype(np.complex64),
                1e-5,
            ),
            Case(
                "rfft",
                lambda b, x: b.fft(shaped((2, 3, 3), np.complex64), x, "RFFT", [4]),
                [X],
                half.astype(np.complex64),
                1e-5,
            ),
            Case(
                "irfft",
                lambda b, x: b.fft(shaped((2, 3, 4)), x, "IRFFT", [4]),
                [half.astype(np.complex64)],
                X,
                1e-5,
            ),
        ]
    )


def test_cholesky_and_triangular_solve():
    lower = np.linalg.cholesky(S).astype(f32)

    def solve(b, a, y, **flags):
        flags = dict(left_side=True, lower=True) | flags
        return b.triangular_solve(a, y, **flags)

    check(
        [
            Case("cholesky", lambda b, x: tril(b, b.cholesky(x)), [S], lower, 1e-5),
            Case("solve", solve, [lower, V], np.linalg.solve(lower, V), 1e-4),
            Case(
                "transposed",
                lambda b, a, y: solve(b, a, y, transpose_a="TRANSPOSE"),
                [lower, V],
                np.linalg.solve(lower.T, V),
                1e-4,
            ),
            Case(
                "right",
                lambda b, a, y: solve(b, a, y, left_side=False),
                [lower, V.T.copy()],
                np.linalg.solve(lower.T, V).T,
                1e-4,
            ),
            Case(
                "unit",
                lambda b, a, y: solve(b, a, y, unit_diagonal=True),
                [lower, V],
                np.linalg.solve(np.tril(lower, -1) + np.eye(3, dtype=f32), V),
                1e-4,
            ),
        ]
    )


def tril(b, x):
    mask = b.constant(np.tril(np.ones((3, 3), bool)))
    return b.select(mask, x, b.full(0, shaped((3, 3))))


def test_wrong_dimensions_do_not_verify():
    with pytest.raises(ValueError, match="contracting"):
        evaluate(
            lambda b, x, y: [b.dot_general(shaped((3, 5)), x, y, ((1,), (1,)))],
            [X[0], Y[0]],
            [shaped((3, 5))],
        )
