"""Initial values of parameters: functions `init(key, shape, dtype=float)`."""

from collections.abc import Callable, Sequence
from math import prod, sqrt
from typing import Any, Protocol

import numpy as np

from pullback import numpy as pnp, random
from pullback.core import dtype as dtypes
from pullback.core.errors import ArgumentError

Axes = int | Sequence[int]
TRUNCATED_DEVIATION = 0.87962566103423978  # of a normal number conditioned on (-2, 2)


class Initializer(Protocol):
    """`init(key, shape, dtype) -> array`; `dtype` None means the initializer's own."""

    def __call__(self, key, shape: Sequence[int], dtype: Any = None) -> Any:
        """The initial value of a parameter."""


def zeros(key, shape: Sequence[int], dtype: Any = None):
    """All zeros. Itself an initializer."""
    del key
    return pnp.zeros(shape, _named(dtype))


def ones(key, shape: Sequence[int], dtype: Any = None):
    """All ones. Itself an initializer."""
    del key
    return pnp.ones(shape, _named(dtype))


def constant(value, dtype: Any = None) -> Initializer:
    """All elements `value`."""

    def init(key, shape, dtype=dtype):
        del key
        return pnp.full(shape, value, _named(dtype))

    return init


def uniform(scale=1e-2, dtype: Any = None) -> Initializer:
    """Uniform in `[0, scale)`."""

    def init(key, shape, dtype=dtype):
        dtype = _named(dtype)
        return random.uniform(key, shape, dtype) * pnp.asarray(scale, dtype)

    return init


def normal(stddev=1e-2, dtype: Any = None) -> Initializer:
    """Normal with mean 0 and deviation `stddev`."""

    def init(key, shape, dtype=dtype):
        dtype = _named(dtype)
        return random.normal(key, shape, dtype) * pnp.asarray(stddev, dtype)

    return init


def truncated_normal(
    stddev=1e-2, dtype: Any = None, lower=-2.0, upper=2.0
) -> Initializer:
    """Normal numbers conditioned on `(lower, upper)`, times `stddev`."""

    def init(key, shape, dtype=dtype):
        dtype = _named(dtype)
        draws = random.truncated_normal(key, lower, upper, shape, dtype)
        return draws * pnp.asarray(stddev, dtype)

    return init


def variance_scaling(
    scale,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: Any = None,
) -> Initializer:
    """Random values of variance `scale / fan`.

    Args:
      scale: a positive factor.
      mode: which fan: "fan_in", "fan_out", "fan_avg" or "fan_geo_avg".
      distribution: "truncated_normal", "normal" or "uniform".
      in_axis: axes that are inputs; the axes not named are a receptive field.
      out_axis: axes that are outputs.
      batch_axis: axes that neither fan counts.
      dtype: of the values unless the call names another.

    Raises:
      ArgumentError: `mode` or `distribution` is none of these, or the shape has fewer
        than two axes.

    Source: He et al., Delving deep into rectifiers (2015).
    """
    fan = _choose("mode", mode, FANS)
    draw = _choose("distribution", distribution, DISTRIBUTIONS)

    def init(key, shape, dtype=dtype):
        dtype = _named(dtype)
        shape = tuple(shape)
        fans = _fans(shape, in_axis, out_axis, batch_axis)
        variance = np.asarray(scale / fan(*fans), dtypes.to_real(dtype))
        return draw(key, shape, dtype, variance)

    return init


def _family(scale: float, mode: str, distribution: str, doc: str) -> Callable:
    def make(
        in_axis: Axes = -2,
        out_axis: Axes = -1,
        batch_axis: Axes = (),
        dtype: Any = None,
    ) -> Initializer:
        return variance_scaling(
            scale, mode, distribution, in_axis, out_axis, batch_axis, dtype
        )

    make.__doc__ = doc
    return make


def _named(dtype: Any) -> Any:
    return dtypes.default_float() if dtype is None else dtypes.named(dtype)


