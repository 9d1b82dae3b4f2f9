"""EM for a mixture of normals, one a class, in which some labels are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.kde.em import Fit

# Variances are kept above this share of a coordinate's variance, so that no class ends in a point.
_LEAST_VARIANCE = 1e-3
_LEAST_MASS = 1e-10


def fit_normals(
    points: Floats,
    start: Floats,
    known: Floats,
    labeled: NDArray[np.bool_],
    class_prior: Floats | None = None,
    *,
    max_epochs: int = 50,
    tolerance: float = 1e-4,
) -> Fit:
    """Alternate between means and variances, and label probabilities.

    Notes
    -----
    Covariances are diagonal.
    """
    q = start.copy()
    q[labeled] = known
    least = np.maximum(_LEAST_VARIANCE * points.var(axis=0), np.finfo(np.float64).tiny)
    for epoch in range(1, max_epochs + 1):
        prior = q.mean(axis=0) if class_prior is None else class_prior
        mass = np.maximum(q.sum(axis=0), _LEAST_MASS)[:, np.newaxis]
        mean = q.T @ points / mass
        variance = np.maximum(q.T @ points**2 / mass - mean**2, least)
        away = (points[:, np.newaxis] - mean) ** 2 / variance
        logs = -0.5 * (away + np.log(variance)).sum(axis=2) + np.log(np.maximum(prior, 1e-300))
        updated = softmax(logs, axis=1)
        updated[labeled] = known
        change = float(np.abs(updated - q).max())
        q = updated
        if change <= tolerance:
            return Fit(q, prior, epoch, True)
    return Fit(q, prior, max_epochs, False)
