"""Likelihood of a calibration curve: positives among positives and unlabelled, by cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq, qr
from scipy.special import expit

from bayescal.core.calibration_curve.smooth_curve import CurveBasis, SmoothCurve, curve_basis
from bayescal.core.errors import InputError
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.models.intercept import SMALLEST, solve_intercept
from bayescal.quantities.pu_ece.models.prior_map import PriorMap

type Floats = NDArray[np.float64]


class State(NamedTuple):
    """What coefficients stand for."""

    intercept: Floats  # (...)
    logit_rate: Floats  # (..., cell)
    slope: Floats  # (...)
    class_prior: Floats  # (...)
    derivative: Floats  # (...)


@dataclass(frozen=True, slots=True, eq=False)
class CaseControl:
    """Positives of each cell out of positives and unlabelled, from a curve and a class prior.

    The coefficients are standard normal before the data: the first sets how far the mean label rate
    of these unlabelled rows is from the class prior, the last is the class prior's, and those
    between are the curve's but for its intercept. The intercept is what gives the curve its mean.
    """

    problem: PUProblem
    basis: CurveBasis
    rotation: Floats  # (basis, basis)
    offset: Floats  # (cell,)
    design: Floats  # (cell,)
    prior: PriorMap
    spread: float

    @classmethod
    def of(cls, problem: PUProblem, curve: SmoothCurve, prior: PriorMap, size: int) -> CaseControl:
        """Find the basis for the cells."""
        score, weight = problem.cells.mean_score, problem.weight
        basis = curve_basis(score, problem.cells.count, curve, size)
        offset, design = basis.offset(score), basis.design(score)
        rotation = _intercept_first(design)
        spread = np.sqrt(weight @ (score - weight @ score) ** 2 / problem.n_unlabeled)
        return cls(problem, basis, rotation, offset, design @ rotation, prior, float(spread))

    @property
    def size(self) -> int:
        """Number of coefficients: the curve's, one for the mean and one for the class prior."""
        return self.basis.size + 1

    @property
    def log_odds(self) -> float:
        """Log of positives over unlabelled rows."""
        return float(np.log(self.problem.n_positive / self.problem.n_unlabeled))

    def state(self, coef: Floats) -> State:
        """Work out curve and class prior."""
        class_prior, derivative = self.prior(coef[..., -1])
        mean = np.clip(class_prior + self.spread * coef[..., 0], SMALLEST, 1 - SMALLEST)
        base = self.offset + coef[..., 1:-1] @ self.design[:, 1:].T
        rise, weight = self.design[:, 0], self.problem.weight
        intercept = solve_intercept(base, rise, weight, mean)
        logit_rate = base + intercept[..., None] * rise
        rate = expit(logit_rate)
        slope = (rate * (1 - rate) * rise) @ weight
        return State(intercept, logit_rate, np.maximum(slope, SMALLEST), class_prior, derivative)

    def logit_positive(self, logit_rate: Floats, class_prior: Floats) -> Floats:
        """Logit of the probability that a row of a cell is one of the positives, (..., cell)."""
        return self.log_odds - np.logaddexp(0, -logit_rate) - np.log(class_prior)[..., None]

    def log_likelihood(self, coef: Floats) -> Floats:
        """Log-likelihood without the binomial coefficients, with the prior of the intercept, (...).

        Notes
        -----
        The intercept is standard normal before the data as well. As it follows from the mean label
        rate, its density is that of the mean: the normal density over ``slope``.
        """
        found = self.state(coef)
        at = self.logit_positive(found.logit_rate, found.class_prior)
        return self.counts_given(at) - found.intercept**2 / 2 - np.log(found.slope)

    def counts_given(self, logit_positive: Floats) -> Floats:
        """Log probability of the counts, without the binomial coefficients, (...)."""
        spent = self.problem.total * np.logaddexp(0, logit_positive)
        return np.asarray((self.problem.positive * logit_positive - spent).sum(axis=-1))

    def slopes(self, coef: Floats) -> tuple[Floats, Floats]:
        """Gradient of the log-likelihood, and expected information."""
        found = self.state(coef)
        rise, weight = self.design[:, 0], self.problem.weight
        rate = expit(found.logit_rate)
        spread = rate * (1 - rate)
        by_intercept = self._intercept_slopes(spread, found)
        by_coef = rise[:, None] * by_intercept[:, None, :]
        by_coef[:, :, 1:-1] += self.design[:, 1:]
        by_slope = ((spread * (1 - 2 * rate) * rise * weight)[:, None] @ by_coef)[:, 0]
        logit_slopes = (1 - rate)[..., None] * by_coef
        logit_slopes[:, :, -1] -= (found.derivative / found.class_prior)[:, None]
        positive = expit(self.logit_positive(found.logit_rate, found.class_prior))
        residual = self.problem.positive - self.problem.total * positive
        gradient = (residual[:, None] @ logit_slopes)[:, 0]
        gradient -= found.intercept[:, None] * by_intercept + by_slope / found.slope[:, None]
        weighed = logit_slopes * (self.problem.total * positive * (1 - positive))[..., None]
        information = weighed.transpose(0, 2, 1) @ logit_slopes
        return gradient, information + by_intercept[:, :, None] * by_intercept[:, None, :]

    def _intercept_slopes(self, spread: Floats, found: State) -> Floats:
        """Derivative of the intercept by each coefficient, (point, size)."""
        by_mean = np.empty((len(spread), self.size))
        by_mean[:, 0] = self.spread
        by_mean[:, 1:-1] = -(spread * self.problem.weight) @ self.design[:, 1:]
        by_mean[:, -1] = found.derivative
        return np.asarray(by_mean / found.slope[:, None])

    def intercept_at(self, coef: Floats) -> tuple[Floats, Floats]:
        """Intercept and its slopes."""
        found = self.state(coef[None])
        rate = expit(found.logit_rate)
        return found.intercept[0], self._intercept_slopes(rate * (1 - rate), found)[0]

    def curve(self, coef: Floats, score: Floats) -> Floats:
        """Probability of the event at any score, (..., point)."""
        design = self.basis.design(score) @ self.rotation
        turned = np.concatenate([self.state(coef).intercept[..., None], coef[..., 1:-1]], axis=-1)
        return np.asarray(expit(self.basis.offset(score) + turned @ design.T))


def _intercept_first(design: Floats) -> Floats:
    """Orthogonal matrix whose first column is the direction that raises all cells alike."""
    intercept = lstsq(design, np.ones(len(design)))[0]
    rotation = qr(np.column_stack([intercept, np.eye(len(intercept))]), mode="economic")[0]
    rotation[:, 0] *= np.sign(rotation[:, 0] @ intercept)
    if (design @ rotation[:, 0] <= 0).any():
        raise InputError(
            "the curve's basis has no direction that raises every cell, so its intercept cannot "
            "follow from the class prior. Use longer lengthscales."
        )
    return np.asarray(rotation[:, : len(intercept)])
