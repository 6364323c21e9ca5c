"""What scan says of carries, lengths and results that do not fit."""

import numpy as np
import pytest

from pullback import lax
from pullback.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    ShapeError,
    TreeError,
)

ROWS = np.arange(1, 5, dtype=np.float32)


def raises(error, *parts):
    return pytest.raises(error, match="(?s)" + ".*".join(parts))


def test_carry_types():
    init = {"a": np.ones(3, np.float32), "b": 1.0}
    with raises(DtypeError, r"init\['a'\] is f32\[3\]", r"i32\[3\]", r"fix: .*float32"):
        lax.scan(lambda c, x: ({**c, "a": np.ones(3, np.int32)}, x), init, ROWS)
    with raises(ShapeError, r"init\['b'\] is f32\[\]", r"f32\[4\]", "fix"):
        lax.scan(lambda c, x: ({**c, "b": ROWS}, x), init, ROWS)
    with raises(TreeError, r"\['b'\]", "a leaf against list of length 1"):
        lax.scan(lambda c, x: ({**c, "b": [1.0]}, x), init, ROWS)


def test_lengths():
    with raises(ArgumentError, r"xs\['a'\] has 4", r"xs\['b'\] has 3"):
        lax.scan(lambda c, x: (c, x), 1.0, {"a": ROWS, "b": ROWS[1:]})
    with raises(ArgumentError, "xs has 4", "length is 3"):
        lax.scan(lambda c, x: (c, x), 1.0, ROWS, length=3)
    with raises(ArgumentError, "no length"):
        lax.scan(lambda c, x: (c, x), 1.0)
    with raises(ArgumentError, "xs is f32", "leading axis"):
        lax.scan(lambda c, x: (c, x), 1.0, 3.0)
    with raises(ArgumentError, "not negative"):
        lax.scan(lambda c, x: (c, x), 1.0, length=-1)
    with raises(ArgumentTypeError, "integer"):
        lax.scan(lambda c, x: (c, x), 1.0, length=2.5)
    with raises(ArgumentError, "unroll"):
        lax.scan(lambda c, x: (c, x), 1.0, ROWS, unroll=-1)


def test_results():
    with raises(ArgumentTypeError, r"f32\[\]", "pair"):
        lax.scan(lambda c, x: c, 1.0, ROWS)
    with raises(ArgumentTypeError, "'text'", r"result\[1\]"):
        lax.scan(lambda c, x: (c, "text"), 1.0, ROWS)
    with raises(ArgumentTypeError, r"init\['k'\] is 'text'"):
        lax.scan(lambda c, x: (c, x), {"k": "text"}, ROWS)
    with raises(ArgumentTypeError, "function"):
        lax.scan(3, 1.0, ROWS)


def test_traced_values_are_named_by_argument():
    def step(c, x):
        return c if c["w"] else {"w": x}, x

    with pytest.raises(TypeError, match=r"carry\['w'\] of step"):
        lax.scan(step, {"w": 1.0}, ROWS)
