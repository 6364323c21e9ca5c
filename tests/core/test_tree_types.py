"""Registered node types: dataclasses, `Partial`, listeners, key paths."""

import collections
import dataclasses
import functools
import operator

import pytest

from pullback import tree, tree_util
from pullback.core import tree as core_tree
from pullback.core.errors import ArgumentError, ArgumentTypeError


@dataclasses.dataclass
class Two:
    x: object
    y: object = 0


REFUSED = [
    (dict(data_fields=["x"], meta_fields=[]), "missing 'y'"),
    (dict(data_fields=["x", "z"], meta_fields=["y"]), "'z' is not a field"),
    (dict(data_fields=["x", "y"], meta_fields=["x"]), "'x' is in data_fields and"),
]


@pytest.mark.parametrize(("fields", "words"), REFUSED)
def test_dataclass_fields_must_be_split(fields, words):
    with pytest.raises(ArgumentError, match=words):
        tree_util.register_dataclass(Two, **fields)


def test_dataclass_fields_come_together_or_are_inferred():
    with pytest.raises(ArgumentTypeError, match="only one of"):
        tree_util.register_dataclass(Two, data_fields=["x"])
    with pytest.raises(ArgumentTypeError, match="not a dataclass"):
        tree_util.register_dataclass(type("Plain", (), {}))


def test_dataclass_drop_fields_get_their_defaults():
    @functools.partial(
        tree_util.register_dataclass,
        data_fields=["x"],
        meta_fields=[],
        drop_fields=["y"],
    )
    @dataclasses.dataclass
    class Dropped:
        x: object
        y: object = "default"

    assert tree.map(abs, Dropped(-1, "lost")) == Dropped(1, "default")


def test_a_class_built_like_a_dataclass():
    class Plain:
        def __init__(self, x, y):
            self.x, self.y = x, y

    tree_util.register_dataclass(Plain, ["x"], ["y"])
    back = tree.map(abs, Plain(-1, "tag"))
    assert (back.x, back.y) == (1, "tag")


def test_partial_binds_children():
    bound = tree_util.Partial(operator.sub, 5)
    assert tree.leaves(bound) == [5]
    assert tree.map(lambda x: x + 1, bound)(2) == 4
    assert tree.structure(bound) == tree.structure(tree_util.Partial(operator.sub, 1))
    named = tree_util.Partial(dict, b=1, a=[2])
    assert tree.leaves(named) == [2, 1]
    assert tree.map(abs, named)() == {"a": [2], "b": 1}


def test_partial_of_a_partial_keeps_the_inner_whole():
    inner = functools.partial(operator.sub, 5)
    outer = tree_util.Partial(inner, 2)
    assert (tree.leaves(outer), outer()) == ([2], 3)
    assert tree.structure(outer) == tree.structure(tree_util.Partial(inner, 0))


def test_listeners_hear_of_each_class_once():
    heard = {}

    def listener(kind, flatten, unflatten):
        assert kind not in heard
        heard[kind] = flatten, unflatten

    core_tree.on_register(listener)
    assert collections.OrderedDict in heard
    assert tree_util.Partial in heard
    assert not {tuple, list, dict, type(None)} & set(heard)

    @tree_util.register_dataclass
    @dataclasses.dataclass
    class Late:
        x: object
        y: object

    flatten, unflatten = heard[Late]
    children, aux = flatten(Late(1, 2))
    assert tuple(children) == (1, 2)
    assert unflatten(aux, children) == Late(1, 2)


def test_key_paths_in_python_notation():
    x = {"a": [1, (2,)], "b": Two(1)}
    paths = [tree_util.keystr(path) for path, _ in tree.leaves_with_path(x)]
    assert paths == ["['a'][0]", "['a'][1][0]", "['b']"]
    bound = tree_util.Partial(print, 1, k=2)
    keys = core_tree.key_paths(bound)
    assert list(map(tree_util.keystr, keys)) == [
        "[<flat index 0>][0]",
        "[<flat index 1>]['k']",
    ]
    simple = [tree_util.keystr(key, simple=True, separator="/") for key in keys]
    assert simple == ["0/0", "1/k"]
    assert tree_util.keystr(()) == ""
    assert tree_util.keystr((tree_util.GetAttrKey("w"), "raw")) == ".wraw"


def test_keys_are_values():
    key = tree_util.DictKey("a")
    assert repr(key) == "DictKey(key='a')"
    assert key == tree_util.DictKey("a")
    assert hash(key) == hash(tree_util.DictKey("a"))
    assert tree_util.SequenceKey(1) != tree_util.FlattenedIndexKey(1)
    with pytest.raises(AttributeError):
        key.key = "b"


def test_map_with_path():
    named = tree.map_with_path(
        lambda path, x, y: (tree_util.keystr(path), x, y), {"a": [1]}, {"a": [(2,)]}
    )
    assert named == {"a": [("['a'][0]", 1, (2,))]}
    stopped = tree.leaves_with_path(
        {"a": [1], "b": [2]},
        is_leaf=lambda path, x: tree_util.keystr(path) == "['a']",
        is_leaf_takes_path=True,
    )
    assert [leaf for _, leaf in stopped] == [[1], 2]
    assert tree.leaves_with_path([None], is_leaf=lambda x: x is None) == [
        ((tree_util.SequenceKey(0),), None)
    ]
