"""Which primitives NumPy computes bit for bit as XLA does, and so may run on the host.

But for two things that NumPy does better: it keeps subnormal numbers, which XLA's
programs for the CPU take for zero, and the payloads of NaNs. Not on the list, because
they round differently: products of complex numbers, and division, which XLA turns into
a product where one divisor serves many elements.
"""

from collections.abc import Iterable
from typing import Any

from pullback.core import dtype as dtypes

ARITHMETIC = (
    "mul max min sign abs integer_pow square sqrt rem "
    "reduce_max reduce_min argmax argmin scatter-mul"
)
EXACT = frozenset(
    f"{ARITHMETIC} add add_any sub neg floor ceil round is_finite nextafter "
    "eq ne lt le gt ge and or xor not select_n clamp "
    "shift_left shift_right_logical shift_right_arithmetic population_count clz "
    "real imag complex conj convert_element_type bitcast_convert_type "
    "reduce_precision copy stop_gradient reduce_and reduce_or reduce_xor "
    "broadcast_in_dim reshape transpose squeeze slice rev concatenate pad iota "
    "dynamic_slice dynamic_update_slice "
    "gather scatter scatter-add scatter-min scatter-max "
    "random_seed random_wrap random_unwrap random_split random_fold_in "
    "random_bits".split()
)
REAL_ONLY = frozenset(ARITHMETIC.split())


def is_exact(name: str, avals: Iterable[Any]) -> bool:
    """Whether a reference gives XLA's bits at operands of these types."""
    if name not in EXACT:
        return False
    return name not in REAL_ONLY or not any(dtypes.is_complex(a.dtype) for a in avals)
