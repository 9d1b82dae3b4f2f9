"""Counts of positive and unlabelled rows that need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.binning import Binning, BinningFields
from bayescal.core.bins.edges import choose_edges, strategy_name
from bayescal.core.bins.labeled_columns import LabeledColumns
from bayescal.core.bins.score_cells import N_CELLS, Gathered, Split, cell_of
from bayescal.core.bins.score_samples import (
    ScoreSums,
    cells_of_quantiles,
    check_unchanged,
    of_event,
)
from bayescal.core.checks import check_columns, check_rows, checked_words
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
    check_columns(positive_column=positive_column)
    rows = rows_of(data)
    chosen = Binning.of(binning, **fields)
    if not isinstance(chosen.n_bins, int):
        raise InputError(
            "n_bins must be a number where rows are counted, as the optimal one depends on the "
            "class prior; got 'optimal'. Pass bayescal.pu_ece.optimal_n_bins(n_positive, "
            "n_unlabeled, class_prior)."
        )
    names = checked_words(score, "score")
    return {
        name: _count(rows, _Columns(positive_column, name), chosen, chosen.n_bins) for name in names
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Samples:
    """Unlabelled rows and positives, summed up; those of two parts add up."""

    unlabeled: ScoreSums
    positive: ScoreSums

    def plus(self, other: _Samples) -> _Samples:
        """Join with other rows."""
        return _Samples(self.unlabeled.plus(other.unlabeled), self.positive.plus(other.positive))


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which columns say what is positive, and what the score is."""

    positive: str
    score: str

    @property
    def names(self) -> list[str]:
        """Both."""
        return [self.positive, self.score]

    def sums(self, batches: Iterable[Batch]) -> _Samples:
        """Sum up rows, positives as the event."""
        found = _Samples(ScoreSums.of((), CELLS), ScoreSums.of((), CELLS))
        for score, positive in self._rows(batches):
            held = positive == 1
            found.unlabeled.add((score[~held], positive[~held]))
            found.positive.add((score[held], positive[held]))
        return found

    def gathered(self, batches: Iterable[Batch], wanted: NDArray[np.bool_]) -> Gathered:
        """Gather the rows of some cells."""
        near = LabeledColumns(self.positive, self.score).near(batches, wanted)
        return Gathered.of(self._rows(near), wanted)

    def _rows(
        self, batches: Iterable[Batch]
    ) -> Iterator[tuple[NDArray[np.floating], NDArray[np.uint8]]]:
        for batch in batches:
            name, values = batch.column(self.positive)
            positive = selected(to_numpy(values, name), name)
            yield probabilities(batch.column(self.score)), positive.view(np.uint8)


def _count(rows: Batched, columns: _Columns, binning: Binning, n_bins: int) -> PUCounts:
    """Count the rows of one classifier."""
    first = summed(rows, columns.names, columns.sums)
    sums, of_positive = first.unlabeled.sums, first.positive.sums
    _check_samples(int(sums.rows.sum()), int(of_positive.rows.sum()), columns.positive)
    seen = first.unlabeled.distinct.plus(first.positive.distinct)
    total = int(sums.rows.sum())
    fixed = choose_edges(np.zeros_like, total, n_bins, binning.strategy)
    wanted = np.zeros(N_CELLS, dtype=bool)
    wanted[cell_of(np.append(fixed, seen.values))] = True
    quantiles = [n_bins] * (binning.strategy == "quantile") + [CELLS] * (not seen.few)
    wanted |= cells_of_quantiles(sums, quantiles)
    gathered = summed(rows, columns.names, partial(columns.gathered, wanted=wanted))
    check_unchanged(sums.plus(of_positive), gathered, wanted, columns.names)
    unlabeled = Split(sums, wanted, of_event(gathered, 0))
    positive = Split(of_positive, wanted, of_event(gathered, 1))

    def edges_of(parts: int) -> NDArray[np.float64]:
        return choose_edges(unlabeled.scores_of, total, parts, "quantile")

    edges = edges_of(n_bins) if binning.strategy == "quantile" else fixed
    cell_edges = seen.cell_edges(edges, lambda: edges_of(CELLS), binning.closed)
    cells = unlabeled.count(cell_edges, binning.closed, "edges")
    held = positive.count(cell_edges, binning.closed, "edges")
    return PUCounts(cells.merge(edges, strategy_name(binning.strategy)), cells, held)


def _check_samples(n_unlabeled: int, n_positive: int, column: str) -> None:
    check_rows(n_unlabeled + n_positive, f"the column {column!r}")
    check_rows(n_unlabeled, f"the unlabelled rows by column {column!r}")
    check_rows(n_positive, f"the positive rows by column {column!r}")
