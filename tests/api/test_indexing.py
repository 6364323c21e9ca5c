"""Indexing: bounds, modes, types of indices, masks, programs, errors.

What random index expressions read and write is in `test_random_indices`.
"""

import warnings

import numpy as np
import pytest

import pullback
import pullback.numpy as pnp
from pullback import errors
from pullback.compile import eager
from pullback.core import config


def data(shape, seed=0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


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


# ---- types of indices ----

LONG = np.arange(300, dtype=np.float32)
SPARE = {"uint32": 2**32 - 1, "uint64": 2**64 - 1, "int64": 2**32 + 1}


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"]
)
@pytest.mark.parametrize("traced", [False, True])
def test_every_integer_type_reaches_along_a_long_axis(dtype, traced):
    places = [1, 100, 127]
    places += [-1, -100] if np.dtype(dtype).kind == "i" else [SPARE.get(dtype, 255)]
    index = np.array(places, dtype)
    at = [min(p + 300 if p < 0 else p, 299) for p in places]
    inside = [p for p, given in zip(at, places, strict=True) if given < 300]
    added = LONG.copy()
    np.add.at(added, inside, np.float32(1))

    def run(x, i):
        i = i if traced else index
        return x[i], x[i[3]], x.at[i].add(1.0), pnp.take(x, i, mode="wrap")

    read, one, more, _ = pullback.jit(run)(LONG, index)
    assert read.tolist() == at
    assert one == at[3]
    assert more.tolist() == added.tolist()


def test_ranges_and_numpy_bools_stand_in_tuples():
    x = pnp.arange(12).reshape(3, 4)
    assert x[:, range(1, 3)].tolist() == [[1, 2], [5, 6], [9, 10]]
    assert x[np.True_, 0].shape == (1, 4)
    assert x[(np.False_,)].shape == (0, 3, 4)


def test_arrays_without_axes_are_read_and_written():
    x = pnp.asarray(3.0)
    assert x[()] == x[...] == 3
    assert x[None].shape == x[True].shape == (1,)
    assert x.at[()].add(1.0) == x.at[...].set(4.0) == x.at[True].set(4.0) == 4


def test_a_window_is_written_where_it_is_read():
    x = data((9,))
    for start in (-4, 0, 5, 100):
        for size, stride in ((3, 1), (3, 2), (1, 4)):
            window = pullback.ds(start, size, stride)
            read = pnp.asarray(x)[window]
            got = pnp.asarray(x).at[window].set(read * 0 - 5)
            assert (np.asarray(got) == -5).sum() == size
            np.testing.assert_array_equal(np.asarray(got[window]), np.full(size, -5.0))


# ---- what a program is made of ----


def primitives(f, *args) -> set[str]:
    return {eqn.primitive.name for eqn in pullback.make_jaxpr(f)(*args).jaxpr.eqns}


COLUMNS = np.array([3, 1, 0, 2, 5, 4, 7, 6, 9, 8, 13])


@pytest.mark.parametrize("inner", [lambda f: f, pullback.jit])
def test_distinct_columns_need_no_scatter_in_any_order(inner):
    x = data((4, 14))
    loss = inner(lambda x: (x[:, COLUMNS] ** 3).sum())
    twice = pullback.grad(lambda x: (pullback.grad(loss)(x) ** 2).sum())
    for f in (pullback.grad(loss), twice, lambda x: x.at[:, COLUMNS].set(1.0)):
        assert "scatter" not in str(pullback.make_jaxpr(f)(x))
    want = np.zeros_like(x)
    want[:, COLUMNS] = 3 * x[:, COLUMNS] ** 2
    np.testing.assert_allclose(np.asarray(pullback.grad(loss)(x)), want, 1e-6)
    want[:, COLUMNS] = 36 * x[:, COLUMNS] ** 3
    np.testing.assert_allclose(np.asarray(twice(x)), want, 1e-5)


@pytest.mark.parametrize("name", ["set", "add", "multiply", "min", "max"])
@pytest.mark.parametrize("large", [False, True])
def test_sparse_and_dense_updates_mean_the_same(name, large):
    x = data((96, 64))
    rows, columns = (np.s_[::32], np.s_[:, ::16]) if large else (np.s_[5], np.s_[:, 5])
    for index in (
        rows,
        columns,
        np.s_[:, 3:60:19],
        np.s_[np.array([1, 5, 90])],
        np.s_[::2],
    ):
        y = data(x[index].shape, 1)
        got = getattr(pnp.asarray(x).at[index], name)(y)
        want = x.copy()
        ufunc = {"min": np.minimum, "max": np.maximum}.get(name)
        if name == "set":
            want[index] = y
        else:
            (ufunc or getattr(np, name)).at(want, index, y)
        np.testing.assert_allclose(np.asarray(got), want, 1e-6)


