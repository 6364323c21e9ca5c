"""Rematerialization under JAX's module name."""

from pullback.api.checkpoint import (
    checkpoint as checkpoint,
    checkpoint_name as checkpoint_name,
    checkpoint_policies as checkpoint_policies,
)
