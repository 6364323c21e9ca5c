"""docs/indexing.md is what the index compiler does now."""

import numpy as np

from tools import index_page


def test_the_page_is_fresh():
    fresh = index_page.PAGE.read_text("utf-8") == index_page.page()
    assert fresh, "run: python tools/index_page.py"


def test_primitives_in_words():
    counts = index_page.counted(lambda x: x[1] + x[2], np.ones(3))
    assert index_page.words(counts) == "2 slice, 2 squeeze, add"
    assert index_page.words(index_page.counted(lambda x: x, 1.0)) == "nothing"
