"""Scores rounded, so that ties do not depend on the last bits of a sum.

A classifier may give a row another last bit alone than in a batch, or on another machine. Where
scores are compared, such as with the edges of steps, that bit would decide.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

DIGITS: Final = 12
_LEAST: Final = -290
_MOST: Final = 308
# Read, not computed: powers of a vector and of a number may differ in the last bit themselves.
_POWER: Final = np.array([float(f"1e{k}") for k in range(_MOST + 1)])


def round_scores[Scores: NDArray[np.floating[Any]]](score: Scores) -> Scores:
    """Round double-precision scores to 12 significant digits; others are returned unchanged."""
    if score.dtype != np.float64:
        return score
    size = np.abs(score)
    exponent = np.log10(size, where=(size > 0) & np.isfinite(size), out=np.zeros_like(size))
    digits = DIGITS - 1 - np.clip(np.floor(exponent), _LEAST, _MOST).astype(np.int64)
    up, down = _POWER[np.maximum(digits, 0)], _POWER[np.maximum(-digits, 0)]
    return np.asarray(np.rint(score * up / down) / up * down)  # type: ignore[return-value]
