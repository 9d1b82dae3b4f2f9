"""The density of draws that cannot be negative, and how it is drawn."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from matplotlib.axes import Axes
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


def draw_density(
    ax: Axes, x: NDArray[Any], draws: NDArray[Any], colour: str, alpha: float = 0.25
) -> None:
    """Draw a density scaled to the height 1; a line where all draws are equal."""
    height = density(draws, x)
    if height.max() > 0:
        height = height / height.max()
        ax.fill_between(x, 0, height, color=colour, alpha=alpha, linewidth=0)
        ax.plot(x, height, color=colour, linewidth=1.2)
    else:
        ax.plot((draws.flat[0],) * 2, (0, 1), color=colour, linewidth=1.6)
