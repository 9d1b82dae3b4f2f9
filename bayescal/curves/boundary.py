"""Scores of exactly 0 and 1: calibrated, or with an error rate of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from bayescal.core.columns import Floats
from bayescal.curves.cells import score_logit
from bayescal.inference.direct import CellLikelihood

# Prior probability, should some score not be calibrated, that only scores of 0 or 1 are not. At
# 0.05 rows of such a score that are all right hardly move P(calibrated): 100 of them to .55.
ONLY_BOUNDARY = 0.05


@dataclass(frozen=True, eq=False)
class BoundaryErrors:
    """Prior of the scores 0 and 1, which has one probability for "every score is calibrated".

    Notes
    -----
    Should some score not be calibrated, those between 0 and 1 are calibrated with probability
    `ONLY_BOUNDARY`, and then one of the scores 0 and 1 errs, or both. Otherwise each of the two is
    calibrated with probability `calibrated`, independently.
    """

    number: int
    calibrated: float
    inside: bool

    @property
    def only(self) -> float:
        """Probability that the scores inside are calibrated, given that some score is not."""
        if not self.inside:
            return 1.0
        return ONLY_BOUNDARY if self.number and self.calibrated else 0.0

    @property
    def interior_calibrated(self) -> float:
        """Probability that the scores inside are calibrated."""
        return self.calibrated + (1 - self.calibrated) * self.only

    @cached_property
    def patterns(self) -> NDArray[np.bool_]:
        """Which of the scores err, (pattern, boundary); in the first pattern none does."""
        places = np.arange(2**self.number)[:, None] >> np.arange(self.number)
        return np.asarray(places & 1 == 1)

    def log_prior(self, interior_calibrated: bool) -> Floats:
        """Log probabilities of the patterns, given whether the scores inside are calibrated."""
        apart = np.where(self.patterns, 1 - self.calibrated, self.calibrated).prod(axis=1)
        if interior_calibrated and self.interior_calibrated:
            some = (1 - self.calibrated) * self.only * apart / max(1 - apart[0], 1e-300)
            some[0] = self.calibrated
            apart = some / self.interior_calibrated
        with np.errstate(divide="ignore"):
            return np.log(apart)


_POINTS = 400
# Reach of the first grid about its centre, in prior standard deviations: as far as the posterior of
# a hundred million rows, all of them errors or none.
_REACH = 13.0


@dataclass(frozen=True, eq=False)
class BoundaryScore:
    """One cell whose score is exactly 0 or 1.

    Notes
    -----
    The error is the event at score 0 and its absence at score 1. Calibrated scores never err.
    """

    score: float
    cells: CellLikelihood
    mean: float
    spread: float

    @property
    def log_calibrated(self) -> float:
        """Log-likelihood of a score that never errs."""
        return float(self.cells.log_likelihood(score_logit(np.array([self.score]))).sum())

    def log_density(self, place: Floats) -> Floats:
        """Log of likelihood times prior at logits of the error rate, (...)."""
        sign = 1 if self.score == 0 else -1
        likelihood = self.cells.log_likelihood(sign * place[..., None]).sum(axis=-1)
        standard = (place - self.mean) / self.spread
        return np.asarray(likelihood - standard**2 / 2 - np.log(self.spread * np.sqrt(2 * np.pi)))

    @cached_property
    def _grid(self) -> tuple[Floats, Floats]:
        """Grid of the logit of the error rate where the posterior is, with its log density."""
        grid = self.mean + self.spread * np.linspace(-_REACH, _REACH, _POINTS)
        # With many rows the posterior lies between two points of the first grid.
        for _ in range(3):
            density = self.log_density(grid)
            held = np.flatnonzero(density > density.max() - 40)
            low, high = max(held[0] - 1, 0), min(held[-1] + 1, _POINTS - 1)
            grid = np.linspace(grid[low], grid[high], _POINTS)
        return grid, self.log_density(grid)

    @property
    def log_evidence(self) -> float:
        """Log marginal likelihood of an error rate of its own."""
        grid, density = self._grid
        return float(logsumexp(density) + np.log(grid[1] - grid[0]))

    def draws(self, number: int, rng: np.random.Generator) -> Floats:
        """Draw logits of the error rate, given that there is one, (draw,)."""
        grid, density = self._grid
        weight = np.exp(density - density.max())
        cumulative = np.concatenate([[0], np.cumsum((weight[1:] + weight[:-1]) / 2)])
        return np.interp(rng.random(number), cumulative / cumulative[-1], grid)

    def prior_draws(self, number: int, rng: np.random.Generator) -> Floats:
        """Draw logits of the error rate before the data, (draw,)."""
        return rng.normal(self.mean, self.spread, number)

    def log_prior(self, place: Floats) -> Floats:
        """Log prior density less its mean, (...)."""
        return np.asarray((1 - np.square((place - self.mean) / self.spread)) / 2)

    def event_rate(self, place: Floats) -> Floats:
        """Probability of the event at logits of the error rate."""
        error: Floats = expit(place)
        return error if self.score == 0 else 1 - error
