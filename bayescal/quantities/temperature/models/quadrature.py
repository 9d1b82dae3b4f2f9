"""The posterior by quadrature: a grid over mu and tau, and one integral a class at each point.

Given mu and tau the classes are independent, and each has one number.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import halfnorm, norm

from bayescal.core.quantity import Floats
from bayescal.quantities.temperature.priors import Priors
from bayescal.quantities.temperature.table import STEP, derivatives, look_up

_COARSE: Final = 17
_FINE: Final = 33
# Natural logarithm: what lies further below the largest density is left out.
_DEPTH: Final = 10.0
_POINTS, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
# Standard deviations on either side of a class's mode, and places there, to draw its number.
_REACH: Final = 7.0
_PLACES: Final = 57
_NEWTON_STEPS: Final = 8
_LONGEST_STEP: Final = 5 * STEP
# Numbers that are worked on at once.
_MOST: Final = 1 << 22


class Grid(NamedTuple):
    """Log posterior density over mu and log tau, unnormalised, (mu, log tau)."""

    mu: Floats
    log_tau: Floats
    density: Floats

    @property
    def log_integral(self) -> float:
        """Logarithm of its integral."""
        cell = (self.mu[1] - self.mu[0]) * (self.log_tau[1] - self.log_tau[0])
        return float(logsumexp(self.density) + np.log(cell))


def draw_posterior(
    table: Floats, priors: Priors, draws: int, rng: np.random.Generator
) -> tuple[dict[str, Floats], float]:
    """Draw mu, tau and each class's number, and compute the log evidence."""
    grid = posterior_grid(table, priors)
    share = np.exp(grid.density - logsumexp(grid.density)).ravel()
    cell = rng.choice(share.size, draws, p=share)
    inside = rng.uniform(-0.5, 0.5, (2, draws))
    i, j = np.divmod(cell, len(grid.log_tau))
    mu = grid.mu[i] + inside[0] * (grid.mu[1] - grid.mu[0])
    tau = np.exp(grid.log_tau[j] + inside[1] * (grid.log_tau[1] - grid.log_tau[0]))
    log_alpha = np.empty((draws, len(table)))
    # Classes given a cell's middle: over a cell they hardly change.
    for place in np.unique(cell):
        held = np.flatnonzero(cell == place)
        row, column = divmod(int(place), len(grid.log_tau))
        point = grid.mu[[row]], np.exp(grid.log_tau[[column]])
        log_alpha[held] = _draw_classes(table, *point, len(held), rng)
    return {"mu": mu, "tau": tau, "log_alpha": log_alpha}, grid.log_integral


def posterior_grid(table: Floats, priors: Priors) -> Grid:
    """Find where the posterior of mu and log tau is, and lay a fine grid there."""
    reach = 5 * priors.mu.sigma
    mu = np.linspace(priors.mu.mu - reach, priors.mu.mu + reach, _FINE)
    log_tau = np.linspace(np.log(priors.tau.sigma / 3e4), np.log(5 * priors.tau.sigma), _COARSE)
    found = _grid(table, priors, mu, log_tau)
    for size in (_COARSE, _FINE):
        found = _grid(table, priors, *(_around(found, axis, size) for axis in (0, 1)))
    return found


def _around(grid: Grid, axis: int, size: int) -> Floats:
    """Evenly spaced places over what has density, and a step beyond."""
    places = (grid.mu, grid.log_tau)[axis]
    best = grid.density.max(axis=1 - axis)
    held = places[best > best.max() - _DEPTH]
    step = places[1] - places[0]
    return np.linspace(max(held[0] - step, places[0]), min(held[-1] + step, places[-1]), size)


def _grid(table: Floats, priors: Priors, mu: Floats, log_tau: Floats) -> Grid:
    at_mu, at_log_tau = (values.ravel() for values in np.meshgrid(mu, log_tau, indexing="ij"))
    tau = np.exp(at_log_tau)
    density = norm.logpdf(at_mu, priors.mu.mu, priors.mu.sigma)
    # The density of log tau is that of tau times tau.
    density += halfnorm.logpdf(tau, scale=priors.tau.sigma) + at_log_tau
    rows = max(1, _MOST // (8 * len(table)))
    for start in range(0, len(tau), rows):
        at = slice(start, start + rows)
        density[at] += _log_integrals(table, at_mu[at], tau[at]).sum(axis=1)
    return Grid(mu, log_tau, density.reshape(len(mu), len(log_tau)))


def _log_integrals(table: Floats, mu: Floats, tau: Floats) -> Floats:
    """Log of each class's likelihood, its number integrated out, (point, class)."""
    mode, width = _modes(table, mu, tau)
    terms = [
        np.log(weight) + x**2 / 2 + _log_joint(table, mode + width * x, mu, tau)
        for x, weight in zip(_POINTS, _WEIGHTS, strict=True)
    ]
    return np.asarray(logsumexp(terms, axis=0) + np.log(width))


def _log_joint(table: Floats, log_alpha: Floats, mu: Floats, tau: Floats) -> Floats:
    prior = norm.logpdf(log_alpha, mu[:, None], tau[:, None])
    return np.asarray(prior + look_up(table, log_alpha))


def _modes(table: Floats, mu: Floats, tau: Floats) -> tuple[Floats, Floats]:
    """Mode and width of each class's number given mu and tau, (point, class)."""
    mode = np.broadcast_to(mu[:, None], (len(mu), len(table)))
    for _ in range(_NEWTON_STEPS):
        slope, curvature = derivatives(table, mode)
        slope = slope - (mode - mu[:, None]) / tau[:, None] ** 2
        width = 1 / np.sqrt(np.maximum(-curvature, 0) + 1 / tau[:, None] ** 2)
        mode = mode + np.clip(slope * width**2, -_LONGEST_STEP, _LONGEST_STEP)
    return mode, width


def normal_likelihoods(table: Floats, priors: Priors) -> tuple[Floats, Floats]:
    """Each class's likelihood as ``exp(pull t - precision t**2 / 2)`` near its mode, (class,)."""
    mu, tau = np.array([priors.mu.mu]), np.array([np.hypot(priors.mu.sigma, priors.tau.sigma)])
    mode, _ = _modes(table, mu, tau)
    slope, curvature = derivatives(table, mode)
    precision = np.maximum(-curvature, 0)
    return (slope + precision * mode)[0], precision[0]


def _draw_classes(
    table: Floats, mu: Floats, tau: Floats, draws: int, rng: np.random.Generator
) -> Floats:
    """Draw each class's number given mu and tau, by its distribution function, (draw, class)."""
    mode, width = _modes(table, mu, tau)
    places = np.linspace(-_REACH, _REACH, _PLACES)
    density = _log_joint(table, mode + width * places[:, None], mu, tau)
    density = np.exp(density - density.max(axis=0))
    below = np.cumsum((density[1:] + density[:-1]) / 2, axis=0)
    wanted = rng.random((draws, len(table))) * below[-1]
    found = np.empty_like(wanted)
    for k in range(len(table)):
        found[:, k] = np.interp(wanted[:, k], np.append(0.0, below[:, k]), places)
    return np.asarray(mode + width * found)
