"""Which algorithm folds, scans or slides: a few measured constants in one place.

`benchmarks/reductions.py` prints the time of every strategy beside what is chosen here.
The unit is the time in which a fused loop does one arithmetic operation on one number,
about 0.1 ns.
"""

import math
from typing import NamedTuple

from pullback.core.jaxpr import ClosedJaxpr, Jaxpr, all_eqns
from pullback.regions.bodies import cached, reading

# Cells that one step of a loop combines at the least, so that its overhead is small.
WIDE = 2048
# A loop over cells of so many numbers is not cut, however long: its steps are worth
# their overhead, and blocks take memory.
SUFFICIENT = 192
# A loop of at most this length is not cut into blocks.
SHORT = 64
# Windows of this many times as many cells are made in one pass.
RADIX = 8
# A transcendental function, in such operations, and other costly ones.
TRANSCENDENTAL = 300.0
_LOGS = "exp exp2 expm1 log log1p logaddexp logistic pow"
_CIRCLES = "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh"
COSTLY = frozenset(f"{_LOGS} {_CIRCLES} erf erfc erf_inv lgamma digamma cbrt".split())
# Reading and writing one number in a pass of its own.
PASS = 10.0
# The same for blocks: two transpositions, and two loops that read and write rows.
BLOCKS = 60.0
# One step of a loop.
STEP = 3e4
# The longest chain that is differentiated: every link keeps or repeats a state, and XLA
# repeats it more often where the state has several components.
DIFFERENTIATED_CHAIN = 8
DIFFERENTIATED_CHAIN_OF_TREES = 3
DIFFERENTIATED_CHAIN_COSTLY = 2


class Cost(NamedTuple):
    """What one combination takes, and the size of the state.

    `fan_out`: how many components of the result read one of the accumulated state. XLA
    computes a component again for each that reads it, so in a chain work grows as a
    power of it.
    """

    work: float
    states: int
    fan_out: int

    @property
    def radix(self) -> int:
        """How many windows the doubling joins in one pass."""
        return RADIX if self.fan_out <= 1 else 2

    @property
    def longest_chain(self) -> int:
        """The longest chain to differentiate."""
        if self.work >= TRANSCENDENTAL:
            return DIFFERENTIATED_CHAIN_COSTLY
        if self.states > 1:
            return DIFFERENTIATED_CHAIN_OF_TREES
        return DIFFERENTIATED_CHAIN


def cost_of(body: ClosedJaxpr) -> Cost:
    """Operations in one combination of cells."""

    def make():
        jaxpr = body.jaxpr
        return Cost(_work(jaxpr), len(jaxpr.outvars), _fan_out(jaxpr))

    return cached(body, ("monoid cost",), make)


def _work(jaxpr: Jaxpr) -> float:
    names = [eqn.primitive.name for eqn in all_eqns(jaxpr)]
    return float(sum(TRANSCENDENTAL if name in COSTLY else 1.0 for name in names))


def _fan_out(jaxpr: Jaxpr) -> int:
    ns = len(jaxpr.outvars)
    states = jaxpr.invars[len(jaxpr.invars) - 2 * ns :]
    readers = [0] * ns
    for i, v in enumerate(states):
        found = reading(jaxpr, [w is v for w in jaxpr.invars])
        readers[i % ns] += sum(w in found for w in jaxpr.outvars) if i < ns else 0
    return max(readers, default=0)


def scan_block(n: int, width: int) -> int | None:
    """The length of the blocks that a scan of `n` cells is cut into; None: not cut.

    `width`: numbers in a cell. A step of a loop costs about as much as combining a few
    thousand numbers, so blocks are as long as leaves that many cells to a step.
    """
    if n <= SHORT or width >= SUFFICIENT:
        return None
    return max(8, min(round(math.sqrt(n * width)), n * width // WIDE, 1024))


def scan_in_pairs(cost: Cost) -> bool:
    """Whether a long narrow scan combines pairs, rather than blocks by loops."""
    return cost.work < TRANSCENDENTAL


def digits(k: int, radix: int) -> tuple[int, list[int]]:
    """The leading digit of a window's size in a base, and the others in order."""
    rest = []
    while k >= radix:
        k, digit = divmod(k, radix)
        rest.append(digit)
    return k, rest[::-1]


def window_strategy(k: int, cells: int, cost: Cost, differentiated: bool) -> str:
    """How to slide a window of `k` neighbours along an axis of an array of `cells`.

    `"chain"`: k - 1 combinations in one loop. `"doubling"`: windows of 1, 8, 64, ...
    cells, about RADIX * log(k) combinations in log(k) loops; of 1, 2, 4, ... where the
    fan-out is high. `"blocks"`: three combinations whatever the window, in two loops of
    k steps. Of a chain or doubling every intermediate state takes part in the
    derivative, so a long one is not `differentiated`.
    """
    if differentiated:
        if k <= cost.longest_chain:
            return "chain"
        # XLA writes out short loops, and then a branching chain is what they are.
        return "doubling" if k <= RADIX and cost.radix < RADIX else "blocks"
    rows = BLOCKS * cost.states * max(cost.fan_out, 1)
    blocks = 3 * cost.work + rows + 2 * k * STEP / max(cells, 1)
    if k <= RADIX:
        chain = (k - 1) * cost.work + PASS * cost.states
        return "chain" if chain <= blocks else "blocks"
    first, rest = digits(k, cost.radix)
    links = first - 1 + sum(cost.radix - 1 + d for d in rest)
    passes = len(rest) + (first > 1)
    doubling = links * cost.work + passes * PASS * cost.states
    return "doubling" if doubling <= blocks else "blocks"
