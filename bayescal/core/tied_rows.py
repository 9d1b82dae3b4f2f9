"""Labelled rows of which some have one score: their bins, cells and counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import BinCounts, effective_counts
from bayescal.core.bins.edges import Strategy, cell_edges, choose_edges, weight_units
from bayescal.core.cell_sums import POSITIVE, Floats, Whole


@dataclass(frozen=True, slots=True, eq=False)
class TiedRows:
    """Labelled rows by rising score; those of one narrow cell count as tied."""

    score: Floats  # (score,)
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

        def of_ranks(ranks: Whole) -> Floats:
            return self.score[np.searchsorted(last, ranks)]

        return choose_edges(of_ranks, int(last[-1]), n_bins, strategy)

    def cell_edges(self, edges: Floats, n_cells: int, closed: str) -> Floats:
        """Edges of cells within bins that a curve is fitted to."""
        return cell_edges(
            self.score, n_cells, edges, lambda: self.edges(n_cells, "quantile"), closed
        )

    def place(self, edges: Floats, closed: str = "right") -> Whole:
        """The bin of each score."""
        side: Literal["left", "right"] = "left" if closed == "right" else "right"
        return np.searchsorted(edges[1:-1], self.score, side=side)

    def count(self, edges: Floats, closed: str = "right", strategy: str = "edges") -> BinCounts:
        """Count the rows into bins."""
        place, size = self.place(edges, closed), len(edges) - 1
        weight, positives = self.mass

        def total(values: NDArray[Any]) -> NDArray[Any]:
            found = np.zeros(size, values.dtype)
            np.add.at(found, place, values)
            return found

        lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
        held = self.rows > 0
        np.minimum.at(lowest, place[held], self.score[held])
        np.maximum.at(highest, place[held], self.score[held])
        mass, rows = total(weight), total(self.rows)
        # By its rounding the quotient of sums may leave the range of the scores.
        mean = np.clip(
            total(weight * self.score) / np.where(rows > 0, mass, np.nan), lowest, highest
        )
        if self.weights is None:
            return BinCounts(edges, rows, total(positives), mean, closed, strategy)
        return effective_counts(
            edges,
            rows=rows,
            weight=mass,
            squares=total(self.weights[2]),
            positive_weight=total(positives),
            mean_score=mean,
            closed=closed,
            strategy=strategy,
        )
