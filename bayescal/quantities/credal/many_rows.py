"""Calibration rows that need not fit in memory, summed up by score."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal.core.checks import check_is
from bayescal.core.intake import Parts
from bayescal.core.many_rows import counted
from bayescal.core.scores import from_parts
from bayescal.quantities.credal.data import CalibrationSplit, RowCounts, counting


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
    Rows of a narrow cell of the score count as rows of its mean score; see `bayescal.Counts`. Ranks
    and Venn-Abers probabilities are those of scores that are rounded so: a cell is at most 3.1e-5
    wide, and where each has one score, such as of rounded scores, nothing is approximated. All rows
    are read once.

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
    check_is(score, str, "score", "Pass the name of a column.")
    counts = counted(data, label=label, score=score, pos_label=pos_label, from_logits=from_logits)[
        score
    ]
    rows = np.stack([counts.rows - counts.positives, counts.positives])
    event, cell = np.nonzero(rows)
    value = counts.score[cell]
    parts = Parts(value[np.newaxis], event.astype(np.int32), (score,), counts.classes, None, ())
    split = CalibrationSplit(calibration=from_parts(parts), target=target)
    return counting(split, RowCounts(rows[event, cell], counts.n_obs))
