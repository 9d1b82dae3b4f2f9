"""Default prior: a smooth calibration curve whose mean is the class prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from bayescal.core.calibration_curve.problem import draw_masses, pad, padded_size
from bayescal.core.calibration_curve.smooth_curve import SmoothCurve
from bayescal.core.functionals import log_binomial_coefficient
from bayescal.core.quantity import DirectDraws, Draws, Floats
from bayescal.inference.direct import Gaussian, Weighted, importance_sample
from bayescal.quantities.pu_ece.data import PUProblem
from bayescal.quantities.pu_ece.models.intercept import SMALLEST, intercept_in_graph
from bayescal.quantities.pu_ece.models.likelihood import CaseControl
from bayescal.quantities.pu_ece.models.prior_map import LAST, PriorMap, logit_in_graph
from bayescal.quantities.pu_ece.models.smooth_gaussian import smooth_gaussian
from bayescal.quantities.pu_ece.priors import ClassPrior

CELLS = 128
BASIS = 16
LARGEST_BASIS = 64
# The prior of the intercept weighs proposals; this many for each draw kept leave no trace of it.
_PROPOSALS = 4
_FEWEST_PROPOSALS = 4000
# The class prior has longer tails than a Gaussian where few positives bound it.
_DEGREES = 5.0
_LOG_ROOT = np.log(2 * np.pi) / 2


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A problem under `SmoothCurve`; made by `Curve.of`."""

    problem: PUProblem
    likelihood: CaseControl
    gaussian: Gaussian
    variables: ClassVar[tuple[str, ...]] = ("coef",)
    target_accept: ClassVar[float] = 0.8
    # Two, as the whitened posterior is near a standard normal; see the curve of ``ece``.
    max_depth: ClassVar[int] = 2

    @classmethod
    def of(cls, problem: PUProblem, prior: SmoothCurve, class_prior: ClassPrior) -> Curve:
        """Find the basis for the cells, and about where the posterior is."""
        likelihood = CaseControl.of(problem, prior, PriorMap.of(class_prior), LARGEST_BASIS)
        return cls(problem, likelihood, smooth_gaussian(likelihood))

    @property
    def compile_key(self) -> tuple[Any, ...]:
        """Numbers of the curve's coefficients and of cells, both padded."""
        basis = padded_size(self.likelihood.basis.size, BASIS)
        return ("curve", basis, padded_size(self.problem.cells.n_bins, CELLS))

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Counts, offset and design, the class prior, and the Gaussian that whitens."""
        _, basis, cells = self.compile_key
        likelihood, size = self.likelihood, self.likelihood.basis.size
        coefficient = log_binomial_coefficient(self.problem.total, self.problem.positive)
        place = np.append(np.arange(size), basis)
        centre, root, slope = np.zeros(basis + 1), np.eye(basis + 1), np.zeros(basis + 1)
        intercept, slope[place] = likelihood.intercept_at(self.gaussian.mean)
        centre[place] = self.gaussian.mean
        root[np.ix_(place, place)] = self.gaussian.root
        return {
            "offset": pad(likelihood.offset, cells),
            "design": pad(likelihood.design, cells, basis),
            "weight": pad(self.problem.weight, cells),
            "total": pad(self.problem.total, cells),
            "positive": pad(self.problem.positive, cells),
            "log_coefficient": pad(coefficient, cells),
            "log_odds": np.asarray(likelihood.log_odds),
            "mean_spread": np.asarray(likelihood.spread),
            "intercept_start": intercept,
            "intercept_slope": slope,
            "prior_logit": likelihood.prior.value,
            "prior_slope": likelihood.prior.slope,
            "centre": centre,
            "root": root,
        }

    def add_to_model(self) -> tuple[Any, Any]:
        """``positive ~ Binomial(total, odds rate / class_prior)``, the curve's mean given."""
        import pymc as pm
        import pytensor.tensor as pt

        from bayescal.inference.error_model import mass_of_rows
        from bayescal.inference.logit_binomial import logit_binomial
        from bayescal.inference.whitening import whitened_normal

        data = {
            name: pm.Data(name, values, dims=_DIMS.get(name))
            for name, values in self.inputs().items()
        }
        coef = whitened_normal("coef", data["centre"], data["root"], dims="basis")
        logit_prior = logit_in_graph(coef[-1], data["prior_logit"], data["prior_slope"])
        class_prior = pm.Deterministic("class_prior", pm.math.sigmoid(logit_prior))
        mean = pt.clip(class_prior + data["mean_spread"] * coef[0], SMALLEST, 1 - SMALLEST)
        base = data["offset"] + (data["design"][:, 1:] * coef[1:-1]).sum(axis=-1)
        rise = data["design"][:, 0]
        start = data["intercept_start"] + (data["intercept_slope"] * (coef - data["centre"])).sum()
        intercept = intercept_in_graph(base, rise, data["weight"], mean, start)
        logit_rate = base + intercept * rise
        rate = pm.math.sigmoid(logit_rate)
        slope = (data["weight"] * rate * (1 - rate) * rise).sum()
        # The intercept follows from the mean label rate: its density is that of the mean.
        pm.Potential("intercept", -(intercept**2) / 2 - _LOG_ROOT - pt.log(slope))
        logit = data["log_odds"] - pt.softplus(-logit_rate) - pt.log(class_prior)
        logit_binomial(
            "events",
            data["total"],
            logit,
            data["log_coefficient"],
            observed=data["positive"],
            dims="cell",
        )
        return rate, mass_of_rows(self.problem.unlabeled, self.compile_key[-1])

    def direct_draws(self, draws: int, rng: np.random.Generator) -> DirectDraws:
        """Importance sampling from the Gaussian."""
        weighted = importance_sample(self.likelihood, self.gaussian, 2 * draws, rng, _DEGREES)
        coef = self._padded(weighted.resample(draws, rng), rng)
        # The intercept's density goes without its constant in the likelihood.
        return DirectDraws(
            {"coef": coef},
            weighted.ess,
            "importance sampling",
            weighted.log_evidence - _LOG_ROOT,
            weighted.pareto_k,
        )

    def log_calibrated(self) -> float:
        """Evidence of a calibrated classifier, by the trapezoid over the class prior.

        Its mean label rate is the mean score, which the class prior has to be near: the density
        of that stands against the density of the intercept in the curve's evidence.
        """
        likelihood = self.likelihood
        mean = float(self.problem.weight @ self.problem.cells.mean_score)
        normal, step = _around(likelihood.prior, mean, likelihood.spread)
        class_prior = likelihood.prior(normal)[0]
        at = likelihood.logit_positive(likelihood.offset, class_prior)
        off = (mean - class_prior) / likelihood.spread
        terms = likelihood.counts_given(at) - off**2 / 2 - _LOG_ROOT - np.log(likelihood.spread)
        if likelihood.prior.known:
            return float(terms[0])
        return float(logsumexp(terms - normal**2 / 2) - _LOG_ROOT + np.log(step))

    def prior_draws(self, draws: int, rng: np.random.Generator) -> Draws:
        """Standard normal coefficients, weighed by the density of the intercept they imply."""
        number = max(_PROPOSALS * draws, _FEWEST_PROPOSALS)
        coef = rng.standard_normal((number, self.likelihood.size))
        found = self.likelihood.state(coef)
        weights = Weighted(coef, -(found.intercept**2) / 2 - np.log(found.slope))
        return {"coef": self._padded(weights.resample(draws, rng), rng)}

    def class_prior(self, draws: Draws) -> Floats:
        """Class prior of its coefficient."""
        return self.likelihood.prior(draws["coef"][..., -1])[0]

    def cell_rates(self, draws: Draws) -> Floats:
        """Curve at the cells' mean scores."""
        return np.asarray(expit(self.likelihood.state(self._used(draws)).logit_rate))

    def masses(self, draws: Draws, rng: np.random.Generator) -> Floats:
        """Bayesian bootstrap of the unlabelled rows."""
        return draw_masses(self.problem.cells.count, draws["coef"].shape[:-1], rng)

    def curve(self, draws: Draws, score: Floats) -> Floats:
        """Curve at any score."""
        return self.likelihood.curve(self._used(draws), score)

    def logit_positive(self, draws: Draws) -> Floats:
        """Logit of the probability that a row of a cell is one of the positives, (..., cell)."""
        found = self.likelihood.state(self._used(draws))
        return self.likelihood.logit_positive(found.logit_rate, found.class_prior)

    def draw_positives(self, draws: Draws, rng: np.random.Generator) -> NDArray[np.int64]:
        """Binomial, given the rows of each cell, positive and unlabelled."""
        return np.asarray(rng.binomial(self.problem.total, expit(self.logit_positive(draws))))

    def draw_problem(self, draws: Draws, rng: np.random.Generator) -> PUProblem:
        """The same rows of each cell, and the shares of the unlabelled rows, with new positives."""
        return self.problem.relabelled(self.draw_positives(draws, rng)[0, 0])

    def log_likelihood(self, draws: Draws) -> Floats:
        """Binomial law of each cell's positives among its positives and unlabelled."""
        positive, total = self.problem.positive, self.problem.total
        at = self.logit_positive(draws)
        ways = log_binomial_coefficient(total, positive)
        return np.asarray(positive * at - total * np.logaddexp(0, at) + ways)

    def log_prior(self, draws: Draws) -> dict[str, Floats]:
        """Density of the curve, by its intercept and other coefficients, and of the class prior.

        The coefficients that stand for neither are left out; those that pad count as 0.
        """
        used = self._used(draws)
        intercept = self.likelihood.state(used).intercept[..., None]
        curve = np.concatenate([intercept, used[..., 1:-1]], axis=-1)
        idle = np.zeros((*curve.shape[:-1], self.compile_key[1] - curve.shape[-1]))
        found = {"coef": np.concatenate([-(curve**2) / 2 - _LOG_ROOT, idle], axis=-1)}
        if not self.likelihood.prior.known:
            found["class_prior"] = self.likelihood.prior.log_density(used[..., -1])
        return found

    def _used(self, draws: Draws) -> Floats:
        """Coefficients without those that pad."""
        coef = draws["coef"]
        return np.concatenate([coef[..., : self.likelihood.basis.size], coef[..., -1:]], axis=-1)

    def _padded(self, coef: Floats, rng: np.random.Generator) -> Floats:
        """Coefficients with those that pad, which keep their prior."""
        idle = self.compile_key[1] - self.likelihood.basis.size
        between = rng.standard_normal((len(coef), idle))
        return np.concatenate([coef[:, :-1], between, coef[:, -1:]], axis=1)


def _around(prior: PriorMap, mean: float, spread: float) -> tuple[Floats, float]:
    """Normals of class priors within 10 spreads of a mean, evenly spaced, and their distance."""
    wide = np.linspace(-LAST, LAST, 2001)
    centre = np.interp(mean, prior(wide)[0], wide)
    reach = 10 * spread / max(float(prior(np.asarray(centre))[1]), SMALLEST)
    normal = np.linspace(max(centre - reach, -LAST), min(centre + reach, LAST), 1001)
    return normal, float(normal[1] - normal[0])


_DIMS = {
    "offset": "cell",
    "design": ("cell", "direction"),
    "weight": "cell",
    "total": "cell",
    "positive": "cell",
    "log_coefficient": "cell",
    "prior_logit": "knot",
    "prior_slope": "knot",
    "centre": "basis",
    "intercept_slope": "basis",
    "root": ("basis", "basis_"),
}
