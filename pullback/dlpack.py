"""Exchange of arrays by DLPack: `__dlpack__` of arrays gives, `from_dlpack` takes."""

from pullback.api.exchange import from_dlpack as from_dlpack
