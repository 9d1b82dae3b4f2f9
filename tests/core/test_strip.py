"""Strips of intervals: places against a scale worked out by hand."""

import math
from itertools import pairwise

import pytest

from bayescal.core.shown import Strip, strip_of


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
