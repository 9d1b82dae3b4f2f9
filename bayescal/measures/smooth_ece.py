"""The smooth calibration error: gaps smoothed over the score with a bandwidth of their own."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]

# Bandwidths are powers of this factor; between two of them the error is nearly a power of it.
_STEP: Final = 0.85
# No bandwidth is smaller; an error as small as that is not smoothed.
_LEAST: Final = 1e-3
_PER_BANDWIDTH: Final = 2


def smece(rate: Any, score: Any, mass: Any) -> Floats:
    """Mean absolute gap after smoothing with a reflected Gaussian kernel of the same size."""
    r, m = (np.asarray(values, dtype=np.float64) for values in (rate, mass))
    s = np.asarray(score, dtype=np.float64)
    gap = m * (r - s)
    flat = gap.reshape(-1, gap.shape[-1])
    found = np.abs(flat).sum(axis=-1)
    left = np.flatnonzero(found > _LEAST)
    # Smoothing makes no error larger: the bandwidths above the largest of them are left out.
    wider = _STEP ** np.floor(np.log(found.max(initial=_LEAST)) / np.log(_STEP))
    before = _smoothed(flat[left], s, wider)
    while len(left) and wider > _LEAST:
        width = wider * _STEP
        here = _smoothed(flat[left], s, width)
        done = here >= width
        found[left[done]] = _crossing(wider, before[done], width, here[done])
        left, before, wider = left[~done], here[~done], width
    found[left] = before
    return np.asarray(found.reshape(gap.shape[:-1]))


def _crossing(wider: float, before: Floats, width: float, here: Floats) -> Floats:
    """Where the error equals the bandwidth, by a straight line in logarithms."""
    above, below = np.log(here / width), np.log(np.maximum(before, 1e-300) / wider)
    share: Floats = above / (above - below)
    return np.asarray(width * (wider / width) ** share)


def _smoothed(gap: Floats, score: Floats, width: float) -> Floats:
    """Integral over [0, 1] of the absolute smoothed gap, (draw,)."""
    number = max(32, int(np.ceil(_PER_BANDWIDTH / width)))
    at = (np.arange(number) + 0.5) / number
    images = np.stack([2 * turn + sign * score for turn in (-1, 0, 1) for sign in (1, -1)])
    kernel = np.exp(-0.5 * ((at - images[..., None]) / width) ** 2).sum(axis=0)
    # Of a wide kernel more images than these matter: it is made to integrate to 1.
    kernel /= kernel.mean(axis=1, keepdims=True)
    return np.asarray(np.abs(gap @ kernel).mean(axis=-1))
