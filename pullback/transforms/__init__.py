"""jvp, linearize, transpose, vmap, partial evaluation, dce: each reads one field of a primitive."""
