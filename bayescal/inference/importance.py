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
    """Draws with importance weights."""

    draws: Floats  # (draw, basis)
    log_weights: Floats  # (draw,)

    @property
    def log_evidence(self) -> float:
        """Log of the target's integral, estimated by the mean weight."""
        return float(logsumexp(self.log_weights) - np.log(len(self.log_weights)))

    @property
    def ess(self) -> float:
        """Effective number of draws, ``(sum w)^2 / sum w^2``."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return float(weights.sum() ** 2 / (weights**2).sum())

    @property
    def pareto_k(self) -> float:
        """Shape of the generalised Pareto distribution that fits the largest weights.

        Above 0.7 importance sampling is unreliable, whatever `ess` says.

        Notes
        -----
        As ``arviz_stats.psislw`` gives it, whose import takes longer than most fits.

        References
        ----------
        .. [1] A. Vehtari, D. Simpson, A. Gelman, Y. Yao and J. Gabry, "Pareto Smoothed Importance
           Sampling", JMLR 25, 2024, section 2.4 and Appendix D.
        """
        weights = np.sort(np.exp(self.log_weights - self.log_weights.max()))
        n = len(weights)
        cut = weights[-int(min(n / 5, 3 * math.sqrt(n))) - 1]
        largest = weights[weights > cut] - cut
        return _pareto_shape(largest) if len(largest) > 4 else math.inf

    def resample(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw from the target: proposals in proportion to their weights, (n, basis)."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        ladder = (np.arange(n) + rng.random()) / n
        index = np.searchsorted(np.cumsum(weights) / weights.sum(), ladder)
        return np.asarray(self.draws[rng.permutation(np.minimum(index, len(weights) - 1))])


def _pareto_shape(excess: Floats) -> float:
    """Shape of the generalised Pareto distribution, drawn to 1/2 as by ten more values.

    References
    ----------
    .. [1] J. Zhang and M. A. Stephens, "A New and Efficient Estimation Method for the Generalized
       Pareto Distribution", Technometrics 51, 2009.
    """
    n = len(excess)
    points = 30 + int(math.sqrt(n))
    rate = 1 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))
    rate = 1 / excess[-1] + rate / (3 * excess[int(n / 4 + 0.5) - 1])
    shape = np.log1p(-rate[:, None] * excess).mean(axis=1)
    likelihood = n * (np.log(-rate / shape) - shape - 1)
    found = np.average(rate, weights=np.exp(likelihood - likelihood.max()))
    return float((n * np.log1p(-found * excess).mean() + 10 / 2) / (n + 10))


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
