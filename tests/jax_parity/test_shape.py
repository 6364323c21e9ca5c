"""Creation and shape functions as in JAX: values, dtypes, weak types, error classes."""

import jax.numpy as jnp
import numpy as np
import pytest

import pullback.numpy as pnp

A = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
V = np.arange(5, dtype=np.int32)


def compare(got, want):
    if isinstance(want, list | tuple):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            compare(a, b)
        return
    assert got.dtype == want.dtype
    assert got.weak_type == want.weak_type
    assert got.shape == want.shape
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), 2e-6, 1e-6)


CASES = [
    "arange(3)", "arange(3.0)", "arange(0, 1, 0.1)", "arange(5, None)",
    "arange(2, 9, 3, dtype='int8')", "arange(np.int8(3))", "arange(5, 1, -2)",
    "arange(3, dtype=float)", "arange(3, dtype='bfloat16')", "arange(-1)",
    "array([1, 2.5])", "array([True, 2])", "array([])", "array(1)", "array(1 + 2j)",
    "array([np.float16(1), np.float16(2)])", "array(np.float64(1))", "array(2.0)",
    "asarray(1, dtype='float32')", "asarray(A)", "array(V, ndmin=3)",
    "array([num.float32(1), 2])", "array([num.arange(3), num.ones(3)])",
    "full(3, 1)", "full((2,), np.float64(2))", "full((2, 3), V[:3])",
    "full(2, 1, dtype='float16')", "zeros(())", "zeros((2,), int)", "ones((2, 0))",
    "zeros_like(A)", "ones_like(3)", "zeros_like(A, shape=3)", "empty((2, 2))",
    "full_like(V, 1.5)", "full_like(A, 2, dtype='int8')", "ones_like(A, dtype=bool)",
    "linspace(0, 1, 5)", "linspace(0, 1, 0)", "linspace(0, 1, 1)", "linspace(3, 1, 2)",
    "linspace(0, 1, 5, endpoint=False)", "linspace(0, 1, 5, retstep=True)",
    "linspace(A[0], A[1], 3, axis=1)", "linspace(0, 10, 5, dtype=int)",
    "logspace(0, 2, 3)", "geomspace(1, 100, 3)", "logspace(0, 2, 3, base=2)",
    "eye(3)", "eye(2, 3, k=1)", "identity(2, int)", "tri(3, 4, 1)", "tri(3)",
    "tril(A)", "triu(A, 1)", "triu(A[0], -1)", "diag(V, 1)", "diag(A[0], -1)",
    "diag(A[0])", "diagonal(A, 1, 1, 2)", "diagonal(A)", "diagonal(A, -1, 2, 0)",
    "diagflat(A[0], 1)", "meshgrid(V, V[:3])", "indices((2, 3))", "ix_(V, V[:2])",
    "meshgrid(V, V[:3], sparse=True, indexing='ij')", "vander(A[0, 0])",
    "tril_indices(3)", "triu_indices(3, 1, 4)", "diag_indices(3)",
    "indices((2, 3), sparse=True)", "fromfunction(lambda i, j: i + j, (2, 2))",
    "reshape(num.ones(8), (-1, 4))", "reshape(num.ones((2, 2)), 4)",
    "reshape(num.arange(24), (4, 6), order='F')",
    "ravel(A)", "ravel(A, order='F')", "transpose(A)", "transpose(A, (1, -1, 0))",
    "swapaxes(A, 0, -1)", "moveaxis(A, 0, -1)", "moveaxis(A, (0, 1), (-1, 0))",
    "rollaxis(A, 2)", "rollaxis(A, 0, 3)", "matrix_transpose(A)",
    "squeeze(A[:1])", "squeeze(A[:1, :1], 1)", "expand_dims(V, (0, 2))",
    "expand_dims(V, -1)", "permute_dims(A, (2, 0, 1))",
    "broadcast_to(V, (2, 5))", "broadcast_to(1.0, (2,))",
    "broadcast_arrays(1, A)", "atleast_1d(1)", "atleast_2d(V)", "atleast_3d(V)",
    "atleast_3d(A[0])", "atleast_2d(1, V)", "concatenate([V, A[0, 0]])",
    "concatenate([A, A], axis=-1)", "concatenate([A, V], axis=None)",
    "concatenate(A)", "stack([1, 2])", "stack([V, V], axis=1)", "stack(A)",
    "vstack([V, V])", "hstack([V, V[:1]])", "hstack([A, A])", "dstack([V, V])",
    "column_stack([V, V])", "block([[A[0], A[1]], [A[1], A[0]]])", "append(V, 3)",
    "split(A, 3, axis=1)", "split(V, [2, 4])", "array_split(V, 3)", "hsplit(A, 3)",
    "vsplit(A, 2)", "dsplit(A, 2)", "unstack(A)",
    "unstack(A, axis=-1)", "tile(V, 2)", "tile(A[0], (2, 1, 2))", "tile(V, (2, 2))",
    "repeat(V, 2)", "repeat(A, 2, axis=1)", "repeat(V, np.array([1, 0, 2, 0, 1]))",
    "repeat(V[:3], np.array([1, 0, 2]), total_repeat_length=5)",
    "repeat(V[:3], np.array([3, 0, 2]), total_repeat_length=2)", "repeat(3, 2)",
    "flip(A)", "flip(A, 1)", "flip(A, (0, -1))", "fliplr(A)", "flipud(A)",
    "rot90(A)", "rot90(A, 2)", "rot90(A, 3, (1, 2))", "rot90(A, -1)",
    "roll(V, 2)", "roll(V, -7)", "roll(A, (1, 2), (0, 2))", "roll(A, 5)",
    "roll(A, 1, axis=(0, 1))", "roll(V, num.int32(2))", "resize(V, (2, 4))",
    "resize(V, 3)", "pad(V, 1)", "pad(A, ((0, 1), (2, 0), (1, 1)))",
    "pad(V, 2, constant_values=7)", "pad(A[0], 1, constant_values=((1, 2), (3, 4)))",
    "pad(V, (2, 3), mode='edge')", "pad(V, (3, 2), mode='reflect')",
    "pad(V, (7, 6), mode='symmetric')", "pad(V, (7, 3), mode='wrap')",
    "pad(A, 2, mode='reflect')", "pad(V, 2, mode='maximum')",
    "pad(A[0], 1, mode='mean')", "pad(A[0], 2, mode='linear_ramp', end_values=5)",
    "pad(V, 2, mode='minimum', stat_length=2)",
    "pad(V, 3, mode='reflect', reflect_type='odd')",
    "array_equal(V, V)", "array_equal(V, A)", "fill_diagonal(A[0], 9, inplace=False)",
]  # fmt: skip

