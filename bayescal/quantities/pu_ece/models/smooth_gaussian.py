"""Gaussian approximation of any smooth posterior, by variational Bayes with averaged slopes."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from bayescal.inference.gaussian import Gaussian

type Floats = NDArray[np.float64]

# Pairs of points, mirrored, that an average over the Gaussian is taken at.
_PAIRS = 32
_CLOSE = 0.03
_MAX_HALVINGS = 20


class SmoothLikelihood(Protocol):
    """Likelihood of standard normal coefficients, with its slopes."""

    @property
    def size(self) -> int:
        """Number of coefficients."""
        ...

    def log_likelihood(self, coef: Floats) -> Floats:
        """Log-likelihood, (...), at coefficients (..., size)."""
        ...

    def slopes(self, coef: Floats) -> tuple[Floats, Floats]:
        """Gradient, (point, size), and expected information, (point, size, size)."""
        ...


def smooth_gaussian(likelihood: SmoothLikelihood, max_steps: int = 50) -> Gaussian:
    """Find the Gaussian that is nearest to a posterior, judged by its own draws.

    Notes
    -----
    These are the conditions of the variational Gaussian [1]_ with the expected information in place
    of the Hessian, which keeps the precision positive definite. `bayescal.inference.importance`
    makes up for what the approximation misses.

    References
    ----------
    .. [1] M. Opper and C. Archambeau, "The Variational Gaussian Approximation Revisited", Neural
       Computation 21, 2009, Eqs. (8) and (9).
    """
    standard = np.random.default_rng(0).standard_normal((_PAIRS, likelihood.size))
    standard = np.concatenate([standard, -standard])
    mean = _mode(likelihood, max_steps)
    root = _step(likelihood, mean, mean[None])[1]
    for _ in range(max_steps):
        step, root = _step(likelihood, mean, mean + standard @ root.T)
        mean = mean + step
        if np.linalg.norm(solve_triangular(root, step)) < _CLOSE:
            break
    return Gaussian(mean, root)


def _mode(likelihood: SmoothLikelihood, max_steps: int) -> Floats:
    """Posterior mode, by Newton's method with halved steps where it overshoots."""

    def objective(coef: Floats) -> float:
        return float(likelihood.log_likelihood(coef) - coef @ coef / 2)

    mean = np.zeros(likelihood.size)
    value = objective(mean)
    for _ in range(max_steps):
        step, _ = _step(likelihood, mean, mean[None])
        for _ in range(_MAX_HALVINGS):
            after = objective(mean + step)
            if after >= value:
                break
            step = step / 2
        mean, gain = mean + step, after - value
        value = after
        if gain < _CLOSE**2:
            break
    return mean


def _step(likelihood: SmoothLikelihood, mean: Floats, points: Floats) -> tuple[Floats, Floats]:
    """Newton step and root of the covariance, from slopes averaged over points."""
    gradient, information = (values.mean(axis=0) for values in likelihood.slopes(points))
    factor = cholesky(information + np.eye(len(mean)))
    half = solve_triangular(factor, gradient - mean, trans="T")
    return solve_triangular(factor, half), solve_triangular(factor, np.eye(len(mean)))
