"""Trees: expectations written by hand, independent of any other library."""

import collections
import copy
import dataclasses
import operator
import pickle
import subprocess
import sys
import threading

import pytest

from pullback.core import tree
from pullback.core.errors import ArgumentError, ArgumentTypeError, TreeError

Point = collections.namedtuple("Point", "x y")


class Named(Point):
    pass


class ListKind(list):
    pass


@tree.register_dataclass
@dataclasses.dataclass
class Layer:
    weight: object
    bias: object = None
    name: str = tree.static(default="dense")


@tree.register_pytree_node_class
class Pair:
    def __init__(self, *parts, note=()):
        self.parts, self.note = parts, note

    def tree_flatten(self):
        return iter(self.parts), self.note

    @classmethod
    def tree_unflatten(cls, note, parts):
        return cls(*parts, note=note)


@tree.register_pytree_with_keys_class
class Keyed:
    def __init__(self, first, second):
        self.first, self.second = first, second

    def tree_flatten_with_keys(self):
        pairs = (tree.GetAttrKey("first"), self.first), ("odd", self.second)
        return pairs, None

    @classmethod
    def tree_unflatten(cls, _, parts):
        return cls(*parts)


@tree.register_static
class Mode(str):
    __slots__ = ()


CASES = [
    (5, [5], "*", 1),
    (None, [], "None", 1),
    ((), [], "()", 1),
    ((1,), [1], "(*,)", 2),
    ([1, (2, 3), []], [1, 2, 3], "[*, (*, *), []]", 6),
    ({"b": 1, "a": [2, None]}, [2, 1], "{'a': [*, None], 'b': *}", 5),
    ({2: "two", 1: "one"}, ["one", "two"], "{1: *, 2: *}", 3),
    (Point(1, {"k": 2}), [1, 2], "CustomNode(namedtuple[Point], [*, {'k': *}])", 4),
    (Named(1, 2), [1, 2], "CustomNode(namedtuple[Named], [*, *])", 3),
    (
        collections.OrderedDict(b=1, a=2),
        [1, 2],
        "CustomNode(OrderedDict[('b', 'a')], [*, *])",
        3,
    ),
    (
        collections.defaultdict(int, b=1, a=2),
        [2, 1],
        "CustomNode(defaultdict[(<class 'int'>, ('a', 'b'))], [*, *])",
        3,
    ),
    (Layer(1, [2]), [1, 2], "CustomNode(Layer[('dense',)], [*, [*]])", 4),
    (Mode("fast"), [], "CustomNode(Mode[fast], [])", 1),
    (ListKind([1, 2]), [ListKind([1, 2])], "*", 1),
]


@pytest.mark.parametrize(("x", "leaves", "text", "nodes"), CASES)
def test_flatten_gives_leaves_structure_and_back(x, leaves, text, nodes):
    found, treedef = tree.flatten(x)
    assert found == leaves == tree.leaves(x)
    assert repr(treedef) == f"PyTreeDef({text})"
    assert (treedef.num_leaves, treedef.num_nodes) == (len(leaves), nodes)
    back = treedef.unflatten(iter(found))
    assert type(back) is type(x)
    assert back == x


@pytest.mark.parametrize(("x", "leaves", "text", "nodes"), CASES)
def test_every_walk_sees_the_same_structure(x, leaves, text, nodes):
    treedef = tree.structure(x)
    assert tree.flatten(x, is_leaf=lambda _: False) == (leaves, treedef)
    pairs, with_path = tree.flatten_with_path(x)
    assert [leaf for _, leaf in pairs] == leaves
    assert with_path == treedef
    assert treedef.flatten_up_to(x) == leaves
    assert tree.PyTreeDef(treedef.spec).num_leaves == len(leaves)


@pytest.mark.parametrize("x", [case[0] for case in CASES])
def test_structures_hash_compare_copy_and_pickle(x):
    treedef = tree.structure(x)
    for other in (
        tree.structure(copy.deepcopy(x)),
        pickle.loads(pickle.dumps(treedef)),
        copy.copy(treedef),
    ):
        assert other == treedef
        assert hash(other) == hash(treedef)
    assert treedef != tree.structure([x, x])
    assert treedef != "text"


