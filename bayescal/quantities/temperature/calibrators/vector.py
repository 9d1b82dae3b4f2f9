"""Vector scaling: a number and a shift for each logit."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import logsumexp

from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.calibrators.base import (
    Objective,
    ParametricCalibrator,
    shares,
)
from bayescal.quantities.temperature.loss import Integers

_MOST_SCALE: Final = 100.0
_MOST_SHIFT: Final = 50.0


class VectorScaling(ParametricCalibrator):
    """Calibrator that multiplies each logit by a number of its own and shifts it.

    Parameters
    ----------
    scale : {"logits", "probabilities"}, default "logits"
        What rows hold. Probabilities are taken as their logarithms.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (class,)
        Numbers and shifts; the shifts sum to 0.
    classes_ : ndarray of shape (class,)
        Labels of the columns.

    Notes
    -----
    Calibrated logits are ``coef * logits + intercept``. The log loss is convex and minimised by
    L-BFGS with ``|coef| <= 100`` and ``|intercept| <= 50``, which it reaches where classes can be
    separated. Predictions may change, as each logit has its own number. With few rows a class its
    2K parameters fit noise.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On Calibration of Modern Neural
       Networks", ICML 2017, section 4.2. https://arxiv.org/abs/1706.04599
    .. [2] Y. Zhao, J. Chen and S. Oymak, "On the Role of Dataset Quality and Heterogeneity in Model
       Confidence", 2020, equation (4.5). https://arxiv.org/abs/2002.09831

    Examples
    --------
    >>> from bayescal.quantities.temperature.calibrators.vector import VectorScaling
    >>> logits = [[2.0, 0.0]] * 3 + [[0.0, 2.0]] * 4
    >>> fitted = VectorScaling().fit(logits, [0, 0, 1, 1, 1, 1, 0])
    >>> fitted.predict_proba([[2.0, 0.0], [0.0, 2.0]]).round(3).tolist()
    [[0.667, 0.333], [0.25, 0.75]]
    """

    def __init__(self, scale: str = "logits") -> None:
        self.scale = scale

    def domain(self, n_classes: int) -> tuple[Floats, list[tuple[float, float]]]:
        """Give parameters to start from, and the range of each.

        Parameters
        ----------
        n_classes : int
            Classes.

        Returns
        -------
        start : ndarray of shape (parameter,)
            Numbers of 1, then shifts of 0.
        bounds : list of pairs
            Least and largest value.
        """
        start = np.append(np.ones(n_classes), np.zeros(n_classes))
        ends = [_MOST_SCALE] * n_classes + [_MOST_SHIFT] * n_classes
        return start, [(-end, end) for end in ends]

    def objective(self, logits: Floats, label: Integers, weight: Floats | None = None) -> Objective:
        """Make the mean log loss of rows, and its gradient, as a function of the parameters.

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
            From numbers and shifts to the loss and its gradient.
        """
        rows, share = np.arange(len(label)), shares(weight, len(label))
        true = np.zeros_like(logits)
        true[rows, label] = 1

        def loss(point: Floats) -> tuple[float, Floats]:
            coef, shift = np.split(point, 2)
            moved = coef * logits + shift
            total = logsumexp(moved, axis=1)
            off = share[:, None] * (np.exp(moved - total[:, None]) - true)
            value = share @ (total - moved[rows, label])
            return float(value), np.append((off * logits).sum(axis=0), off.sum(axis=0))

        return loss

    def take(self, point: Floats) -> None:
        """Take numbers and shifts.

        Parameters
        ----------
        point : ndarray of shape (parameter,)
            Numbers, then shifts.
        """
        self.coef_, shift = np.split(point, 2)
        self.intercept_ = shift - shift.mean()

    def transform_logits(self, logits: Floats) -> Floats:
        """Multiply and shift.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Logits.

        Returns
        -------
        ndarray of shape (obs, class)
            Calibrated logits.
        """
        return np.asarray(self.coef_ * logits + self.intercept_)
