"""Constants, movement and indexing against NumPy."""

import ml_dtypes
import numpy as np
import pytest

from pullback.xla.emitter import Module
from pullback.xla.shapes import Shapes
from pullback.xla.types import dtypes
from tests.xla.modules import Case, check, evaluate, f32, shaped

A = np.arange(24, dtype=f32).reshape(2, 3, 4)
M = np.arange(12, dtype=f32).reshape(3, 4)
ZERO, ONE = np.int32(0), np.int32(1)


def test_movement():
    check(
        [
            Case(
                "iota",
                lambda b: b.iota(shaped((2, 3)), 1),
                [],
                np.arange(3, dtype=f32) + np.zeros((2, 1), f32),
            ),
            Case(
                "broadcast",
                lambda b, x: b.broadcast_in_dim(shaped((2, 3, 4)), x, (1, 2)),
                [M],
                np.broadcast_to(M, (2, 3, 4)),
            ),
            Case(
                "scalar",
                lambda b, x: b.broadcast_in_dim(shaped((2, 3)), x, ()),
                [f32(7)],
                np.full((2, 3), 7, f32),
            ),
            Case(
                "reshape",
                lambda b, x: b.reshape(shaped((4, 6)), x),
                [A],
                A.reshape(4, 6),
            ),
            Case(
                "transpose",
                lambda b, x: b.transpose(shaped((4, 2, 3)), x, (2, 0, 1)),
                [A],
                A.transpose(2, 0, 1),
            ),
        ]
    )


def test_joining_and_cutting():
    check(
        [
            Case(
                "concatenate",
                lambda b, x, y: b.concatenate([x, y], 0),
                [M, M[:1]],
                np.concatenate([M, M[:1]]),
            ),
            Case(
                "pad",
                lambda b, x, v: b.pad(x, v, (1, 0), (0, -1), (0, 1)),
                [M, f32(9)],
                padded(),
            ),
            Case(
                "slice",
                lambda b, x: b.slice(x, (1, 0), (3, 4), (1, 2)),
                [M],
                M[1:3, 0:4:2],
            ),
            Case("slice 1", lambda b, x: b.slice(x, (1, 0), (3, 2)), [M], M[1:3, 0:2]),
            Case(
                "dynamic_slice",
                lambda b, x, i, j: b.dynamic_slice(x, [i, j], (2, 3)),
                [M, np.int32(9), ONE],
                M[1:, 1:],
            ),
            Case(
                "update",
                lambda b, x, u, i, j: b.dynamic_update_slice(x, u, [i, j]),
                [M, M[:1, :2] - 5, ONE, ONE],
                updated(),
            ),
            Case("reverse", lambda b, x: b.reverse(x, [1]), [M], M[:, ::-1]),
        ]
    )


def padded():
    wide = np.full((4, 7), 9, f32)
    wide[1:, ::2] = M
    return wide[:, :-1]


def updated():
    out = M.copy()
    out[1:2, 1:3] = M[:1, :2] - 5
    return out


def gather_rows(b, x, i):
    return b.gather(
        shaped((2, 4)),
        x,
        i,
        offset_dims=(1,),
        collapsed_slice_dims=(0,),
        start_index_map=(0,),
        index_vector_dim=1,
        slice_sizes=(1, 4),
    )


def gather_batched(b, x, i):
    return b.gather(
        shaped((3,)),
        x,
        i,
        offset_dims=(),
        collapsed_slice_dims=(1,),
        operand_batching_dims=(0,),
        start_indices_batching_dims=(0,),
        start_index_map=(1,),
        index_vector_dim=1,
        slice_sizes=(1, 1),
        indices_are_sorted=False,
    )


def scatter_rows(body):
    def emit(b, x, i, u):
        return b.scatter(
            [shaped((3, 4))],
            [x],
            i,
            [u],
            body,
            update_window_dims=(1,),
            inserted_window_dims=(0,),
            scattered_dims_to_operand_dims=(0,),
            index_vector_dim=1,
        )

    return emit


def test_gather_and_scatter():
    rows, columns = np.array([[2], [7]], np.int32), np.array([[1], [0], [3]], np.int32)
    twice, updates = np.array([[1], [1]], np.int32), np.ones((2, 4), f32)
    added = M.copy()
    added[1] += 2
    check(
        [
            Case("rows, clamped", gather_rows, [M, rows], M[[2, 2]]),
            Case("batched", gather_batched, [M, columns], M[range(3), [1, 0, 3]]),
            Case("add", scatter_rows("add"), [M, twice, updates], added),
            Case(
                "dropped", scatter_rows(lambda b, x, y: [y]), [M, rows + 5, updates], M
            ),
        ]
    )


ALL_CONSTANTS = sorted(dtypes())


@pytest.mark.parametrize("flavour", ["line", "scalar", "empty"])
def test_constants_of_every_dtype(flavour):
    source = {
        "line": np.array([0, 1, 1, 0, 1, 1, 1, 0, 1]),
        "scalar": np.array(1),
        "empty": np.zeros((0, 3)),
    }[flavour]
    values = [source.astype(dtypes()[name]) for name in ALL_CONSTANTS]
    check(
        [
            Case(name, lambda b, v=value: b.constant(v), [], value)
            for name, value in zip(ALL_CONSTANTS, values, strict=True)
        ]
    )


@pytest.mark.parametrize("name", ALL_CONSTANTS)
def test_splats_keep_the_element_type(name):
    one = np.ones((2, 3)).astype(dtypes()[name])
    module = Module("splat")
    module.function("main", [], lambda b: [b.full(1, shaped((2, 3), one.dtype))])
    module.verify()
    (line,) = [row for row in module.text().splitlines() if "constant" in row]
    assert "dense<" in line
    assert "[" not in line  # one element is stored, not six


def test_constants_read_any_layout_and_keep_every_bit():
    specials = np.array([np.nan, -0.0, np.inf, 1e-45], f32)
    brain = np.arange(-4, 4).astype(ml_dtypes.bfloat16)
    check(
        [
            Case("transposed", lambda b: b.constant(M.T), [], M.T),
            Case("strided", lambda b: b.constant(M[:, ::-2]), [], M[:, ::-2]),
            Case(
                "cast",
                lambda b: b.constant(3, shaped((2,), np.int8)),
                [],
                np.full(2, 3, np.int8),
            ),
            Case("bfloat16", lambda b: b.constant(brain[::2]), [], brain[::2]),
            Case("bool", lambda b: b.constant(M > 3), [], M > 3),
            Case(
                "signed 4 bits",
                lambda b: b.constant(np.arange(-8, 8).astype(ml_dtypes.int4)),
                [],
                np.arange(-8, 8).astype(ml_dtypes.int4),
            ),
        ]
    )
    bits = shaped((4,), np.int32)
    (got,) = evaluate(
        lambda b: [b.bitcast_convert(bits, b.constant(specials))], [], [bits]
    )
    assert got.tobytes() == specials.tobytes()


def test_an_unknown_element_type_is_refused():
    with pytest.raises(TypeError, match="XLA has no element type"):
        Module().function("main", [shaped((2,), np.longdouble)], lambda b, x: [x])


def test_every_method_of_shapes_is_tried_here():
    tried = "constant full iota broadcast_in_dim reshape transpose concatenate pad"
    tried += " slice dynamic_slice dynamic_update_slice reverse gather scatter"
    public = {name for name in vars(Shapes) if not name.startswith("_")}
    assert public == set(tried.split())
