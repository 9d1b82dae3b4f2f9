"""The interval measure of rows that need not fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.score_cells import CellSums, Gathered, Rows
from bayescal.core.checks import check_rows
from bayescal.core.quantity import Floats
from bayescal.quantities.agnostic.intervals import Extremes, IntervalMeasure

# Relative to the number of rows: what rounding can put between two sums of the same rows.
_ROUNDING = 1e-13


def interval_measure_of_parts(parts: Callable[[], Iterable[Rows]]) -> IntervalMeasure:
    """Compute the measure of rows that are read twice, in parts.

    Parameters
    ----------
    parts : callable
        Starts a reading of the rows, from the top, and yields ``(score, event)`` part by part:
        scores in [0, 1] and 0 or 1, each of shape (obs,). No part may depend on the reading.

    Returns
    -------
    IntervalMeasure
        As of all rows at once; sums of scores are taken in another order.

    Raises
    ------
    InputError
        If there are no rows.

    Notes
    -----
    The prefix sums of ``f - y`` are known exactly where a cell of scores ends. Inside a cell they
    rise by no more than the scores of its negative rows, and fall by no more than what its positive
    ones are short of 1. Only cells that could hold an extreme by these bounds are gathered row by
    row, in the second reading.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.agnostic.many_rows import interval_measure_of_parts
    >>> first = np.array([0.125, 0.5]), np.array([0, 0], np.uint8)
    >>> second = np.array([0.5, 0.75]), np.array([0, 1], np.uint8)
    >>> interval_measure_of_parts(lambda: [first, second]).c
    0.28125
    """
    sums = CellSums.of(parts())
    check_rows(int(sums.count.sum()), "the parts")
    wanted = cells_of_extremes(sums)
    return measure_of_cells(sums, wanted, Gathered.of(parts(), wanted))


def cells_of_extremes(sums: CellSums) -> NDArray[np.bool_]:
    """Cells that may hold the ends of the interval, or the largest score, (cell,)."""
    count = sums.count.sum(axis=1)
    ends = np.cumsum(_steps(sums))
    starts = ends - _steps(sums)
    rise, fall = sums.score[:, 0], sums.count[:, 1] - sums.score[:, 1]
    highest, lowest = np.minimum(starts + rise, ends + fall), np.maximum(starts - fall, ends - rise)
    slack = _ROUNDING * count.sum()
    most, least = ends.max(initial=0.0) - slack, ends.min(initial=0.0) + slack
    found = (count > 0) & ((highest >= most) | (lowest <= least))
    found[np.flatnonzero(count)[-1:]] = True
    return np.asarray(found)


def measure_of_cells(sums: CellSums, wanted: NDArray[np.bool_], rows: Gathered) -> IntervalMeasure:
    """The measure, from sums by cell and the rows of the cells that are wanted."""
    ends = np.cumsum(_steps(sums))
    size = sums.count.sum(axis=1)
    n = int(size.sum())
    step = rows.count * (rows.score - rows.event)
    total = np.cumsum(step)
    # What the prefix sums of the gathered rows lack: the cells between, which are not gathered.
    held = np.flatnonzero(wanted & (size > 0))
    last = np.cumsum(size[held])[:, None]
    of_cell = np.searchsorted(last[:, 0], np.cumsum(rows.count))
    before = np.searchsorted(np.cumsum(rows.count), last[:, 0])
    total += (ends[held] - total[before])[of_cell]
    final = np.flatnonzero(np.append(rows.score[1:] != rows.score[:-1], True))
    found = Extremes().including(total[final], rows.score[final])
    return found.over(n).measure(float(rows.score[-1]))


def _steps(sums: CellSums) -> Floats:
    """Sums of ``f - y`` over each cell, (cell,)."""
    return np.asarray(sums.score.sum(axis=1) - sums.count[:, 1])
