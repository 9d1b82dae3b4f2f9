"""How far many fits are: a line on a terminal, nothing where nobody looks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Final

type Progress = Callable[[str, int, int], None]

_WIDTH: Final = 79
_SECONDS: Final = 0.2


class Line:
    """A line on stderr that is written over as fits finish."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._shown = sys.stderr.isatty()
        self._began = self._last = time.monotonic()

    def update(self, label: str, done: int, computed: int, failed: int) -> None:
        """Say how many are done, `computed` of them since the start, and how many failed."""
        now = time.monotonic()
        if self._shown and now - self._last >= _SECONDS:
            self._last = now
            text = status(done, self._total, computed, failed, now - self._began)
            sys.stderr.write(f"\r{f'{text}  {label}'[:_WIDTH]:<{_WIDTH}}")
            sys.stderr.flush()

    def close(self) -> None:
        """Clear the line."""
        if self._shown:
            sys.stderr.write(f"\r{'':<{_WIDTH}}\r")
            sys.stderr.flush()


def status(done: int, total: int, computed: int, failed: int, seconds: float) -> str:
    """Put progress into words: "120 of 1,000 fits, 3.2/s, 4 min 35 s left, 1 failed"."""
    parts = [f"{done:,} of {total:,} fits" if total else f"{done:,} fits"]
    if computed and seconds > 0:
        rate = computed / seconds
        parts.append(f"{rate:.2g}/s")
        if total:
            parts.append(f"{_duration((total - done) / rate)} left")
    if failed:
        parts.append(f"{failed:,} failed")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