def test_few_elements_of_a_large_array_are_scattered():
    x = data((64, 64))
    spots = np.array([3, 10, 11, 40])
    assert primitives(lambda x: x.at[spots, spots].set(1.0), x) >= {"scatter"}
    wide = data((16, 256))
    assert primitives(lambda x: x.at[:, 3::100].set(1.0), wide) >= {"scatter"}
    assert "scatter" not in primitives(lambda x: x.at[:, ::16].set(1.0), x)
    assert "scatter" not in primitives(lambda x: x.at[:, spots].set(1.0), x)


def test_columns_are_scattered_in_front():
    """The lowering moves the axis; the program that users see does not."""
    x, v = data((32, 8)), np.array([1, 5, 1, 7])
    y = data((32, 4), 1)
    for name, ufunc in (("add", np.add), ("max", np.maximum)):
        want = x.copy()
        ufunc.at(want, (slice(None), v), y)
        f = pullback.jit(lambda x, v, y, n=name: getattr(x.at[:, v], n)(y))
        np.testing.assert_allclose(np.asarray(f(x, v, y)), want, 1e-6)
    assert f.lower(x, v, y).as_text().count("stablehlo.transpose") == 3


def test_unbatched_starts_stay_windows_under_vmap():
    x = data((3, 4, 5))
    f = pullback.vmap(lambda x, i: x[i], (0, None))
    assert "gather" not in primitives(f, x, 1)


def test_eager_slices_compile_once_a_shape(monkeypatch):
    made, count = [], 0
    compiled = eager._compile

    def counting(prim, *rest):
        made.append(prim.name)
        return compiled(prim, *rest)

    monkeypatch.setattr(eager, "_compile", counting)
    x = pnp.asarray(data((64, 1100)))  # too large to stay on the host
    for form in (lambda k: np.s_[k : k + 40, 3 + k : 50 + k], lambda k: np.s_[k]):
        for k in range(5):
            at = form(k)
            pullback.grad(lambda x, i=at: (x[i] * x[i]).sum())(x)
            x.at[at].set(x[at] * 2)
            count = count if k else len(made)
        assert len(made) == count
    for k in range(5):
        at = np.s_[k : k + 40 : 2, 2 * k : 2 * k + 1050 : 3]
        read, pull = pullback.vjp(lambda x, i=at: x[i], x)
        pull(read)
        count = count if k > 1 else len(made)  # at the start no window is needed
    assert len(made) == count


# ---- applications, checks ----


def test_apply_goes_as_often_as_the_index_names_a_place():
    x = pnp.arange(1.0, 6.0)
    places = np.array([0, 0, 3, -9])

    def double(x, i):
        return x.at[i].apply(lambda y: y * 2)

    for f in (lambda x, i: double(x, places), double):
        assert pullback.jit(f)(x, places).tolist() == [4, 2, 3, 8, 5]
    grad = pullback.grad(lambda x: x.at[places].apply(lambda y: y * y).sum())(x)
    assert grad.tolist() == [4, 1, 1, 8, 1]
    assert x.at[np.zeros(10, int)].apply(lambda y: y + 1)[0] == 11


@pytest.mark.parametrize(
    ("use", "axis"),
    [
        (lambda x: x[:, 7], 1),
        (lambda x: x[np.array([0, -3])], 0),
        (lambda x: x.at[0, 7].add(1.0), 1),
        (lambda x: x[:, pullback.ds(2, 2)], 1),
    ],
)
def test_static_bounds_are_checked_on_request(use, axis):
    x = pnp.ones((2, 3))
    use(x)
    with config.scoped(check_static_indices=True):
        item = "item 2" if axis else "item 1"
        with pytest.raises(IndexError, match=rf"out of bounds for axis {axis}.*{item}"):
            use(x)
        assert x.at[7].get(mode="fill", fill_value=0).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("use", "bad"),
    [
        (lambda x, i: x[:, i], 3),
        (lambda x, i: x[1, i], np.array([0, 5])),
        (lambda x, i: x.at[:, i].set(0.0), -4),
        (lambda x, i: x[:, pullback.ds(i, 2)], 2),
        (lambda x, i: pullback.vmap(lambda i: x[0, i])(i), np.array([1, 5])),
    ],
)
def test_traced_bounds_are_checked_on_request(use, bad):
    x = pnp.ones((2, 3))
    with config.scoped(check_traced_indices=True):
        f = pullback.jit(use)
        pullback.block_until_ready(f(x, np.zeros_like(bad)))
        message = "is out of bounds for axis 1 with size 3.*item 2"
        with pytest.raises(errors.RuntimeFailure, match=message):
            pullback.block_until_ready(f(x, np.asarray(bad)))
    pullback.block_until_ready(pullback.jit(use)(x, np.asarray(bad)))
