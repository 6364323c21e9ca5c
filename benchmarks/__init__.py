"""How quick Pullback is where people wait, beside JAX, in one alternating run."""
