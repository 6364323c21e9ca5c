"""The text form of maps: VLQ, segments, names, the JSON around them."""

import pytest
from hypothesis import given, strategies as st

from pullback.explaining.mapping import Spot, decode, source_map, vlq
from pullback.explaining.sources import Source, name_sources, utf16_column

# from the standard's own examples, and the ends of its range
KNOWN = {
    0: "A",
    1: "C",
    -1: "D",
    15: "e",
    16: "gB",
    -17: "jB",
    2**31 - 1: "+/////D",
    -(2**31 - 1): "//////D",
}


@pytest.mark.parametrize(("number", "text"), KNOWN.items())
def test_known_numbers(number, text):
    assert vlq(number) == text


def made(segments, text):
    source = Source("a.py", "x = 1\n" * 2000, "a.py")
    rows = [[(c, s and Spot(source, *s)) for c, s in row] for row in segments]
    return source_map(text, rows, file="t", extra={})


spots = st.none() | st.tuples(
    st.integers(1, 2000), st.integers(0, 5), st.none() | st.sampled_from("ab")
)
rows = st.lists(
    st.dictionaries(st.integers(0, 90), spots, max_size=5).map(
        lambda row: sorted(row.items())
    ),
    min_size=1,
    max_size=8,
)


@given(rows)
def test_what_is_written_is_read_back(segments):
    data = made(segments, "\n".join([" " * 100] * len(segments)))
    back = decode(data["mappings"])
    back += [[] for _ in range(len(segments) - len(back))]
    for row, wanted in zip(back, segments, strict=True):
        assert len(row) == len(wanted)
        for segment, (column, spot) in zip(row, wanted, strict=True):
            assert segment[0] == column
            if spot is None:
                assert len(segment) == 1
                continue
            assert segment[1:4] == (0, spot[0] - 1, spot[1])
            names = [data["names"][i] for i in segment[4:]]
            assert names == ([] if spot[2] is None else [spot[2]])


@pytest.mark.parametrize(
    ("mappings", "fault"),
    [
        ("B", "32 bits"),
        ("!", "digit"),
        ("g", "inside a number"),
        ("AA", "segment of 2"),
        ("D", "negative"),
        ("gggggggggggC", "32 bits"),
    ],
)
def test_broken_mappings_are_told(mappings, fault):
    with pytest.raises(ValueError, match=fault):
        decode(mappings)


def test_columns_beyond_the_basic_plane():
    assert utf16_column("é🔥x", 2) == 3
    source = Source("a.py", "größe = '日本語🎉'; y = 1")
    assert source.column(1, "größe = '日本語🎉'; ".encode().__len__()) == 17


def test_the_identifier_follows_text_and_map():
    one = made([[(0, (1, 0, None))]], "abc")["debugId"]
    assert one == made([[(0, (1, 0, None))]], "abc")["debugId"]
    assert one != made([[(0, (2, 0, None))]], "abc")["debugId"]
    assert one != made([[(0, (1, 0, None))]], "abd")["debugId"]


@pytest.mark.parametrize(
    ("files", "root", "urls"),
    [
        (["/a/b/x.py", "/a/c/y z.py"], None, ["b/x.py", "c/y%20z.py"]),
        (["/a/b/x.py"], "/a", ["b/x.py"]),
        (["C:\\w\\x.py", "C:\\w\\s\\y.py"], None, ["x.py", "s/y.py"]),
        (["<stdin>", "/q/m#1.py"], None, ["stdin", "m%231.py"]),
        (["<ipython-input-3-ab>"], None, ["ipython-input-3-ab"]),
        (["/a/x.py", "/b/x.py"], "/a", ["x.py", "2/x.py"]),
        (["/a/日本.py"], None, ["%E6%97%A5%E6%9C%AC.py"]),
    ],
)
def test_names_of_sources(files, root, urls):
    sources = [Source(file, "") for file in files]
    name_sources(sources, root)
    assert [s.url for s in sources] == urls
