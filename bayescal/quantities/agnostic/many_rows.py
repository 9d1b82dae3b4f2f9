"""Measure and cells of labelled and unlabelled rows that need not fit in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayescal.core.checks import check_is
from bayescal.core.counts import Counts

# Counts of any rows serve this quantity too.
from bayescal.core.many_rows import count_rows as count_rows
from bayescal.core.many_rows import counted
from bayescal.core.tied_rows import TiedRows
from bayescal.curves.cells import Problem
from bayescal.quantities.agnostic.data import CELLS, IntervalProblem
from bayescal.quantities.agnostic.figures import CountFigures
from bayescal.quantities.agnostic.intervals import IntervalMeasure


def interval_measure_of_rows(
    data: Any, *, label: str, score: str, pos_label: Any = 1, from_logits: bool = False
) -> IntervalMeasure:
    r"""Compute the measure of the labelled rows of a file, a data set or of Dask's columns.

    Parameters
    ----------
    data, label, score, pos_label, from_logits
        As for `count_rows`, with the scores of one classifier. Rows without a label are left out.

    Returns
    -------
    IntervalMeasure
        As of all rows at once, with rows of one narrow cell of the score tied.

    Raises
    ------
    InputError
        If data cannot be read, a column does not exist, or labels or scores cannot be used.

    Notes
    -----
    All rows are read once. An interval ends where a cell does: the largest sum may lie inside a
    cell, which leaves out at most what its own rows add up to, some hundredths of the measure's
    standard error. See `bayescal.Counts`.

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
    check_is(score, str, "score", "Pass the name of a column.")
    counts = counted(data, label=label, score=score, pos_label=pos_label, from_logits=from_logits)
    return CountFigures.of(counts[score]).measure


def problem_of(name: str, counts: Counts, edges: Sequence[float]) -> IntervalProblem:
    """Put counted rows into cells of their own, and into cells of all rows within edges."""
    labeled, whole = counts.labeled, np.array([0.0, 1.0])
    of_labels = labeled.count(labeled.cell_edges(whole, CELLS, "right"))
    every = TiedRows(counts.score, counts.rows + counts.unlabeled, np.zeros_like(counts.rows))
    inner = every.cell_edges(np.array(edges), CELLS, "right")
    cells, place = every.count(inner), every.place(inner)
    labels = np.zeros((cells.n_bins, 2), np.int64)
    np.add.at(labels, place, np.column_stack([counts.rows - counts.positives, counts.positives]))
    rest = np.zeros(cells.n_bins, np.int64)
    np.add.at(rest, place, counts.unlabeled)
    one_score = (np.bincount(place, minlength=cells.n_bins) <= 1) & (cells.count != 1)
    curve = Problem({"classifier": name}, of_labels, of_labels)
    return IntervalProblem(curve, CountFigures.of(counts), cells, labels, rest, one_score)
