"""Labelled rows of which some have one score: their bins, cells and counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import BinCounts, effective_counts, joint_means
from bayescal.core.bins.edges import Strategy, cell_edges, choose_edges, place_in, weight_units
from bayescal.core.cell_sums import POSITIVE, Floats, Whole


@dataclass(frozen=True, slots=True, eq=False)
class TiedRows:
    """Labelled rows by rising score; those of one narrow cell count as tied."""

    score: NDArray[np.floating]  # (score,)
    rows: Whole  # (score,)
    positives: Whole  # (score,)
    weights: Floats | None = None  # of negative and positive rows, and their squares, (3, score)

    @property
    def mass(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Numbers, or weights, of all rows and of the positive ones, (score,)."""
        if self.weights is None:
            return self.rows, self.positives
        return self.weights[:2].sum(axis=0), self.weights[POSITIVE]

    @property
    def size(self) -> Whole:
        """What ranks count: rows, or units of weight, (score,)."""
        return self.rows if self.weights is None else weight_units(self.mass[0])

    @property
    def effective_n(self) -> float:
        """Number of rows; of weighted ones the effective number."""
        if self.weights is None:
            return int(self.rows.sum())
        return float(self.mass[0].sum() ** 2 / self.weights[2].sum())

    def edges(self, n_bins: int, strategy: Strategy) -> Floats:
        """Edges of bins, (bin + 1,)."""
        last = np.cumsum(self.size)

        def of_ranks(ranks: Whole) -> NDArray[np.floating]:
            return self.score[np.searchsorted(last, ranks)]

        return choose_edges(of_ranks, int(last[-1]), n_bins, strategy)

    def cell_edges(self, edges: Floats, n_cells: int, closed: str) -> Floats:
        """Edges of cells within bins that a curve is fitted to."""
        return cell_edges(
            self.score, n_cells, edges, lambda: self.edges(n_cells, "quantile"), closed
        )

    def place(self, edges: Floats, closed: str = "right") -> Whole:
        """The bin of each score."""
        return place_in(edges, self.score, closed)

    def count(self, edges: Floats, closed: str = "right", strategy: str = "edges") -> BinCounts:
        """Count the rows into bins."""
        place, size = self.place(edges, closed), len(edges) - 1
        weight, positives = self.mass

        def total(values: NDArray[Any]) -> NDArray[Any]:
            found = np.zeros(size, values.dtype)
            np.add.at(found, place, values)
            return found

        mean, rows = joint_means(place, weight, self.score, size), total(self.rows)
        if self.weights is None:
            return BinCounts(edges, rows, total(positives), mean, closed, strategy)
        return effective_counts(
            edges,
            rows=rows,
            weight=total(weight),
            squares=total(self.weights[2]),
            positive_weight=total(positives),
            mean_score=mean,
            closed=closed,
            strategy=strategy,
        )
