"""The stages of a compiled function, one after another, each open to inspection.

`jit(f).trace(*args)` is a jaxpr, `.lower()` of it a StableHLO module, `.compile()` of
that a program for the types that were traced, called without any cache.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pullback.compile.array import ArrayImpl
from pullback.compile.executable import (
    Program,
    Staged,
    compile_jaxpr,
    simplified,
    to_buffer,
    usable_donations,
)
from pullback.compile.lower import lower_module
from pullback.compile.shape_struct import struct_of
from pullback.core import dtype as dtypes, tree
from pullback.core.aval import ShapedArray, aval_of, is_array_like
from pullback.core.errors import ArgumentTypeError
from pullback.core.jaxpr import ClosedJaxpr, Var
from pullback.core.trace import Tracer
from pullback.xla import buffers, pytree
from pullback.xla.builder import ModuleBuilder
from pullback.xla.client import cost_of_module


@dataclass(frozen=True, slots=True)
class ArgInfo:
    """What is known of one argument: its type, and whether its memory is given up."""

    aval: ShapedArray
    donated: bool

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)


@dataclass(frozen=True, slots=True)
class CompiledMemoryStats:
    """Bytes on the device: what a program takes, by purpose, and its peak."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    temp_size_in_bytes: int
    alias_size_in_bytes: int
    generated_code_size_in_bytes: int
    peak_memory_in_bytes: int


class Stage:
    """What every stage knows: the structure and types of arguments and results."""

    __slots__ = ("_staged",)

    def __init__(self, staged: Staged):
        self._staged = staged

    @property
    def in_tree(self) -> Any:
        """The structure of `(args, kwargs)`, static arguments left out."""
        return self._staged.in_tree

    @property
    def out_tree(self) -> Any:
        """The structure of the result."""
        return self._staged.out_tree

    @property
    def in_avals(self) -> Any:
        """The types of `(args, kwargs)`, as a tree."""
        return self.in_tree.unflatten(self._staged.closed.in_avals)

    @property
    def args_info(self) -> Any:
        """What is known of each argument, as a tree of `ArgInfo`s."""
        avals, donated = self._staged.closed.in_avals, set(self._staged.donated)
        infos = [ArgInfo(aval, i in donated) for i, aval in enumerate(avals)]
        return self.in_tree.unflatten(infos)

    @property
    def out_info(self) -> Any:
        """The shapes and dtypes of the result, as a tree of `ShapeDtypeStruct`s."""
        return self.out_tree.unflatten(map(struct_of, self._staged.closed.out_avals))

    @property
    def donate_argnums(self) -> tuple[int, ...]:
        """Positions of the flat arguments that a call gives up."""
        return self._staged.donated


class Traced(Stage):
    """A function traced for given types."""

    __slots__ = ()

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program."""
        return self._staged.closed

    @property
    def fun_name(self) -> str:
        """The name of the function."""
        return self._staged.name

    def lower(self) -> "Lowered":
        """The program as StableHLO."""
        return Lowered(self._staged)


class Lowered(Stage):
    """A program as a StableHLO module."""

    __slots__ = ("_bytecode",)

    def __init__(self, staged: Staged):
        super().__init__(staged)
        self._bytecode = self._module().bytecode()

    def _module(self) -> ModuleBuilder:
        """Made anew when asked for: a module belongs to its thread."""
        staged = self._staged
        closed = simplified(staged.closed)
        first = len(closed.jaxpr.constvars)
        usable = usable_donations(closed, staged.donated)
        aliases = {first + i: out for i, out in usable.items()}
        return lower_module(closed, staged.name, aliases)

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """The MLIR text; with `debug_info`, every operation with its line.

        Raises:
          ArgumentTypeError: `dialect` is not `"stablehlo"`.
        """
        if dialect not in (None, "stablehlo"):
            raise ArgumentTypeError(
                f"as_text(dialect={dialect!r})", rule='the dialect is "stablehlo"'
            )
        return self._module().text(locations=debug_info)

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimates before it optimizes, such as `flops`, `bytes accessed`."""
        return cost_of_module(self._bytecode)

    def compile(
        self, compiler_options: Mapping[str, str | bool | int | float] | None = None
    ) -> "Compiled":
        """The program compiled, for the types it was traced for.

        Args:
          compiler_options: XLA's debug options by name.

        Raises:
          RuntimeFailure: XLA refuses the program or an option.
        """
        staged = self._staged
        if not compiler_options:
            return Compiled(staged, staged.compiled())
        options = dict(compiler_options)
        program = compile_jaxpr(staged.closed, staged.name, staged.donated, options)
        return Compiled(staged, program)


