"""Progress bars: in a notebook by themselves, in a terminal where a caller asks for one."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from importlib import import_module
from threading import Event, Thread
from typing import Final

from bayescal.core.text import one_line

type Progress = Callable[[str, int, int], None]
"""Called with what is worked on, how many are finished, and of how many."""

_DELAY: Final = 0.7
"""Seconds of work that are too short for a bar."""
_EVERY: Final = 0.5
_SHOWN: Final = ContextVar("shown", default=False)


@contextmanager
def progress_bar(what: str, given: Progress | None = None) -> Iterator[Progress | None]:
    """Yield what was given, or in a notebook a bar of its own, one for work within other work."""
    if _SHOWN.get():
        yield given
        return
    token = _SHOWN.set(True)
    bar = _Bar(what) if given is None and in_notebook() else None
    try:
        yield given if bar is None else bar.update
    finally:
        _SHOWN.reset(token)
        if bar is not None:
            bar.close()


@contextmanager
def terminal_bar(what: str) -> Iterator[Progress | None]:
    """A bar on stderr with the time left while the block runs; None where it is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich
    from rich.console import Console
    from rich.markup import escape

    state = (rich.SpinnerColumn(), rich.TextColumn("{task.description}"), rich.BarColumn())
    times = (rich.TimeElapsedColumn(), rich.TimeRemainingColumn())
    columns = (*state, rich.MofNCompleteColumn(), *times)
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def update(label: str, done: int, total: int) -> None:
            description = f"{what}: {escape(one_line(label))}" if label else what
            bar.update(task, description=description, completed=done, total=total or None)

        yield update


def in_notebook() -> bool:
    """Whether this process is a Jupyter kernel."""
    module = sys.modules.get("IPython")
    return hasattr(None if module is None else module.get_ipython(), "kernel")


class _Bar:
    """A bar that a thread draws, so that long work between two calls is seen to go on."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._label, self._done, self._total = "", 0, 0
        self._began = time.monotonic()
        self._over = Event()
        # The cell that the output belongs to is in the context.
        self._thread = Thread(target=copy_context().run, args=(self._draw,), daemon=True)
        self._thread.start()

    def update(self, label: str, done: int, total: int) -> None:
        """Take the state that is drawn next."""
        self._label, self._done, self._total = label, done, total

    def close(self) -> None:
        """Take the bar away."""
        self._over.set()
        self._thread.join()

    def _draw(self) -> None:
        if self._over.wait(_DELAY):
            return
        # It has no types.
        shown = import_module("IPython.display")
        handle = shown.display(shown.HTML(self._html()), display_id=True)
        while not self._over.wait(_EVERY):
            handle.update(shown.HTML(self._html()))
        handle.update(shown.HTML(""))

    def _html(self) -> str:
        """The bar; without a value, it moves to and fro."""
        known = f' value="{self._done}" max="{self._total}"' if self._total > 1 else ""
        count = f", {self._done:,} of {self._total:,}" if self._total > 1 else ""
        label = f" {self._label}" if self._label else ""
        words = f"{self._what}{label}{count}, {time.monotonic() - self._began:.0f} s"
        return f"<progress{known}></progress> {html.escape(words)}"
