"""Which algorithm folds, scans or slides: a few measured constants in one place.

`benchmarks/reductions.py` prints the time of every strategy beside what is chosen here.
"""

import math
from collections.abc import Sequence

# Cells that one step of a loop combines at the least, so that its overhead is small.
WIDE = 2048
# A loop of at most this length is not cut into blocks.
SHORT = 64
# Up to this window a chain of shifted slices needs less memory traffic than two loops.
CHAIN = 3
# Up to this window XLA's own loop over windows is as fast or faster on the CPU.
NATIVE = {"add": 8, "mul": 8, "max": 8, "min": 8}
NATIVE_OTHERS = 4


def scan_block(n: int, width: int) -> int | None:
    """The length of the blocks that a scan of `n` cells is cut into; None: not cut.

    `width`: numbers in a cell. A step of a loop costs about as much as combining a few
    thousand numbers, so blocks are as long as leaves that many cells to a step.
    """
    if n <= SHORT or width >= WIDE:
        return None
    return max(8, min(round(math.sqrt(n * width)), n * width // WIDE, 1024))


def window_strategy(k: int, name: str | None, native: bool) -> str:
    """How to slide a window of `k` cells along one axis: `native`, `chain`, `blocks`.

    `name`: the combiner, where it is one operation. `native`: whether XLA can do it.
    A chain takes k - 1 combinations a cell, blocks take three whatever the window.
    """
    if native and k <= NATIVE.get(name or "", NATIVE_OTHERS):
        return "native"
    return "chain" if k <= CHAIN else "blocks"


def takes_native(dimensions: Sequence[int], name: str | None) -> bool:
    """Whether XLA's loop over whole windows of these sizes is the fastest."""
    return math.prod(dimensions) <= NATIVE.get(name or "", NATIVE_OTHERS)
