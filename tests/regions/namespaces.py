"""The names that `programs` use, in pullback and in jax."""

from types import SimpleNamespace

import numpy as np

import pullback
import pullback.api.install
from pullback import lax
from pullback.compile.jit import jit
from pullback.core.aval import aval_of
from pullback.ops.logic import gt, lt
from pullback.ops.shape import reduce_sum
from pullback.ops.transcendental import tanh


def total(x):
    return reduce_sum(x, range(aval_of(x).ndim))


PULLBACK = SimpleNamespace(
    scan=lax.scan,
    while_loop=lax.while_loop,
    fori_loop=lax.fori_loop,
    cond=lax.cond,
    switch=lax.switch,
    map=lax.map,
    tanh=tanh,
    total=total,
    positive=lambda x: gt(total(x), np.zeros((), aval_of(x).dtype)),
    less=lambda x, y: lt(x, np.asarray(y, aval_of(x).dtype)),
    jit=jit,
    asarray=lambda x: x,
    grad=pullback.grad,
    vmap=pullback.vmap,
    jvp=pullback.jvp,
    vjp=pullback.vjp,
    linearize=pullback.linearize,
    jacfwd=pullback.jacfwd,
    jacrev=pullback.jacrev,
)


def jax_namespace():
    import jax
    import jax.numpy as jnp

    return SimpleNamespace(
        scan=jax.lax.scan,
        while_loop=jax.lax.while_loop,
        fori_loop=jax.lax.fori_loop,
        cond=jax.lax.cond,
        switch=jax.lax.switch,
        map=jax.lax.map,
        tanh=jnp.tanh,
        total=jnp.sum,
        positive=lambda x: jnp.sum(x) > 0,
        less=lambda x, y: x < y,
        jit=jax.jit,
        asarray=jnp.asarray,
        grad=jax.grad,
        vmap=jax.vmap,
        jvp=jax.jvp,
        vjp=jax.vjp,
        linearize=jax.linearize,
        jacfwd=jax.jacfwd,
        jacrev=jax.jacrev,
    )
