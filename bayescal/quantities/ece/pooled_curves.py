"""Smooth calibration curves of groups, pooled in part: one model for all groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from bayescal.core.functionals import log_binomial_coefficient
from bayescal.core.priors import LogNormal
from bayescal.core.quantity import BaseModel, DirectDraws, Draws, Floats
from bayescal.curves.average import Average
from bayescal.curves.cells import Problem, pad, padded_size, score_logit
from bayescal.curves.priors import SMOOTH, SmoothCurve
from bayescal.curves.smooth import BASIS, CurveBasis, curve_basis
from bayescal.inference.direct import choose

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
    return replace(found, centre=centre, group_centre=own)


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
    precision = np.diag(scale**-2.0)
    own = np.linalg.cholesky(curvature + precision)
    group_root = np.swapaxes(np.linalg.inv(own), -1, -2)
    covariance = group_root @ np.swapaxes(group_root, -1, -2)
    link = covariance @ curvature
    # As ``curvature (1 - link)``, but positive definite however large the curvature is.
    rest = covariance @ precision
    told = np.swapaxes(rest, -1, -2) @ curvature @ rest
    told += np.swapaxes(link, -1, -2) @ precision @ link
    schur = np.eye(basis) + told.sum(axis=0)
    root = np.linalg.inv(np.linalg.cholesky(schur)).T
    group_gradient = pull - deviation / scale**2
    gradient = pull.sum(axis=0) - common
    half = (np.swapaxes(link, -1, -2) @ group_gradient[..., None])[..., 0].sum(axis=0)
    step = root @ (root.T @ (gradient - half))
    group_step = (covariance @ group_gradient[..., None])[..., 0] - link @ step
    return ArrowGaussian(common, root, deviation, group_root, link), step, group_step


CELLS = 50
WIGGLE = 0.5
"""Standard deviation of a group's own process, relative to the common curve's."""
# Values of pooling, in prior standard deviations of its logarithm. Even steps integrate a smooth
# posterior to a per mille down to half the prior's spread; tails count where groups are many.
_POOLING_NODES = np.linspace(-4, 4, 11)


@dataclass(frozen=True, eq=False)
class PooledCurves(BaseModel):
    """Problems of several groups under one common curve and a deviation each."""

    problems: Sequence[Problem]
    prior: SmoothCurve
    pooling: LogNormal
    variables: ClassVar[tuple[str, ...]] = ("common", "deviation", "pooling")
    # Small steps, for where pooling is strong and the deviations have little space.
    target_accept: ClassVar[float] = 0.95
    # Four: the scale of pooling is no part of the whitening and needs longer trajectories.
    max_depth: ClassVar[int] = 4

    @property
    def members(self) -> Mapping[str, PooledCurves]:
        """Of an average only the smooth description has curves in common."""
        return {SMOOTH: self}

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Numbers of groups and of cells, padded."""
        cells = max(problem.cells.n_bins for problem in self.problems)
        return ("pooled", len(self.problems), padded_size(cells, CELLS))

    @cached_property
    def basis(self) -> CurveBasis:
        """Basis over the cells of all groups."""
        score = np.concatenate([problem.cells.mean_score for problem in self.problems])
        count = np.concatenate([problem.cells.count for problem in self.problems])
        if not count.any():
            count = np.ones_like(count)  # The rows of no group have a say: any places serve.
        score, count = score[count > 0], count[count > 0]
        # From 128 on, cells are enough to tie the process down, and all would cost much more.
        order = np.argsort(score, kind="stable")[:: max(1, len(score) // 128)]
        return curve_basis(score[order], count[order], self.prior, BASIS)

    @cached_property
    def regression(self) -> GroupedRegression:
        """Counts with their offsets and designs, padded."""
        size = self.compile_key[-1]

        def stacked(values: Any) -> NDArray[Any]:
            return np.stack([values(problem.cells) for problem in self.problems])

        return GroupedRegression(
            offset=stacked(lambda c: pad(score_logit(c.mean_score), size)),
            design=stacked(lambda c: pad(self.basis.design(c.mean_score), size, BASIS)),
            count=stacked(lambda c: pad(c.count, size)),
            positives=stacked(lambda c: pad(c.positives, size)),
        )

    def scale(self, pooling: float) -> Floats:
        """Prior standard deviations of the deviations, (basis,)."""
        return np.concatenate([[pooling, pooling], np.full(BASIS - 2, WIGGLE)])

    @cached_property
    def gaussian(self) -> ArrowGaussian:
        """Approximate posterior at the prior median of pooling."""
        return arrow_gaussian(self.regression, self.scale(self.pooling.quantile(0.5)))

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, offsets and designs, and the Gaussian that whitens the coefficients."""
        counts = self.regression.count, self.regression.positives
        return {
            **asdict(self.regression),
            "log_coefficient": log_binomial_coefficient(*counts),
            "mu": np.asarray(self.pooling.mu),
            "sigma": np.asarray(self.pooling.sigma),
            **asdict(self.gaussian),
        }

    def add_to_model(self) -> Any:
        """``positives ~ Binomial(count, sigmoid(offset + design @ (common + deviation)))``."""
        import pymc as pm

        from bayescal.inference.graph import (
            add_data,
            observe_counts,
            product,
            whitened_deviations,
            whitened_normal,
        )

        data = add_data(self.inputs(), _DIMS)
        pooling = pm.LogNormal("pooling", data["mu"], data["sigma"])
        common = whitened_normal("common", data["centre"], data["root"], dims="basis")
        free = np.arange(BASIS) < 2
        scale = pm.math.switch(free, pooling, WIGGLE)
        given = (data[name] for name in ("centre", "group_centre", "group_root", "link"))
        coef = common + whitened_deviations(scale, common, *given)
        logit = data["offset"] + product(data["design"], coef)
        return observe_counts(data, logit, ("group", "cell"))

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Importance sampling at each of a few values of pooling, weighted by its prior."""
        nodes = np.exp(self.pooling.mu + self.pooling.sigma * _POOLING_NODES)
        log_prior = -(_POOLING_NODES**2) / 2
        log_prior -= logsumexp(log_prior)
        weighted = [self._weighted(node, draws, rng) for node in nodes]
        log_weights = np.concatenate(
            [log + weights for log, (_, _, weights) in zip(log_prior, weighted, strict=True)]
        )
        weights = np.exp(log_weights - log_weights.max())
        weights /= weights.sum()
        chosen = choose(weights, draws, rng)
        return DirectDraws(
            {
                "common": np.concatenate([common for common, _, _ in weighted])[chosen],
                "deviation": np.concatenate([own for _, own, _ in weighted])[chosen],
                "pooling": np.repeat(nodes, draws)[chosen],
            },
            float(1 / (weights**2).sum()),
            "importance sampling",
            float(logsumexp(log_weights) - np.log(draws)),
        )

    def _weighted(
        self, pooling: float, draws: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats, Floats]:
        """Draws of the arrow Gaussian at one value of pooling, and their log weights."""
        scale = self.scale(pooling)
        gaussian = arrow_gaussian(self.regression, scale)
        groups = len(self.problems)
        z, own_z = rng.standard_normal((draws, BASIS)), rng.standard_normal((draws, groups, BASIS))
        common = gaussian.centre + z @ gaussian.root.T
        shift = np.einsum("gij,dj->dgi", gaussian.link, common - gaussian.centre)
        own = gaussian.group_centre - shift + np.einsum("gij,dgj->dgi", gaussian.group_root, own_z)
        log_prior = -(common**2).sum(-1) / 2 - ((own / scale) ** 2).sum((-2, -1)) / 2
        volume = np.log(np.diagonal(gaussian.root)).sum()
        volume += np.log(np.diagonal(gaussian.group_root, axis1=-2, axis2=-1)).sum()
        log_proposal = -(z**2).sum(-1) / 2 - (own_z**2).sum((-2, -1)) / 2 - volume
        log_prior -= groups * np.log(scale).sum()
        return common, own, self.regression.log_likelihood(common, own) + log_prior - log_proposal

    def cell_rates(self, draws: Draws, group: int) -> Floats:
        """Curve of one group at its cells' mean scores, (..., cell)."""
        return self.curve(draws, group, self.problems[group].cells.mean_score)

    def curve(self, draws: Draws, group: int, score: Floats) -> Floats:
        """Curve of one group at any score, (..., point)."""
        return np.asarray(expit(score_logit(score) + self.deviation(draws, group, score)))

    def deviation(self, draws: Draws, group: int, score: Floats) -> Floats:
        """Deviation of the logits from the scores', (..., point)."""
        coef = (draws["common"] + draws["deviation"][..., group, :])[..., : self.basis.size]
        return np.asarray(coef @ self.basis.design(score).T)

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Coefficients before the data, (draw, ...)."""
        pooling = rng.lognormal(self.pooling.mu, self.pooling.sigma, draws)
        scale = np.stack([self.scale(value) for value in pooling])
        return {
            "pooling": pooling,
            "common": rng.standard_normal((draws, BASIS)),
            "deviation": scale[:, None, :]
            * rng.standard_normal((draws, len(self.problems), BASIS)),
        }

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Log densities of pooling and of the common coefficients."""
        standard = (np.log(draws["pooling"]) - self.pooling.mu) / self.pooling.sigma
        constant = np.log(self.pooling.sigma) + np.log(2 * np.pi) / 2
        return {
            "pooling": -(standard**2) / 2 - constant - np.log(draws["pooling"]),
            "common": -(draws["common"] ** 2 + np.log(2 * np.pi)) / 2,
        }


@dataclass(frozen=True, slots=True, eq=False)
class GroupCurve:
    """The smooth component of one group, as it was drawn with those of the others."""

    pooled: PooledCurves
    group: int
    alone: Average
    exact: ClassVar[bool] = False

    def deviation(self, draws: Draws) -> Floats:
        """Deviation of the interior cells' logits, (..., interior)."""
        return self.deviation_at(draws, self.alone.score[self.alone.interior])

    def deviation_at(self, draws: Draws, score: Floats) -> Floats:
        """Deviation at any score, (..., point)."""
        return self.pooled.deviation(draws, self.group, score)

    def sample(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """That of the group alone."""
        return self.alone.smooth.sample(draws, rng)

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Coefficients of all groups."""
        return self.pooled.prior_draws(draws, rng)

    def log_prior_excess(self, draws: Draws) -> Floats:
        """That of the group alone."""
        return self.alone.smooth.log_prior_excess(draws)


_DIMS: dict[str, str | tuple[str, ...]] = {
    **dict.fromkeys(("count", "positives", "log_coefficient", "offset"), ("group", "cell")),
    "design": ("group", "cell", "basis"),
    "centre": "basis",
    "root": ("basis", "basis_"),
    "group_centre": ("group", "basis"),
    **dict.fromkeys(("group_root", "link"), ("group", "basis", "basis_")),
}
