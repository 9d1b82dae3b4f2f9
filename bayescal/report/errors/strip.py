"""The drawing in a row of the table: interval, mean and plug-in on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from bayescal.report.errors.sentences import CaseAnswer
from bayescal.report.render import render
from bayescal.results.text import fixed

WIDTH = 320
MARGIN = 20


@dataclass(frozen=True, slots=True)
class Scale:
    """From a calibration error to a place in the drawing, whose right end is `top`."""

    top: float
    ticks: tuple[float, ...]
    digits: int

    def at(self, error: float) -> str:
        """Return the horizontal place of an error."""
        share = min(max(error / self.top, 0.0), 1.0)
        return f"{MARGIN + share * (WIDTH - 2 * MARGIN):.1f}"

    def label(self, error: float) -> str:
        """Return the text of a tick."""
        return fixed(error, self.digits) if error else "0"


def scale(answers: Sequence[CaseAnswer]) -> Scale:
    """Choose a scale from 0 to beyond the largest number shown."""
    largest = max(max(one.high, one.point, one.plug_in or 0.0) for one in answers)
    largest = max(largest, 1e-6)
    power = 10.0 ** math.floor(math.log10(largest))
    step = next(power * m for m in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0) if largest / (power * m) <= 6)
    n = math.ceil(largest / step - 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return Scale(n * step, tuple(step * k for k in range(n + 1)), digits)


def strip(answer: CaseAnswer, scale: Scale) -> Markup:
    """Draw one row."""
    return render("errors_strip.svg.j2", answer=answer, scale=scale, width=WIDTH)
