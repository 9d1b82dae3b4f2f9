"""A strip of intervals on one scale, drawn beside a table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

_MARGIN: Final = 0.04
_APART: Final = 0.24
"""Least distance of two labels, as a share of the narrowest drawing."""
_STEPS: Final = (1.0, 2.0, 5.0, 10.0)


class Bar(NamedTuple):
    """An interval and its point, as shares of the drawing's width; `other` is a second estimate."""

    low: float
    high: float
    point: float
    other: float | None = None


@dataclass(frozen=True, slots=True)
class Strip:
    """Bars, one a row of the table or None, over the ticks of their scale: places and labels."""

    bars: Sequence[Bar | None]
    ticks: Sequence[tuple[float, str]]
    key: str

    def labels(self) -> Iterator[tuple[float, str]]:
        """As many ticks with their labels as do not touch each other."""
        last = -1.0
        for at, label in self.ticks:
            if at - last >= _APART:
                last = at
                yield at, label


def strip_of(intervals: Sequence[tuple[float, float, float]], key: str, *among: float) -> Strip:
    """Bars of intervals (low, high, point) on a linear scale, on which `among` lie too.

    An interval that is undefined has no bar.
    """
    known = [value for one in intervals for value in one if math.isfinite(value)] + [*among]
    low, high = min(known, default=0.0), max(known, default=1.0)
    step = _step(high - low)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))

    def at(value: float) -> float:
        return _MARGIN + (1 - 2 * _MARGIN) * (value / step - first) / (last - first)

    ticks = [(at(k * step), _label(k * step, digits)) for k in range(first, last + 1)]
    drawn = (tuple(map(at, one)) if all(map(math.isfinite, one)) else None for one in intervals)
    return Strip([None if one is None else Bar(*one) for one in drawn], ticks, key)


def _step(width: float) -> float:
    """Distance of the ticks: at most five."""
    width = width or 1.0
    power = 10.0 ** math.floor(math.log10(width / 5))
    return next(power * one for one in _STEPS if width <= 5 * power * one * (1 + 1e-9))


def _label(value: float, digits: int) -> str:
    """A tick, with a true minus sign."""
    return f"{value:z.{digits}f}".replace("-", "\N{MINUS SIGN}") if value else "0"
