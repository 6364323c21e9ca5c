"""Settings for the length of a `with` block, under JAX's names."""

from pullback.core.config import scoped


def numpy_dtype_promotion(new_val: str):
    """`"standard"` or `"strict"` promotion within a `with` block, on this thread.

    Example:
      >>> import pullback
      >>> with pullback.numpy_dtype_promotion("strict"):
      ...     pullback.config.numpy_dtype_promotion
      'strict'
    """
    return scoped(numpy_dtype_promotion=new_val)


def default_matmul_precision(new_val: str | None):
    """The precision, within a `with` block, of contractions that name none."""
    return scoped(default_matmul_precision=new_val)
