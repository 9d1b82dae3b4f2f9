"""One classifier's positive and unlabelled scores as the models see them: counts by cell."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bin_counts import BinCounts
from bayescal.core.problem import Problem


@dataclass(frozen=True, slots=True, eq=False)
class PUProblem:
    """Unlabelled rows by cell and bin, and the positives in the same cells; made by `PUProblem.of`.

    Attributes
    ----------
    unlabeled : Problem
        Cells and bins of the unlabelled scores; their events are unknown and counted as 0.
    positive : ndarray of shape (cell,), int64
        Positives in each cell.
    total : ndarray of shape (cell,), int64
        Rows of each cell, positive and unlabelled.
    n_positive : int
        Number of positives that were sampled.
    """

    unlabeled: Problem
    positive: NDArray[np.int64]
    total: NDArray[np.int64]
    n_positive: int

    @classmethod
    def of(cls, unlabeled: Problem, positive: NDArray[np.int64]) -> PUProblem:
        """Join the counts of both samples."""
        total = positive + unlabeled.cells.count
        return cls(unlabeled, positive, total, int(positive.sum()))

    def relabelled(self, positive: NDArray[np.int64]) -> PUProblem:
        """Say which of the rows are positives anew, given what the model is conditional on."""
        return replace(self, positive=positive)

    @property
    def cells(self) -> BinCounts:
        """Cells of the unlabelled scores."""
        return self.unlabeled.cells

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabelled rows."""
        return self.cells.n

    @property
    def weight(self) -> NDArray[np.float64]:
        """Share of the unlabelled rows in each cell."""
        return self.cells.count / self.n_unlabeled

    def positive_in_bins(self) -> NDArray[np.int64]:
        """Positives in each bin, (bin,)."""
        return np.asarray(self.positive @ self.unlabeled.membership()).astype(np.int64)
