"""Calls, custom calls, tokens, random bits and barriers."""

import numpy as np

from pullback.xla.emitter import Module
from tests.xla.modules import Case, check, evaluate, f32, run_module, shaped

X = np.array([1.0, -2.0, 3.0], f32)
LINE = shaped((3,))


def test_a_function_added_while_another_is_built():
    module = Module("calls")
    names = []

    def inner(b, x):
        return [b.negate(x), b.add(x, x)]

    def main(b, x):
        names.extend(b.module.function("f", [LINE], inner) for _ in range(2))
        y, z = b.call(names[1], [LINE, LINE], [x])
        (last, _) = b.call(names[0], [LINE, LINE], [z], {"note": "kept apart"})
        return [y, last]

    assert module.function("main", [LINE], main, public=True) == "main"
    got = run_module(module, [X], [LINE, LINE])
    np.testing.assert_array_equal(got, [-X, -2 * X])
    assert names == ["f", "f_0"]
    assert "func.func private @f_0(" in module.text()
    assert 'note = "kept apart"' in module.text()


def test_a_function_may_call_another_that_is_nested_deeper():
    module = Module()

    def deep(b, x):
        return [b.multiply(x, x)]

    def middle(b, x):
        return b.call(b.module.function("g", [LINE], deep), [LINE], [x])

    def main(b, x):
        return b.call(b.module.function("g", [LINE], middle), [LINE], [x])

    module.function("main", [LINE], main, public=True)
    np.testing.assert_array_equal(run_module(module, [X], [LINE]), [X * X])


def test_names_never_collide():
    module = Module()
    given = ["f", "f_0", "f", "f", "f_0", 'odd "name"']
    made = [module.function(n, [LINE], lambda b, x: [x]) for n in given]
    assert len(set(made)) == len(made)
    module.verify()


def test_custom_call_attributes():
    def main(b, x):
        return b.custom_call(
            "pullback_test",
            [LINE],
            [x],
            backend_config={"n": np.int32(3), "mode": "fast", "on": True, "eps": 0.5},
            has_side_effect=True,
            operand_layouts=[(0,)],
            result_layouts=[(0,)],
            aliases={0: 0},
            attributes={"extra": [1, 2]},
        )

    module = Module()
    module.function("main", [LINE], main, public=True)
    module.verify()
    text = module.text()
    for part in (
        "stablehlo.custom_call @pullback_test(%arg0)",
        'mode = "fast", n = 3 : i32, on = true',
        "eps = 5.000000e-01 : f64",
        "api_version = 4 : i32",
        "has_side_effect = true",
        "operand_layouts = [dense<0> : tensor<1xindex>]",
        "operand_index = 0",
        "extra = [1, 2]",
    ):
        assert part in text, (part, text)


def test_a_custom_call_that_xla_knows():
    def emit(b, x):
        return b.custom_call("Sharding", [LINE], [x], api_version=1)

    check([Case("Sharding", emit, [X], X)])


def test_tokens_and_barriers():
    def emit(b, x):
        token = b.after_all([b.create_token(), b.create_token()])
        x, _ = b.optimization_barrier([x, token])
        return b.negate(x)

    check([Case("barrier", emit, [X], -X)])


def test_random_bits_depend_on_the_state():
    key, out = shaped((2,), np.uint64), shaped((8,), np.uint32)

    def emit(b, state):
        return b.rng_bit_generator(key, out, state, "THREE_FRY")

    one = evaluate(emit, [np.array([1, 0], np.uint64)], [key, out])
    two = evaluate(emit, [np.array([2, 0], np.uint64)], [key, out])
    again = evaluate(emit, [np.array([1, 0], np.uint64)], [key, out])
    assert not np.array_equal(one[1], two[1])
    assert np.array_equal(one[1], again[1])
    assert not np.array_equal(one[0], [1, 0])
