"""The density of draws that cannot be negative."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray


def density(draws: NDArray[Any], at: NDArray[Any]) -> NDArray[np.float64]:
    """Kernel density of draws from [0, inf), reflected at 0; zeros where all draws are equal."""
    flat = np.asarray(draws, dtype=np.float64).ravel()
    flat = flat[~np.isnan(flat)]
    if flat.size < 2 or np.ptp(flat) <= 1e-12 * np.abs(flat).max():
        return np.zeros(len(at))
    array_stats: Any = import_module("arviz_stats.base").array_stats

    # Reflection at the least draw itself would bend densities that are far from 0.
    low = max(0.0, float(flat.min() - flat.std()))
    # Scott's rule: the default bandwidth follows ties, which shares of rows have.
    grid, height, _ = array_stats.kde(flat, bw="scott", grid_len=1024, custom_lims=(low, None))
    return np.where(at < low, 0.0, np.interp(at, grid, height, right=0.0))
