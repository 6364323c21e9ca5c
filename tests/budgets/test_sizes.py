"""The limits of tools/budget.py hold, and its measurements mean what they say."""

from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

from tools import budget


def source(text: str) -> budget.Source:
    return budget.Source(Path("example.py"), dedent(text))


@cache
def folder(name: str) -> list[budget.Source]:
    return budget.sources(name)


def files(*folders: str) -> list[budget.Source]:
    return [found for name in folders for found in folder(name)]


@pytest.mark.parametrize(
    "section", [budget.medians, budget.density], ids=["medians", "density"]
)
def test_package_keeps_its_limits(section):
    broken = [str(row) for row in section(files(*budget.HELD_TO_ALL))]
    assert not [row for row in broken if row.startswith("FAIL")]


def test_no_file_or_function_is_too_long():
    rows = budget.largest(files(*budget.HELD_TO_SIZE))
    assert not [str(row) for row in rows if row.broken]


def test_core_stays_small():
    rows = budget.core_size(budget.sources("pullback/core"))
    assert not [str(row) for row in rows if row.broken]


def test_docstrings_and_comments_are_not_code():
    example = source('''
        """Module.

        More of it.
        """
        # A comment.

        def f(x):
            """Docstring
            of two lines."""
            return x + 1  # and why
    ''')
    assert len(example.code_lines) == 2
    assert [function.size for function in example.functions] == [2]


def test_tokens_are_names_operators_numbers_and_strings():
    assert len(source("x = (a + 1, 'text')\n").tokens) == 9


def test_an_f_string_is_one_token_on_every_python():
    assert len(source("x = f'{a + b} {c!r:>{width}} tail'\n").tokens) == 3


def test_a_string_over_several_lines_is_code_on_each():
    example = source('x = """one\ntwo\nthree"""\n')
    assert len(example.code_lines) == 3


def test_nested_functions_count_themselves_and_in_their_owner():
    example = source("""
        def outer():
            def inner():
                return 1
            return inner
    """)
    sizes = {function.name: function.size for function in example.functions}
    assert sizes == {"outer": 4, "inner": 2}


def test_rows_over_a_limit_fail_and_name_the_place():
    rows = list(budget.largest([source("x = 1\n" * 700)]))
    assert [row.broken for row in rows] == [True, False]
    assert str(rows[0]).startswith("FAIL")
    assert str(rows[0]).endswith("example.py")


def test_long_files_warn_before_they_fail():
    (row, _) = budget.largest([source("x = 1\n" * 450)])
    assert str(row).startswith("warn")
    assert not row.broken


def test_dense_files_fail():
    rows = list(budget.density([source("f(a, b, c, d, e, f, g, h)\n" * 3)]))
    assert all(row.broken for row in rows)