def test_dict_order_is_sorted_and_rebuilt_sorted():
    assert list(tree.map(abs, {"b": 1, "a": 2})) == ["a", "b"]
    ordered = collections.OrderedDict(b=1, a=2)
    assert list(tree.map(abs, ordered)) == ["b", "a"]
    default = tree.map(abs, collections.defaultdict(list, b=1))
    assert default.default_factory is list


def test_keys_that_cannot_be_sorted_are_an_error():
    with pytest.raises(TreeError, match="keys of the types int, str"):
        tree.flatten([{1: 1, "a": 2}])
    with pytest.raises(TreeError, match="defaultdict has keys"):
        tree.flatten(collections.defaultdict(int, {1: 1, "a": 2}))


def test_is_leaf_stops_the_walk():
    def is_none(x):
        return x is None

    assert tree.leaves((1, None), is_none) == [1, None]
    assert tree.map(lambda x: x is None, (1, [None]), is_leaf=is_none) == (
        False,
        [True],
    )
    assert tree.leaves([(1, 2), [3]], lambda x: isinstance(x, tuple)) == [(1, 2), 3]
    with pytest.raises(TreeError, match="is_leaf returned a value of type int"):
        tree.flatten((1,), lambda _: 1)


def test_unflatten_counts_the_leaves():
    treedef = tree.structure((1, [2]))
    for leaves in [], [1], [1, 2, 3]:
        with pytest.raises(TreeError, match=f"{len(leaves)} leaves for"):
            tree.unflatten(treedef, leaves)


def test_metadata_separates_structures():
    first, second = tree.structure(Layer(1)), tree.structure(Layer(1, name="conv"))
    assert first != second
    assert tree.structure(Mode("a")) != tree.structure(Mode("b"))
    assert second.unflatten([3]) == Layer(3, name="conv")


def test_metadata_without_hash_still_makes_a_key():
    first = tree.structure([Pair(1, note=[1])])
    second = tree.structure([Pair(1, note=[1])])
    assert hash(first) == hash(second)
    assert first == second
    assert first != tree.structure([Pair(1, note=[2])])


def test_map_takes_what_stands_at_each_leaf():
    assert tree.map(operator.add, {"a": (1, 2)}, {"a": (10, 20)}) == {"a": (11, 22)}
    assert tree.map(lambda x, y: y, (1, [2]), ("any", [[3, 4]])) == ("any", [[3, 4]])
    assert tree.map(lambda *xs: xs, 1, (2,), None) == (1, (2,), None)
    assert tree.map(lambda x, y: y, {"a": 1, "b": 2}, {"b": 3, "a": 4})["a"] == 4


Dict = collections.OrderedDict
DIFFERENCES = [
    ({"l": [(1, 2)]}, {"l": [[1, 2, 3]]}, "['l'][0]: tuple of length 2 against list"),
    ((1, 2), (1,), "its root: tuple of length 2 against tuple of length 1"),
    ((1, None), (1, 3), "[1]: None against a leaf of type int"),
    ((1, None), (1, (2,)), "[1]: None against tuple of length 1"),
    ([(1,)], [5], "[0]: tuple of length 1 against a leaf of type int"),
    ({"a": 1}, {"b": 1}, "dict keys: missing 'a'; unexpected 'b'"),
    ({"a": 1, "b": 2}, {"a": 1}, "its root: dict keys: missing 'b'"),
    (
        dict.fromkeys("abcdefg", 1),
        {},
        "dict keys: missing 'a', 'b', 'c', 'd' and 3 more",
    ),
    (Dict(a=1, b=2), Dict(b=1, a=2), "metadata ('a', 'b') against ('b', 'a')"),
    ({"a": 1}, Dict(a=1), "dict with 1 key against OrderedDict with 1 key"),
    (Point(1, (2,)), Point(1, [2]), ".y: tuple of length 1 against list"),
    (Point(1, 2), (1, 2), "Point with 2 children against tuple of length 2"),
    (Layer(1), Layer(1, name="b"), "Layer with metadata ('dense',) against ('b',)"),
    (Layer([1]), Layer((1,)), ".weight: list of length 1 against tuple"),
    (Pair(1, 2), Pair(1, 2, 3), "Pair with 2 children against Pair with 3"),
    (Keyed(1, [2]), Keyed(1, 2), "odd: list of length 1 against a leaf of type int"),
]


