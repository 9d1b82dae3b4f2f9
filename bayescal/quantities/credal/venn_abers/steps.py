"""Both probabilities of an inductive Venn-Abers predictor as step functions of the score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

type Integers = NDArray[np.int64]


class Steps(NamedTuple):
    """A step function on distinct scores, its values quotients of integers rounded once."""

    # Place of the first distinct score of each step, increasing from 0, (step,).
    start: Integers
    # Increasing values, (step,).
    value: NDArray[np.float64]


def venn_abers_steps(count: Integers, positive: Integers) -> tuple[Steps, Steps]:
    """Fit isotonic regression with one more row at each distinct score in turn.

    Notes
    -----
    Isotonic regression is the slope of the greatest convex minorant of the points
    ``P_i = (N_i, S_i)`` of cumulated rows and labels. A row of label 1 at score i moves the points
    left of it by (-1, -1), so that the fit there is::

        p1(i) = max_{c < i} min_{b >= i} (S_b - S_c + 1) / (N_b - N_c + 1)

    The right-hand side is not changed by a minimum over all ``b > c``: no line is made steeper, and
    the one that attains the maximum ends at some ``b >= i`` [1]_. With r(c) for that minimum, p1 is
    the running maximum of r. Write m for the slope of the minorant at c, u and v for the corners
    around, and D for the height above it. A line from c to a b before v has the slope
    ``m + (D_b - D_c + 1 - m) / (N_b - N_c + 1)``: steeper than the line to v if ``D_c < 1 - m``,
    as ``D_b >= 0``. Otherwise the line to v is no steeper than m, and r(u) is at least m already.
    So b runs over corners only, on which the slope as seen from c falls, then rises.

    A row of label 0 is one of label 1 where order and labels are reversed. Comparisons are made on
    integers; no loop runs over rows.

    References
    ----------
    .. [1] V. Vovk, I. Petej and V. Fedorova, "Large-scale probabilistic predictors with and without
       guarantees of validity", NeurIPS 2015, section 2. https://arxiv.org/abs/1511.00213
    """
    rows, labels = _cumulated(count), _cumulated(positive)
    corners = _corners(rows, labels)
    start, top, bottom = _steps(rows, labels, corners)
    p1 = Steps(start, top / bottom)

    last = len(count)
    backwards = rows[-1] - rows[::-1]
    start, top, bottom = _steps(
        backwards, backwards - (labels[-1] - labels[::-1]), last - corners[::-1]
    )
    end = np.append(start[1:], last)
    p0 = Steps((last - end)[::-1], ((bottom - top) / bottom)[::-1])
    return p0, p1


def _cumulated(values: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(values, dtype=np.int64)])


def _corners(rows: Integers, labels: Integers) -> Integers:
    """Find the corners of the greatest convex minorant, both ends with it.

    A point on or above the chord of its two neighbours is no corner, so that all of these go at
    once, until none is left.
    """
    kept = np.arange(len(rows))
    x, y = rows, labels
    while len(kept) > 2:
        dx, dy = np.diff(x), np.diff(y)
        corner = np.concatenate([[True], dy[:-1] * dx[1:] < dy[1:] * dx[:-1], [True]])
        if corner.all():
            break
        kept, x, y = kept[corner], x[corner], y[corner]
    return kept


def _steps(
    rows: Integers, labels: Integers, corners: Integers
) -> tuple[Integers, Integers, Integers]:
    """Find where the running maximum of r rises, and its values as fractions."""
    place, corner = _near_the_minorant(rows, labels, corners)
    x, y = rows[place] - 1, labels[place] - 1
    end = _least_steep(x, y, rows[corners], labels[corners], corner + 1)
    top, bottom = labels[corners[end]] - y, rows[corners[end]] - x
    # Quotients of integers below 2**26 that differ do so after rounding too.
    highest = np.maximum.accumulate(top / bottom)
    rises = np.concatenate([[True], highest[1:] > highest[:-1]])
    return place[rises], top[rises], bottom[rises]


def _near_the_minorant(
    rows: Integers, labels: Integers, corners: Integers
) -> tuple[Integers, Integers]:
    """Find the points c with D_c < 1 - m, and the corner at or before each."""
    across, up, points = np.diff(rows[corners]), np.diff(labels[corners]), np.diff(corners)
    # dx S - dy N is D times the width of the chord, but for its value at the corner.
    limit = across * (labels[corners[:-1]] + 1) - up * (rows[corners[:-1]] + 1)
    height = np.repeat(across, points) * labels[:-1] - np.repeat(up, points) * rows[:-1]
    place = np.flatnonzero(height < np.repeat(limit, points))
    if up[-1] == across[-1]:
        # Above a slope of 1 there is no such point; its corner stands for them all.
        place = np.append(place, corners[-2])
    return place, np.searchsorted(corners, place, side="right") - 1


def _least_steep(
    x: Integers, y: Integers, corner_x: Integers, corner_y: Integers, first: Integers
) -> Integers:
    """Find the corner, from the first allowed on, to which the line from (x, y) is least steep."""
    end = first.copy()
    last = len(corner_x) - 1
    moving = np.flatnonzero(end < last)
    while len(moving):
        now = end[moving]
        left, low = x[moving], y[moving]
        here, there = (corner_y[at] - low for at in (now, now + 1))
        better = there * (corner_x[now] - left) < here * (corner_x[now + 1] - left)
        moving = moving[better]
        end[moving] += 1
        moving = moving[end[moving] < last]
    return end
