"""Types of arguments as text: `f32[2,4], [(f32[4,5], f32[5])], scale=f32[], 3`."""

import ast
import re
from typing import Any

from pullback.compile.shape_struct import ShapeDtypeStruct
from pullback.core import dtype as dtypes
from pullback.core.errors import ArgumentError

_NAMES = {
    **{dtypes.name(d): d for d in dtypes.PLAIN},
    **{dtypes.short_name(d): d for d in dtypes.PLAIN},
}
_EMPTY = re.compile(r"\b(\w+)\[\s*\]")


def parse_arguments(text: str) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments: types of arrays, in any nesting, and numbers.

    Raises:
      ArgumentError: the text is not of that form.
    """
    try:
        sized = _EMPTY.sub(r"\1[()]", text)
        call = ast.parse(f"f({sized})", mode="eval").body
    except SyntaxError:
        raise _wrong(text) from None
    if not isinstance(call, ast.Call):
        raise _wrong(text)
    given = {k.arg: _value(k.value, text) for k in call.keywords if k.arg}
    return [_value(x, text) for x in call.args], given


def _value(node: ast.expr, text: str) -> Any:
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=sizes) if name in _NAMES:
            rows = sizes.elts if isinstance(sizes, ast.Tuple) else [sizes]
            return ShapeDtypeStruct([_size(x, text) for x in rows], _NAMES[name])
        case ast.List(elts=items):
            return [_value(x, text) for x in items]
        case ast.Tuple(elts=items):
            return tuple(_value(x, text) for x in items)
        case ast.Dict(keys=keys, values=values):
            names = [ast.literal_eval(k) for k in keys if k is not None]
            return dict(zip(names, (_value(x, text) for x in values), strict=True))
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise _wrong(text) from None


def _size(node: ast.expr, text: str) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    raise _wrong(text)


def _wrong(text: str) -> ArgumentError:
    return ArgumentError(
        f"--args {text!r}",
        rule="arguments are types such as f32[2,4] or bool[], lists, tuples and dicts "
        "of them, numbers, and name=type",
    )