class Compiled(Stage):
    """A compiled program: call it with arguments of the types it was traced for.

    Static arguments are left out. What differs raises ArgumentTypeError.
    """

    __slots__ = ("_program", "_reused")

    def __init__(self, staged: Staged, program: Program):
        super().__init__(staged)
        self._program = program
        self._reused = tuple(usable_donations(staged.closed, staged.donated))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program.

        Raises:
          ArgumentTypeError: the structure or a type differs, or a value is traced.
          RuntimeFailure: the program failed, or an argument was deleted.
        """
        leaves, treedef = pytree.flatten((args, kwargs))
        staged = self._staged
        if treedef != staged.in_tree:
            raise _wrong_structure(self, (args, kwargs))
        given = _buffers(self, leaves)
        outs = self._program.run(given)
        for i in self._reused:
            buffers.delete(given[i])
        return staged.out_tree.unflatten(outs)

    def as_text(self) -> str:
        """The optimized program that XLA runs."""
        return self._program.executable.optimized_hlo()

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimates for the optimized program."""
        return self._program.executable.cost_analysis()

    def memory_analysis(self) -> CompiledMemoryStats:
        """Bytes that a run takes on the device."""
        stats = dict(self._program.executable.memory_stats())
        peak = stats.pop("peak")
        sizes = {f"{name}_size_in_bytes": size for name, size in stats.items()}
        return CompiledMemoryStats(**sizes, peak_memory_in_bytes=peak)


def _buffers(compiled: Compiled, leaves: Sequence[Any]) -> list[Any]:
    found = []
    wanted = compiled._staged.closed.in_avals
    for i, (x, aval) in enumerate(zip(leaves, wanted, strict=True)):
        if type(x) is not ArrayImpl:
            if isinstance(x, Tracer):
                raise ArgumentTypeError(
                    f"{compiled._staged.name}, compiled, called with a traced array, "
                    f"{x.describe()}",
                    rule="a compiled program cannot be transformed or traced",
                    fix="call the function that jit returned",
                )
            if not is_array_like(x):
                raise _wrong_type(compiled, i, f"{x!r} of type {type(x).__name__}")
        got = aval_of(x)
        if got is not aval and (got.shape, got.dtype) != (aval.shape, aval.dtype):
            raise _wrong_type(compiled, i, got.short())
        found.append(to_buffer(x, aval))
    return found


def _wrong_type(compiled: Compiled, i: int, got: str) -> ArgumentTypeError:
    closed = compiled._staged.closed
    name = closed.debug_info.argument(i)
    return ArgumentTypeError(
        f"{compiled._staged.name}, compiled for {closed.in_avals[i].short()} as {name},"
        f" called with {got}",
        rule="a compiled program takes the types that it was traced for",
        fix="convert the argument, or call the function that jit returned, which "
        "traces again for new types",
    )


def _wrong_structure(compiled: Compiled, given: tuple) -> ArgumentTypeError:
    want, got = compiled.in_tree, pytree.flatten(given)[1]
    return ArgumentTypeError(
        f"{compiled._staged.name}, compiled for the arguments {want}, called with "
        f"{got}",
        rule="a compiled program takes trees of the structure it was traced for",
        fix="leave out static arguments, which are part of the program",
    )


def as_typed(args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The arguments with what has only a shape and a dtype as a value of that type."""
    if all(map(is_array_like, tree.leaves((args, kwargs)))):
        return args, kwargs
    return tree.map(_typed, (args, kwargs))


def _typed(x: Any) -> Any:
    if is_array_like(x) or not (hasattr(x, "shape") and hasattr(x, "dtype")):
        return x
    weak = getattr(x, "weak_type", False)
    return Var(ShapedArray(tuple(x.shape), dtypes.canonicalize(x.dtype), weak))
