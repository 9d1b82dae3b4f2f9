"""EM for a mixture of normals, one a class, in which some labels are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bayescal.core.quantity import Floats
from bayescal.quantities.ssme.kde.em import Fit

# Variances, in units of each coordinate's, are kept above this in every direction, so that no
# class ends in a point or a plane.
_LEAST_VARIANCE = 1e-3
_LEAST_MASS = 1e-10


class Normals(NamedTuple):
    """A normal density of each class."""

    mean: Floats  # (class, coordinate)
    whitening: Floats  # (class, coordinate, coordinate): of a class, (x - mean) W is standard
    log_det: Floats  # (class,): log of the determinant of W


def normals_of(points: Floats, prob: Floats, *, diagonal: bool) -> Normals:
    """Means and covariances of points, each as much of a class as its probability says."""
    scale = points.std(axis=0)
    scale[scale == 0] = 1.0
    mass = np.maximum(prob.sum(axis=0), _LEAST_MASS)[:, np.newaxis]
    mean = prob.T @ points / mass
    whitening = np.empty((*mean.shape, mean.shape[1]))
    log_det = np.empty(len(mean))
    for k, of_class in enumerate(prob.T):
        away = (points - mean[k]) / scale
        covariance = (of_class[:, np.newaxis] * away).T @ away / mass[k]
        if diagonal:
            covariance = np.diag(np.diag(covariance))
        variance, direction = np.linalg.eigh(covariance)
        variance = np.maximum(variance, _LEAST_VARIANCE)
        whitening[k] = direction / np.sqrt(variance) / scale[:, np.newaxis]
        log_det[k] = -0.5 * np.log(variance).sum() - np.log(scale).sum()
    return Normals(mean, whitening, log_det)


def label_probs(points: Floats, normals: Normals, prior: Floats) -> Floats:
    """Probability of each class at each point, (obs, class)."""
    away = np.einsum("kid,kde->kie", points - normals.mean[:, np.newaxis], normals.whitening)
    log_density = normals.log_det - 0.5 * (away**2).sum(axis=2).T
    return np.asarray(softmax(log_density + np.log(np.maximum(prior, 1e-300)), axis=1))


def fit_normals(
    points: Floats,
    start: Floats,
    known: Floats,
    labeled: NDArray[np.bool_],
    class_prior: Floats | None = None,
    *,
    diagonal: bool = False,
    max_epochs: int = 50,
    tolerance: float = 1e-4,
) -> Fit:
    """Alternate between the normals of the classes, and label probabilities."""
    q = start.copy()
    q[labeled] = known
    for epoch in range(1, max_epochs + 1):
        prior = q.mean(axis=0) if class_prior is None else class_prior
        updated = label_probs(points, normals_of(points, q, diagonal=diagonal), prior)
        updated[labeled] = known
        change = float(np.abs(updated - q).max())
        q = updated
        if change <= tolerance:
            return Fit(q, prior, epoch, True)
    return Fit(q, prior, max_epochs, False)
