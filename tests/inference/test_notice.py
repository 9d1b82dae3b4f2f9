"""Terminals and notebooks are told of compiling, once there is some; files and workers not."""

import io
import sys

import numba
import pytest

from bayescal.inference.notice import compiling_noted


class Terminal(io.StringIO):
    def isatty(self):
        return True


def work():
    """Compile a function that nobody has compiled before."""
    return numba.njit(lambda x: x + 1)(1)


def written(monkeypatch, stream, what=work):
    monkeypatch.setattr(sys, "stderr", stream)
    with compiling_noted():
        what()
    return stream.getvalue()


def test_a_terminal_is_told_while_functions_are_compiled(monkeypatch):
    text = written(monkeypatch, Terminal())
    assert text.startswith("\rCompiling the model, for the first time on this machine")
    assert text.endswith("(1 compiled)\n")


def test_nothing_is_said_where_nothing_is_compiled(monkeypatch):
    assert written(monkeypatch, Terminal(), lambda: None) == ""


def test_a_file_is_told_nothing(monkeypatch):
    # Another test may have started a notebook.
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert written(monkeypatch, io.StringIO()) == ""


def test_a_notebook_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    assert "Compiling the model" in written(monkeypatch, io.StringIO())


def test_a_worker_tells_nothing(monkeypatch):
    monkeypatch.setattr("multiprocessing.parent_process", lambda: "the fit that started it")
    assert written(monkeypatch, Terminal()) == ""


def test_beside_a_progress_bar_one_line_is_enough(monkeypatch):
    stream = type("FileProxy", (Terminal,), {"__module__": "rich.file_proxy"})()
    text = written(monkeypatch, stream)
    assert text.count("\n") == 1
    assert "\r" not in text


def test_an_interrupt_ends_the_line_and_is_passed_on(monkeypatch):
    stream = Terminal()

    def interrupted():
        work()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        written(monkeypatch, stream, interrupted)
    assert stream.getvalue().endswith("\n")
