"""Importance sampling from a Gaussian proposal: draws, their weights and the evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from bayescal.inference.gaussian import Gaussian

type Floats = NDArray[np.float64]


class Likelihood(Protocol):
    """Likelihood of standard normal coefficients."""

    def log_likelihood(self, coef: Floats) -> Floats:
        """Log-likelihood, (draw,), at coefficients (draw, basis)."""
        ...


@dataclass(frozen=True, slots=True)
class Weighted:
    """Draws with importance weights.

    Attributes
    ----------
    draws : ndarray of shape (draw, basis)
        Draws of the proposal.
    log_weights : ndarray of shape (draw,)
        Log of target over proposal, not normalised.
    """

    draws: Floats
    log_weights: Floats

    @property
    def log_evidence(self) -> float:
        """Log of the target's integral, estimated by the mean weight."""
        return float(logsumexp(self.log_weights) - np.log(len(self.log_weights)))

    @property
    def ess(self) -> float:
        """Effective number of draws, ``(sum w)^2 / sum w^2``."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return float(weights.sum() ** 2 / (weights**2).sum())

    def resample(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw from the target: proposals in proportion to their weights, (n, basis)."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        ladder = (np.arange(n) + rng.random()) / n
        index = np.searchsorted(np.cumsum(weights) / weights.sum(), ladder)
        return np.asarray(self.draws[rng.permutation(np.minimum(index, len(weights) - 1))])


def importance_sample(
    likelihood: Likelihood,
    proposal: Gaussian,
    draws: int,
    rng: np.random.Generator,
    degrees: float = math.inf,
) -> Weighted:
    """Weigh draws of the proposal by the posterior."""
    size = len(proposal.mean)
    half = rng.standard_normal((-(-draws // 2), size))
    if np.isfinite(degrees):
        half *= np.sqrt(degrees / rng.chisquare(degrees, (len(half), 1)))
    standard = np.concatenate([half, -half])[:draws]
    coef = proposal.mean + standard @ proposal.root.T
    log_prior = -(coef**2).sum(axis=1) / 2
    # The constants of the normal densities cancel, but for the proposal's volume.
    log_proposal = _log_density((standard**2).sum(axis=1), size, degrees)
    log_proposal -= np.log(np.abs(np.diag(proposal.root))).sum()
    return Weighted(coef, likelihood.log_likelihood(coef) + log_prior - log_proposal)


def _log_density(squared: Floats, size: int, degrees: float) -> Floats:
    """Log density of a standard t (or normal) vector, less the constant of the normal one."""
    if not np.isfinite(degrees):
        return -squared / 2
    constant = gammaln((degrees + size) / 2) - gammaln(degrees / 2)
    constant -= size / 2 * np.log(degrees / 2)
    return np.asarray(constant - (degrees + size) / 2 * np.log1p(squared / degrees))
