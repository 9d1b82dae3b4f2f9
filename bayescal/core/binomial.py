"""The binomial law of counts, without a sampler."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

type Floats = NDArray[np.float64]


def log_binomial_coefficient(count: NDArray[Any], positives: NDArray[Any]) -> Floats:
    """Log of the number of ways to choose `positives` out of `count`.

    Parameters
    ----------
    count, positives : ndarray of shape (...)
        Rows and events.

    Returns
    -------
    ndarray of shape (...)
        Logarithms.

    Examples
    --------
    >>> import numpy as np
    >>> float(np.exp(log_binomial_coefficient(np.array(5), np.array(2))).round(9))
    10.0
    """
    return np.asarray(
        gammaln(count + 1.0) - gammaln(positives + 1.0) - gammaln(count - positives + 1.0)
    )


def log_binomial(positives: NDArray[Any], count: NDArray[Any], rate: Floats) -> Floats:
    """Log probability of events given their rate.

    Parameters
    ----------
    positives, count : ndarray of shape (cell,)
        Events and rows.
    rate : ndarray of shape (..., cell), in [0, 1]
        Probability of the event.

    Returns
    -------
    ndarray of shape (..., cell)
        Log probabilities; 0 where there are no rows, whatever the rate.

    Examples
    --------
    >>> import numpy as np
    >>> found = log_binomial(np.array([1, 0]), np.array([2, 0]), np.array([0.5, 1.0]))
    >>> np.exp(found).round(9).tolist()
    [0.5, 1.0]
    """
    of_rate = xlogy(positives, rate) + xlog1py(count - positives, -rate)
    return np.asarray(log_binomial_coefficient(count, positives) + of_rate)
