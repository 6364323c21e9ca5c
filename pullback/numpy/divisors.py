"""Greatest common divisors and least common multiples of integers."""

from pullback.api.arrays.parts import where
from pullback.api.arrays.ufuncs import abs, floor_divide
from pullback.core import dtype as dtypes
from pullback.core.aval import aval_of
from pullback.core.errors import DtypeError
from pullback.lax.while_loops import while_loop
from pullback.ops.elementwise import rem
from pullback.ops.promote import (
    as_operand,
    broadcast_shapes,
    broadcast_to,
    promote_dtypes,
)


def _integers(name: str, x1, x2):
    x, y = promote_dtypes(as_operand(name, x1), as_operand(name, x2))
    for v in (x, y):
        if not dtypes.is_integer(aval_of(v).dtype):
            raise DtypeError(
                f"{name} of {aval_of(v).short()}", rule="it takes integers"
            )
    shape = broadcast_shapes(name, [aval_of(x).shape, aval_of(y).shape])
    return broadcast_to(abs(x), shape), broadcast_to(abs(y), shape)


def gcd(x1, x2):
    """The greatest common divisor of integers; that of 0 and 0 is 0.

    Raises:
      DtypeError: operands that are not integers.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.gcd(pnp.array([12, 7]), 18).tolist()
      [6, 1]

    Source: Euclid's algorithm.
    """

    def step(pair):
        x, y = pair
        return where(y != 0, y, x), where(y != 0, rem(x, where(y != 0, y, 1)), 0)

    pair = _integers("gcd", x1, x2)
    return while_loop(lambda pair: (pair[1] != 0).any(), step, pair)[0]


def lcm(x1, x2):
    """The least common multiple of integers; 0 where one of them is 0.

    Raises:
      DtypeError: operands that are not integers.

    Example:
      >>> import pullback.numpy as pnp
      >>> pnp.lcm(4, 6).item()
      12
    """
    x, y = _integers("lcm", x1, x2)
    divisor = gcd(x, y)
    return where(divisor == 0, 0, x * floor_divide(y, where(divisor == 0, 1, divisor)))
