"""Primitives without inner jaxprs, one file a family, every rule of a primitive side by side."""
