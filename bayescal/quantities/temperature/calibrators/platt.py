"""Platt scaling of the confidence: a line in its logit."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import log_expit, logsumexp

from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.calibrators.base import (
    Objective,
    ParametricCalibrator,
    shares,
)
from bayescal.quantities.temperature.logits import predicted_class
from bayescal.quantities.temperature.loss import ALPHA_MAX, ALPHA_MIN, Integers

_MOST_SHIFT: Final = 50.0


class PlattScaling(ParametricCalibrator):
    """Calibrator of the predicted class's probability; the other classes keep their proportions.

    Parameters
    ----------
    scale : {"logits", "probabilities"}, default "logits"
        What rows hold. Probabilities are taken as their logarithms.

    Attributes
    ----------
    coef_, intercept_ : float
        Slope, in [0.01, 100], and intercept.
    classes_ : ndarray of shape (class,)
        Labels of the columns.

    Notes
    -----
    With p the largest probability, the calibrated one is ``sigmoid(coef logit(p) + intercept)``.
    The log loss of being correct is convex and minimised by L-BFGS. A low intercept can put the
    predicted class below another, so that predictions may change.

    References
    ----------
    .. [1] J. Platt, "Probabilistic Outputs for Support Vector Machines and Comparisons to
       Regularized Likelihood Methods", Advances in Large Margin Classifiers, 1999.

    Examples
    --------
    >>> from bayescal.quantities.temperature.calibrators.platt import PlattScaling
    >>> logits = [[2.0, 0.0]] * 3 + [[4.0, 0.0]] * 5
    >>> fitted = PlattScaling().fit(logits, [0, 0, 1, 0, 0, 0, 0, 1])
    >>> fitted.predict_proba([[2.0, 0.0], [4.0, 0.0]]).round(3).tolist()
    [[0.667, 0.333], [0.8, 0.2]]
    """

    def __init__(self, scale: str = "logits") -> None:
        self.scale = scale

    def domain(self, n_classes: int) -> tuple[Floats, list[tuple[float, float]]]:
        """Give parameters to start from, and the range of each.

        Parameters
        ----------
        n_classes : int
            Classes, which do not matter.

        Returns
        -------
        start : ndarray of shape (parameter,)
            A slope of 1 and an intercept of 0.
        bounds : list of pairs
            Least and largest value.
        """
        return np.array([1.0, 0.0]), [(ALPHA_MIN, ALPHA_MAX), (-_MOST_SHIFT, _MOST_SHIFT)]

    def objective(self, logits: Floats, label: Integers, weight: Floats | None = None) -> Objective:
        """Make the mean log loss of being correct, and its gradient, as a function of the line.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Logits.
        label : ndarray of shape (obs,), int
            Columns of the labels.
        weight : ndarray of shape (obs,), optional
            Weights, above 0.

        Returns
        -------
        callable
            From slope and intercept to the loss and its gradient.
        """
        score, share = _logit_of_top(logits), shares(weight, len(logits))
        sign = np.where(predicted_class(logits) == label, 1.0, -1.0)

        def loss(point: Floats) -> tuple[float, Floats]:
            moved = sign * (point[0] * score + point[1])
            off = -share * sign * np.exp(log_expit(-moved))
            return -float(share @ log_expit(moved)), np.array([off @ score, off.sum()])

        return loss

    def take(self, point: Floats) -> None:
        """Take slope and intercept.

        Parameters
        ----------
        point : ndarray of shape (parameter,)
            Slope and intercept.
        """
        self.coef_, self.intercept_ = map(float, point)

    def transform_logits(self, logits: Floats) -> Floats:
        """Move the predicted class's probability.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Logits.

        Returns
        -------
        ndarray of shape (obs, class)
            Logarithms of the calibrated probabilities.
        """
        rows, top = np.arange(len(logits)), predicted_class(logits)
        moved = self.coef_ * _logit_of_top(logits) + self.intercept_
        found = logits.copy()
        found[rows, top] = -np.inf
        found += (log_expit(-moved) - logsumexp(found, axis=1))[:, None]
        found[rows, top] = log_expit(moved)
        return found


def _logit_of_top(logits: Floats) -> Floats:
    """Log odds of the largest logit's class against all others, (obs,)."""
    rest = logits.copy()
    rest[np.arange(len(logits)), predicted_class(logits)] = -np.inf
    return np.asarray(logits.max(axis=1) - logsumexp(rest, axis=1))
