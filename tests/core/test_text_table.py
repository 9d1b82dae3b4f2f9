"""Tables in plain text: they fit, and names stay apart."""

import pytest
from rich.cells import cell_len

from bayescal.core.text import fitted, one_by_one, one_line, table


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
