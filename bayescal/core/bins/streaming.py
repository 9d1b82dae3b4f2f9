"""Bins of a table that need not fit in memory: read in batches, exactly those of the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.bins.edges import (
    CLOSED,
    Strategy,
    choose_edges,
    quantile_ranks,
    strategy_name,
)
from bayescal.core.bins.first_reading import FirstReading
from bayescal.core.bins.labeled_columns import LabeledColumns
from bayescal.core.bins.optimal_number import check_number, resolved_number
from bayescal.core.bins.score_cells import N_CELLS, CellSums, Gathered, Split, cell_of
from bayescal.core.bins.score_samples import changed, check_unchanged
from bayescal.core.bins.weights import WeightUnits
from bayescal.core.checks import check_choice
from bayescal.core.columns import Label
from bayescal.core.partial_sums import BATCH_ROWS, Batch, Batched, Sums, summed


class StreamedCounts(NamedTuple):
    """The bins of a table, and what is known of its rows."""

    bins: BinCounts
    cells: BinCounts | None
    classes: tuple[Label, Label]
    n_obs: int


def stream_counts(
    table: Batched,
    *,
    label: str,
    score: str,
    pos_label: Any = 1,
    from_logits: bool = False,
    n_bins: int | str = 15,
    strategy: Strategy = "quantile",
    closed: str = "right",
    n_cells: int | None = None,
    batch_rows: int = BATCH_ROWS,
    weight: str | None = None,
) -> StreamedCounts:
    """Bin the labelled rows of a table that is read in batches.

    Notes
    -----
    The table is read twice: once to check it and to sum its rows up by narrow cells of the score,
    and once to gather the rows of the cells that an edge lies in. With weights it is read once
    more, as they are checked before they are summed up. Beside a batch and its copies, less than
    100 MB are held for each part that is read at a time.
    """
    check_choice(closed, CLOSED, "closed")
    number = check_number(n_bins)
    source = _Source(table, LabeledColumns(label, score, weight, from_logits), batch_rows)
    first = source.first_reading(n_cells or 0)
    classes, seen = first.classes(source.columns, pos_label), first.distinct
    n_bins = resolved_number(number, first.effective_n)
    rows = _Events(source.columns, classes[1], first.units)
    sums = first.sums_with(classes[1]) if first.units is None else source.summed(rows.sums)
    if int(sums.rows.sum()) != first.n_labeled:
        raise changed(source.columns.names)

    numbers = [n_bins] if isinstance(strategy, str) and strategy == "quantile" else []
    if n_cells is not None and not seen.few:
        numbers.append(n_cells)
    total = int(sums.size.sum())
    ranks = np.unique([rank for parts in numbers for rank in quantile_ranks(total, parts)])
    ranks = ranks[ranks > 0].astype(np.int64)
    fixed = choose_edges(np.zeros_like, total, n_bins, strategy)
    wanted = np.zeros(N_CELLS, dtype=bool)
    wanted[sums.of_ranks(ranks)] = True
    wanted[cell_of(np.append(fixed, seen.values))] = True
    counted = Split(sums, wanted, source.gathered(rows, sums, wanted))
    edges = choose_edges(counted.scores_of, total, n_bins, strategy)
    if n_cells is None:
        bins = counted.count(edges, closed, strategy_name(strategy))
        return StreamedCounts(bins, None, classes, first.n_obs)
    cell_edges = seen.cell_edges(
        edges, lambda: choose_edges(counted.scores_of, total, n_cells, "quantile"), closed
    )
    cells = counted.count(cell_edges, closed, "edges")
    return StreamedCounts(cells.merge(edges, strategy_name(strategy)), cells, classes, first.n_obs)


def summed_rows(
    table: Batched,
    *,
    label: str,
    score: str,
    pos_label: Any = 1,
    from_logits: bool = False,
    batch_rows: int = BATCH_ROWS,
) -> tuple[CellSums, Callable[[NDArray[np.bool_]], Gathered]]:
    """Sum the labelled rows up by cells of the score; the second value gathers those of some."""
    source = _Source(table, LabeledColumns(label, score, None, from_logits), batch_rows)
    first = source.first_reading(0)
    rows = _Events(source.columns, first.classes(source.columns, pos_label)[1])
    sums = first.sums_with(rows.positive)
    return sums, partial(source.gathered, rows, sums)


@dataclass(frozen=True, slots=True)
class _Source:
    """Columns of a table, checked batch by batch at every reading."""

    table: Batched
    columns: LabeledColumns
    batch_rows: int

    def first_reading(self, most_distinct: int) -> FirstReading:
        """Check all rows once, and sum them up."""
        return self.summed(
            partial(FirstReading.of, columns=self.columns, most_distinct=most_distinct)
        )

    def gathered(self, rows: _Events, sums: CellSums, wanted: NDArray[np.bool_]) -> Gathered:
        """Gather the rows of some cells, which must be those that were summed up."""
        found = self.summed(partial(rows.gathered, wanted=wanted))
        check_unchanged(sums, found, wanted, self.columns.names)
        return found

    def summed[S: Sums](self, sum_up: Callable[[Iterator[Batch]], S]) -> S:
        """Sum up all rows."""
        return summed(self.table, self.columns.names, sum_up, self.batch_rows)


@dataclass(frozen=True, slots=True)
class _Events:
    """Sums of a part's rows, once it is known which label is positive."""

    columns: LabeledColumns
    positive: Label
    units: WeightUnits | None = None

    def sums(self, batches: Iterator[Batch]) -> CellSums:
        """Sum weighted rows up by cells."""
        rows = self.columns.events(batches, self.positive, self.units)
        return CellSums.of(rows, weighted=self.units is not None)

    def gathered(self, batches: Iterator[Batch], wanted: NDArray[np.bool_]) -> Gathered:
        """Gather the rows of some cells."""
        near = self.columns.near(batches, wanted)
        rows = self.columns.events(near, self.positive, self.units)
        return Gathered.of(rows, wanted, weighted=self.units is not None)
