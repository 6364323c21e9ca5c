"""Indexing against NumPy: random indices, read, written, differentiated, compiled."""

import warnings

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback import errors

RNG = np.random.default_rng(7)
SHAPES = [(7,), (4, 5), (2, 3, 4), (3, 1, 4), (2, 3, 2, 3)]


def random_item(n: int, rng) -> object:
    """One item for an axis of size n."""
    kind = rng.integers(0, 7)
    low, high = (int(i) for i in rng.integers(-n - 1, n + 2, 2))
    step = int(rng.choice([-3, -2, -1, 1, 2, 3]))
    if kind == 0:
        return int(rng.integers(-n, n))
    if kind == 1:
        return slice(low, high)
    if kind == 2:
        return slice(None, None, step)
    if kind == 3:
        return slice(low, high, step)
    if kind == 4:
        return slice(None)
    if kind == 5:
        return rng.integers(-n, n, int(rng.integers(1, 4)))
    return rng.integers(0, 2, n).astype(bool)


def random_index(shape, rng) -> tuple:
    """An index that NumPy takes."""
    while True:
        count = int(rng.integers(0, len(shape) + 1))
        items = [random_item(n, rng) for n in shape[:count]]
        if rng.random() < 0.3 and count < len(shape):
            items.append(...)
            if rng.random() < 0.5:
                items.append(random_item(shape[-1], rng))
        if rng.random() < 0.3:
            items.insert(int(rng.integers(0, len(items) + 1)), None)
        index = tuple(items)
        try:
            np.zeros(shape)[index]
        except IndexError:
            continue
        return index


CASES = []
for _number in range(400):
    _shape = SHAPES[_number % len(SHAPES)]
    CASES.append((_shape, random_index(_shape, RNG)))


