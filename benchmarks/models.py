"""Programs to measure, each written once for either library.

Parameters come from NumPy with a fixed seed, so that both compute the same numbers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.library import Library

HEADS = 4


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers of a size that keeps sums over the first axis near 1."""
    return (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)


def ten_operations(lib: Library) -> Callable:
    """A scalar function of a vector."""
    xp = lib.numpy

    def f(x):
        wave = xp.sin(x) * xp.exp(x) + xp.cos(x) / (x * x + 1.0)
        return xp.sum(xp.tanh(wave) - xp.log(x))

    return f


def perceptron(lib: Library) -> Callable:
    """The mean square of a chain of tanh layers."""
    xp = lib.numpy

    def loss(params, x):
        for weights, bias in params:
            x = xp.tanh(x @ weights + bias)
        return xp.mean(x**2)

    return loss


def perceptron_parameters(lib: Library, width: int, layers: int = 3) -> list:
    """A list of (weights, bias)."""
    rng = np.random.default_rng(0)
    give = lib.numpy.asarray
    return [
        (give(normal(rng, width, width)), give(normal(rng, width)))
        for _ in range(layers)
    ]


def transformer(lib: Library) -> Callable:
    """The cross-entropy of predicting each next token; a Python loop over layers."""
    xp, nn = lib.numpy, lib.nn

    def norm(p, x):
        centered = x - xp.mean(x, axis=-1, keepdims=True)
        variance = xp.mean(centered * centered, axis=-1, keepdims=True)
        return centered / xp.sqrt(variance + 1e-5) * p["scale"] + p["shift"]

    def attend(p, x):
        batch, length, width = x.shape
        split = (batch, length, HEADS, width // HEADS)
        query, key, value = (xp.reshape(x @ p[k], split) for k in ("q", "k", "v"))
        scores = xp.einsum("bihd,bjhd->bhij", query, key) / (width // HEADS) ** 0.5
        past = xp.tril(xp.ones((length, length), dtype=bool))
        weights = nn.softmax(xp.where(past, scores, -1e9), axis=-1)
        mixed = xp.einsum("bhij,bjhd->bihd", weights, value)
        return xp.reshape(mixed, x.shape) @ p["out"]

    def feed(p, x):
        return nn.gelu(x @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"]

    def loss(params, tokens):
        given, wanted = tokens[:, :-1], tokens[:, 1:]
        x = params["tokens"][given] + params["places"]
        for p in params["layers"]:
            x = x + attend(p, norm(p["before"], x))
            x = x + feed(p, norm(p["between"], x))
        scores = nn.log_softmax(norm(params["last"], x) @ params["tokens"].T)
        return -xp.mean(xp.take_along_axis(scores, wanted[..., None], axis=-1))

    return loss


def transformer_parameters(
    lib: Library, width: int, layers: int, vocabulary: int = 128, length: int = 32
) -> dict[str, Any]:
    """A tree of arrays: 14 a layer, and 4."""
    rng = np.random.default_rng(0)
    give = lib.numpy.asarray

    def scaling():
        scale, shift = np.ones(width, np.float32), np.zeros(width, np.float32)
        return {"scale": give(scale), "shift": give(shift)}

    def layer():
        square = {k: give(normal(rng, width, width)) for k in ("q", "k", "v", "out")}
        return square | {
            "before": scaling(),
            "between": scaling(),
            "up": give(normal(rng, width, 4 * width)),
            "up_bias": give(np.zeros(4 * width, np.float32)),
            "down": give(normal(rng, 4 * width, width)),
            "down_bias": give(np.zeros(width, np.float32)),
        }

    return {
        "tokens": give(normal(rng, vocabulary, width)),
        "places": give(normal(rng, length, width)),
        "layers": [layer() for _ in range(layers)],
        "last": scaling(),
    }


def sentences(lib: Library, batch: int, vocabulary: int = 128, length: int = 32):
    """Token numbers, one more a row than the length."""
    rng = np.random.default_rng(1)
    tokens = rng.integers(0, vocabulary, (batch, length + 1))
    return lib.numpy.asarray(tokens.astype(np.int32))


def descent(lib: Library, loss: Callable) -> Callable:
    """One compiled step of gradient descent on `loss`: parameters to parameters."""

    def step(params, *data):
        gradient = lib.top.grad(loss)(params, *data)
        return lib.top.tree.map(lambda p, g: p - 0.01 * g, params, gradient)

    return lib.top.jit(step)
