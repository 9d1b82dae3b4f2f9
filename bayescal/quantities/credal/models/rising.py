"""A smooth curve that rises with the score's rank, as NUTS and importance sampling draw it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_ndtr, ndtri_exp
from scipy.stats import norm

from bayescal.core.functionals import log_binomial_coefficient
from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.curves.cells import score_logit
from bayescal.inference.direct import BinomialCells, Gaussian, Weighted, importance_sample
from bayescal.quantities.credal.data import EmpiricalCDF, Problem
from bayescal.quantities.credal.models import PseudoObservations, RateModel, add_pseudo_observations
from bayescal.quantities.credal.priors import MonotoneCurve


def half_normal(unit: Floats) -> Floats:
    """Turn standard normal values into half-normal ones."""
    return np.asarray(-ndtri_exp(log_ndtr(-unit) - math.log(2)))


def half_normal_slope(unit: Floats) -> Floats:
    """Differentiate `half_normal`."""
    return np.asarray(np.exp((half_normal(unit) ** 2 - unit**2) / 2) / 2)


def half_normal_tensor(unit: Any) -> Any:
    """Turn standard normal variables into half-normal ones, in PyTensor."""
    import pytensor.tensor as pt

    root = math.sqrt(2)
    return root * pt.erfcinv(pt.erfc(unit / root) / 2)


# Far below the square of any weight that matters; keeps the singularity at 0 finite.
_LEAST: Final = 1e-200


def log_mixture(square: Any) -> Floats:
    """Log density of eight half-normal variables over their common scale.

    With tau ~ HalfNormal(1), w_j = tau z_j and z_j ~ HalfNormal(1), and r the root of the sum of
    squares, the integral over tau is a Bessel function of the order 7/2::

        p(w) = (2/pi)**4 r**-7 exp(-r) (r**3 + 6 r**2 + 15 r + 15)
    """
    r = np.sqrt(square + _LEAST)
    return np.asarray(_CONSTANT - r - 7 * np.log(r) + np.log(_cubic(r)))


def log_mixture_tensor(square: Any) -> Any:
    """Log density as `log_mixture`, up to a constant, in PyTensor."""
    import pytensor.tensor as pt

    r = pt.sqrt(square + _LEAST)
    return pt.log(_cubic(r)) - r - 7 * pt.log(r)


def mixture_slope(square: Any) -> Floats:
    """Derivative of `log_mixture` by the sum of squares."""
    r = np.sqrt(square + _LEAST)
    by_r = -1 - 7 / r + (3 * r**2 + 12 * r + 15) / _cubic(r)
    return np.asarray(by_r / (2 * r))


def _cubic(r: Any) -> Any:
    return ((r + 6) * r + 15) * r + 15


_CONSTANT: Final = 4 * math.log(2 / math.pi)


# A t distribution: tails as heavy as those of the posterior of weights near 0.
_DEGREES: Final = 8.0
# Proposals of each round, relative to the draws wanted, and how many of these have to count.
_ROUNDS: Final = (2, 2, 4, 8)
_ENOUGH: Final = 0.5
_BLOCK: Final = 512
# Moments of fewer effective draws a variable are no better than those they would replace.
_FEWEST: Final = 5
_JITTER: Final = 1e-9


@dataclass(frozen=True, slots=True)
class _Likelihood:
    """A posterior as a likelihood of standard normal variables."""

    rising: Monotone
    curve: int

    def log_likelihood(self, coef: Floats) -> Floats:
        """Log of posterior over standard normal density, normalised as the prior is."""
        # Weights are half-normal where the free variables are normal: constants of their density.
        constant = (coef.shape[1] - 1) / 2 * math.log(2 / math.pi)
        # In blocks whose cells stay in the cache, which halves the time.
        blocks = np.array_split(coef, -(-len(coef) // _BLOCK))
        density = np.concatenate([self.rising.log_density(each, self.curve) for each in blocks])
        return np.asarray(density + np.square(coef).sum(axis=1) / 2 - constant)


def sample_rising(rising: Monotone, curve: int, draws: int, rng: np.random.Generator) -> Weighted:
    """Draw a curve's free variables with weights, (proposal, variable).

    From a t distribution about the mode; while fewer than half of `draws` count, from the moments.
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
        if found.ess >= _FEWEST * len(proposal.mean):
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


