"""Rows like those at hand: how confidences are distributed, where the rows are too few to show it.

With some ten rows of a predicted class most bins hold one or none, and errors of classes that share
a bin seem not to cancel.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from bayescal.core.quantity import Floats

ROWS_PER_CLASS: Final = 200
"""Rows of each class, on average, that show how confidences are distributed."""
_MOST: Final = 20_000


def rows_to_add(n: int, n_classes: int) -> int:
    """How many rows `n` rows lack."""
    return max(0, min(ROWS_PER_CLASS * n_classes, _MOST) - n)


def smoothed_rows(logits: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Draw rows from a kernel density estimate of rows of logits, (draw, class).

    Notes
    -----
    The kernel is normal with the covariance of rows around the mean of their predicted class times
    h squared, by the normal reference rule. Rows are drawn to that mean so that the covariance
    stays as it is [1]_.

    References
    ----------
    .. [1] B. W. Silverman, "Density Estimation for Statistics and Data Analysis", Chapman and Hall,
       1986, equation (4.14) and section 6.4.
    """
    n, n_classes = logits.shape
    predicted = logits.argmax(axis=1)
    held = np.maximum(np.bincount(predicted, minlength=n_classes), 1)
    mean = np.zeros((n_classes, n_classes))
    np.add.at(mean, predicted, logits)
    mean /= held[:, None]
    apart = logits - mean[predicted]
    width = (4 / (n_classes + 2) / n) ** (1 / (n_classes + 4))
    place = rng.integers(0, n, draws)
    # Of logits that sum to 0, or of few rows, the covariance has no Cholesky factor.
    spread, axes = np.linalg.eigh(apart.T @ apart / n)
    noise = rng.standard_normal((draws, n_classes)) * np.sqrt(np.maximum(spread, 0)) @ axes.T
    moved = (apart[place] + width * noise) / np.sqrt(1 + width**2)
    return np.asarray(mean[predicted[place]] + moved)
