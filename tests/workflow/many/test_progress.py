"""The line of progress: rate, time left, and silence where nobody looks."""

import io

from bayescal.workflow.many.progress import Line, status


def test_words() -> None:
    assert status(120, 1000, 100, 1, 25.0) == "120 of 1,000 fits, 4/s, 3 min 40 s left, 1 failed"
    assert status(3, 0, 3, 0, 6.0) == "3 fits, 0.5/s"
    assert status(5, 20, 0, 0, 1.0) == "5 of 20 fits"
    assert status(1, 10_000, 1, 0, 4.0).endswith("11 h 6 min left")


def test_a_terminal_shows_the_line_and_a_file_does_not(monkeypatch) -> None:
    for shown in (True, False):
        stream = io.StringIO()
        stream.isatty = lambda shown=shown: shown  # type: ignore[method-assign]  # a terminal, or not
        monkeypatch.setattr("sys.stderr", stream)
        line = Line(2)
        line._last -= 1
        line.update("north", 1, 1, 0)
        line.close()
        assert ("1 of 2 fits" in stream.getvalue()) == shown
