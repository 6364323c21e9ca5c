"""The acceptance checks of StableHLO and of the optimized program, and of costs."""

import pytest

import pullback
import pullback.numpy as np
from pullback.compile.executable import simplified
from pullback.compile.jit import jit
from pullback.compile.lower import lower_module
from pullback.explaining.cost import Cost
from pullback.explaining.hlo_level import LINE
from pullback.xla.client import compile_module
from pullback.xla.hlo_program import text
from tests.explaining.maps import Map, faults, from_unit, units
from tests.explaining.programs import models


def arguments(name):
    return models.ARGUMENTS.get(name, (models.V,))


def explained(name):
    return pullback.explain(getattr(models, name))(*arguments(name))


@pytest.mark.parametrize("name", models.NAMES)
def test_every_line_that_can_be_is_mapped_and_all_maps_are_valid(name):
    told = explained(name)
    stablehlo = Map(told.text["stablehlo"], told.map["stablehlo"])
    assert stablehlo.uncovered("stablehlo") == []
    assert faults(stablehlo) == []
    hlo, level = Map(told.text["hlo"], told.map["hlo"]), told.levels["hlo"]
    assert faults(hlo) == []
    for line in hlo.uncovered("hlo"):  # what XLA gave no frame is told as inferred
        assert level.lines.index(line) in level.inferred, line
    for each, data in told.level_map.items():
        assert faults(Map(told.text[each], data)) == []


@pytest.mark.parametrize("name", ["loss", "products", "shared"])
def test_the_optimized_program_is_that_of_a_plain_compile(name):
    told = explained(name)
    traced = jit(getattr(models, name)).trace(*arguments(name))
    module = lower_module(simplified(traced.jaxpr), traced.fun_name)
    assert told.text["hlo"] == text(compile_module(module.bytecode()))
    assert told.text["stablehlo"] == module.text().rstrip("\n")


def test_library_loop_and_keyword_in_stablehlo():
    m = Map((told := explained("library")).text["stablehlo"], told.map["stablehlo"])
    assert m.at('"stablehlo.sort"').text.startswith("np.sort(x)")
    assert m.data["sources"] == ["models.py"]
    told = explained("loop")
    m = Map(told.text["stablehlo"], told.map["stablehlo"])
    assert m.at("stablehlo.while").text.startswith("lax.scan(")
    assert m.at("dense<2.0").text.startswith("c * 2.0")
    told = pullback.explain(models.scaled)(models.V, scale=np.ones(3))
    m = Map(told.text["stablehlo"], told.map["stablehlo"])
    assert "func.func public @main(%arg0" in told.text["stablehlo"]
    assert m.at("%arg1: ").name == "scale"
    assert m.uncovered("stablehlo") == []


def test_columns_and_fusions_of_the_optimized_program():
    told = explained("fused")
    m = Map(told.text["hlo"], told.map["hlo"])
    assert m.at(" tanh(").text.startswith("np.tanh(x)")
    assert m.at(" exponential(").text.startswith("np.exp(p)")
    lines = told.text["hlo"].split("\n")
    fusion = next(i for i, x in enumerate(lines) if " fusion(" in x)
    assert {e.primitive for e in told.of("hlo", fusion + 1)} == {"tanh", "exp"}


@pytest.mark.parametrize("name", ["fused", "loss", "library", "chained", "gradient"])
def test_costs_add_up_to_what_xla_says(name):
    if name == "gradient":
        told = pullback.explain(pullback.grad(models.loss))(*arguments("loss"))
    else:
        told = explained(name)
    rows = told.cost_by_line()
    assert rows[-1].line == 0
    total = sum((row.own for row in rows), Cost())
    said = told.levels["hlo"].program.cost_analysis()
    keys = ("flops", "transcendentals", "bytes accessed")
    assert total == tuple(said.get(key, 0.0) for key in keys)


def test_a_loop_counts_its_body_as_often_as_it_runs():
    told = explained("products")
    source = told.sources["models.py"].split("\n")
    row = next(
        r for r in told.cost_by_line() if r.line and "c @ x" in source[r.line - 1]
    )
    assert row.own.flops >= 7 * 2 * 16**3


def test_costs_with_calls_reach_the_callers():
    told = explained("loss")
    by_text = {
        told.sources[r.file.rpartition("/")[2]].split("\n")[r.line - 1].strip(): r
        for r in told.cost_by_line()
        if r.line
    }
    call = by_text["gap = net(params, x) - target"]
    assert call.own.flops == 6
    assert call.with_calls.transcendentals == 16


def test_stacks_of_the_optimized_program():
    told = explained("loss")
    lines = told.text["hlo"].split("\n")
    found = [
        e
        for i, line in enumerate(lines)
        if " tanh(" in line
        for e in told.of("hlo", i + 1)
    ]
    assert found
    for entry in found:
        functions = [frame.split()[-1] for frame in entry.stack]
        assert functions == ["act", "net", "loss"]


@pytest.mark.parametrize("name", ["loss", "library", "loop", "shared"])
def test_level_maps_one_after_the_other_lead_to_the_same_place(name):
    told = explained(name)
    direct = Map(told.text["hlo"], told.map["hlo"])
    to_stablehlo = Map(told.text["hlo"], told.level_map["hlo"])
    to_jaxpr = Map(told.text["stablehlo"], told.level_map["stablehlo"])
    to_python = Map(told.text["jaxpr"], told.map["jaxpr"])
    checked = 0
    for line, row in enumerate(direct.rows):
        for segment in row:
            if len(segment) == 1:
                continue
            at = to_stablehlo.lookup(line, segment[0])
            at = to_jaxpr.lookup(at.line - 1, at.column)
            found = to_python.lookup(at.line - 1, at.column)
            wanted = direct.lookup(line, segment[0])
            assert (found.source, found.line) == (wanted.source, wanted.line)
            checked += 1
    assert checked >= 3


def test_links_up_point_at_operations():
    told = explained("loss")
    above = told.text["stablehlo"].split("\n")
    for row in told.levels["hlo"].up:
        for _, place in row:
            if place is not None:
                assert from_unit(above[place[0]], units(" " * place[1]))[0] == "%"


def test_lines_and_instructions_agree():
    told = explained("loss")
    level = told.levels["hlo"]
    for name, line in level.line_of.items():
        assert LINE.match(level.lines[line])[2] == name
