"""What JAX keeps under `jax.experimental`, under the same names."""

from pullback.api.callbacks import io_callback as io_callback
