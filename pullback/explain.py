"""`pullback.explain(f)(*args)`, and `python -m pullback.explain` for the command line.

The module itself is callable: the name means the same however it was imported.
"""

import sys
from types import ModuleType
from typing import Any

import pullback.api.install  # noqa: F401 - gives arrays their operators
from pullback.explaining.command import main
from pullback.explaining.explanation import Entry as Entry, Explanation as Explanation
from pullback.explaining.front import explain as explain
from pullback.explaining.sources import hide as hide


class _Callable(ModuleType):
    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return explain(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable


if __name__ == "__main__":
    sys.exit(main())
