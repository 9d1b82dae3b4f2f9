"""The counts that a posterior is computed from, and the rows it answers for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayescal.core.calibration_split import CalibrationSplit
from bayescal.core.factorize import MISSING
from bayescal.quantities.credal.ranks import RankMap, cell_of

type Floats = NDArray[np.float64]
type Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One classifier's calibration rows in cells of their score's rank; made by `Problem.of`.

    A curve is the probability of one label given its score: one of a binary task, one for each
    class against the rest otherwise.

    Attributes
    ----------
    ranks : tuple of RankMap
        Ranks of the scores of each curve.
    count, positives : ndarray of shape (curve, cell), int
        Rows in each cell, and those of the curve's label.
    place : ndarray of shape (curve, cell), in [0, 1]
        Mean rank of the rows of each cell; its middle where there are none.
    target_rank : ndarray of shape (obs, curve), in [0, 1]
        Ranks of the rows to answer for.
    """

    ranks: tuple[RankMap, ...]
    count: Counts
    positives: Counts
    place: Floats
    target_rank: Floats

    @classmethod
    def of(cls, data: CalibrationSplit, rows: NDArray[np.intp], n_cells: int) -> Problem:
        """Count the rows of a classifier."""
        known = data.calibration.y_true != MISSING
        score, label = data.calibration.y_prob[0][known], data.calibration.y_true[known]
        target = data.target.y_prob[0][rows]
        if score.ndim == 1:
            score, target, event = score[:, None], target[:, None], (label == 1)[:, None]
        else:
            event = label[:, None] == np.arange(score.shape[1])
        ranks = tuple(RankMap.of(column) for column in score.T)
        counted = [
            _count(rank(column), happened, n_cells)
            for rank, column, happened in zip(ranks, score.T, event.T, strict=True)
        ]
        count, positives, place = (np.stack(parts) for parts in zip(*counted, strict=True))
        at = np.stack([rank(t) for rank, t in zip(ranks, target.T, strict=True)], axis=1)
        return cls(ranks, count, positives, place, at)

    @property
    def n_curves(self) -> int:
        """Number of curves."""
        return len(self.ranks)

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.count.shape[1])

    def relabelled(self, positives: Counts) -> Problem:
        """Give the cells other numbers of labels."""
        return replace(self, positives=positives)


def _count(
    rank: Floats, happened: NDArray[np.bool_], n_cells: int
) -> tuple[Counts, Counts, Floats]:
    """Rows, labels and mean rank of each cell of one curve."""
    cell = cell_of(rank, n_cells)
    count = np.bincount(cell, minlength=n_cells)
    positives = np.bincount(cell[happened], minlength=n_cells)
    middle = (np.arange(n_cells) + 0.5) / n_cells
    total = np.bincount(cell, rank, n_cells)
    return count, positives, np.where(count > 0, total / np.maximum(count, 1), middle)
