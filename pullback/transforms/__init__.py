"""jvp, linearize, transpose, vmap and dce: each reads one field of a primitive."""
