"""interpret, find_nan, peak_memory, explain_cache: look into a program while it runs."""
