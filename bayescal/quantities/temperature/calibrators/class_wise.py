"""Class-wise temperature scaling: a number for the rows of each predicted class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from bayescal.core.checks import check_number
from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.calibrators.base import LogitCalibrator
from bayescal.quantities.temperature.logits import predicted_class
from bayescal.quantities.temperature.loss import (
    ALPHA_MAX,
    ALPHA_MIN,
    Integers,
    LabeledRows,
    check_alpha_bounds,
    labeled_rows,
    least_loss,
)


class ClassWiseTemperatureScaling(LogitCalibrator):
    """Calibrator that multiplies the logits of each predicted class by a number of its own.

    Parameters
    ----------
    gamma : float, at least 0, default infinity
        Largest difference of a class's number from the shared one. 0 is temperature scaling,
        infinity calibrates every class apart.
    alpha_min, alpha_max : float, above 0, default 0.01 and 100
        Range of all numbers.
    scale : {"logits", "probabilities"}, default "logits"
        What rows hold. Probabilities are taken as their logarithms.

    Attributes
    ----------
    alpha_ : ndarray of shape (class,)
        The number of each predicted class.
    shared_alpha_ : float
        The shared one, which a class never predicted has.
    classes_ : ndarray of shape (class,)
        Labels of the columns.

    Notes
    -----
    Minimises the log loss of all rows over ``|alpha_k - alpha_0| <= gamma``. A class's loss is
    convex in its number, so that given alpha_0 its best number is its own minimiser clipped to
    ``[alpha_0 - gamma, alpha_0 + gamma]``; what is left is a convex function of alpha_0, whose
    derivative is a sum over the classes at a limit. Where several alpha_0 are best, it is the one
    next to the number of temperature scaling. The paper bounds only alpha_0, so that its alpha_k
    may be negative and reverse predictions; here all lie in ``[alpha_min, alpha_max]``, and
    predictions are those of the logits.

    References
    ----------
    .. [1] Y. Zhao, J. Chen and S. Oymak, "On the Role of Dataset Quality and Heterogeneity in Model
       Confidence", 2020, Algorithm 1 and equations (4.2) and (4.3).
       https://arxiv.org/abs/2002.09831

    Examples
    --------
    >>> from bayescal.quantities.temperature.calibrators.class_wise import (
    ...     ClassWiseTemperatureScaling,
    ... )
    >>> logits = [[2.0, 0.0]] * 3 + [[0.0, 2.0]] * 4
    >>> fitted = ClassWiseTemperatureScaling().fit(logits, [0, 0, 1, 1, 1, 1, 0])
    >>> fitted.alpha_.round(3).tolist()
    [0.347, 0.549]
    """

    def __init__(
        self,
        gamma: float = np.inf,
        alpha_min: float = ALPHA_MIN,
        alpha_max: float = ALPHA_MAX,
        scale: str = "logits",
    ) -> None:
        self.gamma = gamma
        self.alpha_min = alpha_min
        self.alpha_max = alpha_max
        self.scale = scale

    def fit_logits(self, logits: Floats, label: Integers, weight: Floats | None = None) -> None:
        """Find the numbers.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Logits.
        label : ndarray of shape (obs,), int
            Columns of the labels.
        weight : ndarray of shape (obs,), optional
            Weights, above 0.
        """
        check_alpha_bounds(self.alpha_min, self.alpha_max)
        rows = labeled_rows(logits, label, predicted_class(logits), logits.shape[1], weight)
        found = class_wise(rows, self.gamma, self.alpha_min, self.alpha_max)
        self.alpha_, self.shared_alpha_ = found

    def transform_logits(self, logits: Floats) -> Floats:
        """Multiply each row by the number of its predicted class.

        Parameters
        ----------
        logits : ndarray of shape (obs, class)
            Logits.

        Returns
        -------
        ndarray of shape (obs, class)
            Calibrated logits.
        """
        return np.asarray(self.alpha_[predicted_class(logits)][:, None] * logits)


class ClassWise(NamedTuple):
    """The number of each slice, (slice,), and the shared one."""

    alpha: Floats
    shared: float


def class_wise(
    rows: LabeledRows, gamma: float = np.inf, low: float = ALPHA_MIN, high: float = ALPHA_MAX
) -> ClassWise:
    """Find the numbers of least log loss that differ from a shared one by at most `gamma`."""
    choices = "Pass 0 for one number, infinity for a number a class."
    gamma = check_number(gamma, "gamma", "[0, inf]", choices)
    pooled = float(least_loss(rows.as_one(), low, high)[0])
    own = least_loss(rows, low, high)
    held = rows.count > 0
    shared = _shared(rows, own, gamma, pooled) if np.isfinite(gamma) else pooled
    alpha = np.where(held, np.clip(own, shared - gamma, shared + gamma), shared)
    return ClassWise(alpha, shared)


def _shared(rows: LabeledRows, own: Floats, gamma: float, pooled: float) -> float:
    """The shared number: a root of the derivative, which rises."""
    if gamma == 0:
        return pooled
    held = own[rows.count > 0]
    first, last = float(held.min()), float(held.max())
    if last - first <= 2 * gamma:
        return float(np.clip(pooled, last - gamma, first + gamma))

    def slope(shared: float) -> float:
        lower, upper = shared - gamma, shared + gamma
        clipped = (own < lower) | (own > upper)
        at = np.where(own < lower, lower, np.where(own > upper, upper, own))
        return float(rows.sums(at).slope[clipped & (rows.count > 0)].sum())

    # At the first end no class is clipped from below, at the last none from above: their slopes
    # are of opposite sign, unless they are 0 but for rounding.
    ends = first + gamma, last - gamma
    if slope(ends[0]) >= 0:
        return ends[0]
    if slope(ends[1]) <= 0:
        return ends[1]
    return float(brentq(slope, *ends, xtol=1e-14, rtol=1e-14))
