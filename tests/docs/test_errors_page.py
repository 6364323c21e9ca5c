"""docs/errors.md indexes every public error, with its bases and its docstring."""

import inspect
import re
from pathlib import Path

from pullback import errors

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "errors.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*) \|$", PAGE, re.MULTILINE)
CLASSES = {
    name: value
    for name, value in vars(errors).items()
    if inspect.isclass(value) and issubclass(value, errors.PullbackError)
}


def index() -> list[tuple[str, str, str]]:
    """The rows that the page must have: roots first, in the order of definition."""
    own = [(n, c) for n, c in CLASSES.items() if n == c.__name__]
    own.sort(key=lambda item: inspect.getsourcelines(item[1])[1])
    rows = [(name, _builtins(kind), _sentence(kind)) for name, kind in own]
    renamed = [(n, c) for n, c in CLASSES.items() if n != c.__name__]
    return rows + [
        (name, _builtins(kind), f"JAX's name of `{kind.__name__}`.")
        for name, kind in renamed
    ]


def _builtins(kind: type) -> str:
    bases = [b for b in kind.__mro__ if b.__module__ == "builtins"]
    refined = [
        b for b in bases if not any(issubclass(o, b) for o in bases if o is not b)
    ]
    return ", ".join(f"`{base.__name__}`" for base in refined)


def _sentence(kind: type) -> str:
    return " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split())


def test_the_index_is_what_the_classes_say():
    assert index() == ROWS


def test_every_error_for_users_is_explained():
    text = PAGE.partition("## Index")[2].partition("\n## ")[2]
    leaves = [name for name, kind in CLASSES.items() if not kind.__subclasses__()]
    own = {name for name in leaves if name == CLASSES[name].__name__}
    assert {name for name in own if name not in text} == set()
