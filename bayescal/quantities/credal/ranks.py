"""Scores as ranks among the calibration scores: only their order matters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RankMap:
    """Rank in [0, 1] of any score among those that it was made of; made by `RankMap.of`.

    Attributes
    ----------
    score : ndarray of shape (knot,), increasing
        Distinct scores, and both ends of their range.
    rank : ndarray of shape (knot,), in [0, 1]
        Share of the rows below each score, those of that very score counted half.
    """

    score: Floats
    rank: Floats

    @classmethod
    def of(cls, score: NDArray[np.floating]) -> RankMap:
        """Rank scores."""
        distinct, count = np.unique(score.astype(np.float64), return_counts=True)
        rank = (np.cumsum(count) - count / 2) / len(score)
        low, high = np.zeros(int(distinct[0] > 0)), np.ones(int(distinct[-1] < 1))
        return cls(np.concatenate([low, distinct, high]), np.concatenate([low, rank, high]))

    def __call__(self, score: NDArray[np.floating]) -> Floats:
        """Look up ranks, linear between the knots."""
        return np.asarray(np.interp(score, self.score, self.rank))


def cell_of(rank: Floats, n_cells: int) -> NDArray[np.int64]:
    """Find the cell of a rank, of cells of equal width."""
    return np.minimum((rank * n_cells).astype(np.int64), n_cells - 1)
