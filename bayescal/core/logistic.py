"""The logistic function and its inverse, without SciPy, which is not needed to draw rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.intake import to_probabilities

type Floats = NDArray[np.float64]


def sigmoid(logit: Floats) -> Floats:
    """Logistic function."""
    # The positive exponent overflows to infinity for logits below -709, and 1 / inf is the right 0.
    with np.errstate(over="ignore"):
        found = np.asarray(np.exp(-logit))
    found += 1
    return np.reciprocal(found, out=found)


def finite_logits(score: Any, name: str = "score") -> Floats:
    """Logits of probabilities of any shape; 0 and 1 count as the numbers next to them."""
    info = np.finfo(np.float64)
    inside = np.clip(to_probabilities(score, name), info.tiny, 1.0 - info.epsneg)
    return np.asarray(np.log(inside) - np.log1p(-inside))
