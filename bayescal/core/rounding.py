"""Scores to 12 decimals, so that no tie depends on the last bit of a computation.

A classifier asked for one row and for a batch may differ in the last bit, as may two machines; a
score that equals a bin's edge, or another score, on one of them has to equal it on all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_DIGITS = 12
# Below this, `_DIGITS` decimals are too few significant digits.
_SMALL = 1e-4
# 10 to a larger power is infinite for the smallest scores.
_MOST_DECIMALS = 300
# A block of the rows stays in a core's cache through the passes over it.
_BLOCK = 1 << 15


def round_scores[Score: np.floating](score: NDArray[Score]) -> NDArray[Score]:
    """Round scores, (obs, ...), to 12 decimals, below 0.0001 to 12 digits; narrower floats stay."""
    if score.dtype != np.float64:
        return score
    rounded = np.empty_like(score)
    rows = max(1, _BLOCK // max(1, score[:1].size))
    for start in range(0, len(score), rows):
        part, into = score[start : start + rows], rounded[start : start + rows]
        np.round(part, _DIGITS, out=into)
        small = (part < _SMALL) & (part > 0)
        if small.any():
            into[small] = _significant(part[small])
    return rounded


def _significant[Score: np.floating](score: NDArray[Score]) -> NDArray[Score]:
    decimals = np.minimum(_DIGITS - 1 - np.floor(np.log10(score)), _MOST_DECIMALS)
    scale = 10.0**decimals
    return np.asarray(np.rint(score * scale) / scale)
