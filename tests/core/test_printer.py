"""The text of jaxprs: JAX's own text is the oracle; regions point at what they name."""

import time
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from pullback.compile.jit import jit
from pullback.core.aval import ShapedArray, aval_of
from pullback.core.document import (
    concat,
    group,
    join,
    layout,
    line,
    nest,
    text,
)
from pullback.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from pullback.core.printer import marked, pretty, variable_name
from pullback.core.trace import stage
from pullback.ops import (
    contract,
    convert,
    elementwise,
    joining,
    shape,
    slicing,
    transcendental,
)

OURS = SimpleNamespace(
    jit=jit,
    **{
        name: getattr(module, name)
        for module, names in (
            (elementwise, ("add", "mul", "neg", "sub")),
            (transcendental, ("sin", "cos", "exp", "tanh")),
            (shape, ("broadcast_in_dim", "transpose", "squeeze")),
            (slicing, ("slice", "rev")),
            (joining, ("concatenate",)),
            (contract, ("dot_general",)),
            (convert, ("convert_element_type",)),
        )
        for name in names
    },
)
THEIRS = SimpleNamespace(
    jit=jax.jit, **{n: getattr(jax.lax, n) for n in vars(OURS) if n != "jit"}
)
X = np.arange(3, dtype=np.float32)
M = np.ones((2, 3), np.float32)


def one_equation(lax, x):
    return lax.mul(x, np.float32(2.0))


def fits_on_a_line(lax, x):
    return lax.mul(lax.sin(x), x)


def too_long_for_a_line(lax, x):
    return lax.mul(lax.mul(lax.sin(x), lax.cos(x)), lax.exp(x))


def no_equation(lax, x):
    return x, x


def constant(lax, x):
    return lax.mul(x, M[0])


def unused(lax, x):
    lax.sin(x)
    return lax.cos(x)


def parameters(lax, m):
    wide = lax.broadcast_in_dim(m, (4, 2, 3), (1, 2))
    cut = lax.slice(wide, (0, 1, 0), (4, 2, 3), None)
    return lax.squeeze(lax.transpose(cut, (2, 1, 0)), (1,))


def contraction(lax, x, m):
    return lax.dot_general(m, x, (((1,), (0,)), ((), ())), preferred_element_type="f")


def repeated_scalar(lax, x):
    return lax.add(x, lax.broadcast_in_dim(np.float32(0.1), (3,), ()))


def narrow_types(lax, x):
    return lax.convert_element_type(x, np.int32), lax.convert_element_type(x, bool)


def many_arguments(lax, *xs):
    return lax.concatenate(xs, 0)


def many_names(lax, x):
    for _ in range(30):
        x = lax.sin(x)
    return x


def call(lax, x, m):
    return lax.jit(lambda x, y: (lax.sin(x), y))(x, m)


def call_on_one_value_twice(lax, x):
    return lax.jit(lambda x, y: lax.add(x, y))(x, x)


def nested_calls(lax, x):
    inner = lax.jit(lambda x: lax.tanh(lax.neg(x)))
    return lax.sub(lax.jit(lambda y: lax.exp(inner(y)))(x), x)


def repeated_call(lax, x):
    sine = lax.jit(named_sine(lax))
    return sine(sine(x))


def named_sine(lax):
    def sine(x):
        return lax.sin(lax.cos(x))

    return sine


def repeated_calls_of_one_name(lax, x):
    sine, other = lax.jit(named_sine(lax)), lax.jit(named_sine(lax))
    return other(other(sine(sine(x))))


def empty_call(lax, x):
    lax.jit(lambda x: None)(x)
    return ()


PROGRAMS = [
    (one_equation, X),
    (fits_on_a_line, X),
    (too_long_for_a_line, X),
    (no_equation, X),
    (constant, X),
    (unused, X),
    (parameters, M),
    (contraction, X, M),
    (repeated_scalar, X),
    (narrow_types, X),
    (many_arguments, *[X] * 7),
    (many_names, X),
    (call, X, M),
    (call_on_one_value_twice, X),
    (nested_calls, X),
    (repeated_call, X),
    (empty_call, X),
]


def ours(program, *args):
    def flat(*xs):
        out = program(OURS, *xs)
        return out if isinstance(out, list | tuple) else [out]

    return ClosedJaxpr(*stage(flat, list(map(aval_of, args))))


def trimmed(value):
    """JAX leaves blanks at ends of lines, and before the end of a line that fits."""
    lines = [x.rstrip() for x in value.replace("] \n", "]\n").split("\n")]
    return "\n".join(lines)


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case[0].__name__)
def test_text_is_that_of_jax(case):
    program, *args = case
    theirs = jax.make_jaxpr(lambda *xs: program(THEIRS, *xs))(*args)
    assert pretty(ours(program, *args)) == trimmed(str(theirs))


@pytest.mark.parametrize("count", [20, 40])
def test_long_lists_fill_lines(count):
    """JAX counts a binder's name only, so its lines may be longer than ours."""
    args = [X[:1]] * count
    printed = pretty(ours(many_arguments, *args))
    theirs = jax.make_jaxpr(lambda *xs: many_arguments(THEIRS, *xs))(*args)
    assert printed.split() == str(theirs).split()
    assert 60 < max(map(len, printed.splitlines())) <= 80


def test_two_bodies_of_one_name_get_two_names():
    printed = pretty(ours(repeated_calls_of_one_name, X))
    assert printed.startswith("let sine = {")
    assert "\nlet sine1 = {" in printed
    assert printed.count("jaxpr=sine]") == printed.count("jaxpr=sine1]") == 2