SPLINES: Final = 8
_DEGREE: Final = 2
# Of one more quadratic B-spline than there are I-splines: their sum is 1 and drops out.
# Breaks crowd towards both ends, where logits of probabilities near 0 and 1 are steepest.
_BREAKS: Final = np.sin(np.linspace(0, np.pi / 2, SPLINES)) ** 2


def i_splines(rank: Floats) -> Floats:
    """I-splines of Ramsay (1988), Eq. (5), sums of quadratic B-splines from the j-th on, (m, 8)."""
    from scipy.interpolate import BSpline

    knots = np.concatenate([[0.0] * _DEGREE, _BREAKS, [1.0] * _DEGREE])
    basis = BSpline.design_matrix(rank, knots, _DEGREE).toarray()
    return np.asarray(np.clip(basis[:, :0:-1].cumsum(axis=1)[:, ::-1], 0, 1))


CELLS: Final = 60
N_FREE: Final = 1 + SPLINES
_STEPS: Final = 200
_LONGEST: Final = 1.0
_CLOSE: Final = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class Monotone(RateModel):
    """A problem under `MonotoneCurve`; made by `Monotone.of`.

    The scale of the weights is integrated out. Free variables are the curve's height where the rows
    determine it best, and for each weight the standard normal value at the same quantile as the
    weight's half-normal one: a posterior without corners or ridges at any number of rows.
    """

    problem: Problem
    prior: MonotoneCurve
    design: Floats

    variables: ClassVar[tuple[str, ...]] = ("intercept", "weight")
    # Above NUTS's own: weights near 0 make the density bend.
    target_accept: ClassVar[float] = 0.9

    @classmethod
    def of(cls, problem: Problem, prior: MonotoneCurve) -> Monotone:
        """Find the splines of the cells."""
        splines = i_splines(problem.place.ravel()) - 0.5
        return cls(problem, prior, splines.reshape(*problem.place.shape, SPLINES))

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Number of curves."""
        return ("monotone", self.problem.n_curves)

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, design and prior scales, and the Gaussians that whiten the curves."""
        count, positives = self.problem.count, self.problem.positives
        found = [self.gaussian(curve) for curve in range(self.problem.n_curves)]
        return {
            "design": self.design,
            "count": count,
            "positives": positives,
            "log_coefficient": log_binomial_coefficient(count, positives),
            "prior_scale": np.array([self.prior.intercept, self.prior.spread]),
            "centre_rise": np.stack([self.centre_rise(c) for c in range(self.problem.n_curves)]),
            "centre": np.stack([mode for mode, _ in found]),
            "root": np.stack([root for _, root in found]),
        }

    def add_to_model(self) -> None:
        """``positives ~ Binomial(count, sigmoid(intercept + design @ weight))``.

        Free variables are standard normal but for the potential ``prior``: together the prior.
        """
        import pymc as pm

        from bayescal.inference.graph import add_data, observe_counts, product, whitened_blocks

        data = add_data(self.inputs(), _DIMS)
        scale = data["prior_scale"]
        unit = whitened_blocks("unit", data["centre"], data["root"], dims=("curve", "basis"))
        height, positive = unit[:, 0], half_normal_tensor(unit[:, 1:])
        weight = pm.Deterministic("weight", scale[1] * positive, dims=("curve", "spline"))
        own = height - (data["centre_rise"] * weight).sum(axis=-1) / scale[0]
        intercept = pm.Deterministic("intercept", scale[0] * own, dims="curve")
        square = (positive**2).sum(axis=-1)
        log_ratio = log_mixture_tensor(square) + (square + height**2 - own**2) / 2
        pm.Potential("prior", log_ratio.sum())
        rise = product(data["design"], weight)
        observe_counts(data, intercept[:, None] + rise, _DIMS["count"])

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Independent draws."""
        curves = self.problem.n_curves
        scale = self.prior.spread * np.abs(rng.standard_normal((draws, curves, 1)))
        return {
            "intercept": self.prior.intercept * rng.standard_normal((draws, curves)),
            "weight": scale * np.abs(rng.standard_normal((draws, curves, SPLINES))),
        }

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Importance sampling of each curve; see `sample_rising`."""
        found = [sample_rising(self, c, draws, rng) for c in range(self.problem.n_curves)]
        curves = [
            self.variables_at(weighted.resample(draws, rng), c) for c, weighted in enumerate(found)
        ]
        values = {
            name: np.stack(parts, axis=1)
            for name, parts in zip(self.variables, zip(*curves, strict=True), strict=True)
        }
        return DirectDraws(
            values,
            min(weighted.ess for weighted in found),
            "importance sampling",
            sum(weighted.log_evidence for weighted in found),
            max(weighted.pareto_k for weighted in found),
        )

    def cell_prob(self, draws: Draws) -> Floats:
        """Curve at the cells."""
        rise = (self.design @ draws["weight"][..., None])[..., 0]
        return np.asarray(expit(draws["intercept"][..., None] + rise))

    def with_pseudo_observations(self, draws: Draws, rank: Floats) -> PseudoObservations:
        """Curve and bounds at any rank."""
        prob = []
        for curve, at in enumerate(rank.T):
            rise = draws["weight"][:, curve] @ (i_splines(at) - 0.5).T
            prob.append(expit(draws["intercept"][:, curve, None] + rise))
        return add_pseudo_observations(np.stack(prob, axis=-1), self.prior.s)

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Normal density, and that of half-normal weights over their common scale."""
        square = ((draws["weight"] / self.prior.spread) ** 2).sum(axis=-1)
        of_weight = log_mixture(square) - SPLINES * np.log(self.prior.spread)
        return {
            "intercept": norm.logpdf(draws["intercept"], scale=self.prior.intercept).sum(axis=-1),
            "weight": of_weight.sum(axis=-1),
        }

    def centre_rise(self, curve: int) -> Floats:
        """How far each weight lifts the curve where the rows determine its height best."""
        count, positives = self.problem.count[curve], self.problem.positives[curve]
        rate = (positives + 0.5) / (count + 1)
        information = count * rate * (1 - rate)
        return np.asarray(
            information @ self.design[curve] / (information.sum() + self.prior.intercept**-2)
        )

    def variables_at(self, unit: Floats, curve: int) -> tuple[Floats, Floats]:
        """Turn a curve's free variables into intercept and weights."""
        weight = self.prior.spread * half_normal(unit[:, 1:])
        return self.prior.intercept * unit[:, 0] - weight @ self.centre_rise(curve), weight

    def log_density(self, unit: Floats, curve: int) -> Floats:
        """Log posterior density of a curve's free variables, up to a constant, (draw,)."""
        intercept, weight = self.variables_at(unit, curve)
        logit = intercept[:, None] + weight @ self.design[curve].T
        cells = BinomialCells(self.problem.count[curve], self.problem.positives[curve])
        of_labels = cells.log_likelihood(logit).sum(axis=-1)
        square = ((weight / self.prior.spread) ** 2).sum(axis=-1)
        of_weight = log_mixture(square) + (square - (unit[:, 1:] ** 2).sum(axis=-1)) / 2
        return np.asarray(of_labels + of_weight - (intercept / self.prior.intercept) ** 2 / 2)

    def gaussian(self, curve: int) -> tuple[Floats, Floats]:
        """Approximate the posterior of one curve's standard normal variables."""
        unit = np.zeros(N_FREE)
        density, gradient, curvature = self._expansion(unit, curve)
        for _ in range(_STEPS):
            step = np.linalg.solve(curvature, gradient)
            step *= _LONGEST / max(_LONGEST, np.abs(step).max())
            while True:
                found = self._expansion(unit + step, curve)
                if found[0] >= density or np.abs(step).max() < _CLOSE:
                    break
                step = step / 2
            gained = found[0] - density
            unit, (density, gradient, curvature) = unit + step, found
            if gained < _CLOSE:
                break
        # With C' C = curvature, C upper triangular, its inverse is a root of the covariance.
        return unit, np.linalg.inv(np.linalg.cholesky(curvature)).T

    def _expansion(self, unit: Floats, curve: int) -> tuple[float, Floats, Floats]:
        """Log density, its gradient and its (Gauss-Newton) curvature."""
        count, positives = self.problem.count[curve], self.problem.positives[curve]
        intercept, weight = (value[0] for value in self.variables_at(unit[None], curve))
        positive, slope = weight / self.prior.spread, half_normal_slope(unit[1:])
        lift = -self.centre_rise(curve) * self.prior.spread * slope
        of_intercept = np.concatenate([[self.prior.intercept], lift])
        jacobian = of_intercept + np.column_stack(
            [np.zeros(len(count)), self.design[curve] * (self.prior.spread * slope)]
        )
        rate = expit(intercept + self.design[curve] @ weight)
        own, of_own = intercept / self.prior.intercept, of_intercept / self.prior.intercept
        gradient = jacobian.T @ (positives - count * rate) - own * of_own
        pull = positive * (1 + 2 * mixture_slope((positive**2).sum()))
        gradient[1:] += pull * slope - unit[1:]
        weighted = jacobian * (count * rate * (1 - rate))[:, None]
        curvature = jacobian.T @ weighted + np.outer(of_own, of_own)
        curvature[1:, 1:] += _PRIOR_PRECISION
        return float(self.log_density(unit[None], curve)[0]), gradient, curvature


