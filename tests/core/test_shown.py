"""What is shown: text, HTML without a user's tags, strips of intervals, and progress bars."""

import io
import math
import re
import time
from itertools import pairwise
from typing import Any

import pytest
from markupsafe import Markup
from rich.cells import cell_len

from bayescal.core import shown as progress
from bayescal.core.shown import Box, Shown, Strip, in_notebook, progress_bar, strip_of, terminal_bar
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


def test_notebooks_typeset_no_name_between_dollars() -> None:
    (whole, *_) = Page(shown("$x_1$")._repr_html_()).elements
    # What MathJax 3 and 2 leave alone, as pandas asks them to.
    assert {"mathjax_ignore", "tex2jax_ignore"} <= set(whole.attrs["class"].split())


def test_bars_lie_on_the_scale_of_the_ticks() -> None:
    found = strip_of([(0.1, 0.3, 0.2)], "key", 0.0)
    (low, first), *_, (high, last) = found.ticks
    assert (first, last) == ("0", "0.3")
    (bar,) = found.bars
    assert bar is not None

    def share(at: float) -> float:
        return (at - low) / (high - low)

    assert [share(bar.low), share(bar.point), share(bar.high)] == pytest.approx([1 / 3, 2 / 3, 1])


@pytest.mark.parametrize(
    ("ends", "labels"),
    [
        ((-0.02, 0.03), ["−0.02", "−0.01", "0", "0.01", "0.02", "0.03"]),
        ((0.91, 0.95), ["0.91", "0.92", "0.93", "0.94", "0.95"]),
        ((0.5, 0.5), ["0.4", "0.6"]),
        ((0.0, 1200.0), ["0", "500", "1000", "1500"]),
    ],
)
def test_ticks_are_round_and_hold_the_ends(ends: tuple[float, float], labels: list[str]) -> None:
    low, high = ends
    found = [label for _, label in strip_of([(low, high, low)], "").ticks]
    if low < high:
        assert found == labels
    assert float(found[0].replace("−", "-")) <= low <= high <= float(found[-1])


def test_an_undefined_interval_has_no_bar() -> None:
    found = strip_of([(math.nan,) * 3, (0.1, 0.2, 0.15)], "")
    assert found.bars[0] is None
    assert found.bars[1] is not None
    assert strip_of([(math.nan,) * 3], "").bars == [None]


def test_labels_that_would_touch_are_left_out() -> None:
    ticks = [(k / 10, str(k)) for k in range(11)]
    at = [place for place, _ in Strip([], ticks, "").labels()]
    assert at[0] == 0
    assert min(two - one for one, two in pairwise(at)) >= 0.24


class Screen:
    """What a notebook shows, write by write."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def display(self, what: Any, **given: Any) -> "Screen":
        assert given == {"display_id": True}
        self.update(what)
        return self

    def update(self, what: Any) -> None:
        self.seen.append(what.data)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    shown = Screen()
    monkeypatch.setattr("bayescal.core.shown.in_notebook", lambda: True)
    # Not every environment in which the tests run has notebooks.
    monkeypatch.setattr(pytest.importorskip("IPython.display"), "display", shown.display)
    monkeypatch.setattr(progress, "_DELAY", 0.01)
    monkeypatch.setattr(progress, "_EVERY", 0.01)
    return shown


def until(screen: Screen, words: str) -> None:
    """Wait for the thread that draws."""
    for _ in range(500):
        if any(words in one for one in screen.seen):
            return
        time.sleep(0.01)
    raise AssertionError(screen.seen)


def test_a_notebook_has_one_bar_until_the_work_is_done(screen: Screen) -> None:
    with progress_bar("Fitting") as update:
        assert update is not None
        update("<b>", 1, 4)
        until(screen, '<progress value="1" max="4"></progress> Fitting &lt;b&gt;, 1 of 4, 0 s')
        with progress_bar("Counting") as inner:
            assert inner is None
    assert screen.seen[-1] == ""
    assert not any("Counting" in one for one in screen.seen)


def test_work_of_one_part_moves_to_and_fro(screen: Screen) -> None:
    with progress_bar("Fitting") as update:
        assert update is not None
        update("vit", 0, 1)
        until(screen, "<progress></progress> Fitting vit, 0 s")


def test_short_work_has_none(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_DELAY", 100)
    with progress_bar("Fitting"):
        pass
    assert screen.seen == []


def test_the_bar_goes_when_the_work_fails(screen: Screen) -> None:
    def fail() -> None:
        with progress_bar("Fitting"):
            until(screen, "Fitting")
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        fail()
    assert screen.seen[-1] == ""
    with progress_bar("Fitting") as again:
        assert again is not None


def test_what_was_given_is_called_instead(screen: Screen) -> None:
    calls: list[tuple[str, int, int]] = []

    def given(*call: Any) -> None:
        calls.append(call)

    with progress_bar("Fitting", given) as update:
        assert update is given
    assert screen.seen == []


def test_elsewhere_there_is_none() -> None:
    assert not in_notebook()
    with progress_bar("Fitting") as update:
        assert update is None


@pytest.mark.parametrize("total", [2, 0])
def test_a_terminal_shows_a_bar_and_a_file_does_not(
    total: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for shown in (True, False):
        stream = io.StringIO()
        stream.isatty = lambda shown=shown: shown  # type: ignore[method-assign]  # a terminal, or not
        monkeypatch.setattr("sys.stderr", stream)
        with terminal_bar("Fitting") as update:
            assert (update is not None) == shown
            if update is not None:
                update("[north]", 1, total)
        said = stream.getvalue()
        assert ("Fitting: [north]" in said and f"1/{total or '?'}" in said) == shown
