"""Gaussian approximation of a binomial regression's posterior, by variational Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import expit

type Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(11)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True, slots=True)
class BinomialRegression:
    """Counts of events whose logit is linear in standard normal coefficients."""

    offset: Floats  # (cell,)
    design: Floats  # (cell, basis)
    count: NDArray[Any]  # (cell,)
    positives: NDArray[Any]  # (cell,)

    def logit(self, coef: Floats) -> Floats:
        """Logit of the event's probability, (..., cell)."""
        return np.asarray(self.offset + coef @ self.design.T)

    def log_likelihood(self, coef: Floats) -> Floats:
        """Log-likelihood without the binomial coefficients, which no parameter changes, (...)."""
        eta = self.logit(coef)
        return np.asarray((self.positives * eta - self.count * np.logaddexp(0, eta)).sum(axis=-1))


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Normal distribution of a vector, held as ``mean + root @ standard normal``."""

    mean: Floats  # (basis,)
    root: Floats  # (basis, basis)


def variational_gaussian(regression: BinomialRegression, max_steps: int = 100) -> Gaussian:
    """Find the Gaussian nearest to the posterior of the coefficients.

    Notes
    -----
    At the minimum the mean solves ``design' (positives - count E[p]) = mean`` and the precision is
    ``I + design' diag(count E[p (1 - p)]) design``, expectations over the Gaussian itself; both
    are one-dimensional integrals a cell, taken by Gauss-Hermite quadrature [1]_. Newton's method
    starts at the posterior mode.

    References
    ----------
    .. [1] M. Opper and C. Archambeau, "The Variational Gaussian Approximation Revisited", Neural
       Computation 21, 2009, Eqs. (8) and (9).
    """
    mean, root = _mode(regression, max_steps)
    for _ in range(max_steps):
        spread = np.sqrt(((regression.design @ root) ** 2).sum(axis=1))
        eta = regression.logit(mean)[:, None] + spread[:, None] * _NODES
        p = expit(eta)
        slope = regression.count * ((p * expit(-eta)) @ _WEIGHTS)
        factor, step = _newton(regression, mean, p @ _WEIGHTS, slope)
        mean = mean + step
        root = _inverse(factor)
        if np.linalg.norm(factor @ step) < 1e-3:
            break
    return Gaussian(mean, root)


def _mode(regression: BinomialRegression, max_steps: int) -> tuple[Floats, Floats]:
    """Posterior mode and Laplace root, by Newton's method with halved steps where it overshoots."""

    def objective(coef: Floats) -> float:
        return float(regression.log_likelihood(coef) - coef @ coef / 2)

    coef = np.zeros(regression.design.shape[1])
    value = objective(coef)
    factor = np.eye(len(coef))
    for _ in range(max_steps):
        eta = regression.logit(coef)
        p = expit(eta)
        factor, step = _newton(regression, coef, p, regression.count * p * expit(-eta))
        gain = -np.inf
        size = 1.0
        while gain < 0 and size > 1e-10:
            gain = objective(coef + size * step) - value
            size /= 2
        coef = coef + 2 * size * step
        value += gain
        if np.linalg.norm(factor @ step) < 1e-3:
            break
    return coef, _inverse(factor)


def _newton(
    regression: BinomialRegression, coef: Floats, p: Floats, slope: Floats
) -> tuple[Floats, Floats]:
    """Upper Cholesky factor of the precision, and the Newton step."""
    design = regression.design
    precision = np.eye(len(coef)) + (design.T * slope) @ design
    factor = cholesky(precision)
    gradient = design.T @ (regression.positives - regression.count * p) - coef
    half = solve_triangular(factor, gradient, trans="T")
    return factor, solve_triangular(factor, half)


def _inverse(factor: Floats) -> Floats:
    return np.asarray(solve_triangular(factor, np.eye(len(factor))))
