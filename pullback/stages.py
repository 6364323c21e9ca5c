"""The stages of a compiled function: traced, lowered, compiled."""

from pullback.compile.stages import (
    ArgInfo as ArgInfo,
    Compiled as Compiled,
    CompiledMemoryStats as CompiledMemoryStats,
    Lowered as Lowered,
    Traced as Traced,
)
