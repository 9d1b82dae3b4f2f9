"""Counts of positive and unlabelled rows that need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from bayescal.core.bin_counts import TiedRows
from bayescal.core.bin_edges import cell_edges, strategy_name
from bayescal.core.binning import Binning, BinningFields
from bayescal.core.cell_sums import NEGATIVE, POSITIVE, UNLABELED, CellSums
from bayescal.core.checks import check_columns, check_rows, checked_words
from bayescal.core.columns import to_numpy
from bayescal.core.counts import Counts
from bayescal.core.errors import InputError
from bayescal.core.intake import probabilities
from bayescal.core.many_rows import counted_by
from bayescal.core.partial_sums import Batch, Several
from bayescal.quantities.pu_ece.data import CELLS, PUCounts
from bayescal.quantities.pu_ece.tables import selected


def count_rows(
    data: Any,
    *,
    positive_column: str,
    score: str | Sequence[str],
    binning: Binning | None = None,
    **fields: Unpack[BinningFields],
) -> dict[str, PUCounts]:
    r"""Count positive and unlabelled rows into bins, reading them partition by partition.

    Parameters
    ----------
    data : path, Dask dataframe or dict of Dask arrays
        A CSV or Parquet file, a directory of Parquet files, or the columns by name.
    positive_column : str
        Column that says of each row which sample it is from: 1 (or true, yes, positive) for a
        positive, 0 (or false, no, unlabeled, an empty field) for an unlabelled row.
    score : str or sequence of str
        Column of each classifier's scores.
    binning : Binning, optional
        Bins, cut on the unlabelled scores; by default 15 of equal mass.
    **fields
        `n_bins`, `strategy` and `closed` of a `Binning`, instead of `binning`.

    Returns
    -------
    dict of str to PUCounts
        What `bayescal.fit` of `bayescal.pu_ece` takes, by score column.

    Raises
    ------
    InputError
        If data cannot be read, a column does not exist or cannot be used, one of the samples is
        empty, or the number of bins is ``"optimal"``, which depends on the class prior.

    Notes
    -----
    All rows are read once for each eight scores, and memory does not grow with them. Rows of a
    narrow cell of the score count as rows of its mean score; see `bayescal.Counts`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayescal as bc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("s,p\n1,0.75\n,0.25\n,0.75\n1,0.5\n")
    ...     found = bc.pu_ece.count_rows(path, positive_column="s", score="p", n_bins=2)
    >>> found["p"].bins.count.tolist(), found["p"].positive_in_bins().tolist()
    ([1, 1], [0, 2])
    """
    check_columns(checked_words(score, "score"), positive_column=positive_column)
    chosen = Binning.of(binning, **fields)
    if not isinstance(chosen.n_bins, int):
        raise InputError(
            "n_bins must be a number where rows are counted, as the optimal one depends on the "
            "class prior; got 'optimal'. Pass bayescal.pu_ece.optimal_n_bins(n_positive, "
            "n_unlabeled, class_prior)."
        )
    found = counted_by(data, score, [positive_column], partial(_counts, column=positive_column))
    return {
        name: binned(counts, chosen, chosen.n_bins, positive_column)
        for name, counts in found.items()
    }


def _counts(batches: Iterator[Batch], scores: Sequence[str], column: str) -> Several[Counts]:
    """Count the rows of a part."""
    sums, n_read = [CellSums() for _ in scores], 0
    for batch in batches:
        name, values = batch.column(column)
        kind = np.where(selected(to_numpy(values, name), name), POSITIVE, UNLABELED)
        for one, score in zip(sums, scores, strict=True):
            one.add(probabilities(batch.column(score)), kind)
        n_read += len(kind)
    return Several(tuple(Counts(*one.held(), (1,), 1, n_read) for one in sums))


def binned(counts: Counts, binning: Binning, n_bins: int, column: str) -> PUCounts:
    """Count the rows of one classifier into bins of the unlabelled rows."""
    n_unlabeled, n_negative = (int(counts.sums[kind].sum()) for kind in (UNLABELED, NEGATIVE))
    if n_negative or counts.weighted:
        raise InputError(
            "counts of positive and unlabelled rows must have no others, and no weights; got "
            f"{n_negative} negative rows. Count rows that are not positive without a label."
        )
    check_rows(counts.n_obs, f"the column {column!r}")
    check_rows(n_unlabeled, f"the unlabelled rows by column {column!r}")
    check_rows(counts.n_labeled, f"the positive rows by column {column!r}")
    held, none = counts.unlabeled > 0, np.zeros(len(counts.cell), np.int64)
    unlabeled = TiedRows(counts.score[held], counts.unlabeled[held], none[held])
    positive = replace(counts.labeled, positives=np.zeros_like(counts.labeled.rows))
    edges = unlabeled.edges(n_bins, binning.strategy)
    narrow = cell_edges(
        counts.score, CELLS, edges, lambda: unlabeled.edges(CELLS, "quantile"), binning.closed
    )
    cells, of_positive = (rows.count(narrow, binning.closed) for rows in (unlabeled, positive))
    return PUCounts(cells.merge(edges, strategy_name(binning.strategy)), cells, of_positive)
