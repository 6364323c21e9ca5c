"""interpret, find_nan, peak_memory, explain_cache: look into a running program."""

import importlib

_WHERE = {
    "NumpyTrace": "numpy_trace",
    "callback": "callbacks",
    "explain_cache": "caches",
    "find_nan": "nan_search",
    "interpret": "interpreter",
    "peak_memory": "memory",
    "print": "callbacks",
}


def __getattr__(name: str):
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_WHERE)
