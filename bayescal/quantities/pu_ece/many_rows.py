"""Counts of positive and unlabelled rows that need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Unpack

import numpy as np

from bayescal.core.bins.binning import Binning, BinningFields
from bayescal.core.bins.cells import DistinctScores
from bayescal.core.bins.edges import choose_edges, strategy_name
from bayescal.core.bins.numbered_batches import numbered_batches
from bayescal.core.bins.score_samples import (
    SampleRows,
    cells_of_quantiles,
    cells_of_scores,
    n_rows,
    split_samples,
    sum_samples,
)
from bayescal.core.bins.streaming import Batched
from bayescal.core.checks import check_rows
from bayescal.core.columns import to_numpy
from bayescal.core.errors import InputError
from bayescal.core.intake import probabilities
from bayescal.core.partitions import rows_of
from bayescal.quantities.pu_ece.counts import PUCounts
from bayescal.quantities.pu_ece.data import CELLS
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
    Edges and counts are those of all rows at once, exactly; mean scores to rounding, as sums are
    taken in another order. All rows are read twice for each score, and memory does not grow with
    them, but for the rows of the narrow cells that an edge lies in.

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
    rows = rows_of(data)
    chosen = Binning.of(binning, **fields)
    if not isinstance(chosen.n_bins, int):
        raise InputError(
            "n_bins must be a number where rows are counted, as the optimal one depends on the "
            "class prior; got 'optimal'. Pass bayescal.pu_ece.optimal_n_bins(n_positive, "
            "n_unlabeled, class_prior)."
        )
    names = [score] if isinstance(score, str) else list(score)
    return {name: _count(rows, positive_column, name, chosen, chosen.n_bins) for name in names}


def _count(
    rows: Batched, positive_column: str, score: str, binning: Binning, n_bins: int
) -> PUCounts:
    """Count the rows of one classifier."""
    seen = DistinctScores(CELLS)
    sums = sum_samples(_samples(rows, positive_column, score), [[seen], [seen]])
    for sample, name in zip(sums, ("positive rows", "unlabelled rows"), strict=True):
        check_rows(n_rows(sample), f"the {name} of column {positive_column!r}")
    total = n_rows(sums[1])
    fixed = choose_edges(np.zeros_like, total, n_bins, binning.strategy)
    wanted = cells_of_scores(sums[1], np.append(fixed, seen.values))
    wanted |= cells_of_quantiles(sums[1], _numbers(binning, n_bins, seen))
    found, unlabeled = split_samples(_samples(rows, positive_column, score), sums, wanted)

    def quantiles(number: int) -> np.ndarray:
        return choose_edges(unlabeled.scores_of, total, number, "quantile")

    edges = quantiles(n_bins) if binning.strategy == "quantile" else fixed
    cell_edges = seen.cell_edges(edges, lambda: quantiles(CELLS), binning.closed)
    cells = unlabeled.count(cell_edges, binning.closed, "edges")
    positive = found.count(cell_edges, binning.closed, "edges")
    return PUCounts(cells.merge(edges, strategy_name(binning.strategy)), cells, positive)


def _numbers(binning: Binning, n_bins: int, seen: DistinctScores) -> list[int]:
    """Numbers of bins whose edges are quantiles."""
    return [n_bins] * (binning.strategy == "quantile") + [CELLS] * (not seen.few)


def _samples(table: Batched, positive_column: str, score: str) -> Iterator[SampleRows]:
    """Read the scores of the positives, and those of the unlabelled rows."""
    for batch in numbered_batches(table, [positive_column, score]):
        name, values = batch.column(positive_column)
        positive = selected(to_numpy(values, name), name)
        scores = probabilities(batch.column(score))
        parts = (scores[positive], scores[~positive])
        yield [(part, np.zeros(len(part), np.uint8)) for part in parts]
