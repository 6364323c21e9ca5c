"""Primitives that hold jaxprs: their rules are transforms of the body."""
