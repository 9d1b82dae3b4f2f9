"""Temperature scaling: one number multiplies all logits."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.optimize import minimize_scalar

from bayescal.core.bins.binning import Binning
from bayescal.core.checks import check_choice
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.calibrators.base import LogitCalibrator
from bayescal.quantities.temperature.errors import binned_error, top_class
from bayescal.quantities.temperature.loss import (
    ALPHA_MAX,
    ALPHA_MIN,
    Integers,
    check_alpha_bounds,
    labeled_rows,
    least_loss,
)

LOSSES: Final = ("nll", "ece")
_GRID: Final = 201


class TemperatureScaling(LogitCalibrator):
    """Calibrator that multiplies all logits by one number.

    Parameters
    ----------
    loss : {"nll", "ece"}, default "nll"
        What is minimised on the rows: log loss, or the expected calibration error.
    alpha_min, alpha_max : float, above 0, default 0.01 and 100
        Range of the number.
    n_bins : int, default 15
        Bins of equal width of ``loss="ece"``.
    scale : {"logits", "probabilities"}, default "logits"
        What rows hold. Probabilities are taken as their logarithms.

    Attributes
    ----------
    alpha_ : float
        The number: 1 over the temperature. Above 1 the classifier was under-confident.
    classes_ : ndarray of shape (class,)
        Labels of the columns.

    Notes
    -----
    Log loss is a convex function of the number and is minimised by Newton's method. Where all
    labels are those of the largest logits it has no minimum, and `alpha_` is `alpha_max`. The
    calibration error jumps; it is searched over a grid in the logarithm and refined between its
    best neighbours. Predictions are those of the logits. The logit of a single column is that of
    the second class, ``P = 1 / (1 + exp(-alpha x))``.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On Calibration of Modern Neural
       Networks", ICML 2017, section 4.2. https://arxiv.org/abs/1706.04599
    .. [2] Y. Zhao, J. Chen and S. Oymak, "On the Role of Dataset Quality and Heterogeneity in Model
       Confidence", 2020, section 4.1. https://arxiv.org/abs/2002.09831

    Examples
    --------
    >>> from bayescal.quantities.temperature.calibrators.temperature import TemperatureScaling
    >>> fitted = TemperatureScaling().fit([[2.0, 0.0], [2.0, 0.0], [2.0, 0.0]], [0, 0, 1])
    >>> round(fitted.alpha_, 4), fitted.predict_proba([[2.0, 0.0]]).round(3).tolist()
    (0.3466, [[0.667, 0.333]])
    """

    def __init__(
        self,
        loss: str = "nll",
        alpha_min: float = ALPHA_MIN,
        alpha_max: float = ALPHA_MAX,
        n_bins: int = 15,
        scale: str = "logits",
    ) -> None:
        self.loss = loss
        self.alpha_min = alpha_min
        self.alpha_max = alpha_max
        self.n_bins = n_bins
        self.scale = scale

    def fit_logits(self, logits: Floats, label: Integers, weight: Floats | None = None) -> None:
        """Find the number.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Logits.
        label : ndarray of shape (obs,), int
            Columns of the labels.
        weight : ndarray of shape (obs,), optional
            Weights, above 0.
        """
        check_choice(self.loss, LOSSES, "loss")
        check_alpha_bounds(self.alpha_min, self.alpha_max)
        if self.loss == "nll":
            rows = labeled_rows(logits, label, np.zeros(len(label), np.intp), 1, weight)
            self.alpha_ = float(least_loss(rows, self.alpha_min, self.alpha_max)[0])
        else:
            self.alpha_ = self._least_error(logits, label, weight)

    def transform_logits(self, logits: Floats) -> Floats:
        """Multiply.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Logits.

        Returns
        -------
        ndarray of shape (obs, class)
            Calibrated logits.
        """
        return np.asarray(self.alpha_ * logits)

    def _least_error(self, logits: Floats, label: Integers, weight: Floats | None) -> float:
        binning = Binning(self.n_bins, "uniform")

        def error(log_alpha: float) -> float:
            score, predicted = top_class(np.exp(log_alpha) * logits)
            return binned_error(score, predicted == label, binning, weight)

        grid = np.linspace(np.log(self.alpha_min), np.log(self.alpha_max), _GRID)
        values = [error(place) for place in grid]
        best = int(np.argmin(values))
        around = (grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)])
        refined = minimize_scalar(error, bounds=around, method="bounded")
        place = refined.x if refined.fun < values[best] else grid[best]
        return float(np.exp(place))
