"""Functions with NumPy's promotion and broadcasting that are also operators or methods."""
