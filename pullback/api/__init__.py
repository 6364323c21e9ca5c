"""Pytree front doors; installs operators, methods and `.at` on the value class."""
