"""`PULLBACK_EXPLAIN=DIR`: explain every program that this process compiles.

Each gets a folder of its own, numbered in the order of compiling.
"""

import os
import warnings
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from pullback.compile import executable
from pullback.core.errors import PullbackError
from pullback.core.jaxpr import ClosedJaxpr
from pullback.explaining.front import explain_program, file_name

VARIABLE = "PULLBACK_EXPLAIN"
_numbers = count(1)


def watch(closed: ClosedJaxpr, name: str, donated: Sequence[int] = ()) -> None:
    """Explain a program into the folder that the environment names."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return
    target = Path(folder, f"{next(_numbers):04d}-{file_name(name)}")
    try:
        explain_program(closed, name, donated=donated).save(target)
    except (PullbackError, OSError) as error:  # the program itself must not suffer
        warnings.warn(f"{VARIABLE}: {name} is not explained: {error}", stacklevel=2)


executable.watchers.append(watch)
