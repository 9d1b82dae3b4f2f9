"""Bins of a table that need not fit in memory: read in batches, exactly those of the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import BinCounts
from bayescal.core.bins.binning import count_into
from bayescal.core.bins.cells import DistinctScores
from bayescal.core.bins.edges import (
    CLOSED,
    Strategy,
    choose_edges,
    quantile_ranks,
    strategy_name,
)
from bayescal.core.bins.optimal_number import check_number, resolved_number
from bayescal.core.bins.order_statistics import order_statistics
from bayescal.core.bins.score_cells import CellSums, Gathered, Rows, Split, cell_of
from bayescal.core.bins.weights import WeightedScores, WeightUnits
from bayescal.core.checks import check_choice, check_rows, check_some_weight
from bayescal.core.columns import Label, factorize
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, code_binary, probabilities, weights
from bayescal.core.read_ahead import read_ahead

BATCH_ROWS = 1 << 19


class Batched(Protocol):
    """A table that can be read repeatedly, some rows at a time."""

    def batches(
        self, columns: Sequence[str], batch_rows: int
    ) -> Iterator[Mapping[str, NDArray[Any]]]:
        """Read the columns anew, in batches."""
        ...


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
    Beside a batch and its copies, less than 100 MB are held.
    """
    check_choice(closed, CLOSED, "closed")
    wanted = check_number(n_bins)
    source = _Source(table, label, score, weight, from_logits, batch_rows)
    seen = DistinctScores(n_cells or 0)
    sums = CellSums.none() if weight is None else None
    classes, n_obs, units = source.scan(pos_label, seen, sums)
    n_bins = resolved_number(wanted, units.effective_n)

    numbers = [n_bins] if isinstance(strategy, str) and strategy == "quantile" else []
    if n_cells is not None and not seen.few:
        numbers.append(n_cells)
    total = source.total(units) if numbers else units.n
    ranks = np.unique([rank for parts in numbers for rank in quantile_ranks(total, parts)])
    ranks = ranks[ranks > 0].astype(np.int64)
    if sums is None:
        counted: Split | _Ranked = source.ranked(classes[1], units, ranks)
    else:
        fixed = choose_edges(np.zeros_like, total, n_bins, strategy)
        counted = source.split(classes[1], sums, ranks, np.append(fixed, seen.values))
    edges = choose_edges(counted.scores_of, total, n_bins, strategy)
    if n_cells is None:
        bins = counted.count(edges, closed, strategy_name(strategy))
        return StreamedCounts(bins, None, classes, n_obs)
    cell_edges = seen.cell_edges(
        edges, lambda: choose_edges(counted.scores_of, total, n_cells, "quantile"), closed
    )
    cells = counted.count(cell_edges, closed, "edges")
    return StreamedCounts(cells.merge(edges, strategy_name(strategy)), cells, classes, n_obs)


def summed_rows(
    table: Batched,
    *,
    label: str,
    score: str,
    pos_label: Any = 1,
    from_logits: bool = False,
    batch_rows: int = BATCH_ROWS,
) -> tuple[CellSums, Callable[[], Iterator[Rows]]]:
    """Sum the labelled rows up by cells of the score; the second value reads them again."""
    source = _Source(table, label, score, None, from_logits, batch_rows)
    sums = CellSums.none()
    classes, *_ = source.scan(pos_label, DistinctScores(0), sums)
    return sums, lambda: source.rows(classes[1])


