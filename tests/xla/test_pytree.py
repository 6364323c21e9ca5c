"""The C++ registry of pytrees."""

from collections import namedtuple

import pytest

from pullback.xla import pytree

Point = namedtuple("Point", "x y")


class Box:
    """A node of the test's own."""

    def __init__(self, item, label):
        self.item, self.label = item, label


pytree.register(
    Box, lambda box: ((box.item,), box.label), lambda label, c: Box(*c, label)
)


def test_flatten_and_unflatten():
    tree = {"b": [1, None], "a": Point(2, (3, ()))}
    leaves, treedef = pytree.flatten(tree)
    assert leaves == [2, 3, 1]
    assert pytree.num_leaves(treedef) == 3
    assert pytree.unflatten(treedef, "xyz") == {
        "a": Point("x", ("y", ())),
        "b": ["z", None],
    }


def test_treedefs_compare_and_hash():
    one, same, other = (pytree.flatten(t)[1] for t in ([1, 2], [3, 4], (1, 2)))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other


def test_registered_nodes_carry_their_metadata():
    leaves, treedef = pytree.flatten([Box(1, "one")])
    assert leaves == [1]
    (again,) = pytree.unflatten(treedef, [5])
    assert (again.item, again.label) == (5, "one")
    assert treedef != pytree.flatten([Box(1, "two")])[1]
    with pytest.raises(ValueError, match="Duplicate"):
        pytree.register(Box, list, tuple)


def test_what_is_not_registered_is_a_leaf():
    class Box(dict):
        pass

    tree = Box(a=1)
    assert pytree.flatten(tree)[0] == [tree]


def test_is_leaf_and_partial_structures():
    leaves, treedef = pytree.flatten([(1, 2), 3], lambda x: isinstance(x, tuple))
    assert leaves == [(1, 2), 3]
    assert pytree.flatten_up_to(treedef, [[7, 8], 9]) == [[7, 8], 9]
    with pytest.raises(ValueError, match=r"mismatch|arity"):
        pytree.flatten_up_to(treedef, [1])


def test_structure_can_be_read():
    _, treedef = pytree.flatten({"a": (1, 2)})
    assert pytree.node_data(treedef) == (dict, ["a"])
    (inner,) = pytree.children(treedef)
    assert pytree.node_data(inner)[0] is tuple
    assert pytree.node_data(pytree.children(inner)[0]) is None
    assert pytree.flatten_one_level(3) is None
    assert list(pytree.flatten_one_level(Point(1, 2))[0]) == [1, 2]


def test_errors():
    with pytest.raises(ValueError, match="keys"):
        pytree.flatten({"a": 1, 3: 2})
    treedef = pytree.flatten([1, 2])[1]
    for leaves in ([1], [1, 2, 3]):
        with pytest.raises(ValueError, match="leaves"):
            pytree.unflatten(treedef, leaves)
