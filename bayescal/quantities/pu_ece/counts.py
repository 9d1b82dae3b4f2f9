"""Positives and unlabelled rows of one classifier, counted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.bin_counts import BinCounts


class PUCounts(NamedTuple):
    """Positives and unlabelled rows by cells of the score, and bins that the cells make up."""

    bins: BinCounts
    cells: BinCounts
    positive: BinCounts

    @property
    def n_positive(self) -> int:
        """Number of positives."""
        return self.positive.n

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabelled rows."""
        return self.cells.n

    @property
    def binning_attrs(self) -> dict[str, str | int]:
        """What a result says of the bins."""
        bins = self.bins
        return {
            "binning_strategy": bins.strategy,
            "n_bins": bins.n_bins,
            "closed": bins.closed,
        }

    def positive_in_bins(self) -> NDArray[np.int64]:
        """Positives in each bin, (bin,)."""
        found: NDArray[Any] = np.zeros(self.bins.n_bins, np.int64)
        np.add.at(found, self.cells.place_in(self.bins.edges), self.positive.count)
        return found