def data(shape, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def distinct(shape, index) -> bool:
    taken = np.arange(int(np.prod(shape))).reshape(shape)[index]
    return np.unique(taken).size == taken.size


@pytest.mark.parametrize("block", range(8))
def test_reads_are_numpys(block):
    for shape, index in CASES[block::8]:
        x = data(shape)
        got = pnp.asarray(x)[index]
        assert got.shape == x[index].shape, index
        np.testing.assert_array_equal(np.asarray(got), x[index], str(index))


@pytest.mark.parametrize("block", range(8))
def test_writes_are_numpys(block):
    for shape, index in CASES[block::8]:
        x = data(shape)
        y = data(x[index].shape, 1)
        want = x.copy()
        np.add.at(want, index, y)
        got = pnp.asarray(x).at[index].add(y)
        np.testing.assert_allclose(
            np.asarray(got), want, 1e-6, 1e-6, err_msg=str(index)
        )
        if distinct(shape, index):
            want = x.copy()
            want[index] = y
            got = pnp.asarray(x).at[index].set(y)
            np.testing.assert_array_equal(np.asarray(got), want, str(index))


@pytest.mark.parametrize("block", range(8))
def test_gradients_of_reads_and_writes(block):
    for shape, index in CASES[block::16]:
        x = data(shape)
        y, ct = data(x[index].shape, 1), data(shape, 2)
        want = np.zeros(shape, np.float32)
        np.add.at(want, index, y)
        got = pullback.grad(lambda t, i=index, y=y: (t[i] * y).sum())(x)
        np.testing.assert_allclose(
            np.asarray(got), want, 1e-5, 1e-6, err_msg=str(index)
        )
        if distinct(shape, index):
            kept = ct.copy()
            kept[index] = 0

            def written(t, u, i=index, ct=ct):
                return (t.at[i].set(u) * ct).sum()

            args = pnp.asarray(x), pnp.asarray(y)
            got_x, got_y = pullback.grad(written, argnums=(0, 1))(*args)
            np.testing.assert_array_equal(np.asarray(got_x), kept, str(index))
            np.testing.assert_array_equal(np.asarray(got_y), ct[index], str(index))


def test_compiled_reads_are_the_same():
    cases = CASES[:: len(CASES) // 40]
    xs = [data(shape) for shape, _ in cases]

    @pullback.jit
    def run(xs):
        reads = [x[index] for x, (_, index) in zip(xs, cases, strict=True)]
        adds = [x.at[index].add(1.0) for x, (_, index) in zip(xs, cases, strict=True)]
        return reads, adds

    reads, adds = run(xs)
    for x, (_, index), read, added in zip(xs, cases, reads, adds, strict=True):
        np.testing.assert_array_equal(np.asarray(read), x[index], str(index))
        want = x.copy()
        np.add.at(want, index, np.float32(1))
        np.testing.assert_allclose(np.asarray(added), want, 1e-6, err_msg=str(index))


@pytest.mark.parametrize("mapped", ["x", "i", "both"])
def test_vmap_of_traced_indices(mapped):
    x, i = data((3, 4, 5)), np.array([1, -1, 3], np.int32)
    axes = {"x": (0, None), "i": (None, 0), "both": (0, 0)}[mapped]
    for index in (lambda i: i, lambda i: (slice(None), i), lambda i: (i, [0, 2])):

        def read(x, i, index=index):
            return x[index(i)]

        def write(x, i, index=index):
            return x.at[index(i)].set(7.0)

        args = (pnp.asarray(x if axes[0] == 0 else x[0]), i if axes[1] == 0 else i[1])
        members = [
            (x[k] if axes[0] == 0 else x[0], i[k] if axes[1] == 0 else i[1])
            for k in range(3)
        ]
        for f in (read, write):
            got = pullback.vmap(f, in_axes=axes)(*args)
            want = [np.asarray(f(pnp.asarray(a), pnp.asarray(b))) for a, b in members]
            np.testing.assert_array_equal(np.asarray(got), np.stack(want))


def test_clip_fill_and_drop():
    x = pnp.arange(4.0)
    places = np.array([5, -6, 1])
    assert x[places].tolist() == [3.0, 0.0, 1.0]
    assert x.at[places].get(mode="fill", fill_value=9).tolist() == [9.0, 9.0, 1.0]
    assert x.at[places].set(8.0).tolist() == [0.0, 8.0, 2.0, 3.0]
    assert x.at[places].set(8.0, mode="clip").tolist() == [8.0, 8.0, 2.0, 8.0]
    assert x[7] == 3.0
    assert x.at[7].set(1.0).tolist() == x.tolist()
    grad = pullback.grad(lambda t: t[places].sum())(x)
    assert grad.tolist() == [1.0, 1.0, 0.0, 1.0]


def test_untouched_negative_zero_survives_add():
    x = pnp.asarray(np.array([-0.0, -0.0, -0.0, -0.0], np.float32))
    assert np.signbit(np.asarray(x.at[::2].add(1.0)))[1::2].all()


def test_static_reads_compile_without_gather():
    x = data((6, 8))
    forms = [
        np.s_[:, np.arange(2, 6)],
        np.s_[np.arange(5, -1, -1)],
        np.s_[np.array([0, 2, 4]), 3],
        np.s_[:, np.arange(8) % 2 == 0],
        np.s_[:, [0, 1, 5, 6, 7]],
    ]
    for index in forms:
        text = str(pullback.make_jaxpr(lambda x, i=index: x[i])(x))
        assert "gather" not in text, index
        text = str(pullback.make_jaxpr(lambda x, i=index: x.at[i].set(1.0))(x))
        assert "scatter" not in text, index


def test_traced_scalar_is_one_window():
    text = str(pullback.make_jaxpr(lambda x, i: x[i])(data((3, 4)), 1))
    assert "dynamic_slice" in text
    assert "gather" not in text


@pytest.mark.parametrize(
    ("index", "error", "match"),
    [
        (1.0, TypeError, "integer"),
        ("a", TypeError, "integer"),
        (np.array([0.5]), TypeError, r"astype\(int\)"),
        ([0, 1], TypeError, r"tuple\(seq\)"),
        ((0, 0, 0), IndexError, "Too many indices"),
        ((..., ...), IndexError, "ellipsis"),
        (np.array([True, False]), IndexError, "boolean index"),
        (slice(None, None, 0), ValueError, "zero"),
        (slice(0.5, None), TypeError, "slice bound"),
        ((np.arange(2), np.arange(3)), IndexError, "one shape"),
    ],
)
def test_what_does_not_index_says_so(index, error, match):
    with pytest.raises(error, match=match):
        pnp.ones((4, 5))[index]


def test_axes_of_size_zero_have_no_element():
    x = pnp.zeros((0, 3))
    with pytest.raises(IndexError, match="out of bounds"):
        x[0]
    with pytest.raises(IndexError, match="out of bounds"):
        x[np.array([0])]
    assert x[np.array([], int)].shape == (0, 3)


def test_traced_slices_and_masks_name_the_remedy():
    with pytest.raises(IndexError, match=r"ds\(start, size\)"):
        pullback.jit(lambda x, i: x[i : i + 2])(data((4,)), 1)
    with pytest.raises(errors.NonConcreteBooleanIndexError, match="where"):
        pullback.jit(lambda x: x[x > 0])(data((4,)))


def test_items_cannot_be_assigned():
    x = pnp.ones(3)
    with pytest.raises(TypeError, match=r"at\[index\]\.set"):
        x[0] = 1.0


def test_values_that_do_not_fit_are_refused():
    x = pnp.ones((4, 5))
    with pytest.raises(ValueError, match="broadcast"):
        x.at[1:3].set(np.ones(4, np.float32))
    with pytest.raises(ValueError, match="mode"):
        x.at[0].set(1.0, mode="nearest")
    with pytest.raises(TypeError, match="unexpected keyword"):
        x.at[0].set(1.0, moed="clip")


def test_unsafe_casts_warn():
    with pytest.warns(FutureWarning, match="does not hold"):
        pnp.ones(3, int).at[0].set(1.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pnp.ones(3, "float16").at[0].set(2).dtype == np.float16


def test_iteration_and_length():
    x = pnp.arange(6).reshape(3, 2)
    assert [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    assert len(x) == 3
    a, b, c = pullback.jit(lambda x: tuple(x))(x)
    assert (a + b + c).tolist() == [6, 9]
    for ask in (len, iter):
        with pytest.raises(TypeError, match="0 dimensions"):
            ask(pnp.asarray(1.0))


def test_ds_crosses_jit_as_an_argument():
    x = pnp.arange(6)
    read = pullback.jit(lambda x, window: x[window])
    assert read(x, pullback.ds(np.int32(2), 3)).tolist() == [2, 3, 4]
    assert x.at[pullback.ds(1, 2)].set(0).tolist() == [0, 0, 0, 3, 4, 5]
