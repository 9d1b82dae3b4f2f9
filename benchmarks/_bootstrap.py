"""What most people would do instead: the plug-in ECE and its bootstrap intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]


class Bootstrap(NamedTuple):
    """Plug-in estimate and 90% intervals (lower, upper) from resampled rows."""

    estimate: float
    basic: tuple[float, float]
    percentile: tuple[float, float]
    unclipped_width: float


def bootstrap(
    score: Floats,
    label: NDArray[np.generic],
    rng: np.random.Generator,
    n_bins: int = 15,
    resamples: int = 300,
    prob: float = 0.9,
) -> Bootstrap:
    """Resample rows, bin each resample into equal masses again, and take quantiles of its ECE.

    The basic interval mirrors the quantiles at the estimate, which undoes the upward bias once; it
    is cut at 0, as an error below 0 is none. The rows' order statistics with their multiplicities
    stand for the resampled rows, so that nothing is sorted twice.
    """
    order = np.argsort(score, kind="stable")
    gap = (label - score)[order]
    n = len(gap)
    times = np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(resamples)])
    estimate = float(_ece(np.ones((1, n), dtype=np.int64), gap, n_bins)[0])
    resampled = _ece(times, gap, n_bins)
    low, high = np.quantile(resampled, [(1 - prob) / 2, (1 + prob) / 2])
    basic = (max(2 * estimate - high, 0.0), max(2 * estimate - low, 0.0))
    return Bootstrap(estimate, basic, (float(low), float(high)), float(high - low))


def _ece(times: NDArray[np.int64], gap: Floats, n_bins: int) -> Floats:
    """Binned ECE of sorted rows that come several times, edges at the floor(n b / B)-th row."""
    rows = np.cumsum(times, axis=1)
    sums = np.cumsum(times * gap, axis=1)
    n = rows[0, -1]
    target = n * np.arange(1, n_bins + 1) // n_bins
    ends = np.stack([np.searchsorted(row, target[target > 0]) for row in rows])
    total = np.take_along_axis(sums, ends, axis=1)
    return np.asarray(np.abs(np.diff(total, axis=1, prepend=0.0)).sum(axis=1) / n)
