"""Types of arrays: interned, immutable, and what values have which."""

import copy
import gc
import pickle
import threading

import numpy as np
import pytest

from pullback.core import aval as avals, config
from pullback.core.aval import ShapedArray, aval_of, is_array_like, join_vary
from pullback.core.errors import ArgumentTypeError

F32 = np.dtype("float32")


def test_equal_types_are_one_object():
    x = ShapedArray((2, 3), F32)
    assert ShapedArray((2, 3), F32) is x
    assert ShapedArray((2, 3), F32, True) is not x
    assert ShapedArray((2, 3), F32, False, frozenset({"i"})) is not x
    for same in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert same is x


def test_types_nobody_holds_are_dropped():
    before = len(avals._interned)
    made = [ShapedArray((12345, i), F32) for i in range(50)]
    assert len(avals._interned) >= before + 50
    del made
    gc.collect()
    assert len(avals._interned) < before + 50


def test_threads_agree_on_the_object():
    barrier, found = threading.Barrier(4), []

    def make():
        barrier.wait()
        found.extend([ShapedArray((7, i), F32) for i in range(200)])

    threads = [threading.Thread(target=make) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(set(map(id, found))) == 200


def test_fields():
    x = ShapedArray((2, 3), F32)
    assert (x.ndim, x.size, x.weak_type, x.vary) == (2, 6, False, frozenset())
    with pytest.raises(AttributeError, match="immutable"):
        x.shape = ()


def test_changes_give_another_type():
    x = ShapedArray((2,), F32, True)
    assert x.update(shape=(3,)) is ShapedArray((3,), F32, True)
    assert x.strong() is ShapedArray((2,), F32)
    assert x.strong().strong() is x.strong()


def test_text():
    x = ShapedArray((2, 3), F32, True)
    assert x.short() == "f32[2,3]"
    assert str(x) == "float32[2,3]"
    assert repr(x) == "ShapedArray(float32[2,3], weak_type=True)"
    varying = x.update(vary=frozenset({"j", "i"}), weak_type=False)
    assert varying.short() == "f32[2,3]{i,j}"


@pytest.mark.parametrize(
    ("value", "want", "weak"),
    [
        (True, "bool[]", False),
        (1, "int32[]", True),
        (1.0, "float32[]", True),
        (1j, "complex64[]", True),
        (np.float32(1), "float32[]", False),
        (np.float64(1), "float32[]", False),
        (np.zeros((2,), np.int8), "int8[2]", False),
        (np.zeros((2,), np.float64), "float32[2]", False),
        (np.zeros((), np.bool_), "bool[]", False),
    ],
)
def test_types_of_values(value, want, weak):
    found = aval_of(value)
    assert (str(found), found.weak_type) == (want, weak)
    assert is_array_like(value)


def test_wide_types_of_values():
    with config.enable_x64(True):
        assert str(aval_of(1)) == "int64[]"
        assert str(aval_of(np.zeros(2))) == "float64[2]"


def test_a_value_that_offers_an_array():
    class Offers:
        def __jax_array__(self):
            return np.zeros(3, np.float32)

    assert str(aval_of(Offers())) == "float32[3]"


@pytest.mark.parametrize("value", ["text", None, [1.0], object()])
def test_other_values_have_no_type(value):
    assert not is_array_like(value)
    with pytest.raises(ArgumentTypeError, match="is not an array"):
        aval_of(value)


def test_variance_is_joined():
    x = ShapedArray((), F32, False, frozenset({"i"}))
    y = ShapedArray((), F32, False, frozenset({"j"}))
    assert join_vary([x, y]) == {"i", "j"}
    assert join_vary([]) == frozenset()
