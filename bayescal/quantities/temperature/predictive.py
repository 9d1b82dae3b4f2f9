"""Calibrated probabilities: the mean over the posterior of each predicted class's number."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from scipy.special import softmax

from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.loss import Integers

POINTS: Final = 16
"""Points of equal posterior probability that stand for the draws of a class."""


def points_of(log_alpha: Floats) -> Floats:
    """Middles of parts of equal probability of each class's draws, (point, class)."""
    middles = (np.arange(POINTS) + 0.5) / POINTS
    return np.quantile(log_alpha.reshape(-1, log_alpha.shape[-1]), middles, axis=0)


def mean_probabilities(logits: Floats, log_alpha: Floats) -> Floats:
    """Posterior mean of the class probabilities of rows, (obs, class)."""
    alpha = np.exp(points_of(log_alpha))[:, logits.argmax(axis=1)]
    found = np.zeros_like(logits)
    for each in alpha:
        found += softmax(each[:, None] * logits, axis=1)
    return found / POINTS


class Confidence(NamedTuple):
    """Probabilities of the predicted class, at the points of its number.

    Parameters
    ----------
    places : ndarray of shape (point, class)
        Log alphas: the points, between the smallest and the largest draw.
    at : ndarray of shape (point, obs), in [0, 1]
        Probability of the predicted class.
    calibrated, uncalibrated : ndarray of shape (obs,), in [0, 1]
        Its posterior mean, and its probability at 1.
    """

    places: Floats
    at: Floats
    calibrated: Floats
    uncalibrated: Floats


def confidences(logits: Floats, predicted: Integers, log_alpha: Floats) -> Confidence:
    """Probabilities of the predicted class of rows."""
    flat = log_alpha.reshape(-1, log_alpha.shape[-1])
    places = np.vstack([flat.min(axis=0), points_of(flat), flat.max(axis=0)])
    gap = np.ascontiguousarray(logits.T)
    gap = gap - gap.max(axis=0)

    def top(log_alpha: Floats) -> Floats:
        return np.asarray(1 / np.exp(np.exp(log_alpha) * gap).sum(axis=0))

    at = np.stack([top(each[predicted]) for each in places])
    return Confidence(places, at, at[1:-1].mean(axis=0), top(np.zeros(len(predicted))))
