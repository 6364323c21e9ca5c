"""`debug.print` prints as jax does, and checks its format when it is traced."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback.errors import ArgumentError, ArgumentTypeError

FORMATS = [
    ("{} {}", lambda n: (n.arange(3.0), 2)),
    ("{0} {0}", lambda n: (n.float32(1.5),)),
    ("{:.2f}|{:>6}", lambda n: (n.float32(1.234), "s")),
    ("{} {{x}}", lambda n: (n.asarray([True, False]),)),
    ("{}", lambda n: (n.asarray([1.0, 2.5], "bfloat16"),)),
    ("{!r}", lambda n: (n.zeros((2, 2), "int32"),)),
    ("{0.shape}", lambda n: (n.zeros((2, 2)),)),
    ("{}", lambda n: ([n.float32(1), {"a": n.arange(2)}],)),
]


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize(("fmt", "args"), FORMATS)
def test_print_formats_as_jax(capsys, fmt, args, jitted):
    def printed(lib, np_):
        def f():
            lib.debug.print(fmt, *args(np_))

        (lib.jit(f) if jitted else f)()
        jax.effects_barrier()
        return capsys.readouterr().out

    assert printed(pullback, pnp) == printed(jax, jnp)


def test_print_follows_the_print_options_of_the_caller(capsys):
    with np.printoptions(precision=2):
        pullback.jit(lambda x: pullback.debug.print("{x}", x=x))(np.float32([1 / 3]))
    assert capsys.readouterr().out == "[0.33]\n"


def test_print_checks_its_format_when_it_is_traced():
    with pytest.raises(IndexError):
        pullback.debug.print("{} {}", 1)
    with pytest.raises(KeyError):
        pullback.debug.print("{a}", 1)
    with pytest.raises(ArgumentError, match="no argument 0, y"):
        pullback.debug.print("x", 1, y=2)
    with pytest.raises(ArgumentTypeError, match="format string"):
        pullback.debug.print(3)
    pullback.debug.print("x", 1, skip_format_check=True)


def test_print_shows_keys(capsys):
    pullback.jit(lambda k: pullback.debug.print("{}", k))(pullback.random.key(7))
    assert "key<fry>" in capsys.readouterr().out
