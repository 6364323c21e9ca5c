"""Programs with control flow that run in pullback, in jax and in plain NumPy.

Each takes a namespace and float operands w: [3], x: [4, 3], and returns a scalar. The
`plain` namespace runs the loops in Python: the independent meaning of each program.
"""

from types import SimpleNamespace

import numpy as np


def _numpy_scan(f, init, xs=None, length=None, reverse=False, unroll=1):
    rows = (
        [None] * length
        if xs is None
        else [
            tuple(a[i] for a in xs) if isinstance(xs, tuple) else xs[i]
            for i in range(len(xs[0] if isinstance(xs, tuple) else xs))
        ]
    )
    ys = []
    carry = init
    for x in rows[::-1] if reverse else rows:
        carry, y = f(carry, x)
        ys.append(y)
    if reverse:
        ys.reverse()
    if ys[0] is None:
        return carry, None
    return carry, np.stack(ys)


def _numpy_while(cond, body, x):
    while cond(x):
        x = body(x)
    return x


def _numpy_fori(a, b, body, x):
    for i in range(int(a), int(b)):
        x = body(i, x)
    return x


PLAIN = SimpleNamespace(
    scan=_numpy_scan,
    while_loop=_numpy_while,
    fori_loop=_numpy_fori,
    cond=lambda p, t, f, *xs: t(*xs) if p else f(*xs),
    switch=lambda i, fs, *xs: fs[min(max(int(i), 0), len(fs) - 1)](*xs),
    map=lambda f, xs: np.stack([f(x) for x in xs]),
    tanh=np.tanh,
    total=np.sum,
    positive=lambda x: np.sum(x) > 0,
    less=lambda x, y: x < y,
    jit=lambda f: f,
    asarray=np.asarray,
)


def recurrent(o, w, x):
    def step(c, row):
        c = o.tanh(c * w + row)
        return c, c * row

    c, ys = o.scan(step, w * 0.5, x)
    return o.total(c) + o.total(ys * ys)


def backwards(o, w, x):
    c, ys = o.scan(lambda c, r: (o.tanh(c * r) + w, c * w), w, x, reverse=True)
    return o.total(c * c) + o.total(ys * x)


def unrolled(o, w, x):
    c, ys = o.scan(lambda c, r: (o.tanh(c * r) + w, c * w), w, x, unroll=3)
    return o.total(c * c) + o.total(ys * x)


def written_out(o, w, x):
    def step(c, r):
        return o.tanh(c * r) + w, c * w

    c, ys = o.scan(step, w, x, unroll=True, reverse=True)
    return o.total(c * c) + o.total(ys * x)


def without_rows(o, w, x):
    def step(c, _):
        i, a = c
        return (i + 1, a * w + o.tanh(a)), None

    (_, a), _ = o.scan(step, (0, w), None, length=3)
    return o.total(a * x[0])


def live_late(o, w, x):
    """The second carry depends on w only from the second iteration on."""

    def step(c, r):
        a, b, k = c
        return (a * w, o.tanh(b + a * r), k), b * k

    (a, b, _), ys = o.scan(step, (w, x[0] * 0.0, x[1]), x)
    return o.total(a) + o.total(b * b) + o.total(ys)


def nested(o, w, x):
    def outer(c, r):
        d, ys = o.scan(lambda d, q: (o.tanh(d * w + q * r), d * c), c, x)
        return d * 0.5, o.total(ys)

    c, ys = o.scan(outer, w, x)
    return o.total(c * w) + o.total(ys * ys)


def choosing(o, w, x):
    def step(c, r):
        up, down = lambda a: o.tanh(a * w) * r, lambda a: a * a * 0.5 + w
        c = o.cond(o.positive(c), up, down, c)
        return c, o.total(c)

    c, ys = o.scan(step, w, x)
    return o.total(c) + o.total(ys * ys)


def switching(o, w, x):
    branches = [
        lambda a: o.tanh(a),
        lambda a: a * w,
        lambda a: o.tanh(a * a) * w + x[0],
    ]

    def step(c, rows):
        i, r = rows
        return o.switch(i, branches, c + r), c

    c, ys = o.scan(step, w, (o.asarray(np.array([2, 0, 1, 5])), x))
    return o.total(c * c) + o.total(ys)


def counting(o, w, x):
    return o.total(o.fori_loop(1, 4, lambda i, c: o.tanh(c * w) * i + x[0], w))


def compiled_inside(o, w, x):
    step = o.jit(lambda c, r: (o.tanh(c * w + r), o.total(c)))
    c, ys = o.scan(step, w, x)
    return o.total(c) + o.total(ys * ys)


def mapped_rows(o, w, x):
    return o.total(o.map(lambda r: o.tanh(r * w) * o.total(r * w), x))


def unused(o, w, x):
    """Results, carries and constants that nothing needs."""

    def step(c, r):
        a, b = c
        return (a * r, o.tanh(b * w)), (a + w, b * r)

    (_, b), _ = o.scan(lambda c, r: (step(c, r)[0], step(c, r)[1][0]), (w, w), x)
    return o.total(b)


def repeated(o, w, x):
    """A loop of a length that depends on values: forward derivatives only."""

    def body(c):
        return o.tanh(c * 0.5) + c * w * 1.5

    c = o.while_loop(lambda c: o.less(o.total(c * c), 60.0), body, w * w + 1.0)
    return o.total(c * x[0])


REVERSIBLE = (
    recurrent,
    backwards,
    unrolled,
    written_out,
    without_rows,
    live_late,
    nested,
    choosing,
    switching,
    counting,
    compiled_inside,
    mapped_rows,
    unused,
)
ALL = (*REVERSIBLE, repeated)


def operands(seed: int = 0):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.3, 1.2, 3), rng.normal(size=(4, 3)) * 0.7
