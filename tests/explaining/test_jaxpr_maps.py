"""The acceptance checks of maps from the jaxpr to Python."""

from pathlib import Path

import pytest

import pullback
import pullback.numpy as np
from tests.explaining.maps import Map, faults
from tests.explaining.programs import models, sm_helper


def explained(fun, *args, levels=("jaxpr",), **kwargs):
    return pullback.explain(fun, levels=levels)(*args, **kwargs)


def jaxpr_map(fun, *args) -> Map:
    told = explained(fun, *args)
    return Map(told.text["jaxpr"], told.map["jaxpr"])


def arguments(name):
    return models.ARGUMENTS.get(name, (models.V,))


@pytest.mark.parametrize("name", models.NAMES)
def test_every_equation_line_is_mapped_and_the_map_is_valid(name):
    m = jaxpr_map(getattr(models, name), *arguments(name))
    assert m.uncovered("jaxpr") == []
    assert faults(m) == []


def test_sources_are_the_files_with_their_text():
    m = jaxpr_map(models.loss, *arguments("loss"))
    by_name = dict(zip(m.data["sources"], m.data["sourcesContent"], strict=True))
    assert set(by_name) == {"models.py", "sm_helper.py"}
    assert by_name["models.py"] == Path(models.__file__).read_text()
    assert by_name["sm_helper.py"] == Path(sm_helper.__file__).read_text()


def test_equations_go_to_their_expressions():
    m = jaxpr_map(models.loss, *arguments("loss"))
    for nth in (0, 1):
        tanh = m.at(" = tanh", nth)
        assert tanh.source == "sm_helper.py"
        assert tanh.text.startswith("np.tanh(x)")
        assert m.at(" = jit", nth).text.startswith("sm_helper.act(")
    assert m.at(" = sub").text.startswith("net(params, x) - target")
    last = len(m.lines) - 1
    assert m.lookup(last, m.lines[last].index("in (")) is None


def test_the_frame_around_a_program_on_one_line_is_not_mapped():
    m = jaxpr_map(models.flat, models.V)
    assert len(m.lines) == 1
    assert m.at(" = sin").text.startswith("np.sin(x)")
    assert m.at("lambda") is None
    assert m.at("in (") is None


def test_columns_count_utf16_units():
    m = jaxpr_map(models.wide, models.V)
    assert m.at(" = sin").text.startswith("np.sin(x)")
    assert m.at(" = cos").text.startswith("np.cos(x)")


def test_a_newline_in_a_parameter_shifts_nothing():
    m = jaxpr_map(models.newline, models.V)
    assert m.at(" = cos").text.startswith("np.cos(y)")
    assert m.at(" = mul").text.startswith("z * 3.0")
    assert m.uncovered("jaxpr") == []


def test_gradient_lines_keep_the_primal_line():
    m = jaxpr_map(pullback.grad(models.loss), *arguments("loss"))
    squares = m.of_line("gap * gap")
    for name in ("mul", "reduce_sum", "broadcast_in_dim", "add_any"):
        assert any(f" = {name}" in line for line in squares)
    assert len(squares) >= 6
    assert not any(" = tanh" in x or " = dot_general" in x for x in squares)
    assert len(m.of_line("np.tanh(x)")) >= 6


def test_gradient_equations_tell_how_they_were_made():
    told = explained(pullback.grad(models.loss), *arguments("loss"))
    line = (
        Path(models.__file__)
        .read_text()
        .split("\n")
        .index("    return np.sum(gap * gap)")
    )
    entries = told.at("models.py", line + 1)
    derived = [e for e in entries if "transpose" in e.trail and e.born_from]
    assert derived
    primitives = {e.equation: e.primitive for e in entries}
    assert {primitives[e.born_from] for e in derived} >= {"mul", "reduce_sum"}


def test_library_calls_belong_to_the_line_that_calls():
    told = explained(models.library, models.V)
    m = Map(told.text["jaxpr"], told.map["jaxpr"])
    assert m.at(" = sqrt").text.startswith("np.linalg.norm(x)")
    assert m.at(" = sort").text.startswith("np.sort(x)")
    sqrt = next(e for e in told.table.equations if e.eqn.primitive.name == "sqrt")
    folded = [s.function for s in told.table.stack([sqrt]) if s.folded]
    assert "norm" in folded


def test_branches_and_loops_on_one_line():
    m = jaxpr_map(models.two_lambdas, models.V)
    assert m.at(" = sin").text.startswith("np.sin(v)")
    assert m.at(" = cos").text.startswith("np.cos(v)")
    assert m.at(" = mul").text.startswith("v * 1.5")
    assert m.at(" = add").text.startswith("lax.fori_loop(")
    branch = next(x for x in m.lines if " = sin" in x)
    closing = m.lookup(m.lines.index(branch), len(branch) - 1)
    assert closing.text.startswith("lax.cond(")


def test_what_has_no_line_of_its_own_says_inside_what_it_is():
    told = explained(models.two_lambdas, models.V)
    entries = [e for i in range(1, 40) for e in told.of("jaxpr", i)]
    counter = next(e for e in entries if e.primitive == "add")
    assert counter.note == "inside lax.fori_loop"


def test_binders_and_operands_have_the_names_of_variables():
    m = jaxpr_map(models.loss, *arguments("loss"))
    line = next(i for i, x in enumerate(m.lines) if " = sub" in x)
    text = m.lines[line]
    binder = m.lookup(line, len(text) - len(text.lstrip()))
    assert (binder.name, binder.text[:5]) == ("gap", "gap =")
    second = m.lookup(line, len(text) - 1)
    assert (second.name, second.text) == ("target", "target")


def test_names_of_tuples_and_augmented_assignments():
    m = jaxpr_map(models.chained, models.V)
    for equation, name in ((" = sin", "a"), (" = cos", "b"), (" = add", "a")):
        line = next(i for i, x in enumerate(m.lines) if equation in x)
        assert m.lookup(line, 4).name == name


def test_arguments_and_results_go_to_the_function():
    m = jaxpr_map(models.loss, *arguments("loss"))
    assert m.at("a:f32[4,5]").name == "params"
    assert m.at("f:f32[2,3]").name == "target"
    last = m.lines[-1]
    result = m.lookup(len(m.lines) - 1, last.index("(") + 1)
    assert result.text == "np.sum(gap * gap)"


def test_stacks_join_the_caller_of_a_cached_trace():
    sm_helper.act(np.ones((2, 5)))  # traced before, from another place
    told = explained(models.loss, *arguments("loss"))
    tanh = next(e for e in told.table.equations if e.eqn.primitive.name == "tanh")
    functions = [s.function for s in told.table.stack([tanh]) if not s.folded]
    assert functions == ["act", "net", "loss"]


def test_the_same_program_gives_the_same_bytes(tmp_path):
    run = pullback.explain(pullback.grad(models.loss), levels=("jaxpr", "stablehlo"))
    first = [p.read_bytes() for p in run(*arguments("loss")).save(tmp_path / "a")]
    second = [p.read_bytes() for p in run(*arguments("loss")).save(tmp_path / "b b")]
    assert first == second


def test_batched_equations_say_so():
    told = explained(models.mapped, *arguments("mapped"))
    entries = [e for i in range(1, 12) for e in told.of("jaxpr", i)]
    assert any(e.trail == ("vmap",) and e.primitive == "dot_general" for e in entries)
