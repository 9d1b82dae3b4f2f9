"""Counts of positive and unlabelled rows that need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.binning import Binning, BinningFields
from bayescal.core.bins.edges import choose_edges, strategy_name
from bayescal.core.bins.score_cells import N_CELLS, Gathered, Rows, Split, cell_of
from bayescal.core.bins.score_samples import (
    ScoreSums,
    cells_of_quantiles,
    of_event,
    sums_of_event,
)
from bayescal.core.checks import check_rows
from bayescal.core.columns import to_numpy
from bayescal.core.errors import InputError
from bayescal.core.intake import probabilities
from bayescal.core.partial_sums import Batch, Batched, summed
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
    return {
        name: _count(rows, _Columns(positive_column, name), chosen, chosen.n_bins) for name in names
    }


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which columns say what is positive, and what the score is."""

    positive: str
    score: str

    def sums(self, batches: Iterator[Batch]) -> ScoreSums:
        """Sum up rows, positives as the event."""
        return ScoreSums.of(self._rows(batches), CELLS)

    def gathered(self, batches: Iterator[Batch], wanted: NDArray[np.bool_]) -> Gathered:
        """Gather the rows of some cells."""
        return Gathered.of(self._rows(batches), wanted)

    def _rows(self, batches: Iterator[Batch]) -> Iterator[Rows]:
        for batch in batches:
            name, values = batch.column(self.positive)
            positive = selected(to_numpy(values, name), name)
            yield probabilities(batch.column(self.score)), positive.view(np.uint8)


def _count(rows: Batched, columns: _Columns, binning: Binning, n_bins: int) -> PUCounts:
    """Count the rows of one classifier."""
    names = [columns.positive, columns.score]
    first = summed(rows, names, columns.sums)
    seen, number = first.distinct, first.sums.count.sum(axis=0)
    check_rows(int(number.sum()), f"the column {columns.positive!r}")
    for rows_of_sample, name in zip(number, ("unlabelled", "positive"), strict=True):
        check_rows(int(rows_of_sample), f"the {name} rows by column {columns.positive!r}")
    total = int(number[0])
    fixed = choose_edges(np.zeros_like, total, n_bins, binning.strategy)
    quantiles = [n_bins] * (binning.strategy == "quantile") + [CELLS] * (not seen.few)
    wanted = np.zeros(N_CELLS, dtype=bool)
    wanted[cell_of(np.append(fixed, seen.values))] = True
    wanted |= cells_of_quantiles(sums_of_event(first.sums, 0), quantiles)
    found = Split(first.sums, wanted, summed(rows, names, partial(columns.gathered, wanted=wanted)))
    unlabeled, positive = of_event(found, 0), of_event(found, 1)

    def edges_of(parts: int) -> NDArray[np.float64]:
        return choose_edges(unlabeled.scores_of, total, parts, "quantile")

    edges = edges_of(n_bins) if binning.strategy == "quantile" else fixed
    cell_edges = seen.cell_edges(edges, lambda: edges_of(CELLS), binning.closed)
    cells, held = (
        part.count(cell_edges, binning.closed, "edges") for part in (unlabeled, positive)
    )
    return PUCounts(cells.merge(edges, strategy_name(binning.strategy)), cells, held)
