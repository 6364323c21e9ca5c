"""Modules: signatures, names, attributes, locations; and what an operation costs."""

import gc
import time

import numpy as np

from pullback.xla.emitter import Emitter, Module
from tests.xla.modules import f32, run_module, shaped

LINE = shaped((3,))


def built(body=lambda b, x: [b.sine(x)], **settings):
    module = Module("m")
    module.function("main", [LINE], body, public=True, **settings)
    module.verify()
    return module


def test_text_shows_names_and_attributes():
    module = built(
        arg_attributes=[{"mhlo.sharding": "{replicated}"}],
        result_attributes=[{"jax.result_info": "y"}],
        donated={0: 0},
    )
    module.set_attributes({"mhlo.num_partitions": np.int32(1)})
    text = module.text()
    assert "module @m attributes {mhlo.num_partitions = 1 : i32}" in text
    assert '{mhlo.sharding = "{replicated}", tf.aliasing_output = 0 : i32}' in text
    assert '-> (tensor<3xf32> {jax.result_info = "y"})' in text
    assert "loc(" not in text


def test_locations_follow_the_setting():
    def body(b, x):
        b.set_location("sin", "model.py", 7, 3)
        y = b.sine(x)
        saved = b.loc
        b.set_location("cos", "model.py", 8)
        z = b.cosine(y)
        b.loc = saved
        return [b.add(y, z)]

    text = built(body, arg_names=["angle"]).text(locations=True)
    places = dict(
        line.split(" = ", 1) for line in text.splitlines() if line[:4] == "#loc"
    )

    def place_of(operation):
        (row,) = [row for row in text.splitlines() if f"stablehlo.{operation} " in row]
        name = row.split(" loc(")[1].rstrip(")")
        label, child = places[name][4:-1].rstrip(")").split("(")
        return label, places[child]

    assert place_of("sine") == place_of("add") == ('"sin"', 'loc("model.py":7:3)')
    assert place_of("cosine") == ('"cos"', 'loc("model.py":8:0)')
    assert 'loc("angle")' in text


def test_locations_survive_bytecode_and_xla():
    from pullback.xla.client import compile_module

    def body(b, x):
        b.set_location("my_sine", "model.py", 7, 3)
        return [b.sine(x)]

    assert 'op_name="my_sine"' in compile_module(built(body).bytecode()).optimized_hlo()


def test_functions_without_arguments_or_results():
    module = Module()
    module.function("empty", [], lambda b: [])
    module.function("main", [], lambda b: [b.full(2, LINE)], public=True)
    np.testing.assert_array_equal(run_module(module, [], [LINE]), [np.full(3, 2, f32)])


def test_a_module_and_its_constants_are_freed():
    """Constants live in the context: one shared by all modules would keep them."""
    from jaxlib.mlir import ir

    gc.collect()
    before = ir.Context._get_live_count()
    for _ in range(3):
        built()
    gc.collect()
    assert ir.Context._get_live_count() == before


def test_emitting_is_quick():
    """An addition takes about 2 us; twenty times that fails here."""

    def body(b: Emitter, x):
        start = time.perf_counter()
        for _ in range(2000):
            x = b.add(x, x)
        assert time.perf_counter() - start < 2000 * 40e-6
        return [x]

    built(body)
