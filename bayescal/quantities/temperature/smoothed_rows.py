"""Rows like those at hand: how confidences are distributed, where the rows are too few to show it.

With some ten rows of a predicted class most bins hold one or none, and errors of classes that share
a bin seem not to cancel.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.logits import predicted_class

ROWS_PER_CLASS: Final = 200
"""Rows of each class, on average, that show how confidences are distributed."""
_MOST: Final = 20_000


def rows_to_add(n: int, n_classes: int) -> int:
    """How many rows `n` rows lack."""
    return max(0, min(ROWS_PER_CLASS * n_classes, _MOST) - n)


def smoothed_rows(
    logits: Floats, draws: int, rng: np.random.Generator, weight: Floats | None = None
) -> Floats:
    """Draw rows from a kernel density estimate of rows of logits, (draw, class).

    Notes
    -----
    The kernel is normal with the covariance of rows around the mean of their predicted class times
    h squared, by the normal reference rule. Rows are drawn to that mean so that the covariance
    stays as it is [1]_. Weighted rows are drawn in proportion to their weights.

    References
    ----------
    .. [1] B. W. Silverman, "Density Estimation for Statistics and Data Analysis", Chapman and Hall,
       1986, equation (4.14) and section 6.4.
    """
    n, n_classes = logits.shape
    predicted = predicted_class(logits)
    one = np.ones(n) if weight is None else weight
    held = np.bincount(predicted, one, n_classes)
    mean = np.zeros((n_classes, n_classes))
    np.add.at(mean, predicted, one[:, None] * logits)
    mean /= np.where(held > 0, held, 1)[:, None]
    apart = logits - mean[predicted]
    effective_n = one.sum() ** 2 / (one**2).sum()
    width = (4 / (n_classes + 2) / effective_n) ** (1 / (n_classes + 4))
    share = None if weight is None else weight / weight.sum()
    place = rng.integers(0, n, draws) if share is None else rng.choice(n, draws, p=share)
    # Of logits that sum to 0, or of few rows, the covariance has no Cholesky factor.
    spread, axes = np.linalg.eigh((one[:, None] * apart).T @ apart / one.sum())
    noise = rng.standard_normal((draws, n_classes)) * np.sqrt(np.maximum(spread, 0)) @ axes.T
    moved = (apart[place] + width * noise) / np.sqrt(1 + width**2)
    return np.asarray(mean[predicted[place]] + moved)
