"""Questions about element types, by the names that `jax.dtypes` gives them."""

from pullback.core.dtype import (
    bfloat16,
    canonicalize as canonicalize_dtype,
    extended,
    float0,
    prng_key,
    scalar_type_of,
)
from pullback.core.dtype_info import finfo, iinfo, issubdtype, itemsize_bits
from pullback.ops.promotion import TypePromotionError, promote_types, result_type

__all__ = [
    "TypePromotionError",
    "bfloat16",
    "canonicalize_dtype",
    "extended",
    "finfo",
    "float0",
    "iinfo",
    "issubdtype",
    "itemsize_bits",
    "prng_key",
    "promote_types",
    "result_type",
    "scalar_type_of",
]
