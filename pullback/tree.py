"""Trees of values under the names of `jax.tree`; the code is in `core.tree`.

>>> import pullback
>>> pullback.tree.map(lambda x: x + 1, {"a": 1, "b": [2, None]})
{'a': 2, 'b': [3, None]}
"""

from pullback.core.tree import (
    all,
    broadcast,
    flatten,
    flatten_with_path,
    leaves,
    leaves_with_path,
    map,
    map_with_path,
    reduce,
    reduce_associative,
    static,
    structure,
    transpose,
    unflatten,
)

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]
