"""The interval measure of rows that need not fit in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.score_cells import WIDEST, CellSums, Gathered
from bayescal.core.bins.streaming import summed_rows
from bayescal.core.partitions import rows_of
from bayescal.core.quantity import Floats
from bayescal.quantities.agnostic.intervals import Extremes, IntervalMeasure

# Rows gathered at a time: less than 1 GB with what sorting them takes.
_MOST_GATHERED = 1 << 24
# Relative to the number of rows: what rounding can put between two sums of the same rows.
_ROUNDING = 1e-13


def interval_measure_of_rows(
    data: Any, *, label: str, score: str, pos_label: Any = 1, from_logits: bool = False
) -> IntervalMeasure:
    r"""Compute the measure of the labelled rows of a file, a data set or of Dask's columns.

    Parameters
    ----------
    data : path, Dask dataframe or dict of Dask arrays
        A CSV or Parquet file, a directory of Parquet files, or the columns by name.
    label : str
        Column of the labels. Rows without one are left out.
    score : str
        Column of the scores.
    pos_label : default 1
        The positive label.
    from_logits : bool, default False
        Whether the scores are logits.

    Returns
    -------
    IntervalMeasure
        As of all rows at once, but for the rounding of sums in another order.

    Raises
    ------
    InputError
        If data cannot be read, a column does not exist, or labels or scores cannot be used.

    Notes
    -----
    All rows are read twice. The first reading gives the prefix sums of ``f - y`` where a narrow
    cell of scores ends. Inside a cell they rise by no more than the scores of its negative rows,
    and fall by no more than what its positive ones are short of 1. Only cells that could hold an
    extreme by these bounds are gathered row by row, in the second reading; where they hold more
    than 16 million rows, in several, so that memory stays bounded.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayescal as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("y,p\n0,0.125\n0,0.5\n0,0.5\n1,0.75\n")
    ...     bc.agnostic.interval_measure_of_rows(path, label="y", score="p").c
    0.28125
    """
    sums, gather = summed_rows(
        rows_of(data), label=label, score=score, pos_label=pos_label, from_logits=from_logits
    )
    return measure_of(sums, gather)


def measure_of(sums: CellSums, gather: Callable[[NDArray[np.bool_]], Gathered]) -> IntervalMeasure:
    """Compute the measure of rows that are summed up by cells, gathering those of some cells."""
    found, last, left = Extremes(), 0.0, cells_of_extremes(sums)
    while left.any():
        wanted = _as_many_as_can_be_held(sums, left)
        gathered = gather(wanted)
        found = _including(found, sums, wanted, gathered)
        last = max(last, float(gathered.score[-1]))
        left &= ~wanted
    return found.over(int(sums.count.sum())).measure(last)


def cells_of_extremes(sums: CellSums) -> NDArray[np.bool_]:
    """Cells that may hold the ends of the interval, or the largest score, (cell,)."""
    negatives, positives = sums.count.T
    count = negatives + positives
    ends = np.cumsum(_steps(sums))
    starts = ends - _steps(sums)
    mean = sums.score / np.maximum(count, 1)
    # No score is further from the mean of its cell than the cell is wide.
    rise = np.minimum(negatives * (mean + WIDEST), sums.score)
    fall = np.minimum(positives * (1 - mean + WIDEST), count - sums.score)
    highest, lowest = np.minimum(starts + rise, ends + fall), np.maximum(starts - fall, ends - rise)
    slack = _ROUNDING * count.sum()
    most, least = ends.max(initial=0.0) - slack, ends.min(initial=0.0) + slack
    found = (count > 0) & ((highest >= most) | (lowest <= least))
    found[np.flatnonzero(count)[-1:]] = True
    return np.asarray(found)


def _as_many_as_can_be_held(sums: CellSums, cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The first of some cells, as far as their rows can be gathered at once; at least one."""
    rows = np.cumsum(np.where(cells, sums.count.sum(axis=1), 0))
    first = int(cells.argmax())
    return np.asarray(cells & (rows <= max(_MOST_GATHERED, rows[first])))


def _including(
    found: Extremes, sums: CellSums, wanted: NDArray[np.bool_], rows: Gathered
) -> Extremes:
    """Take in the prefix sums that end inside the cells that are wanted, all of whose rows are."""
    size = sums.count.sum(axis=1)
    held = np.flatnonzero(wanted & (size > 0))
    ends = np.cumsum(_steps(sums))[held]
    total = np.cumsum(rows.count * (rows.score - rows.event))
    # What these sums lack is what lies between the cells; at the end of each, it is known.
    number, last = np.cumsum(rows.count), np.cumsum(size[held])
    total += (ends - total[np.searchsorted(number, last)])[np.searchsorted(last, number)]
    final = np.flatnonzero(np.append(rows.score[1:] != rows.score[:-1], True))
    return found.including(total[final], rows.score[final])


def _steps(sums: CellSums) -> Floats:
    """Sums of ``f - y`` over each cell, (cell,)."""
    return np.asarray(sums.score - sums.count[:, 1])
