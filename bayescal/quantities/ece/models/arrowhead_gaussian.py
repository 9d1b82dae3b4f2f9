"""Gaussian approximation for curves of groups that share a common curve.

With the groups' own coefficients first and the common ones last, the precision matrix is an arrow:
groups touch each other only through the common part. Everything is then done block by block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

type Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(11)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_STEPS = 100


@dataclass(frozen=True, slots=True)
class GroupedRegression:
    """Counts of events whose logit is linear in common coefficients and a deviation a group."""

    offset: Floats  # (group, cell)
    design: Floats  # (group, cell, basis)
    count: NDArray[Any]  # (group, cell)
    positives: NDArray[Any]  # (group, cell)

    def logit(self, common: Floats, deviation: Floats) -> Floats:
        """Logit of the event's probability, (..., group, cell)."""
        coef = common[..., None, :] + deviation
        return np.asarray(self.offset + (self.design @ coef[..., None])[..., 0])

    def log_likelihood(self, common: Floats, deviation: Floats) -> Floats:
        """Log-likelihood without the binomial coefficients, (...)."""
        eta = self.logit(common, deviation)
        each = self.positives * eta - self.count * np.logaddexp(0, eta)
        return np.asarray(each.sum(axis=(-2, -1)))


@dataclass(frozen=True, slots=True)
class ArrowGaussian:
    """Normal distribution of common coefficients, and of deviations given them.

    ``common = centre + root z`` and, group by group, ``deviation = group_centre - link (common -
    centre) + group_root z``.
    """

    centre: Floats  # (basis,)
    root: Floats  # (basis, basis)
    group_centre: Floats  # (group, basis)
    group_root: Floats  # (group, basis, basis)
    link: Floats  # (group, basis, basis)

    def spread(self, design: Floats) -> Floats:
        """Standard deviation of the logits, (group, cell)."""
        through = design @ (self.root - self.link @ self.root)
        own = design @ self.group_root
        return np.asarray(np.sqrt((through**2).sum(axis=-1) + (own**2).sum(axis=-1)))


def arrow_gaussian(regression: GroupedRegression, scale: Floats) -> ArrowGaussian:
    """Find the Gaussian nearest to the posterior, at given scales of the deviations."""
    groups, _, basis = regression.design.shape
    centre, own = np.zeros(basis), np.zeros((groups, basis))
    value = _objective(regression, centre, own, scale)
    for _ in range(_STEPS):
        p = expit(regression.logit(centre, own))
        found, step, group_step = _newton(
            regression, centre, own, scale, p, regression.count * p * (1 - p)
        )
        size, gain = 1.0, -np.inf
        while gain < 0 and size > 1e-10:
            at = centre + size * step, own + size * group_step
            gain = _objective(regression, *at, scale) - value
            size /= 2
        centre, own, value = *at, value + gain
        if gain < 1e-6:
            break
    for _ in range(_STEPS):
        eta = regression.logit(centre, own)[..., None]
        p = expit(eta + found.spread(regression.design)[..., None] * _NODES)
        weight = regression.count * ((p * (1 - p)) @ _WEIGHTS)
        found, step, group_step = _newton(regression, centre, own, scale, p @ _WEIGHTS, weight)
        centre, own = centre + step, own + group_step
        if max(np.abs(step).max(), np.abs(group_step).max()) < 1e-4:
            break
    return ArrowGaussian(centre, found.root, own, found.group_root, found.link)


def _objective(
    regression: GroupedRegression, common: Floats, deviation: Floats, scale: Floats
) -> float:
    prior = common @ common + ((deviation / scale) ** 2).sum()
    return float(regression.log_likelihood(common, deviation) - prior / 2)


def _newton(
    regression: GroupedRegression,
    common: Floats,
    deviation: Floats,
    scale: Floats,
    p: Floats,
    weight: Floats,
) -> tuple[ArrowGaussian, Floats, Floats]:
    """Blocks of the Gaussian at this curvature, and the Newton step."""
    design = regression.design
    basis = design.shape[-1]
    across = np.swapaxes(design, -1, -2)
    curvature = (across * weight[:, None, :]) @ design
    residual = regression.positives - regression.count * p
    pull = (across @ residual[..., None])[..., 0]
    own = np.linalg.cholesky(curvature + np.diag(scale**-2.0))
    group_root = np.swapaxes(np.linalg.inv(own), -1, -2)
    covariance = group_root @ np.swapaxes(group_root, -1, -2)
    link = covariance @ curvature
    schur = np.eye(basis) + (curvature - np.swapaxes(curvature, -1, -2) @ link).sum(axis=0)
    root = np.linalg.inv(np.linalg.cholesky(schur)).T
    group_gradient = pull - deviation / scale**2
    gradient = pull.sum(axis=0) - common
    half = (np.swapaxes(link, -1, -2) @ group_gradient[..., None])[..., 0].sum(axis=0)
    step = root @ (root.T @ (gradient - half))
    group_step = (covariance @ group_gradient[..., None])[..., 0] - link @ step
    return ArrowGaussian(common, root, deviation, group_root, link), step, group_step
