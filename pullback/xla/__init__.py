"""The only folder that imports jaxlib.

It holds PJRT clients, buffers, executables and the StableHLO emitter. Handles that
leave this folder are opaque: no caller may look inside one. It knows nothing of
avals beyond `.shape` and `.dtype`, and nothing of primitives, tracing or trees.

`client`, `buffers`, `executable`, `traceback` and `pytree` load jaxlib's C++;
only `emitter` and the modules below it load the MLIR bindings.
"""

import os

# Read once, when jaxlib's C++ loads: what it would log is raised as an exception too.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
