"""Attention: averages of values, weighted by how well keys match queries."""

from typing import Any

import numpy as np

from pullback.api.arrays.creation import asarray
from pullback.api.arrays.parts import where
from pullback.core.errors import ShapeError
from pullback.nn.functions import softmax
from pullback.ops.contract import dot_general
from pullback.ops.convert import convert
from pullback.ops.promote import promote_dtypes
from pullback.ops.shape import reshape, transpose


def dot_product_attention(
    query,
    key,
    value,
    bias=None,
    mask=None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
):
    """Averages of `value` with weights `softmax(query key scale + bias)`.

    Args:
      query: `t[(b,) n, h, c]`
      key, value: `t[(b,) m, k, c]`, where `k` divides `h`: heads share keys.
      bias: added to the logits, broadcasts to `[b, h, n, m]`.
      mask: booleans that broadcast so; a key counts where it is True.
      scale: a factor of the logits (None: `1 / sqrt(c)`).
      is_causal: whether position `i` sees only keys up to `i`.

    Returns:
      `t[(b,) n, h, c]`

    Raises:
      ShapeError: shapes that do not fit.

    Example:
      >>> import pullback.numpy as pnp
      >>> from pullback import nn
      >>> q = pnp.ones((2, 1, 4))
      >>> nn.dot_product_attention(q, q, q, is_causal=True).shape
      (2, 1, 4)

    Source: Vaswani et al., Attention Is All You Need (2017).
    """
    q, k, v = promote_dtypes(asarray(query), asarray(key), asarray(value))
    given = q.shape
    if q.ndim == 3:
        q, k, v = (reshape(x, (1, *x.shape)) for x in (q, k, v))
    _check(q, k, v)
    b, n, h, c = q.shape
    m, shared = k.shape[1:3]
    # [b, k, h/k, n, c] and [b, k, m, c]
    q = transpose(reshape(q, (b, n, shared, h // shared, c)), (0, 2, 3, 1, 4))
    k, v = (transpose(x, (0, 2, 1, 3)) for x in (k, v))
    logits = dot_general(
        q, k, (((4,), (3,)), ((0, 1), (0, 1))), preferred_element_type=np.float32
    )
    logits = reshape(logits, (b, h, n, m)) * (c**-0.5 if scale is None else scale)
    if bias is not None:
        logits = logits + asarray(bias)
    seen = _seen(mask, is_causal, n, m)
    if seen is not None:
        logits = where(seen, logits, -0.7 * float(np.finfo(np.float32).max))
    weights = convert(softmax(logits), v.dtype)
    weights = reshape(weights, (b, shared, h // shared, n, m))
    out = dot_general(weights, v, (((4,), (2,)), ((0, 1), (0, 1))))
    return reshape(transpose(out, (0, 3, 1, 2, 4)), given)


def _check(q, k, v) -> None:
    fits = q.ndim == k.ndim == 4 and k.shape == v.shape
    fits = fits and (q.shape[0], q.shape[3]) == (k.shape[0], k.shape[3])
    if not fits or not k.shape[2] or q.shape[2] % k.shape[2]:
        raise ShapeError(
            f"dot_product_attention of {q.aval.short()}, {k.aval.short()}, "
            f"{v.aval.short()}",
            rule="query is [b, n, h, c], key and value [b, m, k, c], and k divides h",
        )


def _seen(mask, is_causal: bool, n: int, m: int) -> Any:
    if not is_causal:
        return None if mask is None else asarray(mask)
    causal = np.tri(n, m, dtype=bool)
    return causal if mask is None else asarray(mask) & causal
