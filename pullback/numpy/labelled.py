"""`einsum`: sums of products written with labelled axes.

`opt_einsum` reads labels and finds the order of products; it is loaded on first use.
"""

import importlib
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from pullback.api.arrays.axes import masked, no_out
from pullback.api.arrays.contractions import contract, on_diagonal, sum_axes
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError, ShapeError
from pullback.ops.convert import convert
from pullback.ops.promote import as_operand, promote_dtypes
from pullback.ops.shape import reduce_sum, squeeze, transpose


def einsum(
    subscripts,
    /,
    *operands,
    out=None,
    optimize: Any = "auto",
    precision=None,
    preferred_element_type=None,
    out_sharding=None,
):
    """Sum of products over the labels that the result does not have.

    Args:
      subscripts: labels of the axes of each operand and of the result, as in
        `"ij,jk->ik"`; `...` stands for further axes. Or operands and lists of labels in
        turn, as in NumPy.
      *operands: any number types; they promote to one.
      optimize: the order of products: "auto", "optimal", "greedy", a path, or False.
      precision: of each product, see `dot_general`.
      preferred_element_type: the dtype of each product and of the result.

    Returns:
      The axes that the result's labels name.

    Raises:
      ShapeError: one label has two sizes.
      ArgumentError: malformed labels.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.einsum("ij,jk->ik", pnp.ones((2, 3)), pnp.ones((3, 4))).shape
      (2, 4)
    """
    no_out("einsum", out)
    del out_sharding
    inputs, output, arrays = _parsed(subscripts, operands)
    sizes = _sizes(inputs, arrays)
    options = (precision, preferred_element_type)
    parts = []
    for x, labels in zip(promote_dtypes(*arrays), inputs, strict=True):
        parts.append(_distinct(x, labels, sizes))
    shapes = tuple(aval_of(x).shape for x, _ in parts)
    for step in _path(tuple(labels for _, labels in parts), output, shapes, optimize):
        taken = [parts.pop(i) for i in sorted(step, reverse=True)][::-1]
        wanted = {*output, *(label for _, labels in parts for label in labels)}
        parts.append(_product(taken, wanted, options))
    ((x, labels),) = parts
    return _finished(x, labels, output, preferred_element_type)


def einsum_path(subscripts, /, *operands, optimize: Any = "auto"):
    """The order of products that `einsum` takes, and a table of its costs."""
    return _opt_einsum().contract_path(
        subscripts, *(as_operand("einsum_path", x) for x in operands), optimize=optimize
    )


@cache
def _opt_einsum() -> Any:
    return importlib.import_module("opt_einsum")


def _parsed(subscripts, operands):
    """Labels of every operand, labels of the result, and the operands."""
    if isinstance(subscripts, str):
        arrays = [as_operand("einsum", x) for x in operands]
        shapes = tuple(aval_of(x).shape for x in arrays)
        return *_labels(subscripts, shapes), arrays
    given = [subscripts, *operands]
    count = len(given) // 2
    arrays = [as_operand("einsum", x) for x in given[: 2 * count : 2]]
    lists = [tuple(x) for x in given[1 : 2 * count : 2]]
    last = [tuple(given[-1])] if len(given) % 2 else []
    shapes = [aval_of(x).shape for x in arrays]
    pairs = [part for pair in zip(shapes, lists, strict=True) for part in pair]
    return *_labels_of((*pairs, *last)), arrays


@lru_cache(1024)
def _labels(subscripts: str, shapes: tuple) -> tuple[list[str], str]:
    return _labels_of((subscripts, *shapes))


def _labels_of(arguments: tuple) -> tuple[list[str], str]:
    parse = _opt_einsum().parser.parse_einsum_input
    try:
        inputs, output, _ = parse(arguments, shapes=True)
    except (ValueError, TypeError, KeyError) as error:
        raise ArgumentError(
            f"einsum({arguments[0]!r}, ...) of shapes {arguments[1:]}",
            rule=str(error),
            fix="write one group of labels for each operand: 'ij,jk->ik'",
        ) from None
    return inputs.split(","), output


def _sizes(inputs: Sequence[str], arrays: Sequence[Any]) -> dict[str, int]:
    """The size of every label; axes of size 1 broadcast.

    Raises:
      ShapeError: a label has two sizes.
    """
    sizes: dict[str, int] = {}
    for labels, x in zip(inputs, arrays, strict=True):
        aval = aval_of(x)
        if len(labels) != aval.ndim:
            raise ArgumentError(
                f"einsum: operand {aval.short()} with the labels {labels!r}",
                rule=f"it has {aval.ndim} axes, and every axis has a label",
            )
        for label, n in zip(labels, aval.shape, strict=True):
            known = sizes.get(label, 1)
            if n != known and 1 not in (n, known):
                shown = ", ".join(aval_of(v).short() for v in arrays)
                raise ShapeError(
                    f"einsum({','.join(inputs)!r}) of {shown}",
                    rule=f"label {label!r} has one size, here {known} and {n}",
                    fix="use another label, or transpose the operand",
                )
            sizes[label] = n if known == 1 else known
    return sizes


def _distinct(x, labels: str, sizes: dict[str, int]):
    """An operand whose labels are distinct, without axes of size 1 that broadcast."""
    shape = aval_of(x).shape
    ones = [i for i, s in enumerate(labels) if shape[i] == 1 and sizes[s] != 1]
    x = squeeze(x, ones) if ones else x
    labels = "".join(s for i, s in enumerate(labels) if i not in ones)
    i = 0
    while i < len(labels):
        j = labels.find(labels[i], i + 1)
        if j < 0:
            i += 1
            continue
        x = reduce_sum(masked(x, on_diagonal(aval_of(x).shape, i, j), 0), (j,))
        labels = labels[:j] + labels[j + 1 :]
    return x, labels


@lru_cache(1024)
def _found(subscripts: str, shapes: tuple, optimize: Any) -> Any:
    path = _opt_einsum().contract_path
    return path(subscripts, *shapes, shapes=True, optimize=optimize)[0]


def _path(inputs: tuple[str, ...], output: str, shapes: tuple, optimize: Any):
    if len(inputs) < 3 or optimize is False:
        return [tuple(range(len(inputs)))]
    if not isinstance(optimize, str | bool):
        return [step for step in optimize if step != "einsum_path"]
    if optimize is True:
        optimize = "optimal"
    return _found(f"{','.join(inputs)}->{output}", shapes, optimize)


def _product(parts: list, wanted: set, options: tuple):
    """The product of operands, with the labels that are still wanted."""
    x, xl = parts[0]
    for i, (y, yl) in enumerate(parts[1:], 2):
        keep = wanted.union(*(labels for _, labels in parts[i:]))
        both = dict.fromkeys(xl + yl)
        batch = [s for s in both if s in xl and s in yl and s in keep]
        free = [s for s in both if s in keep and s not in batch]
        labels = "".join(batch + free)
        x, xl = contract(x, xl, y, yl, labels, *options), labels
    return x, xl


def _finished(x, labels: str, output: str, dtype):
    lone = [i for i, s in enumerate(labels) if s not in output]
    if lone:
        x = sum_axes(x, lone)
        labels = "".join(s for s in labels if s in output)
    x = transpose(x, [labels.index(s) for s in output])
    if dtype is not None:
        x = convert(x, dtypes.named(dtype, "einsum: preferred_element_type"))
    return x
