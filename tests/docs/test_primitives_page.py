"""docs/primitives.md is what the registry says now."""

from pullback.core.derivative import Linear, Multilinear, NotDifferentiable, Smooth
from tools import primitive_matrix


def test_the_page_is_fresh():
    fresh = primitive_matrix.PAGE.read_text("utf-8") == primitive_matrix.page()
    assert fresh, "run: python tools/primitive_matrix.py"


def test_facts_in_words():
    def rule(ct, x):
        return ct

    said = primitive_matrix.derivative
    assert said(Linear((rule, None, rule))) == ("linear", "0, 2")
    assert said(Linear(rule)) == ("linear", "all together")
    assert said(Multilinear((rule, rule))) == ("multilinear", "0, 1")
    assert said(Smooth((rule, None), {1: rule})) == ("formula", "1")
    assert said(NotDifferentiable("it jumps")) == ("none: it jumps", "")
