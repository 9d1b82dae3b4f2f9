"""EM for a mixture of normals, one a class, in which some labels are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bayescal.quantities.ssme.em import Fit

type Floats = NDArray[np.float64]

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

    Parameters
    ----------
    points : ndarray of shape (obs, coordinate)
        Points.
    start : ndarray of shape (obs, class)
        Label probabilities to start from.
    known : ndarray of shape (labeled, class)
        Labels of the labeled rows, one-hot.
    labeled : ndarray of shape (obs,), bool
        Which rows are labeled.
    class_prior : ndarray of shape (class,), optional
        The prior if it is given; otherwise the mean label probability.
    max_epochs : int, default 50
        Most epochs.
    tolerance : float, default 1e-4
        Largest change of a label probability at which EM has converged.

    Returns
    -------
    Fit
        Label probabilities and what led there.

    Notes
    -----
    Covariances are diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.quantities.ssme.latent_mixture import fit_normals
    >>> points = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.3]])
    >>> start = np.array([[0.6, 0.4]] * 3 + [[0.4, 0.6]] * 3)
    >>> found = fit_normals(points, start, np.array([[1.0, 0.0]]), np.arange(6) == 0)
    >>> found.prob_label.argmax(axis=1).tolist()
    [0, 0, 0, 1, 1, 1]
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
