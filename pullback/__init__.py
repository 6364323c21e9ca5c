"""Pullback: an array system in which every program transforms.

A function is traced once into a typed IR, then differentiated, transposed, batched and
compiled by XLA. Names load when they are first touched.
"""

import importlib
import os

__version__ = "0.1.0"
__version_info__ = (0, 1, 0)

# name -> the module that defines it; a module of that name when the value is None
_NAMES: dict[str, str | None] = {
    **dict.fromkeys(
        ("grad", "linear_transpose", "value_and_grad", "vjp"), "pullback.api.reverse"
    ),
    **dict.fromkeys(("jvp", "linearize"), "pullback.api.forward"),
    **dict.fromkeys(("hessian", "jacfwd", "jacrev"), "pullback.api.jacobians"),
    **dict.fromkeys(
        ("ShapeDtypeStruct", "eval_shape", "make_jaxpr", "typeof"),
        "pullback.api.tracing",
    ),
    **dict.fromkeys(
        (
            "block_until_ready",
            "default_backend",
            "default_device",
            "device_count",
            "device_get",
            "device_put",
            "devices",
            "local_device_count",
            "local_devices",
            "process_count",
            "process_index",
        ),
        "pullback.api.placement",
    ),
    **dict.fromkeys(
        ("closure_convert", "custom_gradient", "custom_vjp"),
        "pullback.api.custom_vjp",
    ),
    **dict.fromkeys(("effects_barrier", "pure_callback"), "pullback.api.callbacks"),
    **dict.fromkeys(("checkpoint", "checkpoint_policies"), "pullback.api.checkpoint"),
    "custom_jvp": "pullback.api.custom_jvp",
    "Array": "pullback.core.value",
    "disable_jit": "pullback.core.config",
    "ds": "pullback.api.arrays.indexing",
    **dict.fromkeys(
        ("default_matmul_precision", "numpy_dtype_promotion"), "pullback.api.settings"
    ),
    "enable_x64": "pullback.core.config",
    "float0": "pullback.core.dtype",
    "ensure_compile_time_eval": "pullback.compile.eager",
    "jit": "pullback.compile.jit",
    "named_call": "pullback.api.naming",
    "named_scope": "pullback.core.provenance",
    "vmap": "pullback.api.batch",
    **dict.fromkeys(
        (
            "ad_checkpoint",
            "core",
            "debug",
            "dlpack",
            "dtypes",
            "errors",
            "explain",
            "experimental",
            "flatten_util",
            "lax",
            "nn",
            "numpy",
            "random",
            "scipy",
            "stages",
            "tree",
            "tree_util",
            "typing",
        )
    ),
}
_RENAMED = {"jacobian": "jacrev", "remat": "checkpoint"}
__all__ = sorted([*_NAMES, *_RENAMED, "config"])


def __getattr__(name: str):
    if name == "config":
        value = importlib.import_module("pullback.core.config")
    elif name in _RENAMED:
        value = __getattr__(_RENAMED[name])
    elif name in _NAMES:
        home = _NAMES[name]
        if home is None:
            value = importlib.import_module(f"pullback.{name}")
        else:
            if home.startswith(("pullback.api", "pullback.compile")) or name == "Array":
                importlib.import_module("pullback.api.install")
            value = getattr(importlib.import_module(home), name)
    else:
        raise AttributeError(f"module 'pullback' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


if os.environ.get("PULLBACK_EXPLAIN"):
    importlib.import_module("pullback.explaining.every")