def _choose(what: str, name: str, table: dict[str, Any]) -> Any:
    if name not in table:
        raise ArgumentError(
            f"variance_scaling with {what} {name!r}", rule=f"it is one of {list(table)}"
        )
    return table[name]


def _fans(shape: tuple[int, ...], in_axis, out_axis, batch_axis) -> tuple[float, float]:
    """How many inputs an output has, and the other way round."""
    if len(shape) <= 1:
        raise ArgumentError(
            f"variance_scaling of shape {shape}",
            rule="Can't compute input and output sizes of a weights tensor with fewer "
            "than two axes: name them with in_axis and out_axis",
        )

    def size(axes: Axes) -> int:
        axes = (axes,) if isinstance(axes, int) else axes
        return prod(shape[i] for i in axes)

    ins, outs, batch = size(in_axis), size(out_axis), size(batch_axis)
    field = prod(shape) / ins / outs / batch
    return ins * field, outs * field


def _scaled_normal(key, shape, dtype, variance):
    return random.normal(key, shape, dtype) * np.sqrt(variance).astype(dtype)


def _scaled_uniform(key, shape, dtype, variance):
    if dtypes.is_complex(dtype):
        return _in_disk(key, shape, dtype) * np.sqrt(variance).astype(dtype)
    draws = random.uniform(key, shape, dtype, -1)
    return draws * np.sqrt(3 * variance).astype(dtype)


def _scaled_truncated(key, shape, dtype, variance):
    if dtypes.is_complex(dtype):
        deviation = np.sqrt(variance) / np.asarray(0.95311164380491208, variance.dtype)
        return _in_disk_normal(key, shape, dtype) * deviation.astype(dtype)
    deviation = np.sqrt(variance) / np.asarray(TRUNCATED_DEVIATION, dtype)
    return random.truncated_normal(key, -2, 2, shape, dtype) * deviation.astype(dtype)


def _in_disk(key, shape, dtype):
    """Complex numbers uniform in the disk of variance 1."""
    first, second = random.split(key)
    real = dtypes.to_real(dtype)
    radius = pnp.sqrt(2 * random.uniform(first, shape, real))
    return _polar(radius, random.uniform(second, shape, real), dtype)


def _in_disk_normal(key, shape, dtype):
    """Complex normal numbers of magnitude at most 2."""
    first, second = random.split(key)
    real = dtypes.to_real(dtype)
    inside = (1 - pnp.exp(pnp.asarray(-4, real))) * random.uniform(first, shape, real)
    radius = pnp.sqrt(-pnp.log(1 - inside))
    return _polar(radius, random.uniform(second, shape, real), dtype)


def _polar(radius, turns, dtype):
    angle = 2 * np.pi * turns
    return radius.astype(dtype) * pnp.exp(1j * angle.astype(dtype))


FANS = {
    "fan_in": lambda ins, outs: ins,
    "fan_out": lambda ins, outs: outs,
    "fan_avg": lambda ins, outs: (ins + outs) / 2,
    "fan_geo_avg": lambda ins, outs: sqrt(ins * outs),
}
DISTRIBUTIONS = {
    "truncated_normal": _scaled_truncated,
    "normal": _scaled_normal,
    "uniform": _scaled_uniform,
}

glorot_uniform = _family(
    1.0, "fan_avg", "uniform", "Uniform, of variance `2 / (fan_in + fan_out)`."
)
glorot_normal = _family(
    1.0,
    "fan_avg",
    "truncated_normal",
    "Truncated normal, of variance `2 / (fan_in + fan_out)`.",
)
lecun_uniform = _family(1.0, "fan_in", "uniform", "Uniform, of variance `1 / fan_in`.")
lecun_normal = _family(
    1.0, "fan_in", "truncated_normal", "Truncated normal, of variance `1 / fan_in`."
)
he_uniform = _family(2.0, "fan_in", "uniform", "Uniform, of variance `2 / fan_in`.")
he_normal = _family(
    2.0, "fan_in", "truncated_normal", "Truncated normal, of variance `2 / fan_in`."
)
xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
kaiming_uniform, kaiming_normal = he_uniform, he_normal
