"""Calibration rows that need not fit in memory, summed up by score."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.first_reading import FirstReading
from bayescal.core.bins.labeled_columns import LabeledColumns
from bayescal.core.bins.score_cells import N_CELLS, CellSums, Gathered
from bayescal.core.bins.score_samples import cells_of_quantiles, cells_of_scores, check_unchanged
from bayescal.core.columns import Label
from bayescal.core.intake import Parts
from bayescal.core.partial_sums import Batch, summed
from bayescal.core.partitions import rows_of
from bayescal.core.quantity import Floats
from bayescal.core.rounding import round_scores
from bayescal.core.scores import from_parts
from bayescal.quantities.credal.data import CalibrationSplit, RowCounts, counting
from bayescal.quantities.credal.models.averaged import MOST

# Rows up to which each score is kept; a score takes 24 bytes in a result.
_MOST_KEPT: Final = 1 << 22


def count_rows(
    data: Any,
    *,
    label: str,
    score: str,
    target: Any,
    pos_label: Any = 1,
    from_logits: bool = False,
) -> CalibrationSplit:
    r"""Sum the calibration rows of one binary classifier up by score, partition by partition.

    Parameters
    ----------
    data : path, Dask dataframe or dict of Dask arrays
        Calibration rows: a CSV or Parquet file, a directory of Parquet files, or the columns by
        name.
    label : str
        Column of the labels. Rows without one are left out.
    score : str
        Column of the scores, which names the classifier.
    target : Scores or array-like of shape (obs,), in [0, 1]
        Target rows, as of `CalibrationSplit`.
    pos_label : default 1
        The positive label.
    from_logits : bool, default False
        Whether the scores of `data` are logits.

    Returns
    -------
    CalibrationSplit
        What `bayescal.fit` of `bayescal.credal` takes.

    Raises
    ------
    InputError
        If data cannot be read, a column does not exist, labels or scores cannot be used, or the
        target rows are of another kind.

    Notes
    -----
    Of up to 4 million labelled rows every score is kept, with how often it occurs: nothing is
    approximated. Of more, rows whose scores lie in one narrow cell count as rows of their mean
    score; there are 65,536 cells between 1/4 and 1/2, as many between 1/8 and 1/4, 8,192 in every
    halving below, and the same above 1/2. Then ranks and Venn-Abers probabilities are those of
    scores that are rounded so. The cells that the default prior's model counts in are exact all the
    same. All rows are read twice.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayescal as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("y,p\n0,0.25\n0,0.5\n1,0.5\n1,0.75\n1,0.75\n")
    ...     bc.credal.count_rows(path, label="y", score="p", target=[0.4])
    <CalibrationSplit: classifiers 'p'; n_calibration 5, n_target 1; classes 0, 1>
    """
    rows, columns = rows_of(data), LabeledColumns(label, score, from_logits=from_logits)
    reading = partial(FirstReading.of, columns=columns, most_distinct=MOST)
    first = summed(rows, columns.names, reading)
    classes = first.classes(columns, pos_label)
    sums = first.sums_with(classes[1])
    wanted = np.ones(N_CELLS, dtype=bool)
    if first.n_labeled > _MOST_KEPT:
        wanted = cells_of_scores(sums, np.append([0.0, 1.0], first.distinct.values))
        wanted |= cells_of_quantiles(sums, [MOST])
    gather = partial(_gathered, columns=columns, positive=classes[1], wanted=wanted)
    gathered = summed(rows, columns.names, gather)
    check_unchanged(sums, gathered, wanted, columns.names)
    value, event, count = _groups(sums, wanted, gathered)
    calibration = from_parts(
        Parts(value[np.newaxis], event.astype(np.int32), (score,), classes, None, ())
    )
    split = CalibrationSplit(calibration=calibration, target=target)
    return counting(split, RowCounts(count, first.n_read))


def _gathered(
    batches: Iterator[Batch], columns: LabeledColumns, positive: Label, wanted: NDArray[np.bool_]
) -> Gathered:
    """Gather the labelled rows of some cells."""
    return Gathered.of(columns.events(columns.near(batches, wanted), positive), wanted)


def _groups(
    sums: CellSums, wanted: NDArray[np.bool_], rows: Gathered
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Scores, labels, and how many rows have both, (group,)."""
    whole = ~wanted & (sums.size > 0)
    count = sums.count[whole]
    middle = round_scores(sums.score[whole] / count.sum(axis=1))
    cell, event = np.nonzero(count)
    return (
        np.append(middle[cell], rows.score),
        np.append(event, rows.event),
        np.append(count[cell, event], rows.count),
    )