def test_repr_of_programs_and_equations_is_their_text():
    closed = ours(one_equation, X)
    want = "{ lambda ; a:f32[3]. let b:f32[3] = mul a 2.0:f32[] in (b,) }"
    assert repr(closed) == str(closed) == repr(closed.jaxpr) == want
    assert closed.pretty_print() == closed.jaxpr.pretty_print() == want
    assert repr(closed.eqns[0]) == "a:f32[3] = mul b 2.0:f32[]"


@pytest.mark.parametrize(
    ("value", "dtype", "want"),
    [
        (0.1, "float32", "0.10000000149011612:f32[]"),
        (0.1, "bfloat16", "0.10009765625:bf16[]"),
        (1e30, "float32", "1.0000000150474662e+30:f32[]"),
        (float("-inf"), "float32", "-inf:f32[]"),
        (1 + 2j, "complex64", "(1+2j):c64[]"),
        (3, "int8", "3:i8[]"),
        (True, "bool", "True:bool[]"),
    ],
)
def test_literals_carry_their_type(value, dtype, want):
    from pullback.core import dtype as dtypes

    aval = ShapedArray((), dtypes.parse(dtype))
    jaxpr = Jaxpr([], [], [Literal(value, aval)], [])
    assert pretty(jaxpr) == f"{{ lambda ; . let  in ({want},) }}"


def test_names_of_variables():
    assert [variable_name(i) for i in (0, 25, 26, 27, 26 * 26)] == [
        "a",
        "z",
        "ba",
        "bb",
        "baa",
    ]


def test_parameters_cannot_break_lines():
    class Odd:
        def __repr__(self):
            return "two\nlines\t\x1b[0m"

    x = Var(ShapedArray((), np.dtype("float32")))
    eqn = JaxprEqn(elementwise.neg_p, [x], [x], {"note": Odd()})
    printed = pretty(eqn)
    assert printed == r"a:f32[] = neg[note=two\nlines\t\x1b[0m] a"


def test_a_variable_shared_by_two_bodies_is_named_in_each():
    """Bodies may share variables; names are given within one body only."""
    closed = ours(call, X, M)
    body = closed.eqns[0].params["jaxpr"]
    x, y = closed.jaxpr.invars
    other = JaxprEqn(
        closed.eqns[0].primitive,
        [y, x],
        [Var(v.aval) for v in reversed(body.jaxpr.outvars)],
        {
            "name": "swapped",
            "jaxpr": ClosedJaxpr(
                body.jaxpr.replace(
                    invars=body.jaxpr.invars[::-1], outvars=body.jaxpr.outvars[::-1]
                )
            ),
        },
    )
    jaxpr = closed.jaxpr.replace(eqns=[*closed.eqns, other])
    assert "{ lambda ; b:f32[2,3] a:f32[3]. let" in pretty(jaxpr)


def test_source_lines_and_transformations():
    from pullback.transforms.jvp import jvp_flat

    def tangent(x, t):
        return jvp_flat(lambda x: [elementwise.mul(OURS.sin(x), x)], [x], [t])[1]

    closed = ClosedJaxpr(*stage(tangent, [aval_of(X)] * 2))
    lines = closed.pretty_print(source_info=True).splitlines()
    assert all("# test_printer.py:" in x for x in lines[1:-1])
    assert lines[1].endswith(tuple("0123456789"))
    assert any(x.endswith("differentiated") for x in lines)


def test_regions_cover_what_they_name():
    closed = ours(nested_calls, X)
    printed, regions = marked(closed)
    lines = printed.split("\n")
    roles = set()
    for place in regions:
        spelled = lines[place.line][place.start : place.end]
        mark = place.payload
        roles.add(mark.role)
        if mark.role == "primitive":
            assert spelled == mark.owner.primitive.name
        elif mark.role == "binder":
            assert spelled.endswith(mark.owner.outvars[mark.key].aval.short())
        elif mark.role == "operand":
            assert spelled.isalpha()
        elif mark.role == "parameter":
            assert spelled == f"{mark.key}="
        elif mark.role in ("end", "resume"):
            assert spelled == ""
    want = {"binder", "primitive", "operand", "parameter", "result", "header"}
    assert roles == want | {"end", "resume"}


def test_regions_come_in_order():
    _, regions = marked(ours(many_arguments, *[X] * 20))
    places = [(r.line, r.start, r.end) for r in regions]
    assert places == sorted(places)


@pytest.mark.slow
def test_time_is_linear():
    eqns, v = [], Var(aval_of(X))
    first = v
    for _ in range(100_000):
        out = Var(v.aval)
        eqns.append(JaxprEqn(elementwise.neg_p, [v], [out], {}))
        v = out
    start = time.process_time()
    printed, regions = marked(Jaxpr([], [first], [v], eqns))
    assert printed.count("\n") == 100_001
    assert len(regions) == 400_002
    assert time.process_time() - start < 20


def test_deep_documents_are_laid_out():
    doc = text("x")
    for _ in range(20_000):
        doc = group(nest(1, concat(doc)))
    assert layout(doc)[0] == "x"


def test_a_group_breaks_all_of_its_lines_or_none():
    words = [text(w) for w in ("aaa", "bbb", "ccc")]
    doc = concat(text("["), group(nest(2, join(line(), words))), text("]"))
    assert layout(doc, 80)[0] == "[aaa bbb ccc]"
    assert layout(doc, 8)[0] == "[aaa\n  bbb\n  ccc]"


def test_width_counts_code_points():
    doc = group(concat(text("∂∂∂", "here"), line(), text("x")))
    printed, regions = layout(doc, 5)
    assert printed == "∂∂∂ x"
    assert tuple(regions[0]) == (0, 0, 3, "here")