REFUSED = [
    "arange()", "arange(None)", "arange(V)", "array(None)", 
    "array([[1], [2, 3]])", "array([2**40])", "array(2**40)", "zeros(-1)",
    "zeros((2, 3.0))", "full((2, 3), V)", "zeros_like([1, 2])", "tril(V)",
    "diag(A)", "diagonal(V)", "ix_(A)", "ix_(V > 1)", "linspace(0, 1, -1)",
    "reshape(A, (-1, 5))", "reshape(A, (2, -1, -1))", "reshape(A, 4)",
    "transpose(A, (0,))", "squeeze(A, 0)", "expand_dims(V, (0, 0))",
    "broadcast_to(V, (2, 4))", "stack([V, V[:2]])", "concatenate([V, A])",
    "concatenate([1, 2])", "concatenate([])", "split(V, 3)", "unstack(1)",
    "pad(V, -1)", "pad(V, 1, mode='foo')", "moveaxis(A, 5, 0)",
    "roll(A, (1, 2), (0, 1, 2))", "take(V, [0.5])", "repeat(V, np.array([1, 2]))",
    "ravel_multi_index((1, 5), (2, 3))",
]  # fmt: skip


def run(expression: str, numpy):
    return eval(f"num.{expression}", {"num": numpy, "np": np, "A": A, "V": V})


@pytest.mark.parametrize("expression", CASES)
def test_results_are_the_same(expression):
    compare(run(expression, pnp), run(expression, jnp))


@pytest.mark.parametrize("expression", REFUSED)
def test_errors_have_the_same_class(expression):
    with pytest.raises(Exception) as theirs:  # noqa: PT011 (any class, compared below)
        run(expression, jnp)
    kinds = [k for k in type(theirs.value).__mro__ if k.__module__ == "builtins"]
    with pytest.raises(kinds[0]):
        run(expression, pnp)


def test_text_is_no_array():
    with pytest.raises(TypeError, match="dtype <U1"):
        pnp.array("a")


def test_numpy_arrays_are_copied_in():
    source = np.zeros(3, np.float32)
    x = pnp.asarray(source)
    source[0] = 1
    assert x.tolist() == [0.0, 0.0, 0.0]


def test_methods():
    x = pnp.asarray(A)
    assert x.reshape(6, 4).shape == x.reshape((6, -1)).shape == (6, 4)
    assert x.T.shape == (4, 3, 2)
    assert x.mT.shape == (2, 4, 3)
    assert x.transpose(1, 0, 2).shape == x.transpose((1, 0, 2)).shape == (3, 2, 4)
    assert x.flatten().shape == x.ravel().shape == (24,)
    assert x.swapaxes(0, 1).shape == (3, 2, 4)
    assert x[:1].squeeze().shape == (3, 4)
    assert x.repeat(2, axis=0).shape == (4, 3, 4)
    assert x.take(np.array([1]), axis=1).shape == (2, 1, 4)
    assert x.diagonal().shape == (4, 2)
    assert x.copy() is not x
