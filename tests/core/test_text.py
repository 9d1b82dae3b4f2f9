"""Text of users in terminals, pages and spreadsheets."""

import csv
import io
import json
import re

import pyarrow
import pyarrow.csv
import pytest
from rich.cells import cell_len

from bayescal.core import text
from bayescal.core.text import (
    cell,
    distinct,
    fitted,
    number,
    one_by_one,
    one_line,
    printable,
    shorten,
    surely,
    table,
    undirected,
)


def test_no_probability_of_a_bound_reads_as_1() -> None:
    assert [surely(delta) for delta in (0.05, 1e-4, 1e-9)] == ["0.95", "0.9999", "1 - 1e-09"]


def read_back(text: str) -> str:
    """What docs/cli.md says of reading a name back."""
    return re.sub("^'(?='*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20])", "", text)


@pytest.mark.parametrize(
    "text",
    ["=cmd|x", "+1+1", "-p", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1", "'=1", "''-a", "--1"],
)
def test_a_formula_is_quoted_and_read_back(text: str) -> None:
    quoted = cell(text)
    assert quoted == f"'{text}"
    assert read_back(quoted) == text
    (line,) = csv.reader(io.StringIO(f'"{quoted}"\n', newline=""))
    assert line == [quoted]


@pytest.mark.parametrize("value", ["-0.5", "+3", "-1e-5", ".5", "a=b", "'a", "", 3, -0.5, None])
def test_numbers_and_other_text_stay(value: object) -> None:
    assert cell(value) is value
    assert not isinstance(value, str) or read_back(value) == value


@pytest.mark.parametrize("value", [True, False])
def test_truth_is_spelled_as_arrow_and_json_do(value: bool) -> None:
    out = io.BytesIO()
    pyarrow.csv.write_csv(pyarrow.table({"a": [value]}), out)
    assert out.getvalue().decode().split()[1] == cell(value) == json.dumps(value)


@pytest.mark.parametrize("mark", [*"\u061c\u200e\u200f\u202a\u202e\u2066\u2069"])
def test_marks_of_direction_are_spelled_out(mark: str) -> None:
    assert undirected(f"a{mark}b") == f"a\\u{ord(mark):04x}b"
    assert printable(f"a{mark}b") == f"a\\u{ord(mark):04x}b"


def test_letters_of_either_direction_stay() -> None:
    text = "gr\xf6\xdfer \u05e9\u05dc\u05d5\u05dd \U0001f600"
    assert undirected(text) == printable(text) == text


def test_what_a_terminal_acts_on_is_spelled_out() -> None:
    assert printable("\x1b[31m\x07\ud800") == r"\x1b[31m\x07\ud800"


@pytest.mark.parametrize(
    ("names", "cut"),
    [
        (("forest", "svm"), ("forest", "svm")),
        (("model_01_forest_v1", "model_01_forest_v2"), ("model_...est_v1", "model_...est_v2")),
        (("model_01_forest_v1", "model_02_forest_v1"), ("model_01..._v1", "model_02..._v1")),
        (("123a-1234567890123", "123b-1234567890123"), ("123a...123", "123b...123")),
        (("a\nlong name of words", "svm"), ("a long ... words", "svm")),
        (("the same " * 3,) * 2, ("the sa...e same",) * 2),
        # Each takes the place of two letters.
        (("中文中文中文中文一", "中文中文中文中文二"), ("中文...文一", "中文...文二")),
        ((), ()),
    ],
)
def test_names_are_cut_apart(names: tuple[str, ...], cut: tuple[str, ...]) -> None:
    found = distinct(names, max(map(cell_len, cut), default=9))
    assert tuple(found[name] for name in names) == cut
    if len(set(names)) == 1:
        assert shorten(names[0], len(cut[0])) == cut[0]


def test_names_that_no_cut_of_the_width_keeps_apart_are_cut_wider() -> None:
    names = [f"{'a' * 40}{end}{'b' * 40}" for end in "xy"]
    assert set(map(len, distinct(names, 20).values())) == {44}


def test_many_long_names_are_cut_in_few_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"{'a' * 150}{k:02d}{'z' * 148}" for k in range(50)]
    cuts, cut = [], text._cut
    monkeypatch.setattr(text, "_cut", lambda *given: cuts.append(given) or cut(*given))
    # A tail of 150 characters keeps what differs, behind one and three dots.
    assert set(map(len, distinct(names).values())) == {154}
    assert len(cuts) < 50_000


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("a\n  b\tc", "a b c"),
        ("column '\x1b[31mred'", r"column '\x1b[31mred'"),
        ("right-to-left \u202e", r"right-to-left \u202e"),
        ("ECE ≤ 0.05, größer", "ECE ≤ 0.05, größer"),
    ],
)
def test_nothing_in_a_message_can_act_on_the_terminal(message, line) -> None:
    assert one_line(message) == line


def test_numbers_below_zero_have_a_minus_sign() -> None:
    """Of a forest of slopes or of net benefits."""
    found = [number(value) for value in (-0.25, -0.00125, 0.0, 0.00002, 1.5)]
    assert found == ["\u22120.250", "\u22120.0013", "0", "< 0.0001", "1.500"]


@pytest.mark.parametrize("width", [48, 80, 200])
def test_a_table_fits_or_is_a_line_a_number(width: int) -> None:
    names = [f"a_long_name_of_a_classifier_{k}_of_the_second_run" for k in (1, 2)]
    columns = table(
        ["", "rows", "90% interval"], [[one, "570", "0.1 to 0.2"] for one in names], [0]
    )
    for lines in (fitted(columns, width), one_by_one(columns, width)):
        assert lines is not None
        assert max(map(cell_len, lines)) <= width
        assert "\n".join(lines).count("0.1 to 0.2") == 2
        assert len(set(lines)) >= 4
    assert fitted(columns, 20) is None


def test_one_name_of_wide_characters_leaves_the_others_their_room() -> None:
    """中 takes two places: 16 hold "first/north" whole, and most of "中文中文中文/north"."""
    names = ["first/north", "first/south", "中文中文中文/north", "中文中文中文/south"]
    lines = fitted(table(["", "rows"], [[one, "570"] for one in names], [0]), 22)
    assert lines is not None
    cut = [line.removesuffix("570").strip() for line in lines[2:]]
    assert cut[:2] == names[:2]
    assert all(one.startswith("中文") for one in cut[2:])
    assert [one[-4:] for one in cut[2:]] == ["orth", "outh"]
    assert max(map(cell_len, lines)) <= 22
