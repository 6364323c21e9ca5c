"""Shape functions of lax as in JAX, errors included."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax as theirs

from pullback import lax

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
CALLS = [
    ("broadcast", (X, (5, 1))),
    ("broadcast", (np.float32(3), ())),
    ("broadcast_to_rank", (X, 5)),
    ("collapse", (X, 1)),
    ("collapse", (X, 0, 2)),
    ("collapse", (X, -2)),
    ("collapse", (X, -3, -1)),
    ("tile", (X, (2, 1, 3))),
    ("tile", (X, (2, 1))),
]


@pytest.mark.parametrize(("name", "args"), CALLS)
def test_arrays(name, args):
    given = (jnp.asarray(args[0]), *args[1:])
    try:
        want = np.asarray(getattr(theirs, name)(*given))
    except (TypeError, ValueError):
        with pytest.raises(ValueError, match=name):
            getattr(lax, name)(*args)
        return
    got = np.asarray(getattr(lax, name)(*args))
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_shapes():
    assert lax.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    with pytest.raises(ValueError, match="sizes are equal or 1"):
        lax.broadcast_shapes((2,), (3,))
    with pytest.raises(ValueError, match="3 axes to 2"):
        lax.broadcast_to_rank(X, 2)
