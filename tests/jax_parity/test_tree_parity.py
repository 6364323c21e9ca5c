"""The same tree in Pullback and in JAX: leaves, structures, key paths, errors."""

import collections
import dataclasses
import operator

import pytest
from hypothesis import given, strategies as st

import pullback.tree
import pullback.tree_util as ours

jax = pytest.importorskip("jax")
theirs = jax.tree_util

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Record:
    x: object
    y: object
    tag: str = "t"


class Keyless:
    def __init__(self, *parts):
        self.parts = parts

    def __eq__(self, other):
        return type(other) is Keyless and self.parts == other.parts

    __hash__ = None


class Fixed(str):
    __slots__ = ()


for library in ours, theirs:
    library.register_dataclass(Record, ["x", "y"], ["tag"])
    library.register_pytree_node(
        Keyless, lambda x: (x.parts, len(x.parts)), lambda _, parts: Keyless(*parts)
    )
    library.register_static(Fixed)

names = st.sampled_from(["a", "b", "c", "z 1", "ü"])


def _containers(inner):
    mappings = st.dictionaries(names, inner, max_size=4)
    pairs = st.lists(st.tuples(names, inner), max_size=3)
    return st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        mappings,
        st.dictionaries(st.integers(-3, 3), inner, max_size=3),
        pairs.map(collections.OrderedDict),
        mappings.map(lambda x: collections.defaultdict(list, x)),
        st.builds(Point, inner, inner),
        st.builds(Record, inner, inner, names),
        st.lists(inner, max_size=3).map(lambda xs: Keyless(*xs)),
    )


leaf = st.one_of(st.integers(0, 99), st.none(), st.text(max_size=2), names.map(Fixed))
trees = st.recursive(leaf, _containers, max_leaves=20)


def _outcome(f, *args, **kwargs):
    """The value of a call, or the builtin class of its error."""
    try:
        return f(*args, **kwargs)
    except ValueError:
        return ValueError
    except TypeError:
        return TypeError


@given(trees)
def test_leaves_structures_and_text(x):
    leaves, treedef = ours.tree_flatten(x)
    expected, structure = theirs.tree_flatten(x)
    assert leaves == expected
    assert repr(treedef) == repr(structure)
    assert treedef.num_leaves == structure.num_leaves
    assert treedef.num_nodes == structure.num_nodes
    assert treedef.node_data() == structure.node_data()
    assert list(map(repr, treedef.children())) == list(map(repr, structure.children()))
    rebuilt, reference = treedef.unflatten(leaves), structure.unflatten(leaves)
    assert repr(rebuilt) == repr(reference) or rebuilt == reference
    assert ours.treedef_is_leaf(treedef) == theirs.treedef_is_leaf(structure)


@given(trees)
def test_key_paths(x):
    pairs, expected = ours.tree_leaves_with_path(x), theirs.tree_leaves_with_path(x)
    assert [leaf for _, leaf in pairs] == [leaf for _, leaf in expected]
    for (path, _), (reference, _) in zip(pairs, expected, strict=True):
        assert repr(path) == repr(reference)
        assert ours.keystr(path) == theirs.keystr(reference)
        simple = ours.keystr(path, simple=True, separator="/")
        assert simple == theirs.keystr(reference, simple=True, separator="/")


@given(trees)
def test_is_leaf(x):
    def stop(y):
        return y is None or type(y) in (tuple, Record)

    leaves, treedef = ours.tree_flatten(x, stop)
    expected, structure = theirs.tree_flatten(x, stop)
    assert leaves == expected
    assert repr(treedef) == repr(structure)


@given(trees, trees)
def test_equality_and_two_trees(x, y):
    same = ours.tree_structure(x) == ours.tree_structure(y)
    assert same == (theirs.tree_structure(x) == theirs.tree_structure(y))
    mapped = _outcome(ours.tree_map, lambda a, b: (a, b), x, y)
    assert mapped == _outcome(theirs.tree_map, lambda a, b: (a, b), x, y)
    spread = _outcome(ours.tree_broadcast, x, y)
    assert spread == _outcome(theirs.tree_broadcast, x, y)


@given(trees, st.data())
def test_prefixes_made_by_cutting(x, data):
    cut = set(data.draw(st.lists(st.integers(0, 12), max_size=5)))
    seen = iter(range(1000))
    prefix = ours.tree_map(lambda _: 7, x, is_leaf=lambda _: next(seen) in cut)
    spread = _outcome(ours.tree_broadcast, prefix, x)
    assert spread == _outcome(theirs.tree_broadcast, prefix, x)
    assert _outcome(ours.tree_structure(prefix).flatten_up_to, x) == _outcome(
        theirs.tree_structure(prefix).flatten_up_to, x
    )


@given(trees, st.data())
def test_axes_prefixes(x, data):
    from jax._src.api_util import flatten_axes

    from pullback.core.tree import flatten_axes as our_flatten_axes

    cut = set(data.draw(st.lists(st.integers(0, 12), max_size=5)))
    seen, entries = iter(range(1000)), iter([None, 1, 2] * 400)
    axes = ours.tree_map(
        lambda _: next(entries), x, is_leaf=lambda _: next(seen) in cut
    )
    mine = _outcome(our_flatten_axes, "in_axes", ours.tree_structure(x), axes)
    assert mine == _outcome(flatten_axes, "in_axes", theirs.tree_structure(x), axes)


@given(trees, trees)
def test_transpose_and_compose(outer, inner):
    nested = ours.tree_map(lambda _: inner, outer)
    mine = ours.tree_structure(outer), ours.tree_structure(inner)
    other = theirs.tree_structure(outer), theirs.tree_structure(inner)
    assert repr(mine[0].compose(mine[1])) == repr(other[0].compose(other[1]))
    if mine[0].num_leaves and mine[1].num_leaves:
        swapped = ours.tree_transpose(*mine, nested)
        assert swapped == theirs.tree_transpose(*other, nested)


@given(st.lists(st.integers(), max_size=9))
def test_reductions(xs):
    for name in "tree_reduce", "tree_reduce_associative":
        mine = _outcome(getattr(ours, name), lambda a, b: (a, b), xs)
        assert mine == _outcome(getattr(theirs, name), lambda a, b: (a, b), xs)
    assert ours.tree_reduce(operator.add, xs, 5) == theirs.tree_reduce(
        operator.add, xs, 5
    )
    assert ours.tree_all(xs) == theirs.tree_all(xs)
    assert ours.all_leaves(xs) == theirs.all_leaves(xs)


REFUSED = [
    lambda t: t.tree_flatten({1: 0, "a": 0}),
    lambda t: t.tree_unflatten(t.tree_structure((1, 2)), [1]),
    lambda t: t.tree_unflatten(t.tree_structure((1, 2)), [1, 2, 3]),
    lambda t: t.tree_map(operator.add, (1, 2), [1, 2]),
    lambda t: t.register_pytree_node(Record, len, len),
    lambda t: t.register_static(tuple),
    lambda t: t.tree_flatten((1,), lambda _: 5),
    lambda t: t.flatten_one_level(3),
]


@pytest.mark.parametrize("call", REFUSED)
def test_both_refuse_with_the_same_builtin_error(call):
    kind = _outcome(call, theirs)
    assert kind in (ValueError, TypeError)
    assert _outcome(call, ours) is kind


def test_names_of_the_public_modules():
    missing = {n for n in dir(theirs) if n[0] != "_"} - set(ours.__all__)
    assert missing == {"KeyEntry", "default_registry"}
    assert {n for n in dir(jax.tree) if n[0] != "_"} <= set(pullback.tree.__all__)
