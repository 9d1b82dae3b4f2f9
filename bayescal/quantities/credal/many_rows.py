"""Calibration rows that need not fit in memory, summed up by score."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.cells import DistinctScores
from bayescal.core.bins.label_samples import LabelSamples
from bayescal.core.bins.score_cells import CellSums, Gathered
from bayescal.core.bins.score_samples import cells_of_quantiles, cells_of_scores, n_rows
from bayescal.core.intake import Parts
from bayescal.core.partitions import rows_of
from bayescal.core.quantity import Floats
from bayescal.core.rounding import round_scores
from bayescal.core.scores import from_parts
from bayescal.quantities.credal.calibration_split import CalibrationSplit, RowCounts
from bayescal.quantities.credal.models.nodes import MOST

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
    score; there are 8192 cells between 1/4 and 1/2, and as many in each half of what is left
    towards 0, and the same above 1/2. Then ranks and Venn-Abers probabilities are those of scores
    that are rounded so. The cells that the default prior's model counts in are exact all the same.
    All rows are read twice.

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
    rows = LabelSamples(
        rows_of(data), label=label, score=score, pos_label=pos_label, from_logits=from_logits
    )
    seen = DistinctScores(MOST)
    labeled, unlabeled = rows.sum_up([[seen], []])
    wanted = np.ones(len(labeled.count), dtype=bool)
    if n_rows(labeled) > _MOST_KEPT:
        wanted = cells_of_scores(labeled, np.append([0.0, 1.0], seen.values))
        wanted |= cells_of_quantiles(labeled, [MOST])
    value, event, count = _groups(labeled, wanted, Gathered.of(rows.labeled(), wanted))
    calibration = from_parts(
        Parts(value[np.newaxis], event.astype(np.int32), (score,), rows.classes, None, ())
    )
    split = CalibrationSplit(calibration=calibration, target=target)
    return split.counting(RowCounts(count, n_rows(labeled) + n_rows(unlabeled)))


def _groups(
    sums: CellSums, wanted: NDArray[np.bool_], rows: Gathered
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Scores, labels, and how many rows have both, (group,)."""
    whole = ~wanted & sums.count.any(axis=1)
    count = sums.count[whole]
    middle = round_scores(sums.score[whole].sum(axis=1) / count.sum(axis=1))
    cell, event = np.nonzero(count)
    return (
        np.append(middle[cell], rows.score),
        np.append(event, rows.event),
        np.append(count[cell, event], rows.count),
    )
