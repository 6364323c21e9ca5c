"""Fourier transforms as in jax and in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback.core import config
from tests.jax_parity.same_call import check

RNG = np.random.default_rng(4)
X = RNG.standard_normal((3, 4, 5, 6)).astype(np.float32)
C = (X + 1j * X[::-1]).astype(np.complex64)
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
OPTIONS_OF_ONE = [
    {},
    {"n": 3},
    {"n": 9},
    {"n": 0},
    {"axis": 1},
    {"axis": 7},
    {"norm": "ortho"},
    {"norm": "forward"},
    {"norm": "other"},
]
SEVERAL = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
OPTIONS = [
    {},
    {"s": (3, 8)},
    {"axes": (2, 0), "s": (5, 4)},
    {"norm": "forward"},
    {"axes": (1, 1)},
    {"s": (3,), "axes": (0, 1)},
    {"axes": (0, 1, 2)},
]


@pytest.mark.parametrize("name", ONE)
def test_one_axis(name):
    real = name in ("rfft", "ihfft")
    for options in OPTIONS_OF_ONE:
        check(f"fft.{name}", (X if real else C)[0, 0], tol=1e-4, **options)
    check(f"fft.{name}", (C if real else X)[0, 0], tol=1e-4)
    check(f"fft.{name}", np.arange(4), tol=1e-4)


@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes(name):
    for options in OPTIONS:
        check(f"fft.{name}", X if name[0] == "r" else C, tol=1e-4, **options)
    check(f"fft.{name}", C if name[0] == "r" else X, tol=1e-4)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_more_axes_than_xla_takes_at_once(name):
    x = RNG.standard_normal((2, 3, 2, 3, 4))
    x = x if name == "rfftn" else x + 1j * x[::-1]
    with config.enable_x64(True):
        got = getattr(pnp.fft, name)(x)
    np.testing.assert_allclose(np.asarray(got), getattr(np.fft, name)(x), 1e-10, 1e-12)


def test_frequencies_and_shifts():
    for name in ("fftfreq", "rfftfreq"):
        check(f"fft.{name}", 5)
        check(f"fft.{name}", 6, 0.1)
        check(f"fft.{name}", 4, dtype="float16")
    for name in ("fftshift", "ifftshift"):
        check(f"fft.{name}", X)
        check(f"fft.{name}", X, 1)
        check(f"fft.{name}", X, (0, 2))
        check(f"fft.{name}", X, 9)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "fft2", "rfftn"])
def test_gradients(name):
    x = (X if name.startswith("rfft") else C)[0, 0]

    def loss(module):
        def f(x):
            y = getattr(module.fft, name)(x, norm="ortho")
            return (module.abs(y) ** 2 * module.arange(y.shape[-1])).sum()

        return f

    want = jax.grad(loss(jnp))(x)
    got = pullback.grad(loss(pnp))(x)
    np.testing.assert_allclose(np.asarray(got), want, 1e-4, 1e-4)


def test_every_name_is_there():
    names = [n for n in dir(jnp.fft) if not n.startswith("_")]
    assert [n for n in names if not hasattr(pnp.fft, n)] == []


def test_the_message_says_what_to_do():
    with pytest.raises(
        pullback.errors.ArgumentError, match=r"rfft of c64.*\n.*\n.*fix"
    ):
        pnp.fft.rfft(C)
