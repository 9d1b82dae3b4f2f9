"""The progress bars: in a Jupyter kernel one, taken away at the end; in a terminal if asked."""

import io
import time
from typing import Any

import pytest

from bayescal.core import shown as progress
from bayescal.core.shown import in_notebook, progress_bar, terminal_bar


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
    monkeypatch.setattr("IPython.display.display", shown.display)
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
