"""Bins of a table that need not fit in memory: read in batches, exactly those of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import (
    CLOSED,
    BinCounts,
    OrderStatistics,
    Strategy,
    check_n_bins,
    choose_edges,
    quantile_ranks,
    strategy_name,
)
from bayescal.core.bins.binning import count_into
from bayescal.core.bins.cells import DistinctScores
from bayescal.core.bins.order_statistics import order_statistics
from bayescal.core.checks import check_choice, check_rows
from bayescal.core.columns import Label, factorize
from bayescal.core.errors import InputError
from bayescal.core.intake import Column, code_binary, probabilities

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
    n_bins: int = 15,
    strategy: Strategy = "quantile",
    closed: str = "right",
    n_cells: int | None = None,
    batch_rows: int = BATCH_ROWS,
) -> StreamedCounts:
    """Bin the labelled rows of a table that is read in batches.

    Notes
    -----
    The table is read once to check it, once or a few times for the order statistics that quantiles
    need, and once to count. Beside a batch and its copies, less than 100 MB are held.
    """
    check_choice(closed, CLOSED, "closed")
    n_bins = check_n_bins(n_bins)
    source = _Source(table, label, score, from_logits, batch_rows)
    seen = DistinctScores(n_cells or 0)
    classes, n_obs, n_labeled = source.scan(pos_label, seen)

    numbers = [n_bins] if isinstance(strategy, str) and strategy == "quantile" else []
    if n_cells is not None and not seen.few:
        numbers.append(n_cells)
    scores_of = source.order_statistics(n_labeled, numbers)
    edges = choose_edges(scores_of, n_labeled, n_bins, strategy)
    if n_cells is None:
        bins = source.count(classes[1], edges, closed, strategy_name(strategy))
        return StreamedCounts(bins, None, classes, n_obs)
    cell_edges = seen.cell_edges(
        edges, lambda: choose_edges(scores_of, n_labeled, n_cells, "quantile"), closed
    )
    cells = source.count(classes[1], cell_edges, closed, "edges")
    return StreamedCounts(cells.merge(edges, strategy_name(strategy)), cells, classes, n_obs)


class _Source:
    """The labelled rows of two columns, checked batch by batch at every reading."""

    def __init__(
        self, table: Batched, label: str, score: str, from_logits: bool, batch_rows: int
    ) -> None:
        self._table = table
        self._label = label
        self._score = score
        self._from_logits = from_logits
        self._batch_rows = batch_rows

    def scan(self, pos_label: Any, seen: DistinctScores) -> tuple[tuple[Label, Label], int, int]:
        """Check all rows once; return the two labels, the number of rows and of labelled rows.

        The labelled rows' scores are shown to `seen`.
        """
        labels: set[Label] = set()
        n_obs = n_labeled = 0
        for codes, values, scores in self._batches():
            labels.update(values)
            n_obs += len(codes)
            n_labeled += len(scores)
            seen.add(scores)
        check_rows(n_obs, f"the column {self._label!r}")
        if n_labeled == 0:
            raise InputError(
                f"{self._label} must hold at least one label; all {n_obs} rows are missing. "
                "Label some rows: calibration cannot be measured without."
            )
        found = np.array(sorted(labels, key=str), dtype=object)
        return code_binary(found, pos_label, None, self._label)[1], n_obs, n_labeled

    def order_statistics(self, n: int, numbers: list[int]) -> OrderStatistics:
        """Look up the scores that bound bins of equal mass, for each of the numbers of bins.

        They are found together, since each search reads the whole table.
        """
        ranks = np.unique([rank for n_bins in numbers for rank in quantile_ranks(n, n_bins)])
        ranks = ranks[ranks > 0].astype(np.int64)
        found = order_statistics(lambda: (scores for _, _, scores in self._batches()), ranks, n)
        return lambda wanted: found[np.searchsorted(ranks, wanted)]

    def count(
        self, positive: Label, edges: NDArray[np.float64], closed: str, strategy: str
    ) -> BinCounts:
        """Count the labelled rows into bins."""
        total = count_into(np.empty(0), np.empty(0, np.uint8), edges, closed, strategy)
        for codes, values, scores in self._batches():
            is_positive = np.array([value == positive for value in values], dtype=np.uint8)
            event = is_positive[codes[codes >= 0]]
            total += count_into(scores, event, edges, closed, strategy)
        return total

    def _batches(
        self,
    ) -> Iterator[tuple[NDArray[np.int32], tuple[Label, ...], NDArray[np.floating]]]:
        """Read the label codes of all rows, the labels they stand for, and the labelled scores."""
        offset = 0
        for batch in self._table.batches([self._label, self._score], self._batch_rows):
            codes, values = factorize(batch[self._label], self._label)
            if not len(codes):
                continue
            # Rows are counted within a batch, so the message has to say where the batch begins.
            place = f" (rows counted from row {offset})" if offset else ""
            column = Column(self._score + place, batch[self._score])
            scores = probabilities(column, self._from_logits)
            offset += len(codes)
            known = codes >= 0
            yield codes, values, scores if known.all() else scores[known]
