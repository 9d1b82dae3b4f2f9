"""A curve's coefficients and the class prior together: likelihood and Gaussian approximation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal.inference.direct import Gaussian, Regression, variational_gaussian
from bayescal.quantities.pu_ece.models.case_control import CaseControlCells
from bayescal.quantities.pu_ece.models.prior_map import PriorMap

type Floats = NDArray[np.float64]

_STEPS = 12
# Expected information is not the curvature, so that the last digits come slowly.
_NEWTON_STEPS = 100
# In standard deviations of the class prior's normal.
_CLOSE = 0.05
_LONGEST = 1.0
# The class prior has longer tails than a Gaussian, where few positives bound it.
_WIDER = 1.3


@dataclass(frozen=True, slots=True, eq=False)
class CurveAndClassPrior:
    """A regression whose last coefficient, standard normal like the others, is the class prior's.

    Parameters
    ----------
    regression : Regression
        The curve, its cells at any class prior.
    prior : PriorMap
        Class prior as a function of a standard normal.
    sizes : float
        Log of positives over unlabelled rows.
    """

    regression: Regression
    prior: PriorMap
    sizes: float

    def log_likelihood(self, coef: Floats) -> Floats:
        """Log-likelihood, (draw,), at coefficients (draw, basis + 1)."""
        regression = self._given(coef[..., -1][..., None])
        return regression.log_likelihood(coef[..., :-1])

    def gaussian(self, start: Gaussian | None = None) -> Gaussian:
        """Find about where the posterior is, from where a similar one is.

        Notes
        -----
        The curve's Gaussian at the mode of the class prior's normal, along which it moves on a
        straight line: the direction, and the normal's variance, are those of the joint expected
        information.
        """
        mean, normal = (None, 0.0) if start is None else (start.mean[:-1], float(start.mean[-1]))
        for _ in range(_STEPS):
            regression = self._given(np.asarray([normal]))
            own = variational_gaussian(regression, _NEWTON_STEPS, mean)
            mean = own.mean
            slope, precision, path = self._along(regression, own, normal)
            step = float(np.clip(slope / precision, -_LONGEST, _LONGEST))
            if self.prior.known or abs(step) < _CLOSE:
                break
            mean, normal = mean + step * path, normal + step
        size, spread = len(own.mean), _WIDER * precision**-0.5
        root = np.zeros((size + 1, size + 1))
        root[:size, :size], root[:size, -1], root[-1, -1] = own.root, spread * path, spread
        return Gaussian(np.append(own.mean, normal), root)

    def _given(self, normal: Floats) -> Regression:
        """Hold the class prior."""
        cells = self.regression.cells
        assert isinstance(cells, CaseControlCells)
        log_odds = self.sizes - np.log(self.prior(normal)[0])
        return replace(self.regression, cells=replace(cells, log_odds=log_odds))

    def _along(
        self, regression: Regression, own: Gaussian, normal: float
    ) -> tuple[float, float, Floats]:
        """Slope and precision of the normal with the curve integrated out, and the curve's path."""
        cells, logit = regression.cells, regression.logit(own.mean)
        assert isinstance(cells, CaseControlCells)
        class_prior, derivative = self.prior(np.asarray(normal))
        rise = float(derivative / class_prior)
        share = expit(cells.positive_logit(logit))
        weight = cells.total * share * (1 - share)
        cross = rise * regression.design.T @ (weight * expit(-logit))
        path = own.root @ (own.root.T @ cross)
        precision = 1 + rise**2 * weight.sum() - cross @ path
        slope = -rise * (cells.positive - cells.total * share).sum() - normal
        # Rounding may take the last digits of a difference of large numbers.
        return float(slope), float(max(precision, 1e-3)), np.asarray(path)
