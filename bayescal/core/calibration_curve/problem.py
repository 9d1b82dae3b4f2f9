"""One binary problem as the models see it: cells of scores, and the bins that they make up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import BinCounts

type Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Counts of one classifier (and class), fine enough for a curve, with the bins above them."""

    coords: Mapping[str, str]
    cells: BinCounts
    bins: BinCounts

    def membership(self) -> Floats:
        """Which cells make up which bin, (cell, bin)."""
        table = np.zeros((self.cells.n_bins, self.bins.n_bins))
        table[np.arange(self.cells.n_bins), self.cells.place_in(self.bins.edges)] = 1
        return table

    def support(self) -> Floats:
        """Which cells give the rate of which bin, (cell, bin)."""
        table = self.membership()
        held, every = np.flatnonzero(table.any(axis=0)), np.arange(self.bins.n_bins)
        if self.bins.closed == "right":
            source = held[np.searchsorted(held, every, side="right") - 1]
        else:
            source = held[np.searchsorted(held, every, side="left")]
        return np.asarray(table[:, source])

    def in_empty_bin(self) -> Floats:
        """Cells whose whole bin has no rows, so that masses cannot weigh them, (cell,)."""
        return np.asarray(self.membership() @ (self.bins.count == 0))


def pad[Scalar: np.generic](values: NDArray[Scalar], *shape: int) -> NDArray[Scalar]:
    """Append zeros up to a shape, so that one compiled model serves all sizes below it."""
    return np.pad(
        values, [(0, size - have) for size, have in zip(shape, values.shape, strict=True)]
    )


def padded_size(n: int, smallest: int) -> int:
    """Round a number of cells up to the next doubling of the smallest size."""
    size = smallest
    while size < n:
        size *= 2
    return size
