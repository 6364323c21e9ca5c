"""Functions with NumPy's promotion and broadcasting: operators and methods too."""
