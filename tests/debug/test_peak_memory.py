"""peak_memory adds up to what XLA reserves, and says which line takes it."""

import pullback
import pullback.numpy as np
from pullback import debug
from pullback.compile.jit import jit
from tests.explaining.programs import models


def reserved(fun, *args):
    stats = jit(fun).lower(*args).compile().memory_analysis()
    return (
        stats.argument_size_in_bytes
        + stats.output_size_in_bytes
        + stats.temp_size_in_bytes
        - stats.alias_size_in_bytes
    )


def test_rows_add_up_to_what_xla_reserves():
    args = models.ARGUMENTS["loss"]
    for fun in (models.loss, pullback.grad(models.loss)):
        peak = debug.peak_memory(fun)(*args)
        constants = sum(row.bytes for row in peak.rows if row.kind == "constant")
        assert peak.bytes == sum(row.bytes for row in peak.rows)
        assert peak.bytes - constants == reserved(fun, *args)


def test_lines_of_arguments_temporaries_and_results():
    def f(x):
        big = np.outer(x, x)
        return np.sum(np.sin(big) @ big, axis=0)

    peak = debug.peak_memory(f)(np.ones(256))
    rows = {(row.kind, row.text): row.bytes for row in peak.rows}
    assert rows["argument", "def f(x):"] == 256 * 4
    assert rows["output", "return np.sum(np.sin(big) @ big, axis=0)"] == 256 * 4
    temporary = sum(size for (kind, _), size in rows.items() if kind == "temporary")
    assert temporary >= 256 * 256 * 4
    assert "bytes at the peak" in str(peak)


def test_types_are_enough():
    x = pullback.ShapeDtypeStruct((1000,), "float32")
    assert debug.peak_memory(lambda x: x + 1.0)(x).bytes == 8000
