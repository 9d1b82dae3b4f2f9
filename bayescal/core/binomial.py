"""The binomial law of counts, without a sampler."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

type Floats = NDArray[np.float64]


def log_binomial_coefficient(count: NDArray[Any], positives: NDArray[Any]) -> Floats:
    """Log of the number of ways to choose `positives` out of `count`, (...)."""
    return np.asarray(
        gammaln(count + 1.0) - gammaln(positives + 1.0) - gammaln(count - positives + 1.0)
    )


def log_binomial(positives: NDArray[Any], count: NDArray[Any], rate: Floats) -> Floats:
    """Log probability of events given their rate, (..., cell)."""
    of_rate = xlogy(positives, rate) + xlog1py(count - positives, -rate)
    return np.asarray(log_binomial_coefficient(count, positives) + of_rate)
