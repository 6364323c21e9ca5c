"""Learn to read handwritten digits, then ask the trained model some questions.

The model and its loss are plain functions of one image. `vmap` makes them work on many,
`grad` gives the derivative, `scan` runs a whole epoch inside the program, and `jit`
compiles it. The questions at the end combine them: `vmap(grad(...))`, `jvp(grad(...))`.
"""

import argparse
import time
from itertools import pairwise

import numpy as np
from rich.console import Console
from rich.progress import track
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import pullback
import pullback.numpy as pnp
from pullback import grad, jit, jvp, lax, nn, random, tree, value_and_grad, vmap

SIZES = (64, 128, 128, 10)
BATCH, RATE, MOMENTUM = 48, 0.1, 0.9


# ---- the data: 1,797 images of 8 x 8 pixels, a fifth of each digit kept for the test


def load():
    """Train images, test images, train labels, test labels."""
    pixels, labels = load_digits(return_X_y=True)
    images = (pixels / 16).astype(np.float32).reshape(-1, 8, 8)
    split = train_test_split(
        images, labels, test_size=0.2, stratify=labels, random_state=0
    )
    return [pnp.asarray(part) for part in split]


# ---- the model and its loss, for one image


def init(key):
    """A weight matrix and a bias for each layer."""
    shapes = list(pairwise(SIZES))
    keys = random.split(key, len(shapes))
    return [
        (pnp.sqrt(2 / m) * random.normal(key, (m, n)), pnp.zeros(n))
        for key, (m, n) in zip(keys, shapes, strict=True)
    ]


def predict(params, image):
    """Ten scores for one image; the highest names the digit."""
    *hidden, (weight, bias) = params
    x = image.reshape(-1)
    for w, b in hidden:
        x = nn.relu(x @ w + b)
    return x @ weight + bias


def loss(params, image, label):
    """The cross entropy of one image, in nats."""
    return -nn.log_softmax(predict(params, image))[label]


def mean_loss(params, images, labels):
    """The loss averaged over many images."""
    return pnp.mean(vmap(loss, in_axes=(None, 0, 0))(params, images, labels))


@jit
def accuracy(params, images, labels):
    """The share of images that are read right."""
    scores = vmap(predict, in_axes=(None, 0))(params, images)
    return pnp.mean(pnp.argmax(scores, axis=1) == labels)


# ---- training


def shift(key, image):
    """The image moved by up to one pixel each way."""
    corner = random.randint(key, (2,), 0, 3)
    return lax.dynamic_slice(pnp.pad(image, 1), corner, image.shape)


@jit
def epoch(params, velocity, rate, key, images, labels):
    """One pass over the images in random order: a scan over minibatches."""
    shuffle, move = random.split(key)
    count = len(images) // BATCH
    order = random.permutation(shuffle, len(images))[: count * BATCH]
    images = vmap(shift)(random.split(move, len(images)), images)

    def step(carry, rows):
        params, velocity = carry
        value, slope = value_and_grad(mean_loss)(params, images[rows], labels[rows])
        velocity = tree.map(lambda v, g: MOMENTUM * v + g, velocity, slope)
        params = tree.map(lambda p, v: p - rate * v, params, velocity)
        return (params, velocity), value

    batches = order.reshape(count, BATCH)
    (params, velocity), values = lax.scan(step, (params, velocity), batches)
    return params, velocity, pnp.mean(values)


def train(images, labels, epochs, console):
    """Trained parameters, and the loss of the last epoch."""
    key = random.key(0)
    params = init(key)
    velocity = tree.map(pnp.zeros_like, params)
    quiet = not console.is_terminal
    for i in track(range(epochs), "training", console=console, disable=quiet):
        rate = RATE * (1 - i / epochs)
        key, now = random.split(key)
        params, velocity, value = epoch(params, velocity, rate, now, images, labels)
        pullback.block_until_ready(value)
    return params, value


# ---- questions to a trained model


def dot(v, w):
    """The inner product of two trees of arrays."""
    return sum(tree.leaves(tree.map(lambda a, b: pnp.sum(a * b), v, w)))


def length(v):
    """The Euclidean norm of a tree of arrays."""
    return pnp.sqrt(dot(v, v))


@jit
def gradient_norms(params, images, labels):
    """How hard each image pulls at the parameters."""

    def norm(image, label):
        return length(grad(loss)(params, image, label))

    return vmap(norm)(images, labels)


@jit
def sharpest(params, images, labels):
    """The Hessian's largest eigenvalue a, and |H v - a v| / a for its unit vector v.

    Power iteration needs only products H v: the derivative of the gradient along v.
    """

    def slope(params):
        return grad(mean_loss)(params, images, labels)

    def hessian_times(v):
        return jvp(slope, (params,), (v,))[1]

    def unit(v):
        size = length(v)
        return tree.map(lambda leaf: leaf / size, v)

    def step(v, _):
        return unit(hessian_times(v)), None

    v, _ = lax.scan(step, unit(tree.map(pnp.ones_like, params)), length=200)
    product = hessian_times(v)
    value = dot(v, product)
    rest = tree.map(lambda p, leaf: p - value * leaf, product, v)
    return value, length(rest) / value


def main():
    """Train, then print the accuracy, the answers, and the loss as a program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=60)
    epochs = parser.parse_args().epochs

    train_images, test_images, train_labels, test_labels = load()
    began = time.perf_counter()
    params, value = train(train_images, train_labels, epochs, Console())
    seconds = time.perf_counter() - began
    print(f"{epochs} epochs over {len(train_images)} images in {seconds:.1f} s")
    print(f"loss of the last epoch: {value:.4f}")
    right = accuracy(params, test_images, test_labels)
    print(f"test accuracy: {100 * right:.2f} % of {len(test_images)} images")

    norms = gradient_norms(params, test_images, test_labels)
    middle, hardest = pnp.median(norms), pnp.argmax(norms)
    print("\nHow hard does each test image pull at the parameters? vmap(grad(loss)):")
    print(f"median {middle:.2g}, mean {norms.mean():.2g}, largest {norms.max():.2g}")
    read = pnp.argmax(predict(params, test_images[hardest]))
    print(f"largest: image {hardest}, a {test_labels[hardest]} read as {read}")

    curvature, residual = sharpest(params, train_images, train_labels)
    print("\nHow sharp is the minimum? Power iteration on jvp(grad(mean_loss)):")
    print(f"largest Hessian eigenvalue {curvature:.4g}, residual {residual:.1g}")

    print("\nThe loss as a program, each equation with the line that made it:")
    program = pullback.make_jaxpr(loss)(params, test_images[0], test_labels[0])
    print(program.pretty_print(source_info=True))


if __name__ == "__main__":
    main()
