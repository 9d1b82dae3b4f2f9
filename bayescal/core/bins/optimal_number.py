"""The number of bins of the order that makes the bias of a binned calibration error least."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from bayescal.core.bins.edges import check_n_bins

OPTIMAL: Final = "optimal"

# Exact for whole numbers of rows below 1e14, and above the rounding of an effective number.
_ROUNDING: Final = 1e-14


def optimal_number(rows: float) -> int:
    """Cube root of a number of rows, or of what they are worth in labelled rows, rounded up."""
    near: int = max(1, round(rows ** (1 / 3)))
    # The floating cube root of a cube may come out above it.
    return near if near**3 >= rows * (1 - _ROUNDING) else near + 1


def effective_number(rows: int, weight: NDArray[np.float64] | None) -> float:
    """Number of rows; of weighted ones the effective number, ``(sum w)**2 / sum w**2``."""
    return rows if weight is None else float(weight.sum() ** 2 / (weight**2).sum())


def check_number(n_bins: int | str) -> int | str:
    """Check that a number of bins is a whole number above 0, or the word for the optimal one."""
    if isinstance(n_bins, str) and n_bins == OPTIMAL:
        return OPTIMAL
    return check_n_bins(n_bins)  # type: ignore[arg-type]  # another word is refused there


def resolved_number(n_bins: int | str, rows: float) -> int:
    """Number of bins of so many rows."""
    return n_bins if isinstance(n_bins, int) else optimal_number(rows)
