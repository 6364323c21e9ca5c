"""Programs that the maps are checked on: the text of each line is what is asked for."""

import pullback
import pullback.numpy as np
from pullback import lax
from tests.explaining.programs import sm_helper


def net(params, x):
    for w, b in params:
        x = sm_helper.act(sm_helper.affine(w, b, x))
    return x


def loss(params, x, target):
    gap = net(params, x) - target
    return np.sum(gap * gap)


def flat(x):
    return np.sin(x)


# fmt: off
def wide(x):
    größe = '日本語🎉'; y = np.sin(x) + np.cos(x)  # noqa: E702
    return y if größe else x


def two_lambdas(x):
    y = lax.cond(x.sum() > 0, lambda v: np.sin(v), lambda v: np.cos(v), x)
    return lax.fori_loop(0, 3, lambda i, v: v * 1.5, y)


def fused(x):
    p = np.tanh(x); q = np.exp(p)  # noqa: E702
    return q  # noqa: RET504
# fmt: on


def newline(x):
    y = np.sin(x)
    pullback.debug.print("first\nsecond {}", y)
    z = np.cos(y)
    return z * 3.0


def library(x):
    return np.sort(x) + np.linalg.norm(x)


def scaled(x, *, scale):
    return x * scale


def loop(c, xs):
    def body(c, x):
        c = c + np.sin(x)
        return c, c * 2.0

    return lax.scan(body, c, xs)


def products(xs):
    def body(c, x):
        return c @ x, c.sum()

    return lax.scan(body, xs[0], xs)


def mapped(x):
    return pullback.vmap(lambda r: np.dot(r, r))(x)


def chained(x):
    half = x * 0.5
    total = half.sum()
    a, b = np.sin(half), np.cos(half)
    a += total
    return a * b


def checkpointed(x):
    return np.sum(pullback.checkpoint(lambda v: np.sin(np.sin(v)))(x))


@pullback.custom_jvp
def doubled(x):
    return np.exp(x) * 2.0


@doubled.defjvp
def doubled_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    return doubled(x), doubled(x) * dx


def with_rule(x):
    return np.sum(doubled(x))


def shared(x):
    return sm_helper.act(sm_helper.act(x) + 1.0)


PARAMS = [(np.ones((4, 5)), np.ones(5)), (np.ones((5, 3)), np.ones(3))]
BATCH = np.ones((2, 4))
TARGET = np.zeros((2, 3))
V = np.arange(1.0, 4.0)

ARGUMENTS = {
    "loss": (PARAMS, BATCH, TARGET),
    "loop": (np.float32(0.0), np.arange(7.0)),
    "products": (np.ones((7, 16, 16)),),
    "mapped": (np.ones((3, 4)),),
}
NAMES = (
    "loss",
    "flat",
    "wide",
    "two_lambdas",
    "fused",
    "library",
    "loop",
    "products",
    "mapped",
    "chained",
    "checkpointed",
    "with_rule",
    "shared",
)
