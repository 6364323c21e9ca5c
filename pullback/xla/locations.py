"""Where the operations of a module stand in its text, and how to say so to XLA.

An operation is known by the number that it was given with `number_location`.
"""

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

from pullback.xla.builder import Builder, ModuleBuilder

NUMBERED = "<equation>"


class Operation(NamedTuple):
    """One printed operation.

    `line`, `column`: from 0, the column in UTF-8 bytes. `number`: as numbered, -1 for
    none. `function`: the name of the function that it is, or stands in.
    """

    line: int
    column: int
    name: str
    number: int
    function: str


def number_location(b: Builder, name: str, number: int) -> None:
    """Number the operations from here on; they keep `name` as their name."""
    b.set_location(name, NUMBERED, number + 1, 0)


class PrintedModule:
    """A module's `text`, and its `operations` in the order of the text.

    Operations that a short form swallows (`applies add`) are not among them.
    """

    def __init__(self, module: ModuleBuilder):
        self.operations: list[Operation] = []
        self._places: list[tuple[Any, Operation | None]] = []
        raw = module.raw.operation
        with tempfile.TemporaryDirectory(prefix="pullback") as folder:
            file = str(Path(folder, "module.mlir"))
            clone = raw.clone()
            with module.context.raw:
                step = f'snapshot-op-locations{{filename="{file}"}}'
                PassManager.parse(f"builtin.module({step})").run(clone.operation)
            self.text = Path(file).read_bytes().decode().removesuffix("\n")
            self._walk(raw, clone.operation, file, "", None)

    def _walk(self, op: Any, placed: Any, file: str, function: str, outer) -> None:
        if op.name == "func.func":
            function = ir.StringAttr(op.attributes["sym_name"]).value
        at = placed.location
        if isinstance(at, ir.FileLineColLoc) and at.filename == file:
            place = (at.start_line - 1, at.start_col)
            outer = Operation(*place, op.name, _number(op.location), function)
            self.operations.append(outer)
        self._places.append((op, outer))
        for region, other in zip(op.regions, placed.regions, strict=True):
            for block, twin in zip(region.blocks, other.blocks, strict=True):
                for a, b in zip(block.operations, twin.operations, strict=True):
                    self._walk(a.operation, b.operation, file, function, outer)

    def place(self, file: str) -> None:
        """Make each operation's place in the text its location in `file`.

        XLA carries it along: lines and columns from 1. The name that it had stays; an
        operation that is not printed gets the place of the one around it.
        """
        for op, at in self._places:
            if at is None or op.name in ("builtin.module", "func.func"):
                continue
            raw, old = op.context, op.location
            here = ir.Location.file(file, at.line + 1, at.column + 1, context=raw)
            if isinstance(old, ir.NameLoc):
                here = ir.Location.name(old.name_str, childLoc=here, context=raw)
            op.location = here


def _number(location: Any) -> int:
    if isinstance(location, ir.NameLoc):
        location = location.child_loc
    if isinstance(location, ir.FileLineColLoc) and location.filename == NUMBERED:
        return location.start_line - 1
    return -1
