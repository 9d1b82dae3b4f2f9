"""What is shown: text no wider than the terminal, HTML without a user's tags."""

import re

import pytest
from markupsafe import Markup
from rich.cells import cell_len

from bayescal.core.shown import Box, Shown, strip_of
from tests.report.pages import HOSTILE, Page

WIDE = "分類器" * 40


def shown(name: str, columns: int = 3) -> Shown:
    """A table of two rows, of which the second failed."""
    heads = ["Name", *(f"Number {k}" for k in range(columns))]
    return Shown(
        lead=[Markup("The best is <b>{}</b>.").format(name), name],
        columns=heads,
        rows=[[name, *["0.123"] * columns], ["other", *["0.456"] * columns]],
        strip=strip_of([(0.1, 0.2, 0.15), (0.3, 0.4, 0.35)], "Dot: mean."),
        failed=[1],
        boxes=[Box("bad", "Not converged", f"{name} failed. Draw more.")],
        notes=[name],
        origin="made of rows",
    )


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("columns", [1, 9])
@pytest.mark.parametrize("name", [*HOSTILE, WIDE, "a name of words " * 20])
def test_text_fits_and_only_names_in_the_table_are_cut(name: str, columns: int, width: int) -> None:
    text = shown(name, columns).text(width)
    lines = text.splitlines()
    assert max(map(cell_len, lines)) <= width
    assert all(char.isprintable() for line in lines for char in line)
    assert text.count("0.123") == columns
    assert "not converged" in text
    spelled = "bell\\x07" if name == "bell\x07" else name
    bare = "".join(text.split())
    assert bare.count("".join(spelled.split())) >= 4


def test_text_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "33")
    found = shown("a name of words " * 20)
    assert max(map(len, str(found).splitlines())) <= 33
    assert repr(found) == str(found) == found.text(33)


@pytest.mark.parametrize("name", HOSTILE)
def test_html_is_whole_and_text_of_users_is_text(name: str) -> None:
    page = Page(shown(name)._repr_html_())
    assert not page.all("script")
    assert not page.ids
    assert [one.tag for one in page.elements if one.path == ()] == ["div"]
    assert not [key for one in page.elements for key in one.attrs if key.startswith("on")]
    # Line ends and the like aside, the name is in the first cell as it is.
    assert page.all("bdi")[0].text == name
    assert "not converged" in page.all("th")[-1].text


def test_a_classifier_and_its_group_keep_their_order_whatever_their_directions() -> None:
    page = Page(shown("אבג / دهو")._repr_html_())
    assert [one.text for one in page.all("bdi")[:2]] == ["אבג", "دهو"]


def test_every_rule_of_style_is_for_what_is_shown_alone() -> None:
    style = Page(shown("a")._repr_html_()).all("style")[0].text
    heads = re.findall(r"([^{};]+){", style)
    selectors = [head.strip() for head in heads if not head.strip().startswith("@")]
    while any("(" in one for one in selectors):
        selectors = [re.sub(r"\([^()]*\)", "", one) for one in selectors]
    assert len(selectors) > 20
    for selector in selectors:
        assert all(".bayescal-shown" in one for one in selector.split(","))


def test_writing_direction_is_kept_to_the_name() -> None:
    assert "\u202e" not in shown("a\u202eb")._repr_html_()
