"""The node types that come with the package: containers, dataclasses, `Partial`.

Knows how each is opened and rebuilt; nothing of tree structures.
"""

import dataclasses
import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, TypeVar

from pullback.core.errors import ArgumentError, ArgumentTypeError
from pullback.core.tree_node import (
    DictKey,
    GetAttrKey,
    Node,
    Opened,
    SequenceKey,
    register,
    register_pytree_node,
    sorted_keys,
)

T = TypeVar("T", bound=type)


def _indexed(x: Sequence) -> Opened:
    return zip(map(SequenceKey, range(len(x))), x, strict=True), None


def _items(x: dict, keys: tuple) -> Iterator:
    return zip(map(DictKey, keys), map(x.__getitem__, keys), strict=True)


def _flatten_dict(x: dict) -> Opened:
    keys = sorted_keys(x)
    return tuple(map(x.__getitem__, keys)), keys


def _flatten_dict_with_keys(x: dict) -> Opened:
    keys = sorted_keys(x)
    return _items(x, keys), keys


def _flatten_defaultdict(x: defaultdict) -> Opened:
    keys = sorted_keys(x)
    return tuple(map(x.__getitem__, keys)), (x.default_factory, keys)


def _flatten_defaultdict_with_keys(x: defaultdict) -> Opened:
    keys = sorted_keys(x)
    return _items(x, keys), (x.default_factory, keys)


def _unflatten_defaultdict(aux: tuple, children: Sequence) -> defaultdict:
    factory, keys = aux
    return defaultdict(factory, zip(keys, children, strict=True))


register(
    Node(type(None), lambda x: ((), None), lambda _, c: None, None, native=True),
)
for _kind in tuple, list:
    register(
        Node(_kind, lambda x: (x, None), lambda _, c, k=_kind: k(c), _indexed, True)
    )
register(
    Node(
        dict,
        _flatten_dict,
        lambda keys, children: dict(zip(keys, children, strict=True)),
        _flatten_dict_with_keys,
        native=True,
    )
)
register_pytree_node(
    OrderedDict,
    lambda x: (tuple(x.values()), tuple(x)),
    lambda keys, children: OrderedDict(zip(keys, children, strict=True)),
    lambda x: (_items(x, tuple(x)), tuple(x)),
)
register_pytree_node(
    defaultdict,
    _flatten_defaultdict,
    _unflatten_defaultdict,
    _flatten_defaultdict_with_keys,
)


def static(**options: Any) -> Any:
    """`dataclasses.field(**options)`, marked as part of the structure.

    >>> import dataclasses, pullback
    >>> @pullback.tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     weight: float
    ...     name: str = pullback.tree.static(default="dense")
    >>> pullback.tree.leaves(Layer(2.0))
    [2.0]
    """
    metadata = {**(options.pop("metadata", None) or {}), "static": True}
    return dataclasses.field(metadata=metadata, **options)


def _infer_fields(nodetype: type) -> tuple[list[str], list[str]]:
    """Names of the data fields and of the static fields of a dataclass."""
    data, meta = [], []
    for field in dataclasses.fields(nodetype):
        (meta if field.metadata.get("static") else data).append(field.name)
    return data, meta


def _quoted(names: set) -> str:
    return ", ".join(map(repr, sorted(names)))


def _check_fields(nodetype: type, data: tuple, meta: tuple, drop: Sequence) -> None:
    """Raises ArgumentError unless `data` and `meta` split the fields of the class."""
    faults = []
    given = {*data, *meta}
    if both := set(data) & set(meta):
        faults.append(f"{_quoted(both)} is in data_fields and in meta_fields")
    if dataclasses.is_dataclass(nodetype):
        wanted = {f.name for f in dataclasses.fields(nodetype) if f.init} - {*drop}
        if missing := wanted - given:
            faults.append(f"missing {_quoted(missing)}")
        if extra := given - wanted:
            faults.append(f"{_quoted(extra)} is not a field that the constructor takes")
    if faults:
        raise ArgumentError(
            f"register_dataclass({nodetype.__name__}): {'; '.join(faults)}",
            rule="each constructor field is in exactly one of data_fields, meta_fields",
            fix="name fields that are to be left out in drop_fields",
        )


def register_dataclass(
    nodetype: T,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> T:
    """Makes a dataclass (or a class built alike) a node; usable as a decorator.

    Args:
      data_fields: attributes that are children. Default: all but the static ones.
      meta_fields: attributes that belong to the structure: hashable, compared by
        `==`. Default: the fields made by `static`.
      drop_fields: constructor fields left out; a rebuilt value gets their defaults.

    Raises:
      ArgumentTypeError: one of data_fields and meta_fields is given without the
        other, or neither is and `nodetype` is no dataclass.
      ArgumentError: the names do not split the fields, or `nodetype` is a node.
    """
    if (data_fields is None) != (meta_fields is None):
        raise ArgumentTypeError(
            f"register_dataclass({nodetype.__name__}): only one of data_fields and "
            "meta_fields is given",
            fix="give both, or none and mark static fields by static()",
        )
    if data_fields is None and not hasattr(nodetype, "__dataclass_fields__"):
        raise ArgumentTypeError(
            f"register_dataclass: {nodetype!r} is not a dataclass",
            fix="give data_fields and meta_fields, or decorate it by @dataclass first",
        )
    if data_fields is None:
        data_fields, meta_fields = _infer_fields(nodetype)
    data, meta = tuple(data_fields), tuple(meta_fields or ())
    _check_fields(nodetype, data, meta, drop_fields)
    _register_attributes(nodetype, data, meta)
    return nodetype


def _register_attributes(nodetype: type, data: tuple, meta: tuple) -> None:
    keys = tuple(map(GetAttrKey, data))

    def flatten(x: Any) -> Opened:
        return tuple(map(getattr, repeat(x), data)), tuple(
            map(getattr, repeat(x), meta)
        )

    def flatten_with_keys(x: Any) -> Opened:
        children, aux = flatten(x)
        return zip(keys, children, strict=True), aux

    def unflatten(aux: tuple, children: Sequence) -> Any:
        fields = dict(zip(meta, aux, strict=True))
        return nodetype(**fields, **dict(zip(data, children, strict=True)))

    register_pytree_node(nodetype, flatten, unflatten, flatten_with_keys)


class _Whole:
    """A `functools.partial` kept whole as the function of a `Partial`."""

    __slots__ = ("func",)

    def __init__(self, func: functools.partial):
        self.func = func

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.func(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Whole) and self.func == other.func

    def __hash__(self) -> int:
        return hash(self.func)

    def __repr__(self) -> str:
        return repr(self.func)


class Partial(functools.partial):
    """A `functools.partial` that is a node: its bound arguments are children.

    The function belongs to the structure and is compared by `==`. The arguments of a
    `functools.partial` given as the function stay inside it and are no children.

    >>> import operator, pullback
    >>> double = pullback.tree_util.Partial(operator.mul, 2)
    >>> pullback.tree.leaves(double), double(4)
    ([2], 8)
    """

    def __new__(cls, func: Callable[..., Any], /, *args: Any, **kwargs: Any):
        """Binds the arguments to `func`."""
        whole = _Whole(func) if isinstance(func, functools.partial) else func
        return super().__new__(cls, whole, *args, **kwargs)


register_pytree_node(
    Partial,
    lambda x: ((x.args, x.keywords), x.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)
