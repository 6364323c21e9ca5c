"""Every code block of the README and of the pages runs and prints what it shows."""

import re
from pathlib import Path

import pytest

from tests.docs import page

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOT_RUN = {"text", "console", "{toctree}"}

every_page = pytest.mark.parametrize("path", PAGES, ids=[p.name for p in PAGES])


@every_page
def test_code_does_what_the_page_says(path: Path):
    wrong = page.run(path)
    assert not wrong, "\n".join(wrong)


@every_page
def test_only_known_languages(path: Path):
    """A block in an unknown language would silently not run."""
    assert {block.language for block in page.blocks(path)} <= {"python"} | NOT_RUN


@every_page
def test_quotations_are_word_for_word(path: Path):
    for block in page.blocks(path):
        if block.quoted:
            assert block.text in (ROOT / block.quoted).read_text("utf-8")


@every_page
def test_commands_exist(path: Path):
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    shown = [b.text for b in page.blocks(path) if b.language == "console"]
    assert set(re.findall(r"\bmake ([a-z-]+)", "\n".join(shown))) <= targets


@every_page
def test_links_inside_the_repository_lead_somewhere(path: Path):
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text("utf-8"))
    inside = [link for link in links if "://" not in link]
    assert [link for link in inside if not (path.parent / link).exists()] == []


def test_a_wrong_output_is_noticed(tmp_path: Path):
    wrong = tmp_path / "wrong.md"
    wrong.write_text(
        "```python\nx = 1\nprint(x)\n```\n\n```text\n2\n```\n"
        "```python\nprint(x)\n```\nwords\n```text\n1\n```\n"
        "```python\n>>> x\n3\n```\n"
    )
    assert [text.split(": ")[0] for text in page.run(wrong)] == [
        "wrong.md:2",
        "wrong.md:10",
        "wrong.md:17",
    ]


def test_blocks_share_a_namespace_and_dots_stand_for_any_text(tmp_path: Path):
    right = tmp_path / "right.md"
    right.write_text(
        "```python\nx = [1, 2]\n```\n```python\nprint(x, 'and more')\n```\n"
        "```text\n[1, 2] ... more\n```\n```python\n>>> x\n[1, 2]\n```\n"
    )
    assert page.run(right) == []


def test_numbers_agree_to_four_digits(tmp_path: Path):
    about = tmp_path / "about.md"
    shown = "```python\nprint([1.00001, 2.0, 3])\n```\n```text\n{}\n```\n"
    about.write_text(shown.format("[1.0, 2.0, 3]"))
    assert page.run(about) == []
    for other in ("[1.01, 2.0, 3]", "[1.0, 2.0, 4]", "[1.0, 2.0]", "[1.0, x, 3]"):
        about.write_text(shown.format(other))
        assert page.run(about)
