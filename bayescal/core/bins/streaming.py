"""Bins of a table that need not fit in memory: read in batches, exactly those of the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.bins.binning import count_into
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
from bayescal.core.bins.order_statistics import order_statistics
from bayescal.core.bins.score_cells import CellSums, Gathered, Rows, Split, cell_of
from bayescal.core.bins.weights import WeightedScores, WeightUnits
from bayescal.core.checks import check_choice
from bayescal.core.columns import Label
from bayescal.core.partial_sums import BATCH_ROWS, Batch, Batched, numbered_batches, summed


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
    and once to gather the rows of the cells that an edge lies in. With weights it is read once to
    check it, once or a few times for the order statistics that quantiles need, and once to count.
    Beside a batch and its copies, less than 100 MB are held for each part that is read at a time.
    """
    check_choice(closed, CLOSED, "closed")
    wanted = check_number(n_bins)
    source = _Source(table, LabeledColumns(label, score, weight, from_logits), batch_rows)
    first = source.first_reading(n_cells or 0)
    classes, seen = first.classes(source.columns, pos_label), first.distinct
    n_bins = resolved_number(wanted, first.effective_n)

    numbers = [n_bins] if isinstance(strategy, str) and strategy == "quantile" else []
    if n_cells is not None and not seen.few:
        numbers.append(n_cells)
    total = first.n_labeled
    if first.units is not None and numbers:
        total = sum(int(rows.units.sum()) for rows in source.weighted(first.units))
    ranks = np.unique([rank for parts in numbers for rank in quantile_ranks(total, parts)])
    ranks = ranks[ranks > 0].astype(np.int64)
    if first.units is None:
        fixed = choose_edges(np.zeros_like, total, n_bins, strategy)
        sums = first.sums_with(classes[1])
        counted: Split | _Ranked = source.split(
            classes[1], sums, ranks, np.append(fixed, seen.values)
        )
    else:
        counted = source.ranked(classes[1], first.units, ranks)
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
    positive = first.classes(source.columns, pos_label)[1]
    return first.sums_with(positive), partial(source.gathered, positive)


def labeled_rows(
    table: Batched,
    *,
    label: str,
    score: str,
    pos_label: Any = 1,
    from_logits: bool = False,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[Rows]:
    """Go through the labelled rows of a table in batches: scores, and whether each is positive.

    The table is read once to check it, and once for the rows.
    """
    source = _Source(table, LabeledColumns(label, score, None, from_logits), batch_rows)
    positive = source.first_reading(0).classes(source.columns, pos_label)[1]
    yield from source.columns.events(source.batches(), positive)


@dataclass(frozen=True, slots=True)
class _Source:
    """The labelled rows of a table's columns, checked batch by batch at every reading."""

    table: Batched
    columns: LabeledColumns
    batch_rows: int

    def first_reading(self, most_distinct: int) -> FirstReading:
        """Check all rows once, and sum them up."""
        sum_up = partial(FirstReading.of, columns=self.columns, most_distinct=most_distinct)
        return summed(self.table, self.columns.names, sum_up, self.batch_rows)

    def gathered(self, positive: Label, wanted: NDArray[np.bool_]) -> Gathered:
        """Gather the rows of some cells."""
        sum_up = partial(_gathered, columns=self.columns, positive=positive, wanted=wanted)
        return summed(self.table, self.columns.names, sum_up, self.batch_rows)

    def split(
        self, positive: Label, sums: CellSums, ranks: NDArray[np.int64], edges: NDArray[np.float64]
    ) -> Split:
        """Gather the rows of cells with edges, or scores of some ranks."""
        wanted = np.zeros(len(sums.count), dtype=bool)
        wanted[sums.of_ranks(ranks)] = True
        wanted[cell_of(edges)] = True
        return Split(sums, wanted, self.gathered(positive, wanted))

    def ranked(self, positive: Label, units: WeightUnits, ranks: NDArray[np.int64]) -> _Ranked:
        """Look up the weighted scores of ranks; they are found together, as each search reads."""
        found = order_statistics(lambda: self.weighted(units), ranks, units.n)
        return _Ranked(self, positive, ranks, found)

    def count(
        self, positive: Label, edges: NDArray[np.float64], closed: str, strategy: str
    ) -> BinCounts:
        """Count the weighted rows into bins."""
        total = None
        for rows in self.columns.rows(self.batches()):
            event = rows.is_label(positive)
            found = count_into(rows.score, event, edges, closed, strategy, rows.weight)
            total = found if total is None else total + found
        assert total is not None, "the first reading has seen rows"
        return total

    def weighted(self, units: WeightUnits) -> Iterator[WeightedScores]:
        """Read the labelled scores and how many units each weighs."""
        for rows in self.columns.rows(self.batches()):
            assert rows.weight is not None, "asked for with a column of weights only"
            yield WeightedScores(rows.score, units.of(rows.weight))

    def batches(self) -> Iterator[Batch]:
        """Read the columns in order."""
        return numbered_batches(self.table, self.columns.names, self.batch_rows)


def _gathered(
    batches: Iterator[Batch], columns: LabeledColumns, positive: Label, wanted: NDArray[np.bool_]
) -> Gathered:
    return Gathered.of(columns.events(batches, positive), wanted)


@dataclass(frozen=True, slots=True, eq=False)
class _Ranked:
    """Weighted scores by rank; counting reads the rows again."""

    source: _Source
    positive: Label
    ranks: NDArray[np.int64]
    found: NDArray[np.float64]

    def scores_of(self, ranks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scores of some of the ranks."""
        return self.found[np.searchsorted(self.ranks, ranks)]

    def count(self, edges: NDArray[np.float64], closed: str, strategy: str) -> BinCounts:
        """Count into bins."""
        return self.source.count(self.positive, edges, closed, strategy)
