"""The exponential of matrices, by scaling, a rational approximation, and squaring."""

from math import factorial

import numpy as np

from pullback import lax, numpy as pnp
from pullback.core.aval import aval_of
from pullback.core.errors import ArgumentError
from pullback.numpy.linalg_factors import matrices
from pullback.ops.convert import stop_gradient
from pullback.ops.matrices import identity

DEGREES = {"float32": 7, "complex64": 7, "float64": 13, "complex128": 13}
# The largest 1-norm for which the approximation of that degree is exact to rounding.
REACH = {7: 3.925724783138660, 13: 5.371920351148152}


def expm(A, *, upper_triangular: bool = False, max_squarings: int = 16):
    """The exponential of square matrices.

    Args:
      A: `[*b, n, n]`
      upper_triangular: `A` is known to be upper triangular.
      max_squarings: NaN where more are needed: for a 1-norm above about
        `5 * 2**max_squarings`.

    Returns:
      `[*b, n, n]`

    Raises:
      ShapeError: not square.
      ArgumentError: a negative `max_squarings`.

    Example:
      >>> import pullback.numpy as pnp
      >>> from pullback.scipy.linalg import expm
      >>> expm(pnp.zeros((2, 2))).tolist()
      [[1.0, 0.0], [0.0, 1.0]]

    Source: Higham, The scaling and squaring method for the matrix exponential
    revisited (2005), algorithm 2.3.
    """
    a = matrices("expm", A, square=True)
    if max_squarings < 0:
        raise ArgumentError(f"expm with max_squarings={max_squarings}")
    dtype = aval_of(a).dtype
    if not aval_of(a).size:
        return a
    degree = DEGREES[dtype.name]
    norm = pnp.max(pnp.sum(pnp.abs(stop_gradient(a)), -2), -1)
    wanted = pnp.ceil(pnp.log2(pnp.maximum(norm / REACH[degree], 1)))
    count = pnp.minimum(wanted, max_squarings)
    scaled = a / (2.0**count).astype(norm.dtype)[..., None, None]
    p, q = _pade(scaled, degree)
    if upper_triangular:
        out = lax.linalg.triangular_solve(q, p, left_side=True)
    else:
        out = pnp.linalg.solve(q, p)

    most = pnp.max(count)

    def step(x, i):
        def square(x):
            return pnp.where((i < count)[..., None, None], x @ x, x)

        return lax.cond(i < most, square, lambda x: x, x), None

    out, _ = lax.scan(step, out, pnp.arange(max_squarings, dtype=norm.dtype))
    return pnp.where((wanted > max_squarings)[..., None, None], np.nan, out)


def _coefficients(degree: int) -> list[float]:
    """Of the numerator, from the constant one up, divided by the constant one."""
    n = degree
    return [
        factorial(2 * n - k)
        * factorial(n)
        / (factorial(2 * n) * factorial(k) * factorial(n - k))
        for k in range(n + 1)
    ]


def _pade(a, degree: int):
    """Numerator and denominator: even powers plus, and minus, odd ones."""
    c = _coefficients(degree)
    square = a @ a
    power = identity(aval_of(a), aval_of(a).shape[-1])
    even, odd = 0.0, 0.0
    for k in range(0, degree, 2):
        even, odd = even + c[k] * power, odd + c[k + 1] * power
        if k + 2 < degree:
            power = square if k == 0 else power @ square
    odd = a @ odd
    return even + odd, even - odd
