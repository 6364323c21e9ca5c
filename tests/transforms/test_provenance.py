"""Every equation knows its line, the steps that made it, and its primal equation."""

import linecache

import pullback
import pullback.numpy as pnp
from pullback.core.jaxpr import all_eqns


def line_of(eqn) -> str:
    frame = eqn.source.user_frame()
    return linecache.getline(frame.file, frame.line).strip()


def loss(x):
    y = pnp.sin(x)
    z = y * x
    return pnp.sum(z)


def test_every_equation_has_the_line_of_its_primal():
    closed = pullback.make_jaxpr(pullback.grad(loss))(pnp.arange(3.0))
    lines = {line_of(e) for e in closed.eqns}
    assert lines == {"y = pnp.sin(x)", "z = y * x", "return pnp.sum(z)"}
    for eqn in closed.eqns:
        if eqn.primitive.name == "cos":
            assert line_of(eqn) == "y = pnp.sin(x)"


def test_trail_and_born_from():
    closed = pullback.make_jaxpr(pullback.grad(loss))(pnp.arange(3.0))
    primal = {id(e.source): e for e in closed.eqns if not e.source.trail}
    backward = [e for e in closed.eqns if "transpose" in e.source.trail]
    assert {e.primitive.name for e in primal.values()} >= {"sin", "mul"}
    assert backward
    for eqn in backward:
        assert eqn.source.trail[:2] == ("jvp", "transpose")
        assert line_of(primal[id(eqn.source.born_from)]) == line_of(eqn)


def test_vmap_and_jvp_leave_a_trail():
    x = pnp.ones((2, 3))
    batched = pullback.make_jaxpr(pullback.vmap(loss))(x)
    assert all(e.source.trail == ("vmap",) for e in batched.eqns)
    pushed = pullback.make_jaxpr(lambda x: pullback.jvp(loss, (x,), (x,)))(x[0])
    assert ("jvp",) in {e.source.trail for e in pushed.eqns}


def test_equations_inside_a_cached_trace_keep_their_lines():
    inner = pullback.jit(loss)
    closed = pullback.make_jaxpr(lambda x: inner(x) + inner(x))(pnp.arange(3.0))
    lines = [line_of(e) for e in all_eqns(closed.jaxpr)]
    assert lines.count("y = pnp.sin(x)") == 2
    closed = pullback.make_jaxpr(pullback.grad(inner))(pnp.arange(3.0))
    lines = {line_of(e) for e in all_eqns(closed.jaxpr) if e.primitive.name == "cos"}
    assert lines == {"y = pnp.sin(x)"}


def test_frames_have_columns_and_callers():
    closed = pullback.make_jaxpr(loss)(pnp.arange(3.0))
    frame = closed.eqns[0].source.user_frame()
    text = linecache.getline(frame.file, frame.line)
    assert text[frame.column : frame.end_column] == "pnp.sin(x)"
    assert frame.function == "loss"
    names = [f.function for f in closed.eqns[0].source.frames()]
    assert "test_frames_have_columns_and_callers" in names


def test_named_scopes_are_in_the_locations():
    def f(x):
        with pullback.named_scope("outer"):
            y = pnp.sin(x)
            with pullback.named_scope("inner"):
                return y * pnp.cos(x)

    text = pullback.jit(pullback.grad(f)).lower(1.0).as_text(debug_info=True)
    assert '"outer/sin"' in text
    assert '"outer/inner/mul"' in text
