"""Cells of the scores: fine enough for a calibration curve, and never across the edge of a bin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.bins.edges import refine

# Scores that are not rounded show it in so many rows, and the others need not be sorted.
_FIRST_ROWS = 1 << 12


class DistinctScores:
    """The distinct scores of rows that come in parts, as long as there are few."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values = np.empty(0)
        self._zero = self._one = False
        self.few = True

    @property
    def values(self) -> NDArray[np.float64]:
        """The distinct scores; none where they are many."""
        return self._values if self.few else np.empty(0)

    def add(self, score: NDArray[np.floating]) -> None:
        """Take in the scores of more rows."""
        self._zero = self._zero or bool((score == 0).any())
        self._one = self._one or bool((score == 1).any())
        for part in (score[:_FIRST_ROWS], score[_FIRST_ROWS:]):
            if self.few:
                # Adding 0 turns -0.0 into 0.0.
                self._include(part.astype(np.float64) + 0.0)

    def plus(self, other: DistinctScores) -> DistinctScores:
        """Join with the scores of other rows."""
        found = DistinctScores(self._most)
        found._zero, found._one = self._zero or other._zero, self._one or other._one
        found.few = self.few and other.few
        if found.few:
            found._values = self._values
            found._include(other._values)
        return found

    def _include(self, score: NDArray[np.float64]) -> None:
        self._values = np.union1d(self._values, score)
        # 0 and 1 do not count: they are cells of their own in any case.
        inside = (self._values > 0) & (self._values < 1)
        self.few = int(inside.sum()) <= self._most

    def cell_edges(
        self,
        edges: ArrayLike,
        quantiles: Callable[[], NDArray[np.float64]],
        closed: str,
    ) -> NDArray[np.float64]:
        """Edges of cells within bins: one a score where these are few, by quantiles otherwise.

        Rows of exactly 0 and of exactly 1 are always cells of their own, as no curve in the logit
        of the score tells what such a row has in common with its neighbours.
        """
        if self.few:
            inner = self._values[:-1] if closed == "right" else self._values[1:]
            return refine(edges, _around(inner), closed)
        return refine(refine(edges, quantiles(), closed), self._ends(closed), closed)

    def _ends(self, closed: str) -> NDArray[np.float64]:
        """Edges that part rows of exactly 0 and 1 from all others."""
        zero = 0.0 if closed == "right" else np.nextafter(0.0, 1.0)
        one = np.nextafter(1.0, 0.0) if closed == "right" else 1.0
        return _around(np.array([zero] * self._zero + [one] * self._one))


def _around(inner: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate(([0.0], inner, [1.0]))