@pytest.mark.parametrize(("first", "second", "words"), DIFFERENCES)
def test_map_names_the_first_difference(first, second, words):
    with pytest.raises(TreeError) as caught:
        tree.map(lambda *xs: xs, first, first, second)
    text = str(caught.value)
    assert text.startswith("tree map: the third tree differs at ")
    assert words in text
    assert isinstance(caught.value, ValueError)
    assert caught.value.line.startswith("test_tree.py")
    with pytest.raises(TreeError, match="a further tree differs at"):
        tree.map_with_path(lambda *xs: xs, first, second)


def test_reductions():
    x = {"b": 3, "a": (1, 2)}
    assert tree.reduce(lambda a, b: [a, b], x) == [[1, 2], 3]
    assert tree.reduce(operator.sub, x, 0) == -6
    assert tree.reduce(operator.add, (), None) is None
    with pytest.raises(ArgumentTypeError, match="no leaves"):
        tree.reduce(operator.add, ())
    pairs = tree.reduce_associative(lambda a, b: (a, b), list(range(5)))
    assert pairs == ((0, 1), (2, (3, 4)))
    assert tree.reduce_associative(operator.add, [], identity=7) == 7
    with pytest.raises(ArgumentTypeError, match="no leaves"):
        tree.reduce_associative(operator.add, [])
    assert tree.all((True, [1]))
    assert not tree.all((True, [0]))
    assert tree.all_leaves([1, "a"])
    assert not tree.all_leaves([1, None])
    assert tree.all_leaves([1, None], is_leaf=lambda x: x is None)


def test_transpose_swaps_outer_and_inner():
    outer, inner = tree.structure({"a": 0, "b": 0}), tree.structure((0, [0]))
    x = {"a": (1, [2]), "b": (3, [4])}
    swapped = ({"a": 1, "b": 3}, [{"a": 2, "b": 4}])
    assert tree.transpose(outer, inner, x) == swapped
    assert tree.transpose(outer, None, x) == swapped
    assert tree.transpose(inner, outer, swapped) == x
    assert tree.transpose(tree.structure(()), tree.structure([0]), ()) == [()]


def test_transpose_refuses_another_structure():
    outer, inner = tree.structure((0, 0)), tree.structure([0, 0])
    with pytest.raises(TreeError, match=r"differs at \[1\]: list of length 2"):
        tree.transpose(outer, inner, ([1, 2], [3]))
    with pytest.raises(TreeError, match=r"at \[0\]\[1\]: a leaf against tuple"):
        tree.transpose(outer, inner, ([1, (2,)], [3, 4]))
    with pytest.raises(TreeError, match="outer structure has no leaves"):
        tree.transpose(tree.structure(()), None, ())


def test_broadcast_repeats_the_prefix():
    full = ("a", {"p": "b", "q": ("c", None)}, [])
    assert tree.broadcast_prefix((1, 2, 3), full) == [1, 2, 2]
    assert tree.broadcast((1, 2, 3), full) == (1, {"p": 2, "q": (2, None)}, [])
    assert tree.broadcast(0, full) == (0, {"p": 0, "q": (0, None)}, [])
    with pytest.raises(TreeError, match=r"at \[1\]: None against dict with 2 keys"):
        tree.broadcast((1, None, 3), full)
    none_is_leaf = tree.broadcast_prefix(
        (1, None, 3), ("a", ["b"], "c"), is_leaf=lambda x: x is None
    )
    assert none_is_leaf == [1, None, 3]


def test_flatten_axes_keeps_none_as_an_entry():
    treedef = tree.structure((1, [2, (3, 4)], None))
    spread = [
        (None, [None, None, None, None]),
        (0, [0, 0, 0, 0]),
        ((None, 1, None), [None, 1, 1, 1]),
        ((0, [None, (1, None)], 5), [0, None, 1, None]),
    ]
    for axes, entries in spread:
        assert tree.flatten_axes("in_axes", treedef, axes) == entries
    by_tuple = tree.flatten_axes(
        "in_axes", treedef, (0, [(), (1,)], 0), lambda x: x in ((), (1,))
    )
    assert by_tuple == [0, (), (1,), (1,)]


