"""Primitives without inner jaxprs, one file a family, all rules side by side."""
