"""Importance sampling of a rising curve: rounds of proposals that adapt to its posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from bayescal.core.quantity import Floats
from bayescal.inference.direct import Gaussian, Weighted, importance_sample

# A t distribution: tails as heavy as those of the posterior of weights near 0.
_DEGREES: Final = 8.0
# Proposals of each round, relative to the draws wanted, and how many of these have to count.
_ROUNDS: Final = (2, 2, 4, 8)
_ENOUGH: Final = 0.5
# Moments of fewer effective draws a variable are no better than those they would replace.
_FEWEST: Final = 5
_JITTER: Final = 1e-9


class Rising(Protocol):
    """A rising curve in free variables that are about standard normal."""

    def gaussian(self, curve: int) -> tuple[Floats, Floats]:
        """Approximate the posterior: mean, and root of the covariance."""
        ...

    def log_density(self, unit: Floats, curve: int) -> Floats:
        """Log posterior density, up to a constant, (draw,)."""
        ...


@dataclass(frozen=True, slots=True)
class _Likelihood:
    """A posterior as a likelihood of standard normal variables."""

    rising: Rising
    curve: int

    def log_likelihood(self, coef: Floats) -> Floats:
        """Log of posterior over standard normal density, normalised as the prior is."""
        # Weights are half-normal where the free variables are normal: constants of their density.
        constant = (coef.shape[1] - 1) / 2 * math.log(2 / math.pi)
        density = self.rising.log_density(coef, self.curve)
        return np.asarray(density + np.square(coef).sum(axis=1) / 2 - constant)


def sample_rising(rising: Rising, curve: int, draws: int, rng: np.random.Generator) -> Weighted:
    """Draw a curve's free variables with weights, (proposal, variable).

    Notes
    -----
    The first proposals come from a t distribution about the posterior mode. As long as fewer than
    half as many as `draws` of them count, further ones come from a t distribution with the moments
    that were found.
    """
    likelihood = _Likelihood(rising, curve)
    proposal = Gaussian(*rising.gaussian(curve))
    best: Weighted | None = None
    for times in _ROUNDS:
        found = importance_sample(likelihood, proposal, times * draws, rng, _DEGREES).smoothed()
        if best is None or found.ess > best.ess:
            best = found
        if found.ess >= _ENOUGH * draws:
            break
        if found.ess >= _FEWEST * found.draws.shape[1]:
            proposal = _moments(found)
    assert best is not None
    return best


def _moments(found: Weighted) -> Gaussian:
    """Mean and covariance of weighted draws."""
    weight = np.exp(found.log_weights - found.log_weights.max())
    weight /= weight.sum()
    mean = weight @ found.draws
    gap = found.draws - mean
    covariance = gap.T @ (weight[:, None] * gap)
    # A lower root, as `importance_sample` takes the volume from the diagonal.
    return Gaussian(mean, np.linalg.cholesky(covariance + _JITTER * np.eye(len(mean))))