AXES = [
    (({"a": 0, "b": (0,)},), "[0]['b']: list of length 1 against tuple of length 1"),
    (({"a": 0},), "[0]: dict keys: missing 'b'"),
    (({"a": (), "b": 0},), "[0]['a']: a leaf against tuple of length 0"),
    ((0, 0), "its root: tuple of length 1 against tuple of length 2"),
    ([0], "its root: tuple of length 1 against list of length 1"),
]


@pytest.mark.parametrize(("axes", "words"), AXES)
def test_flatten_axes_names_the_difference(axes, words):
    treedef = tree.structure(({"a": 1, "b": [2]},))
    with pytest.raises(TreeError) as caught:
        tree.flatten_axes("vmap in_axes", treedef, axes)
    assert f"vmap in_axes differs from its value at {words}" in str(caught.value)
    assert "must be a tree prefix" in str(caught.value)


def test_structure_parts():
    treedef = tree.structure({"b": (1, 2), "a": 3})
    assert treedef.node_data() == (dict, ["a", "b"])
    assert list(map(repr, treedef.children())) == ["PyTreeDef(*)", "PyTreeDef((*, *))"]
    assert treedef.children() == tree.treedef_children(treedef)
    leaf = tree.structure(1)
    assert leaf.node_data() is None
    assert leaf.children() == []
    assert leaf.is_leaf()
    assert not tree.structure(()).is_leaf()
    assert list(map(tree.treedef_is_leaf, (leaf, treedef))) == [True, False]
    both = tree.treedef_tuple([leaf, treedef])
    assert both == tree.structure((1, {"a": 1, "b": (1, 1)}))
    nested = tree.structure([1, (2,)]).compose(tree.structure({"k": 0, "l": 0}))
    assert nested == tree.structure([{"k": 1, "l": 2}, ({"k": 3, "l": 4},)])
    assert nested.num_leaves == 4
    assert tree.build_tree(treedef, (7, [8, (9,)])) == {"a": 7, "b": (8, (9,))}
    with pytest.raises(TreeError, match="1 children"):
        tree.build_tree(treedef, (7,))


def test_one_level():
    assert tree.flatten_one_level({"b": [1], "a": 2}) == ((2, [1]), ("a", "b"))
    pairs, _ = tree.flatten_one_level_with_keys(Point(1, 2))
    assert pairs == ((tree.GetAttrKey("x"), 1), (tree.GetAttrKey("y"), 2))
    with pytest.raises(TreeError, match="type int is a leaf"):
        tree.flatten_one_level(1)
    kinds = (tuple, dict, type(None), Point, Layer, int, ListKind)
    assert list(map(tree.is_tree_node, kinds)) == [True] * 5 + [False] * 2


def test_deep_trees_stay_within_reach():
    x = 1
    for _ in range(300):
        x = [x]
    assert tree.leaves(x) == [1]
    assert tree.map(abs, x) == x


def test_threads_may_flatten_while_types_are_registered():
    kinds = [type(f"Kind{i}", (), {}) for i in range(200)]
    faults = []

    def read():
        for kind in kinds:
            if len(tree.leaves([kind(), 1])) not in (1, 2):
                faults.append(kind)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for kind in kinds:
        tree.register_pytree_node(kind, lambda x: ((), None), lambda *_: None)
    for reader in readers:
        reader.join()
    assert not faults
    assert all(tree.leaves(kind()) == [] for kind in kinds)


def test_trees_need_neither_numpy_nor_jaxlib():
    code = (
        "import sys, pullback.core.tree;"
        "sys.exit(any(m in sys.modules for m in ('numpy', 'jaxlib', 'jax')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_duplicate_registration_is_refused():
    for kind in Layer, tuple, dict, collections.OrderedDict:
        with pytest.raises(ArgumentError, match="already a pytree node"):
            tree.register_pytree_node(kind, lambda x: ((), None), lambda *_: None)
    with pytest.raises(ArgumentTypeError, match="not a class"):
        tree.register_pytree_node(3, lambda x: ((), None), lambda *_: None)
