"""jaxpr -> module -> executable; Array; eager; jit front; caches; export."""
