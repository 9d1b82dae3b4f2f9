"""Say so when a model is compiled for the first time on this machine, which takes seconds."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from numba.core import event

_TEXT: Final = "Compiling the model, for the first time on this machine; later fits skip this"
_SECONDS: Final = 0.5


@contextmanager
def compiling_noted() -> Iterator[None]:
    """Write a line to a terminal or a notebook as soon as a function is compiled anew."""
    if not _is_watched():
        yield
        return
    notice = _Notice()
    with event.install_listener("numba:compile", notice):
        try:
            yield
        finally:
            notice.close()


def _is_watched() -> bool:
    """Whether somebody sees stderr of this process, which is no worker."""
    notebook = "ipykernel" in sys.modules
    return (notebook or sys.stderr.isatty()) and multiprocessing.parent_process() is None


class _Notice(event.Listener):
    """A line that counts compiled functions, written over; beside a progress bar, written once."""

    def __init__(self) -> None:
        # Rich prints what is written beside its bar line by line.
        self._alone = not type(sys.stderr).__module__.startswith("rich.")
        self._functions = 0
        self._last = float("-inf")

    def on_start(self, event: Any) -> None:
        """Count, and write from time to time."""
        self._functions += 1
        now = time.monotonic()
        if self._alone and now - self._last >= _SECONDS:
            self._last = now
            sys.stderr.write(f"\r{_TEXT} ({self._functions} compiled)")
            sys.stderr.flush()
        elif not self._alone and self._functions == 1:
            sys.stderr.write(f"{_TEXT}\n")

    def on_end(self, event: Any) -> None:
        """Nothing: a function is counted when it begins."""

    def close(self) -> None:
        """End the line."""
        if self._alone and self._functions:
            sys.stderr.write("\n")
            sys.stderr.flush()