def labeled_rows(
    table: Batched,
    *,
    label: str,
    score: str,
    pos_label: Any = 1,
    from_logits: bool = False,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[tuple[NDArray[np.floating], NDArray[np.uint8]]]:
    """Go through the labelled rows of a table in batches: scores, and whether each is positive.

    The table is read once to check it, and once for the rows.
    """
    source = _Source(table, label, score, None, from_logits, batch_rows)
    classes, *_ = source.scan(pos_label, DistinctScores(0))
    yield from source.rows(classes[1])


class _Batch(NamedTuple):
    """Rows whose weight is above 0, and those of them that have a label."""

    n_read: int
    n_obs: int
    labels: tuple[Label, ...]
    code: NDArray[np.int32]  # (labelled,), places in `labels`
    score: NDArray[np.floating]  # (labelled,)
    weight: NDArray[np.float64] | None  # (labelled,)


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


def _coded(batch: _Batch, labels: Mapping[Label, int]) -> NDArray[np.uint8]:
    return np.array([labels[value] for value in batch.labels], dtype=np.uint8)[batch.code]


def _events(batch: _Batch, positive: Label) -> NDArray[np.uint8]:
    is_positive = np.array([value == positive for value in batch.labels], dtype=np.uint8)
    return is_positive[batch.code]


class _Source:
    """The labelled rows of a table's columns, checked batch by batch at every reading."""

    def __init__(
        self,
        table: Batched,
        label: str,
        score: str,
        weight: str | None,
        from_logits: bool,
        batch_rows: int,
    ) -> None:
        self._table = table
        self._label = label
        self._score = score
        self._weight = weight
        self._from_logits = from_logits
        self._batch_rows = batch_rows

    def scan(
        self, pos_label: Any, seen: DistinctScores, sums: CellSums | None = None
    ) -> tuple[tuple[Label, Label], int, WeightUnits]:
        """Check all rows once; return the two labels, the number of rows and a unit of weight.

        The labelled rows' scores are shown to `seen`, and summed up in `sums`.
        """
        labels: dict[Label, int] = {}
        units = WeightUnits()
        n_read = n_obs = n_labeled = 0
        for batch in self._batches():
            for value in batch.labels:
                labels.setdefault(value, len(labels))
            # Which label is the positive one is known when all have been seen.
            if sums is not None and len(labels) <= 2:
                sums.add(batch.score, _coded(batch, labels))
            n_read += batch.n_read
            n_obs += batch.n_obs
            n_labeled += len(batch.score)
            seen.add(batch.score)
            units.add(np.ones(len(batch.score)) if batch.weight is None else batch.weight)
        check_rows(n_read, f"the column {self._label!r}")
        if self._weight is not None:
            check_some_weight(n_obs, n_read, self._weight)
        if n_labeled == 0:
            raise InputError(
                f"{self._label} must hold at least one label; all {n_obs} rows are missing. "
                "Label some rows: calibration cannot be measured without."
            )
        found = np.array(sorted(labels, key=str), dtype=object)
        classes = code_binary(found, pos_label, None, self._label)[1]
        if sums is not None and labels.get(classes[1]) == 0:
            sums.swap()
        return classes, n_obs, units

    def total(self, units: WeightUnits) -> int:
        """Weigh all rows."""
        if self._weight is None:
            return units.n
        return sum(int(rows.units.sum()) for rows in self._weighted(units))

    def split(
        self, positive: Label, sums: CellSums, ranks: NDArray[np.int64], edges: NDArray[np.float64]
    ) -> Split:
        """Gather the rows of cells with edges, or scores of some ranks."""
        wanted = np.zeros(len(sums.count), dtype=bool)
        wanted[sums.of_ranks(ranks)] = True
        wanted[cell_of(edges)] = True
        return Split(sums, wanted, Gathered.of(self.rows(positive), wanted))

    def ranked(self, positive: Label, units: WeightUnits, ranks: NDArray[np.int64]) -> _Ranked:
        """Look up the weighted scores of ranks; they are found together, as each search reads."""
        found = order_statistics(lambda: self._weighted(units), ranks, units.n)
        return _Ranked(self, positive, ranks, found)

    def count(
        self, positive: Label, edges: NDArray[np.float64], closed: str, strategy: str
    ) -> BinCounts:
        """Count the labelled rows into bins."""
        total = None
        for batch in self._batches():
            event = _events(batch, positive)
            found = count_into(batch.score, event, edges, closed, strategy, batch.weight)
            total = found if total is None else total + found
        assert total is not None, "scan has seen rows"
        return total

    def rows(self, positive: Label) -> Iterator[tuple[NDArray[np.floating], NDArray[np.uint8]]]:
        """Read the labelled scores, and whether each row is positive."""
        for batch in self._batches():
            yield batch.score, _events(batch, positive)

    def _weighted(self, units: WeightUnits) -> Iterator[WeightedScores]:
        """Read the labelled scores and how many units each weighs."""
        for batch in self._batches():
            assert batch.weight is not None, "asked for with a column of weights only"
            yield WeightedScores(batch.score, units.of(batch.weight))

    def _batches(self) -> Iterator[_Batch]:
        """Read the columns and check them."""
        names = [self._label, self._score, *([self._weight] if self._weight is not None else [])]
        offset = 0
        batches = self._table.batches(list(dict.fromkeys(names)), self._batch_rows)
        for batch in read_ahead(batches):
            codes, values = factorize(batch[self._label], self._label)
            if not len(codes):
                continue
            # Rows are counted within a batch, so the message has to say where the batch begins.
            place = f" (rows counted from row {offset})" if offset else ""
            offset += len(codes)
            column = Column(self._score + place, batch[self._score])
            scores = probabilities(column, self._from_logits)
            if self._weight is None:
                known = codes >= 0
                weight, n_obs = None, len(codes)
            else:
                weight = weights(Column(self._weight + place, batch[self._weight]))
                known = (codes >= 0) & (weight > 0)
                n_obs = int((weight > 0).sum())
                weight = weight[known]
            if not known.all():
                scores, codes = scores[known], codes[known]
            yield _Batch(len(known), n_obs, values, codes, scores, weight)