@dataclass(frozen=True, eq=False)
class RisingComponent:
    """A rising curve as one component of an average; made by `RisingComponent.of`."""

    model: Monotone
    ranks: EmpiricalCDF
    offset: Floats  # logits of the interior cells' scores
    exact: ClassVar[bool] = True

    @classmethod
    def of(
        cls, prior: MonotoneCurve, ranks: EmpiricalCDF, score: Floats, cells: BinomialCells
    ) -> RisingComponent:
        """Take labelled cells with scores between 0 and 1."""
        count, positives, place = cells.count[None], cells.positives[None], ranks(score)[None]
        unit = np.ones((2, *count.shape))
        problem = Problem((ranks,), np.zeros((0, 1)), count, positives, place, count, count, unit)
        return cls(Monotone.of(problem, prior), ranks, score_logit(score))

    def sample(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Importance sampling."""
        found = self.model.direct_draws(draws, rng)
        return replace(found, draws={name: each[:, 0] for name, each in found.draws.items()})

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Independent draws."""
        return {name: each[:, 0] for name, each in self.model.prior_draws(draws, rng).items()}

    def deviation(self, draws: Draws) -> Floats:
        """Deviation of the logits from the scores' at the cells, (..., interior)."""
        rise = draws["weight"] @ self.model.design[0].T
        return np.asarray(draws["intercept"][..., None] + rise - self.offset)

    def deviation_at(self, draws: Draws, score: Floats) -> Floats:
        """The same at any score, (..., point)."""
        rise = draws["weight"] @ (i_splines(self.ranks(score)) - 0.5).T
        return np.asarray(draws["intercept"][..., None] + rise - score_logit(score))

    def log_prior_excess(self, draws: Draws) -> Floats:
        """Log prior density less its mean before the data, (...)."""
        return self._log_prior(draws) - self._mean_log_prior

    def _log_prior(self, draws: Draws) -> Floats:
        own = {"intercept": draws["intercept"][..., None], "weight": draws["weight"][..., None, :]}
        return np.asarray(sum(self.model.log_prior(own).values()))

    @cached_property
    def _mean_log_prior(self) -> float:
        drawn = self.prior_draws(_PRIOR_DRAWS, np.random.default_rng(0))
        return float(self._log_prior(drawn).mean())


# For the mean of a log density before the data.
_PRIOR_DRAWS: Final = 2000
# Of the weights' free variables before the data: rounded from a simulation, as whitening is only
# a help to the sampler. Their common scale makes them rise and fall together.
_VARIANCE: Final = 1.67
_COVARIANCE: Final = 0.78
_PRIOR_PRECISION: Final = np.linalg.inv((_VARIANCE - _COVARIANCE) * np.eye(SPLINES) + _COVARIANCE)

_DIMS: Final = {
    "design": ("curve", "cell", "spline"),
    "count": ("curve", "cell"),
    "positives": ("curve", "cell"),
    "log_coefficient": ("curve", "cell"),
    "centre_rise": ("curve", "spline"),
    "centre": ("curve", "basis"),
    "root": ("curve", "basis", "basis_"),
}
