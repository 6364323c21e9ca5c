"""Types, IR and dispatch: pure Python + NumPy. No rule, no jaxlib."""

import importlib

_NAMES = {
    "ClosedJaxpr": "jaxpr",
    "Jaxpr": "jaxpr",
    "JaxprEqn": "jaxpr",
    "Literal": "jaxpr",
    "Primitive": "primitive",
    "ShapedArray": "aval",
    "Tracer": "trace",
    "Var": "jaxpr",
    "check_jaxpr": "check",
    "eval_jaxpr": "trace",
}


def __getattr__(name: str):
    if name not in _NAMES:
        raise AttributeError(f"module 'pullback.core' has no attribute {name!r}")
    return getattr(importlib.import_module(f"pullback.core.{_NAMES[name]}"), name)
